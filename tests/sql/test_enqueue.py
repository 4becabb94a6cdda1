"""Asking for jobs: what is written, what is refused, and that a refusal leaves nothing behind."""

from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from psycopg import Rollback

from penstock import errors
from penstock.errors import BadRequest, BadText, PenstockError
from penstock.kernel import jobs
from penstock.kernel.connection import Connection
from tests.sql.support import contents, enqueue, fall_due, rows, status, taken, tick, value

BAD_FIELDS: dict[str, tuple[type[PenstockError], dict[str, Any]]] = {
    "a kind of no letters": (BadRequest, {"kind": ""}),
    "a kind with a space": (BadRequest, {"kind": "send invoice"}),
    "a kind that begins with a digit": (BadRequest, {"kind": "1st"}),
    "a kind of 101 letters": (BadRequest, {"kind": "k" * 101}),
    "a priority too high": (BadRequest, {"priority": 32768}),
    "a priority too low": (BadRequest, {"priority": -32769}),
    "no attempts": (BadRequest, {"max_attempts": 0}),
    "too many attempts": (BadRequest, {"max_attempts": 1001}),
    "an empty key": (BadRequest, {"idempotency_key": ""}),
    "a key of 501 characters": (BadRequest, {"idempotency_key": "k" * 501}),
    "an empty lane": (BadRequest, {"lane": ""}),
    "a lane of 501 characters": (BadRequest, {"lane": "l" * 501}),
    "a ref of 2001 characters": (BadRequest, {"source_ref": "r" * 2001}),
    "a trace of 2001 characters": (BadRequest, {"trace": "t" * 2001}),
    "a payload that is a list": (BadRequest, {"safe_payload": [1]}),
    "a payload that is a text": (BadRequest, {"safe_payload": "text"}),
    "MOT as executor": (errors.ExecutorRefused, {"executor": "MOT"}),
    "an unknown executor kind": (errors.ExecutorRefused, {"executor": "Robot"}),
    "an unknown pool": (errors.UnknownPool, {"pool": "nowhere"}),
    "an unknown event domain": (errors.UnknownEventDomain, {"event_domain": "nowhere"}),
    "an actor without a kind": (errors.ActorRefused, {"actor": "ann"}),
    "an actor with a space": (errors.ActorRefused, {"actor": "user:ann lee"}),
    "U+0000 in a ref": (BadText, {"source_ref": "a\x00b"}),
    "U+0000 in the payload": (BadText, {"safe_payload": {"note": "a\x00b"}}),
    "U+0000 in a key of the payload": (BadText, {"safe_payload": {"a\x00b": 1}}),
}
GOOD = {"kind": "work", "idempotency_key": "good", "lane": "good"}


@pytest.mark.parametrize("case", BAD_FIELDS)
def test_a_bad_job_is_refused_by_name_and_changes_nothing(case: str, db: Connection) -> None:
    error, fields = BAD_FIELDS[case]
    before = contents(db)
    with pytest.raises(error):
        jobs.enqueue(db, {**GOOD, **fields})
    with pytest.raises(error):
        jobs.enqueue_many(db, [GOOD, {**GOOD, **fields}, {"kind": "work"}])
    assert contents(db) == before


def test_a_job_without_a_kind_is_refused(db: Connection) -> None:
    with pytest.raises(BadRequest, match="kind"):
        jobs.enqueue(db, {"kind": None})
    with pytest.raises(BadRequest, match="job 2 of the request"):
        jobs.enqueue_many(db, [{"kind": "work"}, {"priority": 1}])


def test_a_field_that_cannot_be_read_is_a_bad_request(db: Connection) -> None:
    unreadable: list[dict[str, Any]] = [
        {"priority": "high"},
        {"priority": 1.5},
        {"priority": 10**12},
        {"process_after": "soonish"},
        {"process_after": "2026-02-31"},
        {"causation_event_id": "not a uuid"},
        {"max_attempts": True},
    ]
    before = contents(db)
    for fields in unreadable:
        with pytest.raises(BadRequest):
            jobs.enqueue_many(db, [{"kind": "work", **fields}])
    assert contents(db) == before


