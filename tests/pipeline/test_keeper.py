"""The lease's keeper: what it looks at may be closed as soon as it is told to look away."""

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from threading import Event
from uuid import uuid4

import pytest

from penstock.kernel import runtimes, subscriptions
from penstock.kernel.connection import Connection, connect
from penstock.model import Json
from penstock.pipeline.keeper import Keeper
from tests.concurrency.sessions import DEADLINE_S, wait_until
from tests.ingest.support import PATH, playbook, subscription


@pytest.fixture
def keeper(db: Connection, database: str) -> Keeper:
    """Not started yet."""
    playbook(db)
    subscription(db)
    incarnation = uuid4()
    return Keeper(database, PATH, incarnation, runtimes.lease(db, PATH, incarnation))


def test_it_does_not_look_away_while_a_look_at_the_source_is_under_way(keeper: Keeper) -> None:
    looks, goes_on = Event(), Event()

    def lag(_: Mapping[str, Json]) -> int:
        looks.set()
        assert goes_on.wait(DEADLINE_S)
        return 7

    keeper.watch(lag)
    keeper.start()
    assert looks.wait(DEADLINE_S)
    with ThreadPoolExecutor(1) as thread:
        away = thread.submit(keeper.watch, None)
        with pytest.raises(TimeoutError):
            away.result(0.5)
        goes_on.set()
        away.result(DEADLINE_S)
    keeper.end()


def test_a_look_that_raises_anything_or_takes_its_time_does_not_end_the_renewal(keeper: Keeper) -> None:
    looks: list[int] = []
    goes_on = Event()

    def lag(_: Mapping[str, Json]) -> int:
        looks.append(1)
        if len(looks) == 1:
            raise ZeroDivisionError
        assert goes_on.wait(DEADLINE_S)
        return 7

    keeper.watch(lag)
    keeper.start()
    wait_until(lambda: len(looks) == 2, "it looks, and looks again")
    before = keeper.lease.lease_until
    wait_until(lambda: keeper.lease.lease_until > before, "the lease is renewed meanwhile")
    goes_on.set()
    keeper.end()


def test_a_pause_is_heard_while_a_commit_has_the_runtimes_row(db: Connection, database: str, keeper: Keeper) -> None:
    keeper.start()
    try:
        with connect(database) as commit, commit.transaction():
            commit.execute("select from penstock.subscription_runtime where path = %s for update", [PATH])
            subscriptions.move(db, PATH, "pause")
            wait_until(lambda: keeper.lease.state == "PAUSED", "it hears of the pause")
        before = keeper.lease.lease_until
        wait_until(lambda: keeper.lease.lease_until > before, "it renews the lease again")
    finally:
        keeper.end()
