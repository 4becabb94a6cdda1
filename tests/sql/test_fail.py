"""Failing: tried again later, within its policy, and every attempt kept."""

from collections.abc import Sequence
from typing import Any

import pytest
from psycopg.types.json import Json

from penstock.kernel import jobs
from penstock.kernel.connection import Connection
from penstock.model import Answer, Claim
from tests.sql.support import (
    configure,
    contents,
    enqueue,
    fail,
    fall_due,
    finish,
    reap,
    retry_at_once,
    row,
    rows,
    status,
    take,
    take_one,
    taken,
    tick,
    value,
)


def _policy(db: Connection, strategy: str, base_ms: int, cap_ms: int, jitter: str = "0") -> None:
    configure(db, "queue.retry.backoff.strategy", strategy)
    configure(db, "queue.retry.backoff.base_ms", str(base_ms))
    configure(db, "queue.retry.backoff.cap_ms", str(cap_ms))
    configure(db, "queue.retry.backoff.jitter", jitter)


def _delays(db: Connection, attempts: Sequence[int]) -> list[int]:
    return [value(db, "select penstock.retry_delay_ms(%s)", attempt) for attempt in attempts]


def _exhaust(db: Connection, *, start: bool = True) -> list[Claim]:
    """Fail the one job there is until nobody gets it any more."""
    retry_at_once(db)
    claims: list[Claim] = []
    while claimed := take(db, 1, start=start):
        claims += claimed
        fail(db, claimed[0])
    return claims


@pytest.mark.parametrize("start", [False, True])
def test_a_failed_job_waits_and_is_tried_again(start: bool, db: Connection) -> None:
    job_id = enqueue(db)
    assert fail(db, take_one(db, start=start)) == Answer(job_id, True, "retrying")
    live = row(db, job_id)
    assert live["status"] == "retrying"
    assert (live["lease_token"], live["lease_until"], live["leased_by"], live["rule"]) == (None, None, None, None)
    assert live["started_at"] is None
    tick(db)
    assert taken(db) == []
    fall_due(db, job_id)
    assert take_one(db).attempt == 2


def test_the_wait_begins_when_the_attempt_fails(db: Connection) -> None:
    _policy(db, "fixed", 3_600_000, 3_600_000)
    job_id = enqueue(db)
    claim = take_one(db)
    before = value(db, "select clock_timestamp() + interval '1 hour'")
    fail(db, claim)
    after = value(db, "select clock_timestamp() + interval '1 hour'")
    assert before <= row(db, job_id)["process_after"] <= after


def test_exponential_waits_double_up_to_the_cap(db: Connection) -> None:
    _policy(db, "exponential", 1000, 10_000)
    assert _delays(db, [1, 2, 3, 4, 5, 60, 1000]) == [1000, 2000, 4000, 8000, 10_000, 10_000, 10_000]


def test_linear_waits_grow_by_the_base_up_to_the_cap(db: Connection) -> None:
    _policy(db, "linear", 1000, 3500)
    assert _delays(db, [1, 2, 3, 4, 1000]) == [1000, 2000, 3000, 3500, 3500]


def test_fixed_waits_stay_and_the_cap_holds_for_them_too(db: Connection) -> None:
    _policy(db, "fixed", 700, 10_000)
    assert _delays(db, [1, 2, 9]) == [700, 700, 700]
    _policy(db, "fixed", 700, 500)
    assert _delays(db, [1]) == [500]


def test_jitter_varies_the_wait_either_way_within_its_share_and_the_cap(db: Connection) -> None:
    _policy(db, "fixed", 1000, 1100, "0.2")
    delays = [one for (one,) in rows(db, "select penstock.retry_delay_ms(1) from generate_series(1, 500)")]
    assert min(delays) < 1000 < max(delays)
    assert min(delays) >= 800
    assert max(delays) == 1100


def test_a_job_out_of_attempts_is_dead_lettered(db: Connection) -> None:
    job_id = enqueue(db)
    claims = _exhaust(db)
    assert [claim.attempt for claim in claims] == [1, 2, 3, 4, 5]
    assert status(db, job_id) == "dead_lettered"
    assert rows(db, "select job_id, reason from penstock.job_dead_letter") == [(job_id, "failed")]
    assert rows(db, "select attempt, status::text, reason from penstock.job_outcome order by attempt") == [
        *((attempt, "retrying", "failed") for attempt in (1, 2, 3, 4)),
        (5, "dead_lettered", "failed"),
    ]


@pytest.mark.parametrize(
    ("default", "of_kind", "of_job", "attempts"), [("2", None, None, 2), ("2", "3", None, 3), ("2", "3", 4, 4)]
)
def test_the_most_specific_limit_of_attempts_holds(
    default: str, of_kind: str | None, of_job: int | None, attempts: int, db: Connection
) -> None:
    configure(db, "queue.retry.max_attempts.default", default)
    if of_kind:
        configure(db, "queue.retry.max_attempts.work", of_kind)
    enqueue(db, max_attempts=of_job)
    assert len(_exhaust(db)) == attempts