def test_what_is_not_a_list_of_known_fields_is_a_bad_request(db: Connection) -> None:
    before = contents(db)
    unknown = ['[{"kind": "work", "payload": {}}]', '[{"kind": "work", "job_id": 1}]']
    for requests in ("{}", "null", '"text"', "[1]", "[[]]", *unknown):
        with pytest.raises(BadRequest):
            rows(db, "select * from penstock.fn_job_enqueue_many(%s::jsonb)", requests)
    assert contents(db) == before


def test_a_request_of_more_than_10000_jobs_is_refused(db: Connection) -> None:
    with pytest.raises(BadRequest, match="10,000"):
        jobs.enqueue_many(db, [{"kind": "work"}] * 10_001)


def test_one_bad_job_among_500_leaves_none_and_is_named(db: Connection) -> None:
    requests: list[dict[str, Any]] = [{"kind": "work", "idempotency_key": f"k{n}", "lane": f"l{n}"} for n in range(500)]
    requests[321]["priority"] = 99999
    before = contents(db)
    with pytest.raises(BadRequest, match="job 322 of the request"):
        jobs.enqueue_many(db, requests)
    assert contents(db) == before
    assert rows(db, "select * from penstock.lane_check") == []


def test_an_empty_request_makes_nothing(db: Connection) -> None:
    assert jobs.enqueue_many(db, []) == []


def test_a_job_needs_a_kind_and_nothing_else(db: Connection) -> None:
    user = value(db, "select session_user")
    for job_id in (enqueue(db, "greet"), jobs.enqueue_many(db, [{"kind": "greet"}])[0].job_id):
        job = jobs.show(db, job_id)
        assert (job.executor, job.pool, job.priority, job.status) == ("PG_worker", "shared", 0, "ready")
        assert (job.actor, job.attempt, job.max_attempts, job.execution_id) == (f"role:{user}", 0, 5, job_id)
        assert (job.lane, job.event_domain, job.process_after, job.safe_payload) == (None, None, None, None)


def test_a_null_stands_for_the_default(db: Connection) -> None:
    names = ("executor", "pool", "priority", "actor", "safe_payload", "lane")
    nulls: dict[str, Any] = dict.fromkeys(names)
    for job_id in (enqueue(db, **nulls), jobs.enqueue_many(db, [{"kind": "work", **nulls}])[0].job_id):
        job = jobs.show(db, job_id)
        assert (job.executor, job.pool, job.priority, job.safe_payload) == ("PG_worker", "shared", 0, None)


def test_everything_a_producer_says_is_kept(db: Connection) -> None:
    said: dict[str, Any] = {
        "executor": "Hermes",
        "pool": "priority",
        "priority": -7,
        "lane": "account/7",
        "event_domain": "kg",
        "source_ref": "shop/orders/7",
        "target_ref": "invoice/7",
        "payload_ref": "s3://bucket/7",
        "safe_payload": {"total": 12.5, "tags": ["a", "ü"]},
        "correlation_id": "c-7",
        "trace": "00-7",
        "actor": "user:ann",
        "max_attempts": 9,
    }
    cause = uuid4()
    made = [
        enqueue(db, causation_event_id=cause, **said),
        jobs.enqueue_many(db, [{"kind": "work", "causation_event_id": str(cause), **said}])[0].job_id,
    ]
    for job_id in made:
        job = jobs.show(db, job_id)
        assert {name: getattr(job, name) for name in said} == said
        assert (job.job_kind, job.causation_event_id, job.causation_depth) == ("work", cause, 1)


def test_many_jobs_get_ascending_ids_in_the_order_given(db: Connection) -> None:
    made = jobs.enqueue_many(db, [{"kind": "work", "target_ref": str(n)} for n in range(500)])
    assert [one.created for one in made] == [True] * 500
    assert [one.job_id for one in made] == sorted(one.job_id for one in made)
    asked = rows(db, "select target_ref from penstock.job order by job_id")
    assert [ref for (ref,) in asked] == [str(n) for n in range(500)]


