"""Leases: kept alive by their own incarnation alone, taken back when they end, whoever lives."""

from datetime import datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest

from penstock.errors import ExecutorRefused, PenstockError, UnknownExecutor
from penstock.kernel import jobs
from penstock.kernel.connection import Connection
from penstock.model import Answer, Claim
from tests.sql.support import (
    beat,
    configure,
    contents,
    enqueue,
    expire,
    fail,
    fall_due,
    finish,
    reap,
    refused,
    register,
    retry_at_once,
    row,
    rows,
    rule,
    status,
    take,
    take_one,
    taken,
    tick,
    value,
)


def _left(db: Connection, job_id: int, seconds: float) -> None:
    """The lease of this job ends in so many seconds."""
    db.execute(
        "update penstock.job_queue set lease_until = clock_timestamp() + %s * interval '1 second' where job_id = %s",
        [seconds, job_id],
    )


def _until(db: Connection, job_id: int) -> datetime:
    until: datetime = row(db, job_id)["lease_until"]
    return until


def _keep(db: Connection, incarnation: UUID, *claims: Claim) -> list[tuple[int, str]]:
    ids, tokens = [one.job_id for one in claims], [one.lease_token for one in claims]
    return jobs.heartbeat(db, "default", incarnation, ids, tokens)


def _keep_all(db: Connection, incarnation: UUID, executor: str = "default") -> list[tuple[Any, ...]]:
    return rows(db, "select * from penstock.fn_job_heartbeat(%s, %s)", executor, incarnation)


@pytest.mark.parametrize("start", [False, True])
def test_a_beat_extends_a_lease_with_less_than_half_left(start: bool, db: Connection) -> None:
    incarnation = uuid4()
    job_id = enqueue(db)
    claim = take_one(db, incarnation=incarnation, start=start)
    _left(db, job_id, 29)
    before = value(db, "select clock_timestamp() + interval '1 minute'")
    assert _keep(db, incarnation, claim) == []
    after = value(db, "select clock_timestamp() + interval '1 minute'")
    assert before <= _until(db, job_id) <= after


def test_a_beat_leaves_a_lease_with_more_than_half_alone(db: Connection) -> None:
    incarnation = uuid4()
    job_id = enqueue(db)
    claim = take_one(db, incarnation=incarnation)
    _left(db, job_id, 1000)
    before = _until(db, job_id)
    _keep(db, incarnation, claim)
    assert _until(db, job_id) == before


def test_a_beat_that_names_its_jobs_extends_no_other(db: Connection) -> None:
    incarnation = uuid4()
    named, unheard = enqueue(db), enqueue(db)
    claim, _ = take(db, incarnation=incarnation)
    for job_id in (named, unheard):
        _left(db, job_id, 1)
    before = [_until(db, job_id) for job_id in (named, unheard)]
    assert _keep(db, incarnation, claim) == []
    after = [_until(db, job_id) for job_id in (named, unheard)]
    assert after[0] > before[0]
    assert after[1] == before[1]


def test_a_beat_that_names_no_jobs_extends_all_of_its_incarnation(db: Connection) -> None:
    incarnation = uuid4()
    job_id = enqueue(db)
    take_one(db, incarnation=incarnation)
    _left(db, job_id, 1)
    before = _until(db, job_id)
    assert _keep_all(db, incarnation) == []
    assert _until(db, job_id) > before


def test_a_beat_under_a_stale_token_extends_nothing(db: Connection) -> None:
    incarnation = uuid4()
    job_id = enqueue(db)
    stale = take_one(db, incarnation=incarnation)
    reap(db, job_id)
    take_one(db, incarnation=incarnation)
    _left(db, job_id, 1)
    before = _until(db, job_id)
    assert _keep(db, incarnation, stale) == [(job_id, "lost")]
    assert _until(db, job_id) == before


