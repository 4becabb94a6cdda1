"""A server that has as much in hand as it takes is asked again, and ends no runtime."""

import socket
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from uuid import uuid4

import pytest
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from penstock.gateway.limits import Limits
from penstock.kernel import tokens
from penstock.kernel.connection import Connection
from penstock.pipeline.api_books import ApiBooks
from penstock.pipeline.books import Server
from penstock.pipeline.outlet import Outlet
from tests.acceptance.processes import until
from tests.gateway.conftest import own
from tests.gateway.serving import ACTOR, serving
from tests.ingest.support import PATH
from tests.pipeline.test_api_books import _rows, secret

__all__ = ["own", "secret"]


class Watch:
    """Counts, from outside, what a server has in hand and what it turns away."""

    def __init__(self) -> None:
        self.in_hand = 0
        self.refused = 0

    def around(self, app: ASGIApp) -> ASGIApp:
        async def counted(scope: Scope, receive: Receive, send: Send) -> None:
            async def noted(message: Message) -> None:
                self.refused += message.get("status") == 503
                await send(message)

            self.in_hand += scope["type"] == "http"
            try:
                await app(scope, receive, noted)
            finally:
                self.in_hand -= scope["type"] == "http"

        return counted


def _chunk(server: Server, books: ApiBooks, token: int) -> object:
    return Outlet(server, PATH, token).stage(0, "a", iter([_rows(0, 3)]))


def _entry(server: Server, books: ApiBooks, token: int) -> object:
    return books.entry(1)


@pytest.mark.parametrize("call", [_chunk, _entry])
def test_a_call_of_a_full_server_is_made_again(
    db: Connection, database: str, secret: str, call: Callable[[Server, ApiBooks, int], object]
) -> None:
    watch = Watch()
    _, other = tokens.create(db, ACTOR, ["execute"])
    head = f"POST /api/execute HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {other}\r\nContent-Length: 10\r\n\r\n{{"
    with serving(database, Limits(requests=1), watch.around) as port, ThreadPoolExecutor(1) as pool:
        server = Server(f"http://127.0.0.1:{port}", secret)
        with ApiBooks(server, PATH, None) as books:
            token = books.lease(uuid4()).token
            books.stage_open(token, 0)
            with socket.create_connection(("127.0.0.1", port), 10) as held:
                held.sendall(head.encode())
                until(lambda: watch.in_hand == 1, "the server has its one request")
                asked = pool.submit(call, server, books, token)
                until(lambda: watch.refused > 1, "the server turns the call away, twice")
            assert asked.result(60)
