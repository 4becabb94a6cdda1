"""Reports at the same time: one is believed, and none waits longer than for the row it is about."""

from collections.abc import Callable
from typing import Any
from uuid import uuid4

import pytest

from penstock.errors import DatabaseUnavailable, IllegalMove
from penstock.kernel import jobs
from penstock.kernel.connection import Connection
from penstock.model import Answer, Claim
from tests.concurrency.sessions import answer, aside, never_waits, together, wait_until
from tests.conftest import Connect
from tests.sql.support import (
    enqueue,
    expire,
    fail,
    finish,
    reap,
    refused,
    rows,
    status,
    statuses,
    take,
    take_one,
    tick,
    value,
)

SESSIONS = 6

Report = Callable[[Connection, Claim], Any]
REPORTS: dict[str, Report] = {
    "finish": lambda db, claim: refused(db, [claim.job_id], [claim.lease_token]),
    "fail": lambda db, claim: [one for one in [fail(db, claim)] if not one.accepted],
    "release": lambda db, claim: [
        one for one in jobs.release(db, [claim.job_id], [claim.lease_token]) if not one.accepted
    ],
}


@pytest.mark.parametrize("report", REPORTS)
def test_a_second_report_waits_for_the_first_and_is_refused(report: str, db: Connection, session: Connect) -> None:
    job_id = enqueue(db)
    claim = take_one(db)
    first, second = session(), session()
    first.execute("begin")
    finish(first, claim)
    with aside(db) as others:
        waiting = others.run_until_it_waits(second, lambda mine: REPORTS[report](mine, claim))
        first.execute("commit")
        assert answer(waiting) == [Answer(job_id, False, "finished")]
    assert rows(db, "select status::text from penstock.job_outcome") == [("succeeded",)]


@pytest.mark.parametrize("report", REPORTS)
def test_a_second_report_is_believed_when_the_first_is_rolled_back(
    report: str, db: Connection, session: Connect
) -> None:
    enqueue(db)
    claim = take_one(db)
    first, second = session(), session()
    first.execute("begin")
    finish(first, claim)
    with aside(db) as others:
        waiting = others.run_until_it_waits(second, lambda mine: REPORTS[report](mine, claim))
        first.execute("rollback")
        assert answer(waiting) == []


def test_the_reaper_leaves_a_job_alone_that_is_just_being_reported(db: Connection, session: Connect) -> None:
    job_id = enqueue(db)
    claim = take_one(db, start=True)
    expire(db, job_id)
    worker = session()
    worker.execute("begin")
    finish(worker, claim)
    assert tick(never_waits(db))["reap"] == {"ok": True, "did": 0}
    worker.execute("commit")
    assert status(db, job_id) == "succeeded"


@pytest.mark.parametrize("start", [False, True])
def test_a_report_that_comes_while_the_job_is_reaped_is_refused(start: bool, db: Connection, session: Connect) -> None:
    job_id = enqueue(db)
    claim = take_one(db, start=start)
    expire(db, job_id)
    reaper, worker = session(), session()
    reaper.execute("begin")
    assert tick(reaper)["reap"]["did"] == 1
    with aside(db) as others:
        waiting = others.run_until_it_waits(worker, lambda mine: REPORTS["finish"](mine, claim))
        reaper.execute("commit")
        assert answer(waiting) == [Answer(job_id, False, "not_leased")]
    assert status(db, job_id) == ("retrying" if start else "ready")


def test_a_report_that_comes_while_the_job_is_cancelled_is_refused(db: Connection, session: Connect) -> None:
    job_id, behind = enqueue(db, lane="l"), enqueue(db, lane="l")
    claim = take_one(db)
    canceller, worker = session(), session()
    canceller.execute("begin")
    assert jobs.cancel(canceller, job_id) == "cancel_requested"
    with aside(db) as others:
        waiting = others.run_until_it_waits(worker, lambda mine: REPORTS["finish"](mine, claim))
        canceller.execute("commit")
        assert answer(waiting) == [Answer(job_id, False, "cancelled")]
    assert statuses(db, [job_id, behind]) == ["cancelled", "ready"]


