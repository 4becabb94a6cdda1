"""With TLS, too, who connects and says nothing shuts nobody out: not even who never ends the handshake."""

import socket
import ssl
from collections.abc import Iterator
from contextlib import ExitStack

import httpx
import pytest

from penstock.gateway.connections import Waits
from penstock.kernel import tokens
from penstock.kernel.connection import Connection
from tests.acceptance.processes import until
from tests.gateway.serving import ACTOR, serving
from tests.gateway.test_connections import LIVEZ, SHORT, _connected, _is_closed, _is_let_in
from tests.parts.certificates import Certificates, make_certificates

MOST = 20
# closed for its silence it would be only after the test
PATIENT = Waits(head_s=600, connections=MOST)
# much sooner than a handshake is given up that nobody limits
_SOON_S = 30
# how a handshake begins: a record of 512 bytes
HELLO = b"\x16\x03\x01\x02\x00\x01"
_TRIES = 20


@pytest.fixture(scope="module")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Certificates:
    return make_certificates(tmp_path_factory.mktemp("certificates"))


@pytest.fixture
def trust(certificates: Certificates) -> ssl.SSLContext:
    return ssl.create_default_context(cafile=str(certificates.ca))


@pytest.fixture
def short(database: str, certificates: Certificates) -> Iterator[int]:
    """The port of a server that waits for nobody for long."""
    with serving(database, waits=SHORT, certificates=certificates) as port:
        yield port


@pytest.fixture
def fair(database: str, certificates: Certificates) -> Iterator[int]:
    """The port of a server that waits for as long as a slow machine may take."""
    with serving(database, waits=Waits(head_s=30, idle_s=30), certificates=certificates) as port:
        yield port


def _livez(port: int, trust: ssl.SSLContext) -> int:
    return httpx.get(f"https://127.0.0.1:{port}/livez", verify=trust).status_code


def test_connections_that_begin_no_handshake_shut_nobody_out(
    database: str, certificates: Certificates, trust: ssl.SSLContext
) -> None:
    with serving(database, waits=PATIENT, certificates=certificates) as port, ExitStack() as stack:
        silent = [stack.enter_context(_connected(port)) for _ in range(MOST)]
        # with each of these the one that has waited longest goes
        assert [_livez(port, trust) for _ in range(5)] == [200] * 5
        until(lambda: _is_closed(silent[0]), "the first of them is closed", _SOON_S)
        assert not _is_closed(silent[-1])


@pytest.mark.parametrize("sent", [b"", HELLO, LIVEZ], ids=["nothing", "half a handshake", "no TLS"])
def test_a_connection_that_does_not_shake_hands_is_closed(short: int, sent: bytes, trust: ssl.SSLContext) -> None:
    with _connected(short) as connection:
        connection.sendall(sent)
        until(lambda: _is_closed(connection), "it is closed", _SOON_S)
    until(lambda: _is_let_in(f"https://127.0.0.1:{short}/livez", trust), "others are let in")


@pytest.mark.parametrize("sent", [b"", LIVEZ[:-2]], ids=["nothing", "half a head"])
def test_a_connection_that_brings_no_request_is_closed(short: int, sent: bytes, trust: ssl.SSLContext) -> None:
    with _connected(short) as plain, trust.wrap_socket(plain, server_hostname="127.0.0.1") as connection:
        connection.sendall(sent)
        until(lambda: _is_closed(connection), "it is closed", _SOON_S)


def test_a_request_that_comes_with_the_end_of_the_handshake_is_answered(fair: int, trust: ssl.SSLContext) -> None:
    for _ in range(_TRIES):
        incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        spoken = trust.wrap_bio(incoming, outgoing, server_hostname="127.0.0.1")
        with _connected(fair) as connection:
            while True:
                try:
                    spoken.do_handshake()
                    break
                except ssl.SSLWantReadError:
                    connection.sendall(outgoing.read())
                    incoming.write(connection.recv(65536))
            spoken.write(LIVEZ)
            connection.sendall(outgoing.read())
            assert _read(spoken, incoming, connection).startswith(b"HTTP/1.1 200")


def _read(spoken: ssl.SSLObject, incoming: ssl.MemoryBIO, connection: socket.socket) -> bytes:
    while True:
        try:
            return spoken.read(65536)
        except ssl.SSLWantReadError:
            came = connection.recv(65536)
            assert came, "it was closed"
            incoming.write(came)


def test_a_large_body_is_taken_whole(db: Connection, fair: int, trust: ssl.SSLContext) -> None:
    _, token = tokens.create(db, ACTOR, ["execute"])
    body = {"playbook": "no/such", "payload": {"a": "x" * 2_000_000}}
    headers = {"Authorization": f"Bearer {token}"}
    with httpx.Client(base_url=f"https://127.0.0.1:{fair}", headers=headers, verify=trust, timeout=60) as client:
        for _ in range(3):
            assert client.post("/api/execute", json=body).json()["code"] == "unknown_playbook"
