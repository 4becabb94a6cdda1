"""Cancelling: at once where nobody works on the job, and without believing its worker where somebody does."""

from collections.abc import Callable

import pytest

from penstock.errors import IllegalMove, UnknownJob
from penstock.kernel import jobs
from penstock.kernel.connection import Connection
from penstock.model import Answer, Claim
from tests.sql.support import (
    contents,
    enqueue,
    enqueue_later,
    expire,
    fail,
    finish,
    reap,
    refused,
    row,
    rows,
    status,
    statuses,
    take_one,
    taken,
    tick,
    value,
)

Report = Callable[[Connection, Claim], list[Answer]]

REPORTS: dict[str, Report] = {
    "finish": lambda db, claim: refused(db, [claim.job_id], [claim.lease_token], ["done"]),
    "fail": lambda db, claim: jobs.fail(db, [claim.job_id], [claim.lease_token], [{"message": "no"}]),
    "release": lambda db, claim: jobs.release(db, [claim.job_id], [claim.lease_token]),
}


def test_a_waiting_job_is_cancelled_at_once(db: Connection) -> None:
    ready, scheduled, retrying = enqueue(db), enqueue_later(db), enqueue(db, "fails")
    fail(db, take_one(db, kinds=["fails"]))
    head, blocked = enqueue(db, lane="l"), enqueue(db, lane="l")
    for job_id in (ready, scheduled, retrying, blocked):
        assert jobs.cancel(db, job_id) == "cancelled"
        view = jobs.show(db, job_id)
        assert (view.status, view.finished_at is not None) == ("cancelled", True)
    assert taken(db) == [head]


@pytest.mark.parametrize("report", REPORTS)
@pytest.mark.parametrize("start", [False, True])
def test_a_held_job_is_cancelled_when_its_worker_next_reports(start: bool, report: str, db: Connection) -> None:
    job_id, behind = enqueue(db, lane="l"), enqueue(db, lane="l")
    claim = take_one(db, start=start)
    assert jobs.cancel(db, job_id) == "cancel_requested"
    assert statuses(db, [job_id, behind]) == ["running" if start else "leased", "blocked"]
    assert REPORTS[report](db, claim) == [Answer(job_id, False, "cancelled")]
    assert statuses(db, [job_id, behind]) == ["cancelled", "ready"]
    assert rows(db, "select * from penstock.job_result") == []
    assert rows(db, "select status::text, reason, error from penstock.job_outcome") == [
        ("cancelled", "cancelled", None)
    ]


@pytest.mark.parametrize("start", [False, True])
def test_a_held_job_is_cancelled_when_its_lease_ends(start: bool, db: Connection) -> None:
    job_id, behind = enqueue(db, lane="l"), enqueue(db, lane="l")
    claim = take_one(db, start=start)
    jobs.cancel(db, job_id)
    reap(db, job_id)
    assert statuses(db, [job_id, behind]) == ["cancelled", "ready"]
    assert rows(db, "select * from penstock.job_dead_letter") == []
    assert refused(db, [job_id], [claim.lease_token]) == [Answer(job_id, False, "finished")]


def test_a_cancelled_job_keeps_its_lane_until_its_worker_lets_go(db: Connection) -> None:
    job_id, behind = enqueue(db, lane="l"), enqueue(db, lane="l")
    take_one(db)
    jobs.cancel(db, job_id)
    tick(db)
    assert taken(db) == []
    assert status(db, behind) == "blocked"


def test_only_the_holder_settles_a_cancel(db: Connection) -> None:
    job_id = enqueue(db)
    stale = take_one(db)
    reap(db, job_id)
    current = take_one(db)
    jobs.cancel(db, job_id)
    before = contents(db)
    assert refused(db, [job_id], [stale.lease_token]) == [Answer(job_id, False, "stale_token")]
    assert contents(db) == before
    assert refused(db, [job_id], [current.lease_token]) == [Answer(job_id, False, "cancelled")]


def test_a_start_of_a_cancelled_job_is_refused(db: Connection) -> None:
    job_id = enqueue(db)
    claim = take_one(db)
    jobs.cancel(db, job_id)
    assert jobs.start(db, [job_id], [claim.lease_token]) == [Answer(job_id, False, "cancelled")]
    assert status(db, job_id) == "cancelled"


