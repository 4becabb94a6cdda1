"""Two runtimes and one subscription: who holds it while a commit takes longer than a lease."""

from uuid import uuid4

import pytest

from penstock.errors import SubscriptionHeld
from penstock.kernel import runtimes, subscriptions
from penstock.kernel.connection import Connection
from penstock.pipeline.books import opened
from penstock.pipeline.keeper import Keeper
from tests.concurrency.sessions import answer, aside, wait_until
from tests.conftest import Connect
from tests.ingest.support import PATH, Runtime, offsets, playbook, subscription
from tests.sql.support import value


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


STATE_WAITS = (
    "select count(*) from pg_stat_activity where datname = current_database() and application_name = 'penstock lease'"
    " and wait_event_type = 'Lock' and query like '%%v_subscription%%'"
)
STATE_IS_ASKED = STATE_WAITS.replace("wait_event_type = 'Lock'", "state = 'active'")


def test_a_place_taken_anew_while_its_state_is_asked_for_keeps_its_new_token(
    db: Connection, database: str, session: Connect, runtime: Runtime
) -> None:
    """A renewal that finds the row locked asks for the state alone; what it held before that is old by then."""
    committing, slow = session(), session()
    committing.execute("begin")
    committing.execute("select from penstock.subscription_runtime for update")
    # read with the state, and not by whoever takes the place
    slow.execute("begin")
    slow.execute("lock table penstock.ingest_dead_letter")
    keeper = Keeper(database, PATH, runtime.incarnation, runtime.lease)
    keeper.start()
    try:
        wait_until(lambda: value(db, STATE_WAITS) == 1, "it asks for the state")
        committing.execute("commit")
        with opened(database, PATH, "penstock runtime") as books:
            token = keeper.retake(books).token
        slow.execute("commit")
        wait_until(lambda: value(db, STATE_IS_ASKED) == 0, "it has its answer")
        assert keeper.lease.token == token > runtime.lease.token
    finally:
        slow.execute("rollback")
        committing.execute("rollback")
        keeper.end()