def test_a_beat_extends_no_lease_of_another_incarnation(db: Connection) -> None:
    old, new = uuid4(), uuid4()
    of_the_dead, of_nobody, ours = enqueue(db), enqueue(db), enqueue(db)
    dead = take_one(db, incarnation=old)
    take_one(db)
    take_one(db, incarnation=new)
    for job_id in (of_the_dead, of_nobody, ours):
        _left(db, job_id, 1)
    before = [_until(db, job_id) for job_id in (of_the_dead, of_nobody, ours)]
    _keep(db, new, dead)
    _keep_all(db, new)
    after = [_until(db, job_id) for job_id in (of_the_dead, of_nobody, ours)]
    assert after[:2] == before[:2]
    assert after[2] > before[2]


def test_a_beat_extends_no_lease_of_another_executor(db: Connection) -> None:
    incarnation = uuid4()
    register(db, "twin")
    rule(db, "twin")
    job_id = enqueue(db)
    take_one(db, incarnation=incarnation)
    _left(db, job_id, 1)
    before = _until(db, job_id)
    _keep_all(db, incarnation, "twin")
    assert _until(db, job_id) == before


def test_no_lease_goes_past_the_kinds_timeout(db: Connection) -> None:
    configure(db, "queue.timeout_ms.work", "90000")
    incarnation = uuid4()
    job_id = enqueue(db)
    take_one(db, incarnation=incarnation, start=True)
    started = row(db, job_id)["started_at"] - timedelta(seconds=60)
    db.execute("update penstock.job_queue set started_at = %s", [started])
    _left(db, job_id, 1)
    for _ in range(2):
        _keep_all(db, incarnation)
        assert _until(db, job_id) == started + timedelta(seconds=90)


def test_a_job_past_its_timeout_is_not_kept_alive(db: Connection) -> None:
    incarnation = uuid4()
    job_id = enqueue(db)
    claim = take_one(db, incarnation=incarnation, start=True)
    db.execute("update penstock.job_queue set started_at = now() - interval '1 day'")
    expire(db, job_id)
    before = _until(db, job_id)
    _keep(db, incarnation, claim)
    assert _until(db, job_id) == before
    tick(db)
    assert status(db, job_id) == "retrying"


def test_a_job_that_waits_to_be_started_is_kept_as_long_as_its_worker_beats(db: Connection) -> None:
    configure(db, "queue.timeout_ms.work", "1000")
    incarnation = uuid4()
    job_id = enqueue(db)
    take_one(db, incarnation=incarnation)
    _left(db, job_id, 1)
    before = _until(db, job_id)
    _keep_all(db, incarnation)
    assert _until(db, job_id) > before + timedelta(seconds=50)


def test_a_beat_names_the_jobs_that_are_lost(db: Connection) -> None:
    incarnation = uuid4()
    ids = [enqueue(db) for _ in range(4)]
    kept, done, reaped, elsewhere = take(db, incarnation=incarnation)
    finish(db, done)
    reap(db, reaped.job_id, elsewhere.job_id)
    jobs.claim(db, "default", 1)
    lost = _keep(db, incarnation, kept, done, reaped, elsewhere)
    assert sorted(lost) == [(job_id, "lost") for job_id in ids[1:]]


def test_a_beat_is_written_down(db: Connection) -> None:
    incarnation = uuid4()
    jobs.heartbeat(db, "default", incarnation, [], [])
    db.execute("update penstock.queue_heartbeat set beat_at = beat_at - interval '1 hour', silent_since = now()")
    jobs.heartbeat(db, "default", incarnation, [], [])
    assert rows(
        db,
        "select incarnation, executor_id, executor_kind::text, silent_since, beat_at > now() - interval '30 minutes'"
        " from penstock.queue_heartbeat",
    ) == [(incarnation, "default", "PG_worker", None, True)]


def test_saying_i_live_extends_no_lease(db: Connection) -> None:
    incarnation = uuid4()
    job_id = enqueue(db)
    take_one(db, incarnation=incarnation)
    _left(db, job_id, 1)
    before = _until(db, job_id)
    beat(db, incarnation)
    assert _until(db, job_id) == before


