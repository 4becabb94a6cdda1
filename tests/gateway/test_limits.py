"""Nothing a client sends is held without a bound, and nobody waits for ever."""

import json
import socket
import ssl
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event, Thread
from uuid import uuid4

import httpx
import pytest

from penstock.gateway.app import GatewayOptions, make_app
from penstock.gateway.limits import Limits
from penstock.gateway.server import Address, serve
from penstock.kernel import runtimes, tokens
from penstock.kernel.connection import Connection, connect
from penstock.kernel.pool import Pool
from penstock.model import Json
from penstock.pipeline.api_books import COMMIT_ANSWER_S
from tests.acceptance.processes import until
from tests.gateway.serving import ACTOR, Api, answer, problem, serving
from tests.ingest.support import playbook, subscription
from tests.parts.certificates import make_certificates
from tests.parts.processes import free_ports, listens
from tests.sql.support import value

COMMITTING = (
    "select count(*) from pg_stat_activity"
    " where wait_event_type = 'Lock' and query ~ 'fn_runtime_once' and datname = current_database()"
)
LARGEST = 8 * 2**20
LARGEST_CHUNK = 64 * 2**20


def _head(api_token: str, *more: str, path: str = "/api/execute") -> bytes:
    lines = [f"POST {path} HTTP/1.1", "Host: localhost", f"Authorization: Bearer {api_token}", *more, "", ""]
    return "\r\n".join(lines).encode()


def _answer(connection: socket.socket) -> tuple[int, bytes]:
    """The status, and the answer up to the end of its object."""
    connection.settimeout(30)
    said = b""
    while not said.endswith(b"}"):
        more = connection.recv(65536)
        assert more, said
        said += more
    return int(said.split(b" ", 2)[1]), said


@pytest.mark.parametrize(
    ("path", "scope", "most"),
    [
        ("/api/execute", "execute", LARGEST),
        ("/api/events", "events", LARGEST),
        ("/api/internal/runtime/orders/commit", "internal", LARGEST),
        # a batch is large for runtimes only
        ("/api/execute/batch", "execute", LARGEST),
        ("/api/execute/batch", "internal", LARGEST_CHUNK),
    ],
)
def test_a_body_that_says_it_is_too_large_is_not_waited_for(api: Api, path: str, scope: str, most: int) -> None:
    _, token = tokens.create(api.db, ACTOR, [scope])
    with socket.create_connection(("127.0.0.1", api.port), 10) as connection:
        connection.sendall(_head(token, f"Content-Length: {most + 1}", path=path))
        status, said = _answer(connection)
    assert status == 413
    assert f"at most {most} bytes".encode() in said


