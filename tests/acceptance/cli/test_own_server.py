"""README's way to a server of one's own, gone by a user who is no superuser."""

import shutil
import signal
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import pytest
from psycopg import errors as pg

from penstock.embedded import Binaries, EmbeddedPostgres
from penstock.embedded.process import wait_for
from penstock.kernel.connection import connect
from tests.acceptance.cli.conftest import DEADLINE_S, Penstock
from tests.tree import ROOT

WORKER = ("worker", "--app", "tests.acceptance.apps.plain")


@pytest.fixture
def own_server(scratch: Path, binaries: Binaries) -> Iterator[EmbeddedPostgres]:
    """A server that has never seen Penstock, with a database `shop` of a user that may create roles."""
    folder = scratch / f"own-{uuid4().hex[:8]}"
    with EmbeddedPostgres(folder, binaries=binaries, settings={"fsync": "off"}) as embedded:
        with connect(embedded.url()) as superuser:
            superuser.execute("create role shopowner login createrole")
            superuser.execute("create role shopweb login")
            superuser.execute("create database shop owner shopowner")
        yield embedded
    shutil.rmtree(folder, ignore_errors=True)


def _url(server: EmbeddedPostgres, user: str) -> str:
    return server.url("shop").replace("//postgres@", f"//{user}@")


@pytest.fixture
def owner(own_server: EmbeddedPostgres, monkeypatch: pytest.MonkeyPatch) -> Iterator[Penstock]:
    """The owner's command, after `penstock migrate`."""
    monkeypatch.chdir(ROOT)
    command = Penstock(PENSTOCK_DATABASE_URL=_url(own_server, "shopowner"))
    assert "Run: penstock migrate" in command.run("doctor").out
    command.ok("migrate")
    yield command
    command.end()


@pytest.fixture
def web(own_server: EmbeddedPostgres) -> Iterator[Penstock]:
    """The command of a login that owns nothing."""
    command = Penstock(PENSTOCK_DATABASE_URL=_url(own_server, "shopweb"))
    yield command
    command.end()


def test_an_owner_without_a_role_is_told_which_to_grant_itself_and_then_works(
    owner: Penstock, own_server: EmbeddedPostgres
) -> None:
    examined = owner.run("doctor")
    assert examined.code == 1
    assert "shopowner holds none of Penstock's roles" in examined.out
    assert "runs: grant penstock_producer, dot_executor to shopowner" in examined.out
    assert "runs: grant penstock_producer to shopowner" in owner.refuses("job", "enqueue", "tell")
    assert "runs: grant dot_executor to shopowner" in owner.refuses(*WORKER)

    with connect(_url(own_server, "shopowner")) as connection:
        connection.execute("grant penstock_producer to current_user")
        connection.execute("grant dot_executor to current_user")

    job_id = int(owner.ok("job", "enqueue", "tell"))
    worker = owner.start(*WORKER)
    assert wait_for(lambda: owner.json("job", "show", job_id)["job"]["status"] == "succeeded", DEADLINE_S)
    worker.send_signal(signal.SIGTERM)
    assert worker.wait(DEADLINE_S) == 0
    assert "shopowner holds dot_executor, penstock_producer" in owner.run("doctor").out


def test_a_producer_and_a_worker_need_one_role_each(
    owner: Penstock, web: Penstock, own_server: EmbeddedPostgres
) -> None:
    with connect(_url(own_server, "shopowner")) as connection:
        assert "penstock_producer" in web.refuses("job", "enqueue", "tell")
        connection.execute("grant penstock_producer to shopweb")
        job_id = int(web.ok("job", "enqueue", "tell"))
        assert "dot_executor" in web.refuses(*WORKER)
        connection.execute("revoke penstock_producer from shopweb")
        connection.execute("grant dot_executor to shopweb")
    worker = web.start(*WORKER)
    assert wait_for(lambda: web.json("job", "show", job_id)["job"]["status"] == "succeeded", DEADLINE_S)
    worker.send_signal(signal.SIGTERM)
    assert worker.wait(DEADLINE_S) == 0
    assert int(web.ok("job", "enqueue", "tell")) > job_id


def test_an_operator_hands_out_no_roles(owner: Penstock, own_server: EmbeddedPostgres) -> None:
    """Which is why no advice sends anybody to one for them."""
    with connect(_url(own_server, "shopowner")) as connection:
        connection.execute("grant workflow_admin to shopweb")
    with connect(_url(own_server, "shopweb")) as connection, pytest.raises(pg.InsufficientPrivilege):
        connection.execute("grant dot_executor to shopowner")


def test_the_owner_of_the_schema_may_decide_but_not_enqueue_claim_or_speak_for_others(owner: Penstock) -> None:
    owner.ok("config", "set", "queue.lease_ms.default", "30000")
    assert "shopowner may not speak for user:ann" in owner.refuses("pool", "set", "imports", "--actor", "user:ann")
    assert "role:shopowner may not enqueue" in owner.refuses("job", "enqueue", "tell")