def test_mot_and_strangers_do_not_beat(db: Connection) -> None:
    with pytest.raises(ExecutorRefused):
        value(db, "select penstock.fn_queue_heartbeat('default', 'MOT')")
    with pytest.raises(ExecutorRefused, match="registered as PG_worker"):
        value(db, "select penstock.fn_queue_heartbeat('default', 'Hermes')")
    with pytest.raises(UnknownExecutor):
        value(db, "select penstock.fn_queue_heartbeat('nobody', 'PG_worker')")
    with pytest.raises(UnknownExecutor):
        jobs.heartbeat(db, "nobody", uuid4(), [], [])
    assert rows(db, "select * from penstock.queue_heartbeat") == []


def test_a_lease_that_lasts_is_not_taken_back(db: Connection) -> None:
    job_id = enqueue(db)
    take_one(db)
    assert tick(db)["reap"] == {"ok": True, "did": 0}
    assert status(db, job_id) == "leased"


def test_reaping_a_job_that_never_ran_gives_its_attempt_back(db: Connection) -> None:
    job_id = enqueue(db, max_attempts=1)
    for _ in range(3):
        claim = take_one(db)
        assert claim.attempt == 1
        reap(db, job_id)
        live = row(db, job_id)
        assert (live["status"], live["attempt"], live["lease_token"], live["rule"]) == ("ready", 0, None, None)
    assert rows(db, "select * from penstock.job_outcome") == []


def test_reaping_a_running_job_uses_its_attempt(db: Connection) -> None:
    retry_at_once(db)
    job_id = enqueue(db)
    take_one(db, start=True)
    reap(db, job_id)
    assert rows(db, "select attempt, status::text, reason, error ->> 'type' from penstock.job_outcome") == [
        (1, "retrying", "lease_expired", "LeaseExpired")
    ]
    assert take_one(db).attempt == 2


def test_a_job_that_kills_its_worker_every_time_ends_in_the_dead_letter(db: Connection) -> None:
    retry_at_once(db)
    job_id = enqueue(db, max_attempts=3)
    deaths = 0
    while claimed := take(db, start=True):
        (claim,) = claimed
        if not claim.started:
            assert jobs.start(db, [job_id], [claim.lease_token]) == [Answer(job_id, True, None)]
        reap(db, job_id)
        deaths += 1
    assert deaths == 3
    assert status(db, job_id) == "dead_lettered"
    assert rows(db, "select reason from penstock.job_dead_letter") == [("lease_expired",)]


def test_the_neighbours_of_a_killer_lose_one_attempt_at_most(db: Connection) -> None:
    retry_at_once(db)
    killer = enqueue(db, priority=1)
    neighbours = [enqueue(db, max_attempts=2) for _ in range(5)]
    while claims := take(db, start=True):
        first = claims[0]
        if first.job_id != killer:
            break
        if not first.started:
            jobs.start(db, [killer], [first.lease_token])
        reap(db, *(claim.job_id for claim in claims))
    assert status(db, killer) == "dead_lettered"
    assert [(claim.job_id, claim.attempt) for claim in claims] == [(job_id, 2) for job_id in neighbours]


def test_a_start_is_refused_unless_the_job_is_leased_under_the_token(db: Connection) -> None:
    jobs.enqueue_many(db, [{"kind": "work"}] * 3)
    running, leased, done = take(db)
    finish(db, done)
    ready = enqueue(db)
    assert jobs.start(db, [running.job_id], [running.lease_token]) == [Answer(running.job_id, True, None)]
    asked = [running.job_id, leased.job_id, done.job_id, ready, 10**9]
    tokens = [running.lease_token, leased.lease_token + 5, done.lease_token, 1, 1]
    assert [answer.reason for answer in jobs.start(db, asked, tokens)] == [
        "already_running",
        "stale_token",
        "finished",
        "not_leased",
        "unknown_job",
    ]


def test_a_release_makes_the_job_ready_for_anybody(db: Connection) -> None:
    register(db, "other")
    rule(db, "other")
    ids = [enqueue(db), enqueue(db)]
    claims = take(db, start=True)
    answers = jobs.release(db, ids, [claims[0].lease_token, claims[1].lease_token])
    assert answers == [Answer(job_id, True, None) for job_id in ids]
    for job_id in ids:
        live = row(db, job_id)
        assert (live["status"], live["attempt"], live["leased_by"], live["started_at"]) == ("ready", 0, None, None)
    assert [claim.job_id for claim in jobs.claim(db, "other", 10)] == ids
    assert refused(db, ids[:1], [claims[0].lease_token]) == [Answer(ids[0], False, "stale_token")]


