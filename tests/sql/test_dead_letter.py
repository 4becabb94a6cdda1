"""Dead letters: everything needed to try again, never deleted, resolved once."""

from typing import Any, LiteralString
from uuid import uuid4

import pytest

from penstock.errors import BadRequest, ForbiddenPayload, IllegalMove, UnknownDeadLetter, UnknownJob, UnknownPool
from penstock.kernel import jobs
from penstock.kernel.connection import Connection
from tests.sql.support import (
    configure,
    contents,
    enqueue,
    enqueue_later,
    fail,
    finish,
    row,
    rows,
    status,
    statuses,
    take_one,
    taken,
    value,
)

SAID: dict[str, Any] = {
    "pool": "priority",
    "priority": 3,
    "lane": "account/7",
    "event_domain": "kg",
    "source_ref": "shop/orders/7",
    "target_ref": "invoice/7",
    "payload_ref": "s3://bucket/7",
    "safe_payload": {"total": 12.5},
    "correlation_id": "c-7",
    "causation_event_id": uuid4(),
    "trace": "00-7",
    "max_attempts": 1,
}

REPLAY: LiteralString = "select penstock.fn_dead_letter_replay(%s)"
DISCARD: LiteralString = "select penstock.fn_dead_letter_resolve(%s, null, %s)::text"


def _bury(db: Connection, kind: str = "work", **fields: Any) -> int:
    """A job that is dead-lettered."""
    job_id = enqueue(db, kind, **fields)
    claim = take_one(db, kinds=[kind])
    assert claim.job_id == job_id
    fail(db, claim, {"type": "Boom", "message": "no", "permanent": True})
    return job_id


def _letter(db: Connection, job_id: int) -> int:
    letter: int = value(db, "select dead_letter_id from penstock.job_dead_letter where job_id = %s", job_id)
    return letter


def _replay(db: Connection, letter: int, actor: str | None = None) -> int:
    made: int = value(db, "select penstock.fn_job_dead_letter_replay(%s, %s)", letter, actor)
    return made


def test_a_dead_letter_holds_the_whole_job(db: Connection) -> None:
    job_id = _bury(db, **SAID)
    ((kind, reason, error, snapshot),) = rows(
        db, "select job_kind, reason, error, snapshot from penstock.job_dead_letter where job_id = %s", job_id
    )
    assert (kind, reason, error["message"]) == ("work", "permanent", "no")
    assert snapshot.items() >= {**SAID, "causation_event_id": str(SAID["causation_event_id"])}.items()
    assert (snapshot["job_id"], snapshot["attempt"], snapshot["executor"]) == (job_id, 1, "PG_worker")


def test_a_replay_is_a_new_job_that_says_the_same_and_points_at_the_letter(db: Connection) -> None:
    job_id = _bury(db, idempotency_key="k", **SAID)
    letter = _letter(db, job_id)
    new = _replay(db, letter, "user:ann")
    assert new != job_id
    job = jobs.show(db, new)
    assert {name: getattr(job, name) for name in SAID} == SAID
    assert (job.job_kind, job.status, job.attempt, job.actor) == ("work", "ready", 0, "user:ann")
    assert value(db, "select replay_of from penstock.job where job_id = %s", new) == letter
    assert status(db, job_id) == "dead_lettered"
    assert rows(
        db, "select resolution, resolved_by::text, resolved_at is not null, replay_job_id from penstock.job_dead_letter"
    ) == [("replayed", "user:ann", True, new)]


def test_a_replay_joins_the_end_of_its_lane(db: Connection) -> None:
    job_id = _bury(db, lane="l")
    head = enqueue(db, lane="l")
    new = _replay(db, _letter(db, job_id))
    assert statuses(db, [head, new]) == ["ready", "blocked"]


def test_a_letter_is_replayed_once(db: Connection) -> None:
    letter = _letter(db, _bury(db))
    _replay(db, letter)
    before = contents(db)
    with pytest.raises(UnknownDeadLetter, match="replayed by"):
        _replay(db, letter)
    assert contents(db) == before


def test_a_replay_that_dies_again_has_a_letter_of_its_own(db: Connection) -> None:
    first = _bury(db)
    second = _replay(db, _letter(db, first))
    fail(db, take_one(db), {"permanent": True})
    assert rows(db, "select job_id, resolved_at is null from penstock.job_dead_letter order by 1") == [
        (first, False),
        (second, True),
    ]


