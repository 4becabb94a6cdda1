"""A real HTTP server that answers as a test tells it, and keeps what it was sent."""

import socket
import struct
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Lock, Thread
from typing import NamedTuple

HANG, DROP, DRIP = -1, -2, -3


class Received(NamedTuple):
    path: str
    headers: dict[str, str]
    body: bytes


class Receiver:
    """Answers with these statuses in turn, then with 200; HANG never answers, DROP closes the connection,
    DRIP sends a header every now and then, and no end."""

    def __init__(self, *answers: int) -> None:
        self._answers = list(answers)
        self._lock = Lock()
        self._end = Event()
        self.received: list[Received] = []
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                receiver._take(self)

            def log_message(self, *_: object) -> None:
                """Not on the test's stderr."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"

    def _take(self, request: BaseHTTPRequestHandler) -> None:
        body = request.rfile.read(int(request.headers["content-length"]))
        with self._lock:
            self.received.append(Received(request.path, {k.lower(): v for k, v in request.headers.items()}, body))
            answer = self._answers.pop(0) if self._answers else 200
        if answer == HANG:
            self._end.wait()
        elif answer == DRIP:
            request.wfile.write(b"HTTP/1.1 200 OK\r\n")
            with suppress(OSError):
                while not self._end.wait(0.2):
                    request.wfile.write(b"x-more: to come\r\n")
        elif answer == DROP:
            # a reset, not an end
            request.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            request.connection.close()
        else:
            request.send_response(answer)
            request.send_header("content-length", "0")
            request.end_headers()

    def run(self) -> None:
        self._server.serve_forever(0.05)

    def close(self) -> None:
        self._end.set()
        self._server.shutdown()
        self._server.server_close()


@contextmanager
def receiver(*answers: int) -> Iterator[Receiver]:
    made = Receiver(*answers)
    thread = Thread(target=made.run, daemon=True)
    thread.start()
    try:
        yield made
    finally:
        made.close()
        thread.join()