def test_a_release_for_later_waits_keeps_its_lane_and_counts_no_attempt(db: Connection) -> None:
    first, behind, other = enqueue(db, lane="l"), enqueue(db, lane="l"), enqueue(db)
    held = {claim.job_id: claim.lease_token for claim in take(db, start=True)}
    ids = [first, other]
    assert all(one.accepted for one in jobs.release(db, ids, [held[one] for one in ids], [60_000, 0]))
    live = [(row(db, one)["status"], row(db, one)["attempt"]) for one in (first, behind, other)]
    assert live == [("retrying", 0), ("blocked", 0), ("ready", 0)]
    waits = "select process_after - now() from penstock.job_queue where job_id = %s"
    assert timedelta(seconds=55) < value(db, waits, first) <= timedelta(seconds=60)
    trail = "select happening from penstock.v_execution_event where job_id = %s order by happened_at"
    assert rows(db, trail, first) == [("enqueued",), ("started",), ("put_off",)]
    assert [claim.job_id for claim in take(db)] == [other]
    fall_due(db, first)
    tick(db)
    assert [(claim.job_id, claim.attempt) for claim in take(db)] == [(first, 1)]


@pytest.mark.parametrize(
    ("delays", "words"), [([1, 2], "1 job ids with 1 tokens and 2 items"), ([-1], "a week"), ([604_800_001], "a week")]
)
def test_a_release_with_delays_that_make_no_sense_is_refused(db: Connection, delays: list[int], words: str) -> None:
    enqueue(db)
    claim = take_one(db)
    with pytest.raises(PenstockError, match=words):
        jobs.release(db, [claim.job_id], [claim.lease_token], delays)


def test_a_release_of_a_job_that_was_running_leaves_a_trace(db: Connection) -> None:
    begun, unbegun = enqueue(db), enqueue(db)
    held = take(db, 2)
    jobs.start(db, [begun], [held[0].lease_token])
    twice = [begun, begun, unbegun]
    jobs.release(db, twice, [held[0].lease_token, held[0].lease_token, held[1].lease_token])
    assert rows(db, "select job_id, attempt, status::text, reason, lease_token from penstock.job_outcome") == [
        (begun, 1, "ready", "released", held[0].lease_token)
    ]
    trail = "select happening, attempt from penstock.v_execution_event where job_id = %s order by happened_at"
    assert rows(db, trail, begun) == [("enqueued", None), ("started", 1), ("released", 1)]
    assert rows(db, trail, unbegun) == [("enqueued", None)]
    again = take(db, 2, start=True)
    assert [(claim.job_id, claim.attempt) for claim in again] == [(begun, 1), (unbegun, 1)]
    finish(db, *again)
    assert rows(db, "select status from penstock.v_job where job_id = %s", begun) == [("succeeded",)]


def test_a_release_under_a_stale_token_gives_nothing_back(db: Connection) -> None:
    job_id = enqueue(db)
    stale = take_one(db)
    reap(db, job_id)
    current = take_one(db)
    before = contents(db)
    assert jobs.release(db, [job_id], [stale.lease_token]) == [Answer(job_id, False, "stale_token")]
    assert contents(db) == before
    finish(db, current)
    assert jobs.release(db, [job_id], [current.lease_token]) == [Answer(job_id, False, "finished")]


def test_many_leases_are_taken_back_over_several_ticks(db: Connection) -> None:
    jobs.enqueue_many(db, [{"kind": "work"} for _ in range(1500)])
    expire(db, *(claim.job_id for _ in range(2) for claim in take(db, 1000)))
    assert [tick(db)["reap"]["did"] for _ in range(3)] == [1000, 500, 0]
    assert [len(taken(db, 1000)), len(taken(db, 1000))] == [1000, 500]


def test_a_failed_job_is_no_suspect(db: Connection) -> None:
    retry_at_once(db)
    enqueue(db)
    fail(db, take_one(db, start=True))
    assert take_one(db, start=True).started is True