@pytest.mark.parametrize("rule", ["payload", "pool"])
def test_a_replay_passes_the_same_rules_as_an_enqueue(rule: str, db: Connection) -> None:
    value(db, "select penstock.fn_pool_set('gone')::text")
    letter = _letter(db, _bury(db, pool="gone", safe_payload={"iban": 1}))
    if rule == "payload":
        configure(db, "queue.forbidden_keys", "iban")
    else:
        db.execute("delete from penstock.pool where pool = 'gone'")
    before = contents(db)
    with pytest.raises(ForbiddenPayload if rule == "payload" else UnknownPool):
        _replay(db, letter)
    assert contents(db) == before


def test_retrying_a_dead_job_replays_it(db: Connection) -> None:
    job_id = _bury(db)
    new = jobs.retry(db, job_id)
    assert new != job_id
    assert taken(db) == [new]


def test_letters_go_by_prefixed_ids_too(db: Connection) -> None:
    job_id = _bury(db)
    letter = _letter(db, job_id)
    assert rows(db, "select id, origin, job_id, what, resolved_at from penstock.v_dead_letter") == [
        (f"job-{letter}", "job", job_id, "work", None)
    ]
    made = value(db, "select penstock.fn_dead_letter_replay(%s)", f"job-{letter}")
    assert taken(db) == [int(made.removeprefix("job-"))]


def test_a_letter_is_discarded_with_a_reason_and_stays_on_record(db: Connection) -> None:
    letter = _letter(db, _bury(db))
    value(db, "select penstock.fn_dead_letter_resolve(%s, 'user:ann', 'too old')::text", f"job-{letter}")
    assert rows(db, "select id, resolution, resolved_by, replay_job_id from penstock.v_dead_letter") == [
        (f"job-{letter}", "discarded: too old", "user:ann", None)
    ]
    assert rows(db, "select * from penstock.v_job_queue_dead_letter_open") == []
    with pytest.raises(UnknownDeadLetter, match="discarded"):
        value(db, REPLAY, f"job-{letter}")
    with pytest.raises(UnknownDeadLetter, match="discarded"):
        value(db, DISCARD, f"job-{letter}", "again")


def test_a_discard_needs_a_reason(db: Connection) -> None:
    letter = _letter(db, _bury(db))
    for reason in (None, "", "  "):
        with pytest.raises(BadRequest):
            value(db, DISCARD, f"job-{letter}", reason)
    assert value(db, "select count(*) from penstock.v_job_queue_dead_letter_open") == 1


def test_an_unknown_letter_is_refused(db: Connection) -> None:
    for name in ("job-987654321", "job-", "job-x", "route-1", "", None, "job-99999999999999999999", "1"):
        with pytest.raises(UnknownDeadLetter):
            value(db, REPLAY, name)
        with pytest.raises(UnknownDeadLetter):
            value(db, DISCARD, name, "x")
    with pytest.raises(UnknownDeadLetter):
        _replay(db, 987654321)


def test_only_a_waiting_or_dead_job_is_retried(db: Connection) -> None:
    scheduled, ready = enqueue_later(db), enqueue(db)
    head, blocked = enqueue(db, "laned", lane="l"), enqueue(db, "laned", lane="l")
    claim = take_one(db, kinds=["laned"])
    done = enqueue(db, "done")
    finish(db, take_one(db, kinds=["done"]))
    before = contents(db)
    for job_id in (ready, head, blocked, done):
        with pytest.raises(IllegalMove):
            jobs.retry(db, job_id)
    with pytest.raises(UnknownJob):
        jobs.retry(db, 987654321)
    assert contents(db) == before
    jobs.retry(db, scheduled)
    assert status(db, scheduled) == "ready"
    finish(db, claim)


def test_a_scheduled_job_of_a_busy_lane_that_is_retried_waits_its_turn(db: Connection) -> None:
    scheduled = enqueue_later(db, lane="l")
    head, behind = enqueue(db, lane="l"), enqueue(db, lane="l")
    jobs.retry(db, scheduled)
    assert statuses(db, [scheduled, head, behind]) == ["blocked", "ready", "blocked"]
    finish(db, take_one(db))
    assert statuses(db, [scheduled, behind]) == ["ready", "blocked"]
    assert row(db, scheduled)["lane"] == "l"
