"""What the state machine once found, each cut down to the few statements that show it."""

from uuid import uuid4

from penstock.errors import PenstockError
from penstock.kernel import jobs
from penstock.kernel.connection import Connection
from penstock.model import Answer, Claim
from tests.concurrency.sessions import answer, aside, never_waits
from tests.conftest import Connect
from tests.sql.support import enqueue, finish, statuses, take_one, tick, value


def test_a_tick_waits_for_no_first_beat_that_is_not_committed(db: Connection, session: Connect) -> None:
    incarnation = uuid4()
    enqueue(db)
    claim = take_one(db, incarnation=incarnation)
    worker = session()
    worker.execute("begin")
    jobs.heartbeat(worker, "default", incarnation, [claim.job_id], [claim.lease_token])
    assert tick(never_waits(db))["silence"] == {"ok": True, "did": 0}


def test_a_tick_waits_for_no_beat_that_has_waited_for_another_tick(db: Connection, session: Connect) -> None:
    incarnation = uuid4()
    enqueue(db)
    claim = take_one(db, incarnation=incarnation)
    ticker, worker = session(), session()
    ticker.execute("begin")
    tick(ticker)
    worker.execute("begin")
    with aside(db) as others:
        beat = others.run_until_it_waits(
            worker, lambda mine: jobs.heartbeat(mine, "default", incarnation, [claim.job_id], [claim.lease_token])
        )
        ticker.execute("rollback")
        assert answer(beat) == []
    assert tick(never_waits(db))["silence"] == {"ok": True, "did": 0}


def test_a_tick_waits_for_no_beat_of_a_worker_that_was_silent(db: Connection, session: Connect) -> None:
    incarnation = uuid4()
    jobs.heartbeat(db, "default", incarnation, [], [])
    db.execute("update penstock.queue_heartbeat set beat_at = beat_at - interval '1 hour'")
    worker = session()
    worker.execute("begin")
    jobs.heartbeat(worker, "default", incarnation, [], [])
    assert tick(never_waits(db))["silence"] == {"ok": True, "did": 0}


def _report(mine: Connection, report: str, claims: list[Claim]) -> list[Answer] | PenstockError:
    ids, tokens = [claim.job_id for claim in claims], [claim.lease_token for claim in claims]
    try:
        if report == "fail":
            return jobs.fail(mine, ids, tokens, [{"type": "Broken"}] * len(ids))
        return jobs.release(mine, ids, tokens) if report == "release" else jobs.start(mine, ids, tokens)
    except PenstockError as error:
        return error


def _both_wait_for_the_middle_one(db: Connection, session: Connect, report: str) -> list[object]:
    """A fail of three jobs in their order, and a report on them in the opposite one, both stopped half-way."""
    jobs.enqueue_many(db, [{"kind": "work", "priority": priority} for priority in range(3)])
    # claimed one by one, they lie in the table in the opposite order too
    high, middle, low = (take_one(db) for _ in range(3))
    holder, first, second = session(), session(), session()
    holder.execute("begin")
    assert jobs.cancel(holder, middle.job_id) == "cancel_requested"
    with aside(db) as others:
        failing = others.run_until_it_waits(first, lambda mine: _report(mine, "fail", [low, middle, high]))
        opposed = others.run_until_it_waits(second, lambda mine: _report(mine, report, [high, middle, low]))
        holder.execute("rollback")
        return [answer(failing), answer(opposed)]


def test_a_release_in_any_order_never_deadlocks_with_a_fail(db: Connection, session: Connect) -> None:
    failed, released = _both_wait_for_the_middle_one(db, session, "release")
    assert isinstance(failed, list)
    assert isinstance(released, list)


def test_a_start_in_any_order_never_deadlocks_with_a_fail(db: Connection, session: Connect) -> None:
    failed, started = _both_wait_for_the_middle_one(db, session, "start")
    assert isinstance(failed, list)
    assert isinstance(started, list)


def test_a_claim_under_a_floor_that_equals_the_best_priority_takes_that_and_nothing_below(db: Connection) -> None:
    value(db, "select penstock.fn_executor_register('picky', 'PG_worker')")
    value(db, "select penstock.fn_job_subscription_set('picky', 'PG_worker', 'work', null, 5, null, true)")
    high, low = enqueue(db, priority=5), enqueue(db, priority=4)
    assert [claim.job_id for claim in jobs.claim(db, "picky", 10)] == [high]
    assert statuses(db, [high, low]) == ["leased", "ready"]
    finish(db, take_one(db))
