"""Connections: each brings a request soon, or is closed; and who waits makes room for who comes."""

import asyncio
from dataclasses import dataclass
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol


@dataclass(frozen=True)
class Waits:
    """How long a connection may keep us waiting, and how many may."""

    # for the whole head of a request
    head_s: float = 10.0
    # between two requests, and for an answer to be taken
    idle_s: float = 30.0
    connections: int = 1000


class Timed(HttpToolsProtocol):
    """uvicorn's own, which alone waits for ever: for a first request, or for one that comes a byte at a time."""

    waits = Waits()
    # None while a request of this connection is in our hands
    waits_since: float | None = None
    _end: asyncio.TimerHandle | None = None
    _untaken: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._wait(self.waits.head_s)
        make_room(self.connections, self, self.waits.connections)

    def connection_lost(self, exc: Exception | None) -> None:
        self._go_on()
        self._taken()
        super().connection_lost(exc)

    def on_headers_complete(self) -> None:
        self._go_on()
        super().on_headers_complete()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        # else there is a next one, which came before this one was answered
        if self.cycle.response_complete:
            # what is left of a body that nobody has read must have come by then, too
            self._wait(self.waits.idle_s + self.waits.head_s)

    def pause_writing(self) -> None:
        super().pause_writing()
        self._untaken = self.loop.call_later(self.waits.idle_s, self.transport.abort)

    def resume_writing(self) -> None:
        super().resume_writing()
        self._taken()

    def _wait(self, limit_s: float) -> None:
        self._go_on()
        self.waits_since = self.loop.time()
        # not close(), which would wait for what the client does not take
        self._end = self.loop.call_later(limit_s, self.transport.abort)

    def _go_on(self) -> None:
        self.waits_since = None
        if self._end is not None:
            self._end.cancel()
            self._end = None

    def _taken(self) -> None:
        if self._untaken is not None:
            self._untaken.cancel()
            self._untaken = None


def make_room(connections: set[Any], newest: object, most: int) -> None:
    """Beyond so many, close the one that has waited longest. If none waits, uvicorn refuses the newest's request."""
    if len(connections) <= most:
        return
    waiting = [(one.waits_since, one) for one in connections if one is not newest and one.waits_since is not None]
    if waiting:
        _, longest = min(waiting, key=lambda found: found[0])
        connections.discard(longest)
        longest.transport.abort()


def timed(waits: Waits) -> type[Timed]:
    """The protocol, with these limits."""
    return type("TimedConnection", (Timed,), {"waits": waits})