def test_an_enqueue_that_is_rolled_back_leaves_nothing(db: Connection) -> None:
    before = contents(db)
    with db.transaction():
        enqueue(db, idempotency_key="k", lane="l")
        jobs.enqueue_many(db, [{"kind": "work", "idempotency_key": "k2", "lane": "l"}])
        raise Rollback
    assert contents(db) == before
    assert rows(db, "select * from penstock.lane_check") == []


def test_an_enqueue_is_committed_with_the_callers_own_rows(db: Connection) -> None:
    db.execute("create table orders (id integer)")
    with db.transaction():
        db.execute("insert into orders values (7)")
        kept = enqueue(db)
        with db.transaction():
            enqueue(db)
            raise Rollback
    assert taken(db) == [kept]


def test_a_job_with_a_time_to_come_waits_for_it(db: Connection) -> None:
    later = value(db, "select now() + interval '1 hour'")
    job_id = enqueue(db, process_after=later)
    assert jobs.show(db, job_id).process_after == later
    assert status(db, job_id) == "scheduled"
    tick(db)
    assert taken(db) == []
    fall_due(db, job_id)
    assert tick(db)["promote"] == {"ok": True, "did": 1}
    assert status(db, job_id) == "ready"
    assert taken(db) == [job_id]


def test_a_claim_that_comes_back_short_promotes_what_is_due(db: Connection) -> None:
    job_id = enqueue(db, process_after=value(db, "select now() + interval '1 hour'"))
    fall_due(db, job_id)
    assert taken(db) == [job_id]


def test_a_job_whose_time_has_passed_is_ready_at_once(db: Connection) -> None:
    past = value(db, "select now()") - timedelta(hours=1)
    assert status(db, enqueue(db, process_after=past)) == "ready"
    (made,) = jobs.enqueue_many(db, [{"kind": "work", "process_after": past.isoformat()}])
    assert status(db, made.job_id) == "ready"


def test_a_job_at_the_end_of_too_many_causes_is_refused(db: Connection) -> None:
    value(db, "select penstock.fn_config_set('queue.causation.max_depth', '3')")
    value(db, "select penstock.fn_event_type_register('kg', 'grew', 'update')::text")
    cause = None
    for depth in (1, 2, 3):
        cause = value(
            db, "select penstock.fn_iu_emit_event('kg', 'grew', null, null, null, null, null, null, %s)", cause
        )
        assert jobs.show(db, enqueue(db, causation_event_id=cause)).causation_depth == depth
    cause = value(db, "select penstock.fn_iu_emit_event('kg', 'grew', null, null, null, null, null, null, %s)", cause)
    before = contents(db)
    with pytest.raises(BadRequest, match="end of 3 causes"):
        enqueue(db, causation_event_id=cause)
    assert contents(db) == before


@pytest.mark.parametrize(
    ("fields", "error", "said"),
    [
        ({"pool": "nope"}, errors.UnknownPool, "job 3 of the request: pool 'nope' does not exist"),
        (
            {"event_domain": "nope"},
            errors.UnknownEventDomain,
            "job 3 of the request: event domain 'nope' does not exist",
        ),
        ({"executor": "MOT"}, errors.ExecutorRefused, "job 3 of the request: 'MOT' is not an executor kind"),
        ({"kind": "two words"}, BadRequest, "job 3 of the request: kind 'two words'"),
        ({"actor": "nobody"}, errors.ActorRefused, "job 3 of the request: 'nobody' is not an actor"),
    ],
)
def test_one_bad_job_of_many_is_named_and_nothing_is_written(
    fields: dict[str, Any], error: type[errors.Refused], said: str, db: Connection
) -> None:
    wanted: list[dict[str, Any]] = [{"kind": "work"} for _ in range(500)]
    wanted[2] |= fields
    with pytest.raises(error, match=said):
        jobs.enqueue_many(db, wanted)
    assert value(db, "select count(*) from penstock.job") == 0
