"""Two runtimes and one subscription: who holds it while a commit takes longer than a lease."""

from uuid import uuid4

import pytest

from penstock.errors import SubscriptionHeld
from penstock.kernel import runtimes, subscriptions
from penstock.kernel.connection import Connection
from tests.concurrency.sessions import answer, aside
from tests.conftest import Connect
from tests.ingest.support import PATH, Runtime, offsets, playbook, subscription


@pytest.fixture
def runtime(db: Connection) -> Runtime:
    playbook(db)
    subscription(db)
    return Runtime(db)


def _run_out(db: Connection) -> None:
    """Nobody could renew the lease: a commit has had the row for long."""
    db.execute("update penstock.subscription_runtime set lease_until = clock_timestamp() - interval '1 second'")


@pytest.mark.parametrize("messages", [0, 2])
def test_a_commit_that_outlasts_the_lease_does_not_lose_the_place(
    messages: int, db: Connection, session: Connect, runtime: Runtime
) -> None:
    committing, other, slow = session(), session(), session()
    runtime.put(*offsets(*range(messages)))
    token, expected = runtime.lease.token, runtime.expected
    ledger = {"orders/0": {"identity": "t1", "next": messages}}
    _run_out(db)
    slow.execute("begin")
    slow.execute("lock table penstock.ingest_position in exclusive mode")
    with aside(db) as others:
        commit = others.run_until_it_waits(
            committing, lambda mine: runtimes.commit(mine, PATH, token, ledger, expected)
        )
        take = others.run_until_it_waits(other, lambda mine: runtimes.lease(mine, PATH, uuid4()))
        slow.execute("commit")
        assert answer(commit).executions == messages
        with pytest.raises(SubscriptionHeld):
            answer(take)
    assert subscriptions.show(db, PATH).is_running


def test_a_commit_that_comes_after_the_release_holds_nothing(db: Connection, runtime: Runtime) -> None:
    runtimes.release(db, PATH, runtime.lease.token)
    runtimes.commit(db, PATH, runtime.lease.token, {}, {})
    assert not subscriptions.show(db, PATH).is_running
    runtimes.lease(db, PATH, uuid4())