def test_the_worker_is_told_by_its_beat(db: Connection) -> None:
    jobs.enqueue_many(db, [{"kind": "work"}] * 2)
    incarnation = value(db, "select gen_random_uuid()")
    claims = [take_one(db, incarnation=incarnation) for _ in range(2)]
    ids, tokens = [one.job_id for one in claims], [one.lease_token for one in claims]
    assert jobs.heartbeat(db, "default", incarnation, ids, tokens) == []
    jobs.cancel(db, ids[0])
    assert jobs.heartbeat(db, "default", incarnation, ids, tokens) == [(ids[0], "cancelled")]


def test_a_cancelled_job_among_500_spoils_no_other(db: Connection) -> None:
    jobs.enqueue_many(db, [{"kind": "work"} for _ in range(500)])
    claims = jobs.claim(db, "default", 500)
    jobs.cancel(db, claims[99].job_id)
    answers = refused(db, [one.job_id for one in claims], [one.lease_token for one in claims])
    assert answers == [Answer(claims[99].job_id, False, "cancelled")]
    assert value(db, "select count(*) from penstock.job_queue") == 0


def test_cancelling_twice_asks_once(db: Connection) -> None:
    job_id = enqueue(db)
    take_one(db)
    assert [jobs.cancel(db, job_id), jobs.cancel(db, job_id)] == ["cancel_requested"] * 2
    asked = value(db, "select count(*) from penstock.execution_event where happening = 'cancel_requested'")
    assert asked == 1


def test_who_cancelled_and_why_is_kept(db: Connection) -> None:
    job_id = enqueue(db)
    jobs.cancel(db, job_id, "user:ann", "not needed")
    assert rows(
        db, "select actor, detail ->> 'reason' from penstock.v_execution_event where happening = 'cancel_requested'"
    ) == [("user:ann", "not needed")]
    assert status(db, job_id) == "cancelled"


@pytest.mark.parametrize("end", ["succeeded", "dead_lettered", "cancelled"])
def test_a_finished_job_cannot_be_cancelled(end: str, db: Connection) -> None:
    job_id = enqueue(db)
    if end == "cancelled":
        jobs.cancel(db, job_id)
    elif end == "succeeded":
        finish(db, take_one(db))
    else:
        fail(db, take_one(db), {"permanent": True})
    before = contents(db)
    with pytest.raises(IllegalMove, match=end):
        jobs.cancel(db, job_id)
    assert contents(db) == before


def test_an_unknown_job_cannot_be_cancelled(db: Connection) -> None:
    with pytest.raises(UnknownJob):
        jobs.cancel(db, 987654321)


def test_a_cancel_that_was_rolled_back_is_forgotten(db: Connection) -> None:
    job_id = enqueue(db)
    claim = take_one(db)
    with db.transaction(force_rollback=True):
        jobs.cancel(db, job_id)
    assert row(db, job_id)["cancel_requested"] is False
    finish(db, claim)


def test_a_cancel_with_no_partition_for_its_outcome_makes_one(db: Connection) -> None:
    held, waiting, expired = enqueue(db), enqueue(db), enqueue(db)
    claim, lapsed = take_one(db), take_one(db, kinds=["work"])
    assert {claim.job_id, lapsed.job_id} == {held, waiting}
    last = take_one(db)
    assert last.job_id == expired
    for job_id in (held, expired):
        jobs.cancel(db, job_id)
    _drop_months(db)
    assert jobs.release(db, [held], [claim.lease_token]) == [Answer(held, False, "cancelled")]
    _drop_months(db)
    expire(db, expired)
    tick(db)
    assert status(db, expired) == "cancelled"
    jobs.release(db, [lapsed.job_id], [lapsed.lease_token])
    _drop_months(db)
    assert jobs.cancel(db, waiting) == "cancelled"


def _drop_months(db: Connection) -> None:
    db.execute(
        "do $$ declare t text; begin for t in select inhrelid::regclass from pg_inherits"
        " where inhparent = 'penstock.job_outcome'::regclass loop execute 'drop table ' || t; end loop; end $$"
    )
