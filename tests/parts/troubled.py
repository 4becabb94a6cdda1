"""A way to a real HTTP server on which every few requests meet with trouble."""

import http.client
import json
import select
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import cycle
from threading import Lock, Thread
from types import TracebackType
from typing import Any, Literal, Self

_ANSWER_S = 60

# refused: it never arrives. lost: it arrives, and its answer does not. twice: it arrives twice. slow: half arrives,
# and the rest when whoever sent it has gone away. more: every object of the answer says more than was asked for.
# less: it does not say what an earlier server would not
Trouble = Literal["well", "refused", "lost", "twice", "slow", "more", "less"]
_LATER = ("ledger",)


class Troubled:
    """Passes requests on, each with the next trouble of a round; with `only`, those whose path ends so.

    Bodies of over `most_bytes` it refuses, in its own words, as any proxy does.
    """

    def __init__(
        self, port: int, troubles: tuple[Trouble, ...] = ("well",), only: str = "", most_bytes: int = 2**30
    ) -> None:
        self._troubles: Iterator[Trouble] = cycle(troubles)
        self._only = only
        self._most_bytes = most_bytes
        self._lock = Lock()
        self.met: dict[Trouble, int] = {}
        way = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                way.pass_on(self, port)

            def do_GET(self) -> None:
                way.pass_on(self, port)

            def log_message(self, *_: object) -> None:
                """Nobody reads it."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}"

    def __enter__(self) -> Self:
        Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()

    def pass_on(self, request: BaseHTTPRequestHandler, port: int) -> None:
        trouble = self._next() if request.path.endswith(self._only) else "well"
        body = request.rfile.read(int(request.headers.get("content-length", 0)))
        if len(body) > self._most_bytes:
            _answer(request, 413, b"<html><h1>413 Request Entity Too Large</h1></html>", "text/html")
            return
        if trouble == "refused":
            _answer(request, 502, b"", "text/plain")
            return
        for _ in range(2 if trouble == "twice" else 1):
            status, said, kind = _asked(request, port, body, is_slow=trouble == "slow")
        if trouble == "lost":
            request.close_connection = True
            request.connection.close()
            return
        if trouble == "slow":
            # nobody is there to hear it
            return
        if trouble in ("more", "less"):
            said = json.dumps((_more if trouble == "more" else _less)(json.loads(said))).encode()
        _answer(request, status, said, kind)

    def _next(self) -> Trouble:
        with self._lock:
            trouble = next(self._troubles)
            self.met[trouble] = self.met.get(trouble, 0) + 1
            return trouble


def _more(said: Any) -> Any:
    return {name: _more(one) for name, one in said.items()} | {"later": 1} if isinstance(said, dict) else said


def _less(said: Any) -> Any:
    return {name: one for name, one in said.items() if name not in _LATER} if isinstance(said, dict) else said


def _asked(request: BaseHTTPRequestHandler, port: int, body: bytes, *, is_slow: bool = False) -> tuple[int, bytes, str]:
    far = http.client.HTTPConnection("127.0.0.1", port, timeout=_ANSWER_S)
    headers = {name: value for name, value in request.headers.items() if name.lower() not in ("host", "connection")}
    far.request(request.command, request.path, _halves(request, body) if is_slow else body, headers)
    answer = far.getresponse()
    said = answer.read()
    far.close()
    return answer.status, said, answer.headers.get("content-type", "")


def _halves(request: BaseHTTPRequestHandler, body: bytes) -> Iterator[bytes]:
    yield body[: len(body) // 2]
    gone, _, _ = select.select([request.connection], [], [], _ANSWER_S)
    assert gone, "whoever sent it waits for ever"
    yield body[len(body) // 2 :]


def _answer(request: BaseHTTPRequestHandler, status: int, said: bytes, kind: str) -> None:
    request.send_response(status)
    request.send_header("content-type", kind)
    request.send_header("content-length", str(len(said)))
    request.end_headers()
    request.wfile.write(said)
