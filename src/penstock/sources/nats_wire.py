"""The connection to NATS: a nats-py client on a thread of its own, called from ordinary code."""

import asyncio
import os
import ssl
import threading
from collections import deque
from collections.abc import AsyncIterator, Coroutine, Mapping
from concurrent.futures import CancelledError
from contextlib import asynccontextmanager, suppress
from typing import Any, NamedTuple, TypeVar

import nats.errors
from nats.aio.client import Client

from penstock.errors import SourceError, SourceRefused, SourceUnavailable
from penstock.sources.nats_credential import connect_options, without_login

T = TypeVar("T")

CONNECT_S = 5
CALL_S = 60
CLOSE_S = 1
AGAIN_S = 0.1
STATUS_BLOCK = b"NATS/1.0 "
# what a delivered message is answered at
HANDLE = "$JS.ACK."
REFUSED = ("authorization", "authentication", "permissions violation", "nkey", "jwt")


class Arrived(NamedTuple):
    """One message as it came over the wire."""

    subject: bytes
    reply: bytes
    headers: bytes
    body: bytes

    def status(self) -> tuple[int, str] | None:
        """What the server says of a request, when this is that and no message."""
        # a publisher may write such a block too, but what can be acknowledged is a message
        if not self.headers.startswith(STATUS_BLOCK) or self.reply.startswith(HANDLE.encode()):
            return None
        code, _, words = self.headers.partition(b"\r\n")[0][len(STATUS_BLOCK) :].partition(b" ")
        return (int(code) if code.isdigit() else 0, words.decode(errors="replace"))


class Inlet:
    """What arrives for one inbox, in order."""

    def __init__(self, inbox: str) -> None:
        self.inbox = inbox
        self._arrived: deque[Arrived] = deque()
        self._stirred = asyncio.Event()
        self._lost = False

    def put(self, one: Arrived) -> None:
        self._arrived.append(one)
        self._stirred.set()

    def lose(self) -> None:
        self._lost = True
        self._stirred.set()

    def take_now(self) -> Arrived | None:
        return self._arrived.popleft() if self._arrived else None

    async def take(self, until: float) -> Arrived | None:
        """The next one, None when none came before that time of the loop's clock."""
        while not self._arrived:
            if self._lost:
                raise nats.errors.ConnectionClosedError
            self._stirred.clear()
            try:
                await asyncio.wait_for(self._stirred.wait(), until - asyncio.get_running_loop().time())
            except TimeoutError:
                return None
        return self._arrived.popleft()


class WireClient(Client):
    """nats-py keeps one value of a header, as text, and takes a header `Status` for the server's: we read the bytes."""

    def __init__(self) -> None:
        super().__init__()
        self._inlets: dict[int, Inlet] = {}
        self._is_new = True

    async def connect_once(self, server: str, options: Mapping[str, Any]) -> None:
        """Connect or raise. Nothing reconnects behind our back and sends old requests again."""
        try:
            await self.connect(
                server,
                name="penstock",
                allow_reconnect=False,
                connect_timeout=CONNECT_S,
                error_cb=self._failed,
                disconnected_cb=self._lose_all,
                **options,
            )
        finally:
            self._is_new = False
            if not self.is_connected:
                await self.end()

    async def end(self) -> None:
        # a broken TLS connection never says that it is closed
        with suppress(Exception):
            await asyncio.wait_for(self.close(), CLOSE_S)

    @asynccontextmanager
    async def inlet(self, wildcard: bool = False) -> AsyncIterator[Inlet]:
        """An inbox of our own for as long as needed."""
        inlet = Inlet(self.new_inbox())
        subscription = await self.subscribe(f"{inlet.inbox}.*" if wildcard else inlet.inbox)
        self._inlets[subscription._id] = inlet
        try:
            yield inlet
        finally:
            del self._inlets[subscription._id]
            if not self.is_closed and subscription._id in self._subs:
                await subscription.unsubscribe()

    async def shut(self, inlet: Inlet, timeout_s: int) -> None:
        """Let nothing more arrive there; what was on its way has arrived on return."""
        for number, one in self._inlets.items():
            if one is inlet and number in self._subs:
                await self._subs[number].unsubscribe()
        await self.flush(timeout_s)

    async def _failed(self, error: Exception) -> None:
        """nats-py tries a server for ever that it never reached. Later, the call that fails tells its caller."""
        if self._is_new:
            raise error

    async def _lose_all(self) -> None:
        for inlet in self._inlets.values():
            inlet.lose()

    async def _process_msg(self, sid: int, subject: bytes, reply: bytes, data: bytes, headers: bytes | None) -> None:
        inlet = self._inlets.get(sid)
        if inlet is None:
            await super()._process_msg(sid, subject, reply, data, headers or b"")
        else:
            inlet.put(Arrived(subject, reply, headers or b"", data))


