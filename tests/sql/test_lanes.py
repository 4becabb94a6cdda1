"""Lanes: one at a time, in enqueue order, whatever becomes of the head."""

from collections.abc import Callable

import pytest
from psycopg import Rollback

from penstock.kernel import jobs
from penstock.kernel.connection import Connection
from penstock.model import Claim
from tests.sql.support import (
    enqueue,
    enqueue_later,
    fail,
    fall_due,
    finish,
    reap,
    refused,
    retry_at_once,
    row,
    rows,
    status,
    statuses,
    take,
    take_one,
    taken,
    tick,
)


def _drain(db: Connection) -> list[int]:
    """Run everything there is, one claim after the other; the order in which the jobs ran."""
    ran: list[int] = []
    while claims := take(db):
        ran += [claim.job_id for claim in claims]
        finish(db, *claims)
    return ran


def test_jobs_of_a_lane_run_one_at_a_time_in_the_order_they_were_enqueued(db: Connection) -> None:
    ids = [enqueue(db, lane="l", priority=priority) for priority in (0, 5, -5, 9)]
    for job_id in ids:
        (claim,) = take(db)
        assert claim.job_id == job_id
        assert take(db) == []
        finish(db, claim)
    assert take(db) == []


def test_jobs_of_one_request_keep_their_order_in_their_lanes(db: Connection) -> None:
    made = jobs.enqueue_many(db, [{"kind": "work", "lane": f"l{n % 3}"} for n in range(30)])
    ids = [one.job_id for one in made]
    rounds = []
    while claims := take(db):
        rounds.append([claim.job_id for claim in claims])
        finish(db, *claims)
    assert rounds == [ids[n : n + 3] for n in range(0, 30, 3)]


def test_lanes_do_not_wait_for_one_another(db: Connection) -> None:
    a, b, loose = enqueue(db, lane="a"), enqueue(db, lane="b"), enqueue(db)
    enqueue(db, lane="a"), enqueue(db, lane="b")
    assert taken(db) == [a, b, loose]


def test_a_lane_is_one_whatever_the_kind_and_the_pool(db: Connection) -> None:
    first = enqueue(db, "a", lane="l")
    second = enqueue(db, "b", lane="l", pool="priority", event_domain="kg")
    assert statuses(db, [first, second]) == ["ready", "blocked"]
    finish(db, take_one(db))
    assert taken(db, pools=["priority"]) == [second]


def _run(db: Connection, claim: Claim) -> None:
    finish(db, claim)


def _bury(db: Connection, claim: Claim) -> None:
    fail(db, claim, {"permanent": True})


def _cancel_and_report(db: Connection, claim: Claim) -> None:
    jobs.cancel(db, claim.job_id)
    refused(db, [claim.job_id], [claim.lease_token])


def _cancel_before_it_is_claimed(db: Connection, claim: Claim) -> None:
    jobs.release(db, [claim.job_id], [claim.lease_token])
    jobs.cancel(db, claim.job_id)


def _cancel_while_it_waits_to_retry(db: Connection, claim: Claim) -> None:
    fail(db, claim)
    jobs.cancel(db, claim.job_id)


def _kill_until_dead(db: Connection, claim: Claim) -> None:
    jobs.start(db, [claim.job_id], [claim.lease_token])
    db.execute("update penstock.job_queue set max_attempts = 1 where job_id = %s", [claim.job_id])
    reap(db, claim.job_id)
    assert status(db, claim.job_id) == "dead_lettered"


@pytest.mark.parametrize(
    "ending",
    [
        _run,
        _bury,
        _cancel_and_report,
        _cancel_before_it_is_claimed,
        _cancel_while_it_waits_to_retry,
        _kill_until_dead,
    ],
)
def test_the_next_job_is_ready_once_the_head_has_ended(
    ending: Callable[[Connection, Claim], None], db: Connection
) -> None:
    ids = [enqueue(db, lane="l") for _ in range(3)]
    claim = take_one(db)
    ending(db, claim)
    assert statuses(db, ids[1:]) == ["ready", "blocked"]
    assert _drain(db) == ids[1:]


@pytest.mark.parametrize("how", ["release", "reap", "fail"])
def test_a_head_that_is_tried_again_stays_head(how: str, db: Connection) -> None:
    retry_at_once(db)
    head, behind = enqueue(db, lane="l"), enqueue(db, lane="l")
    claim = take_one(db)
    if how == "release":
        jobs.release(db, [head], [claim.lease_token])
    elif how == "reap":
        reap(db, head)
    else:
        fail(db, claim)
        assert statuses(db, [head, behind]) == ["retrying", "blocked"]
    assert _drain(db) == [head, behind]


def test_cancelling_a_job_in_the_middle_closes_the_gap(db: Connection) -> None:
    ids = [enqueue(db, lane="l") for _ in range(4)]
    jobs.cancel(db, ids[1])
    assert _drain(db) == [ids[0], *ids[2:]]


def test_cancelling_jobs_that_are_not_in_the_lane_yet_moves_nothing(db: Connection) -> None:
    later = enqueue_later(db, lane="l")
    head, behind = enqueue(db, lane="l"), enqueue(db, lane="l")
    jobs.cancel(db, later)
    assert statuses(db, [head, behind]) == ["ready", "blocked"]