@pytest.mark.parametrize(("scope", "most"), [("execute", LARGEST), ("internal", LARGEST_CHUNK)])
def test_a_body_that_grows_too_large_is_not_read_on(api: Api, scope: str, most: int) -> None:
    _, token = tokens.create(api.db, ACTOR, [scope])
    piece = b"x" * 2**20
    with socket.create_connection(("127.0.0.1", api.port), 60) as connection:
        connection.sendall(_head(token, "Transfer-Encoding: chunked", path="/api/execute/batch"))
        for _ in range(most // len(piece)):
            connection.sendall(f"{len(piece):x}\r\n".encode() + piece + b"\r\n")
        connection.sendall(b"1\r\nx\r\n")
        status, said = _answer(connection)
    assert status == 413
    assert b"too_large" in said


def test_requests_of_a_batch_are_no_chunk_whoever_sends_them(api: Api) -> None:
    items = json.dumps({"items": [{"playbook": "x" * LARGEST}]})
    refused = api.client("execute", "internal").post("/api/execute/batch", content=items)
    assert f"at most {LARGEST} bytes" in problem(refused, 413, "too_large")["detail"]


def _peak_bytes(pid: int) -> int:
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return 1024 * next(int(line.split()[1]) for line in lines if line.startswith("VmHWM:"))


@pytest.mark.parametrize("piece", [b"{}", b'{"a":{"b":1}}', b"0"], ids=["empty", "nested", "numbers"])
@pytest.mark.parametrize("path", ["/api/execute/batch", "/api/execute", "/api/internal/runtime/orders/said"])
def test_a_body_of_many_values_is_refused_before_it_is_parsed(own: Api, path: str, piece: bytes) -> None:
    client = own.client("execute", "internal")
    client.post(path, content=b"{}")
    most = LARGEST_CHUNK if path.endswith("batch") else LARGEST
    before = _peak_bytes(own.process.pid)
    head, tail = b'{"items":[[', b"]]}"
    count = (most - len(head) - len(tail)) // (len(piece) + 1)
    refused = client.post(path, content=head + b",".join([piece] * count) + tail, timeout=120)
    assert "values" in problem(refused, 413, "too_large")["detail"]
    # as bytes it is held twice while it is put together
    assert _peak_bytes(own.process.pid) - before < 3 * most


@pytest.mark.parametrize(
    "columns",
    [
        {"body": "QUJD" * (15 * 2**20)},
        {"attributes": "x" * 60 * 2**20 + "\U0001f600"},
        {"attributes": "é" * 30 * 2**20},
    ],
    ids=["base64", "wide", "accents"],
)
def test_the_largest_chunk_takes_no_more_than_is_set_aside_for_it(own: Api, columns: Json) -> None:
    playbook(own.db)
    path = subscription(own.db)
    token = runtimes.lease(own.db, path, uuid4()).token
    runtimes.stage_open(own.db, path, token, 0)
    message = {"part": "orders:0", "source_offset": 0, "message_id": "m", "attributes": "[]"} | columns
    chunk = {"subscription": path, "token": token, "attempt": "a", "messages": [message]}
    sent = json.dumps(chunk, ensure_ascii=False).encode()
    client = own.client("internal")
    client.post("/api/execute/batch", content=b"{}")
    before = _peak_bytes(own.process.pid)
    assert answer(client.post("/api/execute/batch", content=sent, timeout=120)) == {"staged": 1}
    assert _peak_bytes(own.process.pid) - before < 12 * len(sent)


def test_a_text_that_looks_like_many_values_is_one(api: Api) -> None:
    playbook(api.db)
    refused = api.client("execute").post(
        "/api/execute", json={"playbook": "domain/none", "payload": {"text": "[1, 2]," * 500_000}}
    )
    problem(refused, 404, "unknown_playbook")


def test_a_body_is_not_read_for_who_may_not_ask(api: Api) -> None:
    with socket.create_connection(("127.0.0.1", api.port), 10) as connection:
        connection.sendall(_head("pst_nobody", f"Content-Length: {LARGEST}"))
        status, _ = _answer(connection)
    assert status == 401


def test_a_body_that_does_not_come_is_given_up(db: Connection, database: str) -> None:
    _, token = tokens.create(db, ACTOR, ["execute"])
    with serving(database, Limits(time_s=1)) as port, socket.create_connection(("127.0.0.1", port), 10) as connection:
        connection.sendall(_head(token, "Content-Length: 10") + b"{")
        status, said = _answer(connection)
    assert status == 408
    assert b"too_slow" in said


def test_a_statement_that_does_not_end_is_given_up(db: Connection, database: str) -> None:
    _, token = tokens.create(db, ACTOR, ["events"])
    request = {"event_domain": "system", "event_type": "queue_worker_silent"}
    with serving(database, Limits(time_s=1)) as port, db.transaction():
        db.execute("lock table penstock.event_type_registry in access exclusive mode")
        said = httpx.post(
            f"http://127.0.0.1:{port}/api/events",
            json=request,
            headers={"Authorization": f"Bearer {token}"},
            timeout=30,
        )
    problem(said, 503, "database_unavailable")
    assert said.headers["retry-after"]


def test_a_commit_has_longer_than_other_statements(db: Connection, database: str) -> None:
    playbook(db)
    path = subscription(db)
    _, text = tokens.create(db, ACTOR, ["internal"])
    token = runtimes.lease(db, path, uuid4()).token
    commit = {"token": token, "positions": {"orders:0": {"identity": "t1", "next": 7}}, "expected": {}}
    with (
        serving(database, Limits(time_s=1, commit_s=120)) as port,
        httpx.Client(
            base_url=f"http://127.0.0.1:{port}/api/internal/runtime/{path}",
            headers={"Authorization": f"Bearer {text}"},
            timeout=120,
        ) as client,
        ThreadPoolExecutor(1) as threads,
    ):
        with connect(database) as other, other.transaction():
            other.execute("select from penstock.subscription_runtime for update")
            asked = threads.submit(client.post, "/commit", json=commit)
            until(lambda: value(db, COMMITTING) == 1, "the commit waits")
            # begun later, and given up before it
            problem(client.post("/stage", json={"token": token}), 503, "database_unavailable")
            assert value(db, COMMITTING) == 1
        assert asked.result(60).status_code == 200
    assert Limits().commit_s < COMMIT_ANSWER_S


def test_a_longer_limit_is_for_one_loan(database: str) -> None:
    pool = Pool(database, size=1, application="test", statement_s=1)
    pool.open()
    try:
        for limit_s, shown in ((None, "1s"), (30, "30s"), (None, "1s")):
            with pool.connection(limit_s) as connection:
                assert value(connection, "show statement_timeout") == shown
    finally:
        pool.close()


@pytest.mark.parametrize("limits", [Limits(requests=1), Limits(memory_bytes=14_000)], ids=["requests", "bytes"])
def test_more_than_the_server_can_hold_is_refused_until_there_is_room(
    db: Connection, database: str, limits: Limits
) -> None:
    _, token = tokens.create(db, ACTOR, ["execute"])
    headers = {"Authorization": f"Bearer {token}"}
    small = json.dumps({"playbook": "x" * 300})
    with serving(database, limits) as port:
        url = f"http://127.0.0.1:{port}/api/execute"
        with socket.create_connection(("127.0.0.1", port), 10) as waiting:
            waiting.sendall(_head(token, "Content-Length: 901") + b"x" * 900)
            until(lambda: httpx.post(url, content=small, headers=headers).status_code == 503, "it is refused")
            refused = httpx.post(url, content=small, headers=headers)
            problem(refused, 503, "overloaded")
            assert refused.headers["retry-after"]
            # what tells that the process lives is answered
            assert httpx.get(f"http://127.0.0.1:{port}/livez").status_code == 200
        until(lambda: httpx.post(url, content=small, headers=headers).status_code == 404, "there is room again")


def test_methods_and_paths_that_are_not_there(api: Api) -> None:
    client = api.client("execute")
    problem(client.get("/api/nowhere"), 404, "not_found")
    refused = client.get("/api/execute")
    problem(refused, 405, "method_not_allowed")
    assert refused.headers["allow"] == "POST"
    assert httpx.get(api.url + "/openapi.json").status_code == 404
    assert httpx.get(api.url + "/docs").status_code == 404


def test_tls(database: str, db: Connection, tmp_path: Path) -> None:
    made = make_certificates(tmp_path / "tls")
    (port,) = free_ports(1)
    stop = Event()
    address = Address("127.0.0.1", port, made.certificate, made.key)
    thread = Thread(target=serve, args=[make_app(GatewayOptions(database)), address, stop])
    thread.start()
    try:
        until(lambda: listens(port), "the server listens")
        trusted = ssl.create_default_context(cafile=str(made.ca))
        assert httpx.get(f"https://127.0.0.1:{port}/readyz", verify=trusted).status_code == 200
        with pytest.raises(httpx.TransportError):
            httpx.get(f"http://127.0.0.1:{port}/readyz")
    finally:
        stop.set()
        thread.join()