def test_a_permanent_error_buries_a_job_at_its_first_attempt(db: Connection) -> None:
    job_id = enqueue(db)
    error = {"type": "NoSuchOrder", "message": "7", "permanent": True}
    assert fail(db, take_one(db), error) == Answer(job_id, True, "dead_lettered")
    assert rows(db, "select reason, error from penstock.job_dead_letter") == [("permanent", error)]


def test_every_failed_attempt_is_kept_with_its_error(db: Connection) -> None:
    retry_at_once(db)
    enqueue(db)
    for n in (1, 2):
        fail(db, take_one(db, start=True), {"type": "Boom", "message": str(n)})
    finish(db, take_one(db, start=True))
    kept = rows(
        db,
        "select attempt, status::text, error ->> 'message', started_at <= finished_at, leased_by is not null"
        " from penstock.job_outcome order by attempt",
    )
    assert kept == [
        (1, "retrying", "1", True, True),
        (2, "retrying", "2", True, True),
        (3, "succeeded", None, True, True),
    ]


def test_an_error_over_the_limit_keeps_its_type_and_the_start_of_its_message(db: Connection) -> None:
    enqueue(db)
    fail(db, take_one(db), {"type": "Huge", "message": "m" * 100_000, "trace": "t" * 100_000, "permanent": True})
    ((error,),) = rows(db, "select error from penstock.job_outcome")
    assert error == {"type": "Huge", "message": "m" * 2000, "permanent": True, "truncated": True}
    assert rows(db, "select reason from penstock.job_dead_letter") == [("permanent",)]


@pytest.mark.parametrize("error", [None, "just text", ["a", "b"], {}, {"permanent": "true"}])
def test_any_error_or_none_is_taken_as_it_is(error: Any, db: Connection) -> None:
    enqueue(db)
    claim = take_one(db)
    answers = rows(
        db,
        "select accepted, next_status from penstock.fn_job_fail(array[%s], array[%s], array[to_jsonb(%s::json)])"
        if error is not None
        else "select accepted, next_status from penstock.fn_job_fail(array[%s::bigint], array[%s::bigint], %s)",
        claim.job_id,
        claim.lease_token,
        None if error is None else Json(error),
    )
    assert answers == [(True, "retrying")]
    assert rows(db, "select error from penstock.job_outcome") == [(error,)]


def test_refused_failures_are_named_and_change_nothing(db: Connection) -> None:
    jobs.enqueue_many(db, [{"kind": "work"}] * 3)
    done, stale, good = take(db)
    finish(db, done)
    reap(db, stale.job_id)
    take_one(db)
    ready = enqueue(db)
    before = contents(db)
    asked = [done.job_id, stale.job_id, ready, 10**9]
    assert jobs.fail(db, asked, [done.lease_token, stale.lease_token, 1, 1], [{}] * 4) == [
        Answer(done.job_id, False, "finished"),
        Answer(stale.job_id, False, "stale_token"),
        Answer(ready, False, "not_leased"),
        Answer(10**9, False, "unknown_job"),
    ]
    assert contents(db) == before
    answers = jobs.fail(db, [*asked, good.job_id], [0, 0, 0, 0, good.lease_token], [{}] * 5)
    assert [answer.accepted for answer in answers] == [False, False, False, False, True]


def test_the_same_failure_twice_in_one_batch_counts_once(db: Connection) -> None:
    enqueue(db, max_attempts=1)
    claim = take_one(db)
    answers = jobs.fail(db, [claim.job_id] * 2, [claim.lease_token] * 2, [{"n": 1}, {"n": 2}])
    assert answers == [Answer(claim.job_id, True, "dead_lettered"), Answer(claim.job_id, False, "finished")]
    assert rows(db, "select error from penstock.job_outcome") == [({"n": 1},)]
    assert value(db, "select count(*) from penstock.job_dead_letter") == 1


def test_of_two_tokens_only_the_current_one_fails_a_job(db: Connection) -> None:
    job_id = enqueue(db)
    stale = take_one(db)
    reap(db, job_id)
    current = take_one(db)
    answers = jobs.fail(db, [job_id] * 2, [stale.lease_token, current.lease_token], [{"n": 1}, {"n": 2}])
    assert answers == [Answer(job_id, False, "not_leased"), Answer(job_id, True, "retrying")]
    assert rows(db, "select error from penstock.job_outcome") == [({"n": 2},)]


def test_one_batch_retries_some_and_buries_others(db: Connection) -> None:
    jobs.enqueue_many(db, [{"kind": "work", "max_attempts": 1 + n % 2} for n in range(100)])
    claims = take(db)
    answers = jobs.fail(db, [c.job_id for c in claims], [c.lease_token for c in claims], [{"n": n} for n in range(100)])
    assert [answer.reason for answer in answers] == ["dead_lettered", "retrying"] * 50
    errors = rows(db, "select (error ->> 'n')::integer from penstock.job_dead_letter order by job_id")
    assert [n for (n,) in errors] == list(range(0, 100, 2))


def test_a_person_need_not_wait_for_a_retry(db: Connection) -> None:
    retrying, scheduled = enqueue(db), enqueue(db, process_after=value(db, "select now() + interval '1 day'"))
    fail(db, take_one(db))
    assert [jobs.retry(db, retrying), jobs.retry(db, scheduled)] == [retrying, scheduled]
    assert taken(db) == [retrying, scheduled]
