"""Wake-ups: a hint on the right channel, rarely enough, and only when the bridge is open."""

import pytest

from penstock.kernel import jobs
from penstock.kernel.connection import Connection
from tests.conftest import Connect
from tests.sql.support import (
    configure,
    enqueue,
    enqueue_later,
    fail,
    fall_due,
    finish,
    reap,
    retry_at_once,
    take_one,
    tick,
    value,
)


def _listener(session: Connect, *channels: str) -> Connection:
    listener = session()
    for channel in channels:
        listener.execute(f"listen {channel}".encode())
    return listener


def _heard(listener: Connection, db: Connection) -> list[str]:
    """The channels heard so far. A last word on a channel of our own says that no earlier one is on its way."""
    listener.execute("listen the_end")
    db.execute("notify the_end")
    heard: list[str] = []
    for notify in listener.notifies(timeout=60):
        assert notify.payload == ""
        if notify.channel == "the_end":
            return heard
        heard.append(notify.channel)
    raise AssertionError("the last notification never came")


def _quiet(db: Connection) -> None:
    """Forget the last wake-up of every channel, so that the next one is not held back."""
    db.execute("select setval(c.oid::regclass, 1) from pg_class c where c.relname ~ '^wake_' and c.relkind = 'S'")


def test_a_burst_of_jobs_wakes_once(db: Connection, session: Connect) -> None:
    listener = _listener(session, "queue_wake_any")
    jobs.enqueue_many(db, [{"kind": "work"} for _ in range(500)])
    assert _heard(listener, db) == ["queue_wake_any"]


def test_wakeups_of_many_small_transactions_come_no_faster_than_the_debounce(db: Connection, session: Connect) -> None:
    listener = _listener(session, "queue_wake_any")
    began = value(db, "select extract(epoch from clock_timestamp()) * 1000")
    db.execute("do $$ begin for n in 1..300 loop perform penstock.fn_job_enqueue('work'); commit; end loop; end $$")
    ended = value(db, "select extract(epoch from clock_timestamp()) * 1000")
    heard = _heard(listener, db)
    assert 1 <= len(heard) <= (ended - began) / 5 + 2


def test_a_wakeup_names_the_domain(db: Connection, session: Connect) -> None:
    listener = _listener(session, "queue_wake_any", "queue_wake_kg", "queue_wake_tac")
    jobs.enqueue_many(db, [{"kind": "work", "event_domain": "kg"}, {"kind": "work"}])
    assert sorted(_heard(listener, db)) == ["queue_wake_any", "queue_wake_kg"]


def test_a_domain_of_the_users_own_wakes_too(db: Connection, session: Connect) -> None:
    value(db, "select penstock.fn_event_domain_register('shop')::text")
    listener = _listener(session, "queue_wake_shop")
    enqueue(db, event_domain="shop")
    assert _heard(listener, db) == ["queue_wake_shop"]


def test_nobody_is_woken_while_the_bridge_is_closed(db: Connection, session: Connect) -> None:
    configure(db, "queue.notify.bridge_enabled", "false")
    listener = _listener(session, "queue_wake_any")
    enqueue(db)
    assert _heard(listener, db) == []
    configure(db, "queue.notify.bridge_enabled", "true")
    enqueue(db)
    assert _heard(listener, db) == ["queue_wake_any"]


def test_a_job_for_later_and_an_enqueue_rolled_back_wake_nobody(db: Connection, session: Connect) -> None:
    listener = _listener(session, "queue_wake_any")
    enqueue_later(db)
    with db.transaction(force_rollback=True):
        enqueue(db)
    assert _heard(listener, db) == []


@pytest.mark.parametrize("how", ["due", "released", "reaped", "next in its lane", "retried"])
def test_a_job_that_becomes_ready_wakes_its_workers(how: str, db: Connection, session: Connect) -> None:
    retry_at_once(db)
    first = enqueue(db, lane="l", event_domain="kg")
    enqueue(db, lane="l", event_domain="kg")
    later = enqueue_later(db, event_domain="kg")
    claim = take_one(db)
    if how == "retried":
        fail(db, claim)
    _quiet(db)
    listener = _listener(session, "queue_wake_kg")
    if how == "due":
        fall_due(db, later)
        tick(db)
    elif how == "released":
        jobs.release(db, [first], [claim.lease_token])
    elif how == "reaped":
        reap(db, first)
    elif how == "next in its lane":
        finish(db, claim)
    else:
        tick(db)
    assert _heard(listener, db) == ["queue_wake_kg"]


def test_a_long_transaction_that_enqueues_holds_up_no_others_wakeups(db: Connection, session: Connect) -> None:
    listener = _listener(session, "queue_wake_any")
    theirs = session()
    theirs.execute("begin")
    theirs.execute("select pg_sleep(0.01)")
    for _ in range(5):
        enqueue(theirs)
        _quiet(db)
        enqueue(theirs)
        enqueue(db)
    assert _heard(listener, db) == ["queue_wake_any"] * 5
    theirs.execute("commit")
    assert _heard(listener, db) == ["queue_wake_any"]