def test_a_cancel_that_comes_while_the_job_is_finished_is_refused(db: Connection, session: Connect) -> None:
    job_id = enqueue(db)
    claim = take_one(db)
    worker, canceller = session(), session()
    worker.execute("begin")
    finish(worker, claim)
    with aside(db) as others:
        waiting = others.run_until_it_waits(canceller, lambda mine: jobs.cancel(mine, job_id))
        worker.execute("commit")
        with pytest.raises(IllegalMove, match="succeeded"):
            answer(waiting)


def test_a_beat_waits_for_no_open_report(db: Connection, session: Connect) -> None:
    incarnation = uuid4()
    jobs.enqueue_many(db, [{"kind": "work"}] * 2)
    reported, kept = take(db, incarnation=incarnation)
    db.execute("update penstock.job_queue set lease_until = clock_timestamp() + interval '1 second'")
    worker = session()
    worker.execute("begin")
    finish(worker, reported)
    ids, tokens = [reported.job_id, kept.job_id], [reported.lease_token, kept.lease_token]
    assert jobs.heartbeat(never_waits(db), "default", incarnation, ids, tokens) == []
    assert value(
        db,
        "select lease_until > clock_timestamp() + interval '30 seconds' from penstock.job_queue where job_id = %s",
        kept.job_id,
    )


def test_a_finish_waits_for_an_open_beat_and_is_accepted(db: Connection, session: Connect) -> None:
    incarnation = uuid4()
    enqueue(db)
    claim = take_one(db, incarnation=incarnation)
    db.execute("update penstock.job_queue set lease_until = clock_timestamp() + interval '1 second'")
    beater, worker = session(), session()
    beater.execute("begin")
    jobs.heartbeat(beater, "default", incarnation, [claim.job_id], [claim.lease_token])
    with aside(db) as others:
        waiting = others.run_until_it_waits(worker, lambda mine: REPORTS["finish"](mine, claim))
        beater.execute("commit")
        assert answer(waiting) == []


def test_a_stale_report_waits_for_nobody(db: Connection, session: Connect) -> None:
    job_id = enqueue(db)
    stale = take_one(db)
    reap(db, job_id)
    current = take_one(db)
    other = session()
    other.execute("begin")
    finish(other, current)
    assert REPORTS["finish"](never_waits(db), stale) == [Answer(job_id, False, "stale_token")]


def test_a_report_whose_session_dies_changes_nothing(db: Connection, session: Connect) -> None:
    job_id, behind = enqueue(db, lane="l"), enqueue(db, lane="l")
    claim = take_one(db)
    victim = session()
    victim.execute("begin")
    finish(victim, claim)
    value(db, "select pg_terminate_backend(%s)", victim.info.backend_pid)
    wait_until(lambda: refused(db, [job_id], [claim.lease_token]) == [], "the job is finished by another")
    assert statuses(db, [job_id, behind]) == ["succeeded", "ready"]


def _repeated(report: Callable[[], int]) -> int:
    """Report again after a deadlock, as a worker does: the server has undone what this call did."""
    while True:
        try:
            return report()
        except DatabaseUnavailable as error:
            if "deadlock" not in str(error):
                raise


def test_each_job_is_believed_once_when_many_report_it_in_any_order(db: Connection, session: Connect) -> None:
    jobs.enqueue_many(db, [{"kind": "work", "lane": f"l{n % 40}"} for n in range(200)])
    connections = [session() for _ in range(SESSIONS)]
    done = 0
    while claims := take(db, 400):

        def report(number: int, claims: list[Claim] = claims) -> int:
            mine = claims if number % 2 else claims[::-1]
            ids, tokens = [one.job_id for one in mine], [one.lease_token for one in mine]
            if number % 3:
                return len(mine) - len(refused(connections[number], ids, tokens))
            answers = jobs.fail(connections[number], ids, tokens, [{"permanent": True}] * len(ids))
            return sum(one.accepted for one in answers)

        assert sum(together(SESSIONS, lambda number: _repeated(lambda: report(number)))) == len(claims)
        done += len(claims)
    assert done == 200
    assert rows(db, "select count(*), count(distinct job_id) from penstock.job_outcome") == [(200, 200)]
    assert rows(db, "select * from penstock.job_queue") == []
