"""The server dies, the database goes away: nothing half done, and everything well again afterwards."""

import json
import signal
import socket
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from uuid import uuid4

import httpx
import pytest

from penstock.embedded import Binaries, EmbeddedPostgres
from penstock.kernel import tokens
from penstock.kernel.connection import Connection, connect
from penstock.kernel.migrate import migrate
from tests.acceptance.processes import until
from tests.conftest import Connect
from tests.gateway.serving import ACTOR, Api, answer, problem
from tests.gateway.test_runtime_routes import Remote, messages
from tests.ingest.support import PLAYBOOK, playbook
from tests.logins import Logins
from tests.sql.support import value

WAITING = "select count(*) from pg_stat_activity where wait_event_type = 'Lock' and application_name = 'penstock serve'"


@pytest.fixture
def remote(own: Api) -> Remote:
    playbook(own.db)
    return Remote(own)


def test_a_server_killed_in_the_middle_of_a_chunk_leaves_none_or_all_of_it(remote: Remote, session: Connect) -> None:
    """The statement waits for a lock when the server dies; PostgreSQL may still end it afterwards."""
    sent = messages(*range(100))
    holder = session()
    with ThreadPoolExecutor(1) as posting:
        with holder.transaction():
            holder.execute(f"lock table penstock.{remote.stage} in share mode".encode())
            posted = posting.submit(remote.put, "aa-0", sent)
            until(lambda: value(remote.api.db, WAITING) == 1, "the chunk waits")
            remote.api.process.kill()
        with pytest.raises(httpx.TransportError):
            posted.result()
    until(lambda: value(remote.api.db, WAITING) == 0, "PostgreSQL is done with it")
    assert remote.staged() in (0, 100)
    remote.api.start()
    assert answer(remote.put("aa-0", sent)) == {"staged": 100}
    assert remote.staged() == 100
    assert answer(remote.commit({"aa-0": 100}, 100))["executions"] == 100


def test_a_server_killed_while_a_chunk_comes_in_stages_nothing(remote: Remote) -> None:
    chunk = {"subscription": remote.path, "token": remote.token, "attempt": "aa-0", "messages": messages(*range(100))}
    body = json.dumps(chunk).encode()
    token = remote.client.headers["authorization"]
    head = (
        f"POST /api/execute/batch HTTP/1.1\r\nHost: x\r\nAuthorization: {token}\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    with socket.create_connection(("127.0.0.1", remote.api.port), 10) as connection:
        connection.sendall(head.encode() + body[: len(body) // 2])
        remote.api.process.kill()
    assert remote.staged() == 0
    remote.api.start()
    assert answer(remote.put("aa-0", chunk["messages"])) == {"staged": 100}


def test_the_same_chunk_at_the_same_time_is_staged_once(remote: Remote) -> None:
    sent = messages(*range(200))

    def put(_: int) -> object:
        said = remote.put("aa-0", sent)
        # a server whose connections are all taken asks to come again
        return put(_) if said.status_code == 503 else answer(said)

    with ThreadPoolExecutor(8) as posting:
        assert list(posting.map(put, range(16))) == [{"staged": 200}] * 16
    assert remote.staged() == 200


def test_a_server_that_is_told_to_stop_ends_what_it_has_in_hand(own: Api, session: Connect) -> None:
    client = own.client("events")
    holder = session()
    request = {"event_domain": "system", "event_type": "queue_worker_silent"}
    with ThreadPoolExecutor(1) as posting:
        with holder.transaction():
            holder.execute("lock table penstock.event_type_registry in access exclusive mode")
            posted = posting.submit(client.post, "/api/events", json=request)
            until(lambda: value(own.db, WAITING) == 1, "the request waits")
            own.process.send(signal.SIGTERM)
            until(lambda: own.status("/livez") is None, "nobody is let in any more")
            assert not posted.done()
        assert "event_id" in answer(posted.result())
    until(lambda: not own.process.is_alive, "it has ended")
    assert "stopped" in own.process.log()


def test_a_server_does_not_wait_longer_for_a_commit_than_it_says(remote: Remote, session: Connect) -> None:
    """The database gives it ten minutes, and the server's thread is in the middle of it."""
    remote.api.process.stop()
    remote.api.start(before="from penstock.gateway import server; server._GRACE_S = 1")
    holder = session()
    with ThreadPoolExecutor(1) as posting:
        with holder.transaction():
            holder.execute("select from penstock.subscription_runtime for update")
            posted = posting.submit(remote.commit, {}, 1)
            until(lambda: value(remote.api.db, WAITING) == 1, "the commit waits")
            remote.api.process.send(signal.SIGTERM)
            until(lambda: not remote.api.process.is_alive, "it has ended")
        assert posted.exception() or posted.result().status_code >= 500
    assert "stopped" in remote.api.process.log()


@pytest.fixture
def fragile(scratch: Path, binaries: Binaries) -> Iterator[EmbeddedPostgres]:
    """A database server of its own, which the test may stop."""
    embedded = EmbeddedPostgres(scratch / f"fragile-{uuid4().hex[:6]}", binaries=binaries)
    embedded.start()
    with connect(embedded.url()) as db:
        migrate(db)
    yield embedded
    embedded.leave()


def test_without_its_database_the_server_says_so_and_comes_back_with_it(
    fragile: EmbeddedPostgres, tmp_path: Path
) -> None:
    with connect(fragile.url()) as db:
        playbook(db)
        api = Api(db, fragile.url(), tmp_path)
        client = api.client("execute")
        request = {"playbook": PLAYBOOK, "idempotency_key": "k"}
        first = answer(client.post("/api/execute", json=request))
    try:
        fragile.leave()
        for _ in range(3):
            said = client.post("/api/execute", json=request)
            assert "PostgreSQL" not in problem(said, 503, "database_unavailable")["detail"]
            assert said.headers["retry-after"]
        until(lambda: api.status("/readyz") == 503, "it is not ready")
        assert api.status("/livez") == 200
        fragile.start()
        until(lambda: api.status("/readyz") == 200, "it is ready again")
        again = answer(client.post("/api/execute", json=request))
        assert again == {"execution_id": first["execution_id"], "started": False}
    finally:
        api.close()


def test_a_server_starts_before_its_database(fragile: EmbeddedPostgres, tmp_path: Path) -> None:
    with connect(fragile.url()) as db:
        _, token = tokens.create(db, ACTOR, ["metrics"])
        fragile.leave()
        api = Api(db, fragile.url(), tmp_path)
    try:
        assert api.status("/readyz") == 503
        fragile.start()
        until(lambda: api.status("/readyz") == 200, "it is ready")
        assert api.client(token=token).get("/metrics").status_code == 200
    finally:
        api.close()


def test_a_schema_of_another_version_is_not_ready(own: Api) -> None:
    assert own.status("/readyz") == 200
    own.db.execute("insert into penstock.schema_migration (version, name, checksum) values (9999, 'later', '')")
    until(lambda: own.status("/readyz") == 503, "it is not ready")
    problem(httpx.get(own.url + "/readyz"), 503, "schema_newer")


def test_a_login_without_the_role_gets_nothing_done(
    db: Connection, database: str, logins: Logins, tmp_path: Path
) -> None:
    login = logins.make()
    api = Api(db, database.replace("//postgres@", f"//{login}@"), tmp_path)
    try:
        said = api.client("execute").post("/api/execute", json={"playbook": PLAYBOOK})
        assert login not in problem(said, 500, "not_granted")["detail"]
        assert "permission denied" in api.process.log()
        assert api.status("/readyz") == 503
    finally:
        api.close()
