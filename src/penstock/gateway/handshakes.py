"""TLS: a connection counts, and its time runs, from its first moment on and not only from the end of its handshake."""

import asyncio
import ssl
from typing import Any

from penstock.gateway.connections import Timed, make_room


class Handshake(asyncio.Protocol):
    """A connection that has not shown yet that it speaks TLS; then it is handed over to uvicorn's protocol."""

    context: ssl.SSLContext
    spoken: type[Timed]
    transport: asyncio.Transport

    def __init__(self, **given: Any) -> None:
        # what uvicorn gives to every protocol
        self._http = self.spoken(**given)
        self.connections: set[Any] = self._http.connections
        self.waits_since: float | None = None
        self._loop = self._http.loop
        # what came before it was handed over
        self._early = b""
        self._task: asyncio.Task[None] | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        self.transport = transport
        self.waits_since = self._loop.time()
        self.connections.add(self)
        # for the handshake to be read by who makes it
        transport.pause_reading()
        self._task = self._loop.create_task(self._shake_hands())
        make_room(self.connections, self, self.spoken.waits.connections)

    def data_received(self, data: bytes) -> None:
        self._early += data

    def connection_lost(self, exc: Exception | None) -> None:
        """After the handshake: told to whom it was handed over, if it was."""
        self._is_over()
        if self._http.transport is not None:
            self._http.connection_lost(exc)

    def shutdown(self) -> None:
        """The server stops."""
        self.transport.abort()

    async def _shake_hands(self) -> None:
        limit_s = self.spoken.waits.head_s
        try:
            made = await self._loop.start_tls(
                self.transport, self, self.context, server_side=True, ssl_handshake_timeout=limit_s
            )
        except OSError:
            # too slow, gone, or no TLS: that is for the client to know
            made = None
        was_closed = self not in self.connections
        self._is_over()
        if made is None or made.is_closing() or was_closed:
            self.transport.abort()
        else:
            self._hand_over(made)

    def _hand_over(self, transport: asyncio.Transport) -> None:
        transport.set_protocol(self._http)
        self._http.connection_made(transport)
        if self._early:
            self._http.data_received(self._early)
            self._early = b""

    def _is_over(self) -> None:
        self.waits_since = None
        self.connections.discard(self)


def secured(spoken: type[Timed], context: ssl.SSLContext) -> type[Handshake]:
    """The protocol, with this certificate before it."""
    return type("TimedHandshake", (Handshake,), {"spoken": spoken, "context": context})
