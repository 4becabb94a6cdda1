"""Finishing: believed once, from the holder of the current token, item by item."""

import json
from collections.abc import Callable
from typing import Any
from uuid import uuid4

import pytest
from psycopg.types.json import Jsonb

from penstock.errors import BadRequest
from penstock.kernel import jobs
from penstock.kernel.connection import Connection
from penstock.kernel.results import measured
from penstock.model import Answer
from tests.sql.support import (
    configure,
    contents,
    enqueue,
    expire,
    fail,
    finish,
    reap,
    refused,
    retry_at_once,
    rows,
    rule,
    status,
    take,
    take_one,
    value,
)

ALL_ANSWERS = "select * from penstock.fn_job_finish(%s::bigint[], %s::bigint[], %s::jsonb[], %s::jsonb[])"


@pytest.mark.parametrize("start", [False, True])
def test_a_job_is_finished_from_leased_and_from_running(start: bool, db: Connection) -> None:
    incarnation = uuid4()
    job_id = enqueue(db)
    claim = take_one(db, start=start, incarnation=incarnation)
    finish(db, claim)
    assert rows(db, "select * from penstock.job_queue") == []
    assert rows(
        db,
        "select job_id, lease_token, leased_by, attempt, status::text, started_at is not null,"
        " finished_at >= enqueued_at from penstock.job_outcome",
    ) == [(job_id, claim.lease_token, incarnation, 1, "succeeded", start, True)]


def test_a_lease_that_ended_unnoticed_does_not_spoil_a_finish(db: Connection) -> None:
    job_id = enqueue(db)
    claim = take_one(db)
    expire(db, job_id)
    finish(db, claim)


def test_results_are_kept_where_there_are_any(db: Connection) -> None:
    jobs.enqueue_many(db, [{"kind": "work"}] * 4)
    claims = take(db)
    results: list[Any] = [{"sum": 7}, None, "done", [1, 2]]
    assert refused(db, [c.job_id for c in claims], [c.lease_token for c in claims], results) == []
    kept = dict(rows(db, "select job_id, result from penstock.job_result"))
    assert kept == {claims[0].job_id: {"sum": 7}, claims[2].job_id: "done", claims[3].job_id: [1, 2]}


def test_a_second_finish_is_refused_and_changes_nothing(db: Connection) -> None:
    enqueue(db)
    claim = take_one(db)
    finish(db, claim)
    before = contents(db)
    assert refused(db, [claim.job_id], [claim.lease_token], ["again"]) == [Answer(claim.job_id, False, "finished")]
    assert contents(db) == before


def test_a_stale_token_is_refused_and_changes_nothing(db: Connection) -> None:
    job_id = enqueue(db)
    stale = take_one(db)
    reap(db, job_id)
    current = take_one(db)
    before = contents(db)
    for token in (stale.lease_token, current.lease_token + 1, 0, -1):
        assert refused(db, [job_id], [token], ["stale"]) == [Answer(job_id, False, "stale_token")]
    assert contents(db) == before
    finish(db, current)


def test_a_job_nobody_holds_cannot_be_finished(db: Connection) -> None:
    retry_at_once(db)
    ready = enqueue(db)
    waiting = enqueue(db, "fails")
    claim = take_one(db, kinds=["fails"])
    fail(db, claim)
    before = contents(db)
    assert refused(db, [ready, waiting], [1, claim.lease_token]) == [
        Answer(ready, False, "not_leased"),
        Answer(waiting, False, "not_leased"),
    ]
    assert contents(db) == before


def test_an_unknown_job_is_refused(db: Connection) -> None:
    assert refused(db, [987654321, -1], [1, 1]) == [
        Answer(987654321, False, "unknown_job"),
        Answer(-1, False, "unknown_job"),
    ]


def test_one_bad_item_among_500_is_refused_and_the_others_are_accepted(db: Connection) -> None:
    jobs.enqueue_many(db, [{"kind": "work", "lane": f"l{n}"} for n in range(500)])
    claims = take(db, 500) + take(db, 500)
    assert len(claims) == 500
    tokens = [claim.lease_token for claim in claims]
    tokens[250] += 1_000_000
    answers = refused(db, [claim.job_id for claim in claims], tokens, [{"n": n} for n in range(500)])
    assert answers == [Answer(claims[250].job_id, False, "stale_token")]
    assert rows(db, "select job_id from penstock.job_queue") == [(claims[250].job_id,)]
    assert value(db, "select count(*) from penstock.job_outcome where status = 'succeeded'") == 499
    assert value(db, "select count(*) from penstock.job_result") == 499


def test_answers_come_in_the_order_asked_with_every_reason(db: Connection) -> None:
    jobs.enqueue_many(db, [{"kind": "work"}] * 4)
    done, good, cancelled, large = take(db)
    ready = enqueue(db)
    finish(db, done)
    jobs.cancel(db, cancelled.job_id)
    asked = [ready, large.job_id, 10**9, good.job_id, done.job_id, cancelled.job_id]
    tokens = [0, large.lease_token, 1, good.lease_token, done.lease_token, cancelled.lease_token]
    results = [None, Jsonb("x" * 70_000), None, None, None, None]
    assert rows(db, ALL_ANSWERS, asked, tokens, results, None) == [
        (ready, False, "not_leased"),
        (large.job_id, False, "bad_result"),
        (10**9, False, "unknown_job"),
        (good.job_id, True, None),
        (done.job_id, False, "finished"),
        (cancelled.job_id, False, "cancelled"),
    ]


