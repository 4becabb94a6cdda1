"""A real HTTP server that answers as a test says, byte by byte if need be, and keeps what it was asked."""

import socket
import struct
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread
from typing import NamedTuple


class Asked(NamedTuple):
    method: str
    path: str
    headers: dict[str, str]
    body: bytes


@dataclass(frozen=True)
class Reply:
    """`length` other than the body's own promises more than comes; `does` is hang, drop or drip."""

    status: int = 200
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)
    length: int | None = None
    does: str = ""


class Web:
    """Gives these replies in turn, and the last one ever after."""

    def __init__(self, *replies: Reply) -> None:
        self._replies = list(replies) or [Reply()]
        self._end = Event()
        self.asked: list[Asked] = []
        web = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def handle_one_request(self) -> None:
                with suppress(OSError):
                    super().handle_one_request()

            def do_GET(self) -> None:
                web._take(self)

            do_POST = do_PUT = do_PATCH = do_DELETE = do_HEAD = do_GET  # noqa: N815

            def log_message(self, *_: object) -> None:
                """Not on the test's stderr."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.port = self._server.server_address[1]
        self.url = f"http://127.0.0.1:{self.port}"

    def _take(self, request: BaseHTTPRequestHandler) -> None:
        body = request.rfile.read(int(request.headers.get("content-length") or 0))
        headers = {name.lower(): value for name, value in request.headers.items()}
        self.asked.append(Asked(request.command, request.path, headers, body))
        reply = self._replies.pop(0) if len(self._replies) > 1 else self._replies[0]
        if reply.does == "hang":
            self._end.wait()
        if reply.does == "drop":
            # a reset, not an end
            request.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        if reply.does in ("hang", "drop"):
            request.close_connection = True
            request.connection.close()
            return
        self._answer(request, reply)

    def _answer(self, request: BaseHTTPRequestHandler, reply: Reply) -> None:
        request.send_response(reply.status)
        for name, value in reply.headers.items():
            request.send_header(name, value)
        request.send_header("content-length", str(len(reply.body) if reply.length is None else reply.length))
        request.end_headers()
        if reply.does == "drip":
            while not self._end.wait(0.1):
                request.wfile.write(b".")
        elif request.command != "HEAD":
            request.wfile.write(reply.body)
        if reply.length is not None:
            request.close_connection = True

    def run(self) -> None:
        self._server.serve_forever(0.05)

    def close(self) -> None:
        self._end.set()
        self._server.shutdown()
        self._server.server_close()


@contextmanager
def web(*replies: Reply) -> Iterator[Web]:
    made = Web(*replies)
    thread = Thread(target=made.run, daemon=True)
    thread.start()
    try:
        yield made
    finally:
        made.close()
        thread.join()