class Wire:
    """One connection, made when first needed and again after a loss."""

    def __init__(self, credential: Mapping[str, Any]) -> None:
        servers, self._options = connect_options(credential)
        self._servers = servers
        self.name = ", ".join(without_login(server) for server in servers)
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._client: WireClient | None = None
        self._connecting = asyncio.Lock()
        self._process = os.getpid()
        # What is scheduled under it stands before the closing of that loop, which cancels it.
        self._turn = threading.Lock()

    def call(self, work: Coroutine[Any, Any, T], timeout_s: float = CALL_S) -> T:
        """Run this to its end on the connection's thread; what went wrong comes out as a SourceError."""
        self._leave_parent()
        with self._turn:
            future = asyncio.run_coroutine_threadsafe(asyncio.wait_for(work, timeout_s), self._running_loop())
        try:
            return future.result()
        except SourceError:
            raise
        except (nats.errors.Error, OSError, TimeoutError) as error:
            raise self._explained(error) from error
        except CancelledError as error:
            raise SourceUnavailable(f"The connection to NATS at {self.name} was closed under a call.") from error
        finally:
            # A caller interrupted from the keyboard leaves nothing running behind.
            future.cancel()

    async def client(self) -> WireClient:
        """The connected client."""
        # of two that connect one would never be closed
        async with self._connecting:
            if self._client is None or not self._client.is_connected:
                self._client = await self._connected()
            return self._client

    def close(self) -> None:
        self._leave_parent()
        with self._turn:
            loop, thread = self._loop, self._thread
            self._loop = self._thread = None
            if loop is None or thread is None:
                return
            with suppress(Exception):
                asyncio.run_coroutine_threadsafe(self._close(), loop).result(2 * CONNECT_S)
            loop.call_soon_threadsafe(loop.stop)
            thread.join(CONNECT_S)
            if not thread.is_alive():
                loop.close()

    async def _connected(self) -> WireClient:
        """The first server of the list that lets us in."""
        for server in self._servers[:-1]:
            try:
                return await self._connect(server)
            except (nats.errors.Error, OSError, TimeoutError) as error:
                if isinstance(self._explained(error), SourceRefused):
                    raise
        return await self._connect(self._servers[-1])

    async def _connect(self, server: str) -> WireClient:
        client = WireClient()
        try:
            await asyncio.wait_for(client.connect_once(server, self._options), 2 * CONNECT_S)
        except asyncio.CancelledError:
            # it may have connected in the same moment, and nobody would close it
            await client.end()
            raise
        except (nats.errors.Error, OSError, TimeoutError):
            raise
        except Exception as error:
            # what the reader of key files raises is of no one kind, and may quote them
            raise SourceRefused(
                f"The key file of a credential for NATS at {self.name} cannot be used ({type(error).__name__}). "
                "See that creds_file or nkey_seed_file holds what `nsc` or `nk` wrote."
            ) from None
        return client

    async def _close(self) -> None:
        # one broken off while it connects may leave a connection that nobody closes
        with suppress(TimeoutError):
            await asyncio.wait_for(self._connecting.acquire(), CLOSE_S)
        client, self._client = self._client, None
        if client is not None:
            await client.end()
        # Whoever still waits for an answer would wait for ever, once the loop has stopped. A task to which its answer
        # comes in the moment it is cancelled does not notice, and goes on: so until none is left.
        while others := asyncio.all_tasks() - {asyncio.current_task()}:
            for task in others:
                task.cancel()
            await asyncio.wait(others, timeout=AGAIN_S)

    def _explained(self, error: Exception) -> SourceError:
        text = str(error).removeprefix("nats: ") or type(error).__name__
        if isinstance(error, ssl.SSLError):
            return SourceRefused(
                f"NATS at {self.name} and this credential do not agree on TLS: {text}. "
                "Correct tls.ca_file, tls.cert_file and tls.key_file in the file of credentials."
            )
        if any(word in text.lower() for word in REFUSED):
            return SourceRefused(
                f"NATS at {self.name} refused the credential: {text}. "
                "Correct the login in the file of credentials, and see that it may use JetStream."
            )
        return SourceUnavailable(f"NATS at {self.name} does not answer: {text}. See that the server runs.")

    def _leave_parent(self) -> None:
        # A fork takes the loop along, but not the thread that runs it, nor one that holds the lock; and the
        # connection is its parent's.
        if self._process != os.getpid():
            self._loop = self._thread = self._client = None
            self._turn, self._process = threading.Lock(), os.getpid()

    def _running_loop(self) -> asyncio.AbstractEventLoop:
        if self._loop is None:
            self._loop, self._connecting = asyncio.new_event_loop(), asyncio.Lock()
            self._thread = threading.Thread(target=self._loop.run_forever, name="penstock-nats", daemon=True)
            self._thread.start()
        return self._loop