def test_a_scheduled_job_joins_its_lane_when_it_is_due(db: Connection) -> None:
    later = enqueue_later(db, lane="l")
    head, last = enqueue(db, lane="l"), enqueue(db, lane="l")
    claim = take_one(db)
    fall_due(db, later)
    tick(db)
    assert statuses(db, [later, head, last]) == ["blocked", "leased", "blocked"]
    finish(db, claim)
    assert _drain(db) == [later, last]


def test_a_scheduled_job_of_an_empty_lane_is_ready_when_it_is_due(db: Connection) -> None:
    first, second = enqueue_later(db, lane="l"), enqueue_later(db, lane="l")
    fall_due(db, first, second)
    tick(db)
    assert statuses(db, [first, second]) == ["ready", "blocked"]
    assert _drain(db) == [first, second]


def test_more_lanes_than_a_transaction_may_lock_are_all_served(db: Connection) -> None:
    made = jobs.enqueue_many(db, [{"kind": "work", "lane": f"l{n}"} for n in range(600)] * 2)
    ids = [one.job_id for one in made]
    place = {job_id: position for position, job_id in enumerate(_drain(db))}
    assert sorted(place) == ids
    assert all(place[ids[n]] < place[ids[n + 600]] for n in range(600))


def test_many_lanes_of_one_long_transaction_are_all_served(db: Connection) -> None:
    with db.transaction():
        ids = [enqueue(db, lane=f"l{n % 300}") for n in range(600)]
    assert sorted(_drain(db)) == ids


def test_a_lane_enqueued_above_read_committed_is_served_in_order(db: Connection) -> None:
    db.execute("begin isolation level repeatable read")
    first, second = enqueue(db, lane="l"), enqueue(db, lane="l")
    db.execute("commit")
    third = enqueue(db, lane="l")
    assert _drain(db) == [first, second, third]


def test_a_finish_above_read_committed_hands_the_lane_on(db: Connection) -> None:
    ids = [enqueue(db, lane="l") for _ in range(2)]
    claim = take_one(db)
    db.execute("begin isolation level repeatable read")
    finish(db, claim)
    db.execute("commit")
    assert _drain(db) == ids[1:]


def test_an_enqueue_that_is_rolled_back_leaves_its_lane_free(db: Connection) -> None:
    with db.transaction():
        enqueue(db, lane="l")
        raise Rollback
    assert status(db, enqueue(db, lane="l")) == "ready"


def test_a_head_of_a_savepoint_that_is_rolled_back_leaves_its_lane_free(db: Connection) -> None:
    with db.transaction():
        with db.transaction():
            enqueue(db, lane="l")
            raise Rollback
        kept = enqueue(db, lane="l")
        with db.transaction():
            enqueue(db, lane="l")
            raise Rollback
        last = enqueue(db, lane="l")
    assert statuses(db, [kept, last]) == ["ready", "blocked"]
    assert _drain(db) == [kept, last]


def test_a_job_that_a_race_left_without_a_head_is_promoted_by_the_sweeper(db: Connection) -> None:
    stranded = _strand(db)
    assert tick(db)["lanes"] == {"ok": True, "did": 1}
    assert status(db, stranded) == "ready"
    assert rows(db, "select * from penstock.lane_check") == []


def test_a_job_that_a_race_left_without_a_head_is_promoted_by_a_short_claim(db: Connection) -> None:
    stranded = _strand(db)
    assert taken(db) == [stranded]


def test_nobody_overtakes_a_job_that_waits_without_a_head(db: Connection) -> None:
    stranded = _strand(db)
    late = enqueue(db, lane="l")
    assert status(db, late) == "blocked"
    assert _drain(db) == [stranded, late]


def test_a_full_claim_leaves_the_sweeping_to_others(db: Connection) -> None:
    stranded = _strand(db)
    enqueue(db)
    assert stranded not in taken(db, 1)
    assert taken(db, 1) == [stranded]


def _strand(db: Connection) -> int:
    """A job that waits in a lane without a head, as an enqueue above read committed leaves it."""
    db.execute("begin isolation level repeatable read")
    job_id = enqueue(db, lane="l")
    db.execute("commit")
    assert row(db, job_id)["status"] == "blocked"
    return job_id


def test_a_job_that_is_due_goes_before_a_later_one_though_no_tick_has_seen_it(db: Connection) -> None:
    first = enqueue_later(db, lane="l")
    fall_due(db, first)
    second = enqueue(db, lane="l")
    assert _drain(db) == [first, second]


def test_a_job_that_falls_due_behind_the_head_goes_before_those_enqueued_after_it(db: Connection) -> None:
    head = enqueue(db, lane="l")
    first = enqueue_later(db, lane="l")
    second = enqueue(db, lane="l")
    claim = take_one(db)
    fall_due(db, first)
    finish(db, claim)
    assert [claim.job_id, *_drain(db)] == [head, first, second]


def test_of_several_due_jobs_of_a_lane_the_first_enqueued_is_next(db: Connection) -> None:
    late, early = enqueue_later(db, lane="l"), enqueue_later(db, lane="l")
    fall_due(db, early)
    fall_due(db, late)
    last = enqueue(db, lane="l")
    assert _drain(db) == [late, early, last]


def test_the_head_of_a_lane_stays_its_head_when_an_earlier_job_falls_due(db: Connection) -> None:
    earlier = enqueue_later(db, lane="l")
    head = enqueue(db, lane="l")
    fall_due(db, earlier)
    tick(db)
    assert _drain(db) == [head, earlier]
