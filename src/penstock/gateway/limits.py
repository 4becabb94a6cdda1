"""How much of this process clients may take: a body, all bodies together in memory, requests at once, and time."""

import asyncio
import time
from dataclasses import dataclass

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from penstock.gateway import weights
from penstock.gateway.problems import Problem

# what tells that the process lives is never turned away
_ALWAYS = "/livez"
# where runtimes bring their messages, one of which may be large
_CHUNKS = "/api/execute/batch"
# the rest of a body that is not wanted is not waited for
_CLOSE = {"Connection": "close"}
_BODY = "penstock.body"
# as it came in, parsed, written again for PostgreSQL, on its way there; each of them wider where not all of it is ASCII
_COPIES = 12
# an object with a key, parsed and copied once
_VALUE_BYTES = 256
# what is counted faster than a thread takes it up
_SMALL_BYTES = 2**16


@dataclass(frozen=True)
class Limits:
    body_bytes: int = 8 * 2**20
    # a chunk of a runtime's messages
    chunk_bytes: int = 64 * 2**20
    # in one body
    values: int = 1_000_000
    # of all bodies that are being read or answered, once they are parsed
    memory_bytes: int = 2**30
    requests: int = 200
    # for a body to come in, and again for a statement of the database
    time_s: float = 60.0
    # for the commit of a batch; runtimes wait longer for its answer (pipeline/api_books.py)
    commit_s: float = 600.0


class Bounded:
    """Refuses what is over the limits, as early as it can be known."""

    def __init__(self, app: ASGIApp, limits: Limits) -> None:
        self._app = app
        self._limits = limits
        self.requests = 0
        self.held_bytes = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["path"] == _ALWAYS:
            await self._app(scope, receive, send)
            return
        if self.requests >= self._limits.requests:
            await _overloaded("requests").response()(scope, receive, send)
            return
        body = TakenBody(self, scope, receive, self._limits)
        self.requests += 1
        try:
            body.refuse_length()
            scope[_BODY] = body
            await self._app(scope, body.receive, send)
        except Problem as problem:
            await problem.response()(scope, receive, send)
        finally:
            self.requests -= 1
            self.held_bytes -= body.held_bytes


class TakenBody:
    """The body of one request, counted as it comes in, and weighed before it is parsed."""

    def __init__(self, bounds: Bounded, scope: Scope, receive: Receive, limits: Limits) -> None:
        self._bounds = bounds
        self._receive = receive
        self._limits = limits
        self._until = time.monotonic() + limits.time_s
        self._more = True
        self._size = 0
        self._said = max((int(value) for name, value in scope["headers"] if name == b"content-length"), default=0)
        self._most = limits.chunk_bytes if scope["path"] == _CHUNKS else limits.body_bytes
        self.held_bytes = 0

    def narrow(self) -> None:
        """It is no chunk of a runtime's."""
        self._most = self._limits.body_bytes
        self.refuse_length()

    def refuse_length(self) -> None:
        """What says that it is too long is not read."""
        if max(self._said, self._size) > self._most:
            raise Problem(413, "too_large", f"A body has at most {self._most} bytes here.", headers=_CLOSE)

    async def receive(self) -> Message:
        if not self._more:
            return await self._receive()
        try:
            message = await asyncio.wait_for(self._receive(), max(0.0, self._until - time.monotonic()))
        except TimeoutError:
            raise Problem(
                408, "too_slow", f"The body did not come within {self._limits.time_s:g} s.", headers=_CLOSE
            ) from None
        more = len(message.get("body", b""))
        self._size += more
        self.refuse_length()
        self._hold(_COPIES * more)
        self._more = bool(message.get("more_body"))
        return message

    async def weigh(self, sent: bytes) -> None:
        """Refuse it if parsing it would take too much; nothing else says how much that is."""
        most = self._limits.values
        small = len(sent) <= _SMALL_BYTES
        found = weights.values(sent, most) if small else await run_in_threadpool(weights.values, sent, most)
        if found > most:
            raise Problem(413, "too_large", f"A body has at most {most} values.")
        self._hold(_VALUE_BYTES * found)

    def _hold(self, more_bytes: int) -> None:
        self.held_bytes += more_bytes
        self._bounds.held_bytes += more_bytes
        if self._bounds.held_bytes > self._limits.memory_bytes:
            raise _overloaded("bytes of requests")


def taken_body(request: Request) -> TakenBody:
    """The body of this request."""
    found = request.scope[_BODY]
    assert isinstance(found, TakenBody)
    return found


def _overloaded(what: str) -> Problem:
    # not `busy`, which says that a lock is held: this passes for everybody
    return Problem(503, "overloaded", f"The server has as many {what} in hand as it takes.", headers=_CLOSE)
