"""Who connects and brings no request shuts nobody out, and stays no longer than the limit."""

import socket
import ssl
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import httpx
import pytest

from penstock.gateway.connections import Waits
from penstock.gateway.limits import Limits
from penstock.kernel import tokens
from penstock.kernel.connection import Connection
from tests.acceptance.processes import until
from tests.gateway.serving import ACTOR, Api, serving

SILENT = 1000
SHORT = Waits(head_s=1, idle_s=1)
LIVEZ = b"GET /livez HTTP/1.1\r\nHost: x\r\n\r\n"
# nobody may ask so: it is answered, and its body is not read
REFUSED = b"POST /api/execute HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\n"


@contextmanager
def _connected(port: int) -> Iterator[socket.socket]:
    with socket.create_connection(("127.0.0.1", port), 30) as connection:
        yield connection


def _is_closed(connection: socket.socket, trickle: bytes = b"") -> bool:
    """Whether the server has ended it; if not, it gets some more bytes of nothing."""
    try:
        if trickle:
            connection.sendall(trickle)
        connection.settimeout(0.2)
        return connection.recv(65536) == b""
    except TimeoutError:
        return False
    except OSError:
        return True


def _is_let_in(url: str, verify: ssl.SSLContext | bool = True) -> bool:
    """Whether this is answered; a server that waits for nobody for long may find us too slow as well."""
    try:
        return httpx.get(url, verify=verify).status_code == 200
    except httpx.TransportError:
        return False


def test_connections_that_say_nothing_shut_nobody_out(api: Api) -> None:
    with ExitStack() as stack:
        silent = [stack.enter_context(_connected(api.port)) for _ in range(SILENT)]
        # with each of these the one that has waited longest goes
        assert [api.status("/livez") for _ in range(5)] == [200] * 5
        assert api.status("/readyz") == 200
        until(lambda: _is_closed(silent[0]), "the first of them is closed")


@pytest.mark.parametrize("trickle", [b"", b"X"], ids=["silent", "trickling"])
@pytest.mark.parametrize(
    "before",
    [b"", LIVEZ[:-2], LIVEZ, LIVEZ + LIVEZ[:-2], REFUSED],
    ids=["nothing", "half a head", "a request", "a request and a half", "a body that is not read"],
)
def test_a_connection_that_brings_no_whole_request_is_closed(database: str, before: bytes, trickle: bytes) -> None:
    with serving(database, waits=SHORT) as port, _connected(port) as connection:
        connection.sendall(before)
        until(lambda: _is_closed(connection, trickle), "it is closed")
        until(lambda: _is_let_in(f"http://127.0.0.1:{port}/livez"), "others are let in")


def test_a_body_that_trickles_is_given_up(db: Connection, database: str) -> None:
    _, token = tokens.create(db, ACTOR, ["execute"])
    head = f"POST /api/execute HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {token}\r\nContent-Length: 1000000\r\n\r\n"
    with serving(database, Limits(time_s=2), waits=SHORT) as port, _connected(port) as connection:
        connection.sendall(head.encode())
        until(lambda: _is_closed(connection, b" "), "it is closed")


def test_a_request_in_hand_is_not_hurried(db: Connection, database: str) -> None:
    _, token = tokens.create(db, ACTOR, ["events"])
    request = {"event_domain": "system", "event_type": "queue_worker_silent"}
    headers = {"Authorization": f"Bearer {token}"}
    with serving(database, Limits(time_s=4), waits=Waits(head_s=3, idle_s=3)) as port, db.transaction():
        db.execute("lock table penstock.event_type_registry in access exclusive mode")
        said = httpx.post(f"http://127.0.0.1:{port}/api/events", json=request, headers=headers, timeout=60)
    # by the limit of its statement, not of its connection
    assert said.status_code == 503


def test_an_answer_that_is_not_taken_is_given_up(db: Connection, database: str) -> None:
    _, token = tokens.create(db, ACTOR, ["metrics"])
    ask = f"GET /api/openapi.json HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {token}\r\n\r\n".encode()
    with serving(database, waits=SHORT) as port, socket.socket() as connection:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        connection.settimeout(30)
        connection.connect(("127.0.0.1", port))

        def is_reset() -> bool:
            try:
                connection.setblocking(False)
                connection.send(ask)
            except BlockingIOError:
                return False
            except OSError:
                return True
            return False

        until(is_reset, "it is closed")