def test_a_result_over_the_limit_is_refused_and_the_job_stays_with_its_holder(db: Connection) -> None:
    configure(db, "queue.result.max_bytes", "100")
    enqueue(db)
    claim = take_one(db)
    before = contents(db)
    assert refused(db, [claim.job_id], [claim.lease_token], ["x" * 101]) == [Answer(claim.job_id, False, "bad_result")]
    assert contents(db) == before
    finish(db, claim)


@pytest.mark.parametrize("result", [list(range(10_000)), [0.5] * 12_000, "é" * 32_767, {"text": "\n" * 32_000}])
def test_a_result_is_measured_by_the_bytes_of_its_json(db: Connection, result: Any) -> None:
    size = len(json.dumps(result, ensure_ascii=False).encode())
    assert size <= 65_536
    enqueue(db), enqueue(db)
    good, bad = take(db)
    assert refused(db, [good.job_id], [good.lease_token], [result]) == []
    configure(db, "queue.result.max_bytes", str(size - 1))
    assert [one.reason for one in refused(db, [bad.job_id], [bad.lease_token], [result])] == ["bad_result"]
    assert measured(db, json.dumps(result)) == (size, size - 1)


def test_next_steps_are_refused_while_there_are_no_playbooks(db: Connection) -> None:
    enqueue(db), enqueue(db)
    with_next, without = take(db)
    answers = rows(
        db,
        ALL_ANSWERS,
        [with_next.job_id, without.job_id],
        [with_next.lease_token, without.lease_token],
        None,
        [Jsonb([{"step": "b"}]), None],
    )
    assert answers == [(with_next.job_id, False, "bad_next"), (without.job_id, True, None)]
    assert status(db, with_next.job_id) == "leased"


@pytest.mark.parametrize("first", ["stale", "current"])
def test_a_job_reported_under_two_tokens_keeps_the_result_of_the_current_one(first: str, db: Connection) -> None:
    job_id = enqueue(db)
    stale = take_one(db)
    reap(db, job_id)
    current = take_one(db)
    reports = [(stale.lease_token, "stale"), (current.lease_token, "current")]
    if first == "current":
        reports.reverse()
    answers = refused(db, [job_id] * 2, [token for token, _ in reports], [result for _, result in reports])
    assert answers == [Answer(job_id, False, "finished")]
    assert rows(db, "select lease_token from penstock.job_outcome") == [(current.lease_token,)]
    assert rows(db, "select result from penstock.job_result") == [("current",)]


def test_the_stale_one_of_two_reports_spoils_nothing_by_its_result(db: Connection) -> None:
    job_id = enqueue(db)
    stale = take_one(db)
    reap(db, job_id)
    current = take_one(db)
    results = ["x" * 70_000, "current"]
    assert refused(db, [job_id] * 2, [stale.lease_token, current.lease_token], results) == [
        Answer(job_id, False, "finished")
    ]
    assert rows(db, "select result from penstock.job_result") == [("current",)]


def test_the_same_report_twice_in_one_batch_is_believed_once(db: Connection) -> None:
    enqueue(db)
    claim = take_one(db)
    answers = rows(db, ALL_ANSWERS, [claim.job_id] * 2, [claim.lease_token] * 2, [Jsonb(1), Jsonb(1)], None)
    assert sorted(accepted for _, accepted, _ in answers) == [False, True]
    assert rows(db, "select attempt from penstock.job_outcome") == [(1,)]


def test_a_null_in_the_arrays_is_an_unknown_job(db: Connection) -> None:
    enqueue(db)
    claim = take_one(db)
    answers = rows(db, ALL_ANSWERS, [None, claim.job_id], [None, claim.lease_token], None, None)
    assert answers == [(None, False, "unknown_job"), (claim.job_id, True, None)]


def test_arrays_of_different_length_are_a_bad_request(db: Connection) -> None:
    unpaired: list[tuple[Any, Any, Any, Any]] = [
        ([1, 2], [1], None, None),
        ([1], [1, 2], None, None),
        ([1], [1], [None, None], None),
        ([1], [1], None, [None, None]),
        ([1], [1], [None], [None, None]),
        (None, [1], None, None),
        ([1], None, None, None),
    ]
    for arrays in unpaired:
        with pytest.raises(BadRequest, match="one length"):
            rows(db, ALL_ANSWERS, *arrays)


UNPAIRED: dict[str, Callable[[Connection], Any]] = {
    "start": lambda db: jobs.start(db, [1, 2], [1]),
    "release": lambda db: jobs.release(db, [1, 2], [1]),
    "fail": lambda db: jobs.fail(db, [1], [1], [{}, {}]),
    "heartbeat": lambda db: jobs.heartbeat(db, "default", uuid4(), [1, 2], [1]),
}


def test_other_reports_need_pairs_too(db: Connection) -> None:
    for report in UNPAIRED.values():
        with pytest.raises(BadRequest, match="one length"):
            report(db)


def test_nothing_reported_is_nothing_answered(db: Connection) -> None:
    assert rows(db, ALL_ANSWERS, [], [], None, None) == []
    assert jobs.start(db, [], []) == []
    assert jobs.release(db, [], []) == []
    assert jobs.fail(db, [], [], []) == []


def test_only_finished_jobs_leave_room_for_the_next_of_their_rule(db: Connection) -> None:
    rule(db, most=2)
    jobs.enqueue_many(db, [{"kind": "work"}] * 4)
    first, second = take(db)
    refused(db, [first.job_id, second.job_id], [first.lease_token, 0])
    assert len(take(db)) == 1
