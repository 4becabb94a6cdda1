"""Trigger-out: an event becomes a job once, by what the registry says and nothing else."""

from typing import Any
from uuid import uuid4

import pytest

from penstock.errors import BadRequest, BadTemplate, Busy, ExecutorRefused, NotReviewed, StillUnfit, UnknownEventType
from penstock.kernel import consumers, dead_letters, events, jobs, queue
from penstock.kernel.connection import Connection, connect
from tests.conftest import Connect
from tests.events.support import (
    CONSUMER,
    DOMAIN,
    KIND,
    TYPE,
    dispatched,
    emit,
    jobs_of,
    known,
    letters,
    live,
    own_consumers,
)
from tests.sql.support import configure, rows, value


@pytest.fixture(autouse=True)
def _known(db: Connection) -> None:
    known(db)


def test_an_event_becomes_a_job_that_points_at_it(db: Connection) -> None:
    live(db, ref_template="nodes/{event_subject_ref}", priority=3)
    event = emit(db, "n/7", correlation_id="c", trace="t")
    assert dispatched(db) == {"events": 1, "jobs": 1, "dry_run": 0, "duplicates": 0, "failed": 0}
    (job_id,) = rows(db, "select job_id from penstock.job where causation_event_id = %s", event)[0]
    job = jobs.show(db, job_id)
    assert (job.job_kind, job.executor, job.pool, job.priority, job.event_domain) == (
        KIND,
        "PG_worker",
        "shared",
        3,
        DOMAIN,
    )
    assert (job.source_ref, job.target_ref, job.payload_ref) == (f"event/{event}", "n/7", "nodes/n/7")
    assert job.safe_payload == {"consumer_id": CONSUMER, "event_type": TYPE}
    assert (job.correlation_id, job.trace, job.causation_depth) == ("c", "t", 1)
    assert job.actor == f"consumer:{CONSUMER}"


def test_an_event_names_no_executor_kind_or_pool(db: Connection) -> None:
    live(db)
    event = emit(db, "DOT", payload={"executor": "DOT", "job_kind": "other", "pool": "priority"})
    dispatched(db)
    (made,) = rows(db, "select executor, job_kind, pool from penstock.job where causation_event_id = %s", event)
    assert made == ("PG_worker", KIND, "shared")


def test_a_dry_run_notes_what_it_would_do_and_does_nothing(db: Connection) -> None:
    consumers.register(db, CONSUMER, DOMAIN, TYPE, KIND, "{event_id}:k", ref_template="{event_subject_ref}")
    emit(db, "before it is enabled")
    dispatched(db)
    consumers.switch(db, CONSUMER, enabled=True)
    event = emit(db, "n/7")
    assert dispatched(db)["dry_run"] == 1
    (noted,) = consumers.noted(db, CONSUMER)
    assert (noted.event_id, noted.outcome, noted.job_kind) == (event, "dry_run", KIND)
    assert (noted.idempotency_key, noted.payload_ref) == (f"{event}:k", "n/7")
    assert value(db, "select count(*) from penstock.job") == 0


def test_live_needs_a_review_and_a_review_needs_a_dry_run(db: Connection) -> None:
    consumers.register(db, CONSUMER, DOMAIN, TYPE, KIND, "{event_id}")
    with pytest.raises(NotReviewed, match="nobody has reviewed its dry run"):
        consumers.switch(db, CONSUMER, enabled=True, dry_run=False)
    with pytest.raises(NotReviewed, match="has not run dry since it was registered"):
        consumers.switch(db, CONSUMER, enabled=True, dry_run=False, reviewed_by="user:ann")
    assert consumers.show(db, CONSUMER).state == "disabled"
    live(db)
    assert (consumers.show(db, CONSUMER).state, consumers.show(db, CONSUMER).reviewed_by) == ("live", "user:ann")


def test_a_consumer_that_changes_has_to_be_reviewed_again(db: Connection) -> None:
    live(db)
    consumers.register(db, CONSUMER, DOMAIN, TYPE, KIND, f"{{event_id}}:{CONSUMER}")
    assert consumers.show(db, CONSUMER).state == "live"
    consumers.register(db, CONSUMER, DOMAIN, TYPE, "other", "{event_id}")
    assert consumers.show(db, CONSUMER).state == "disabled"
    with pytest.raises(NotReviewed):
        consumers.switch(db, CONSUMER, enabled=True, dry_run=False)


def test_the_table_itself_refuses_a_live_consumer_without_a_review(db: Connection) -> None:
    consumers.register(db, CONSUMER, DOMAIN, TYPE, KIND, "{event_id}")
    with pytest.raises(Exception, match="violates check constraint"):
        db.execute("update penstock.consumer_registry set enabled = true, dry_run = false")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{payload}", r"\{payload\}"),
        ("{event_id}{", r"\{"),
        ("{event_id}}", r"\}"),
        ("{{event_id}}", r"\{"),
        ("{EVENT_ID}", r"\{EVENT_ID\}"),
        ("{event_id}%6$s", "%6"),
        ("always the same", "the same for every event"),
        ("", "the same for every event"),
    ],
)
def test_a_template_uses_fields_of_the_event_and_nothing_else(db: Connection, text: str, words: str) -> None:
    with pytest.raises(BadTemplate, match=words):
        consumers.register(db, CONSUMER, DOMAIN, TYPE, KIND, text)
    assert own_consumers(db) == []


def test_what_a_field_holds_is_not_read_as_a_template(db: Connection) -> None:
    live(db, key="{event_subject_ref}:{event_id}", ref_template="100%/{event_subject_ref}")
    event = emit(db, "{event_id} %1$s {actor}")
    dispatched(db)
    (kept,) = rows(db, "select idempotency_key, payload_ref from penstock.job where causation_event_id = %s", event)
    assert kept == (f"{{event_id}} %1$s {{actor}}:{event}", "100%/{event_id} %1$s {actor}")


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ({"event_type": "unheard"}, UnknownEventType),
        ({"domain": "nowhere"}, UnknownEventType),
        ({"stream": "alert"}, UnknownEventType),
        ({"executor": "MOT"}, ExecutorRefused),
        ({"executor": "future_MOT_executor"}, ExecutorRefused),
        ({"consumer_id": "no spaces"}, BadRequest),
        ({"job_kind": "9lives"}, BadRequest),
        ({"priority": 40_000}, BadRequest),
        ({"rate_per_s": 0}, BadRequest),
    ],
)
def test_what_cannot_be_a_consumer_is_refused(
    db: Connection, arguments: dict[str, Any], error: type[Exception]
) -> None:
    given = {
        "consumer_id": CONSUMER,
        "domain": DOMAIN,
        "event_type": TYPE,
        "job_kind": KIND,
        "key_template": "{event_id}",
    }
    with pytest.raises(error):
        consumers.register(db, **{**given, **arguments})
    assert own_consumers(db) == []


def test_an_event_with_the_same_key_makes_no_second_job(db: Connection) -> None:
    live(db, key="{event_subject_ref}")
    first, second = emit(db, "n/7"), emit(db, "n/7")
    assert dispatched(db)["duplicates"] == 1
    third = emit(db, "n/7")
    assert dispatched(db)["duplicates"] == 1
    assert jobs_of(db) == [first]
    (job_id,) = rows(db, "select job_id from penstock.job where causation_event_id = %s", first)[0]
    noted = [(one.event_id, one.job_id) for one in consumers.noted(db, CONSUMER) if one.outcome == "duplicate"]
    assert noted == [(third, job_id), (second, job_id)]


def test_an_event_the_key_cannot_be_made_of_is_a_dead_letter_and_delays_no_other(db: Connection) -> None:
    live(db, key="{event_subject_ref}:{correlation_id}")
    good, bad, better = emit(db, "a", correlation_id="c"), emit(db, "b"), emit(db, "c", correlation_id="c")
    assert dispatched(db) == {"events": 3, "jobs": 2, "dry_run": 0, "duplicates": 0, "failed": 1}
    assert jobs_of(db) == [good, better]
    (letter,) = letters(db)
    assert (letter["consumer"], letter["event"]) == (CONSUMER, bad)
    assert "a field that this event does not have" in letter["error"]
    with pytest.raises(StillUnfit, match="a field that this event does not have"):
        dead_letters.replay(db, "event-1")
    live(db, "mended", key="{event_id}")
    db.execute("update penstock.consumer_dead_letter set consumer_id = 'mended'")
    dead_letters.replay(db, "event-1")
    assert jobs_of(db, "mended") == [bad]
    assert letters(db) == []


def test_a_consumer_that_breaks_at_one_event_is_isolated(db: Connection) -> None:
    live(db)
    live(db, "other", "other_kind")
    db.execute("alter table penstock.job add constraint broken check (target_ref <> 'bad' or job_kind <> 'greet')")
    good, bad = emit(db, "good"), emit(db, "bad")
    assert dispatched(db) == {"events": 2, "jobs": 3, "dry_run": 0, "duplicates": 0, "failed": 1}
    assert (jobs_of(db)[1:], jobs_of(db, "other")) == ([good], [good, bad])
    (letter,) = letters(db)
    assert (letter["consumer"], letter["event"]) == (CONSUMER, bad)
    assert "broken" in letter["error"]
    snapshot = value(db, "select event_snapshot from penstock.consumer_dead_letter")
    assert (snapshot["event_id"], snapshot["subject_ref"]) == (str(bad), "bad")
    db.execute("alter table penstock.job drop constraint broken")
    dead_letters.replay(db, "event-1")
    assert jobs_of(db)[1:] == [good, bad]


def test_a_loop_of_causes_ends_in_a_dead_letter(db: Connection) -> None:
    configure(db, "queue.consumer_dispatch.max_depth", "3")
    live(db)
    chain = [emit(db, "0")]
    for number in range(1, 6):
        chain.append(emit(db, str(number), causation_event_id=chain[-1]))
    assert dispatched(db)["failed"] == 3
    assert jobs_of(db) == chain[:3]
    assert "queue.consumer_dispatch.max_depth is 3" in letters(db)[0]["error"]


def test_above_its_rate_a_consumers_jobs_wait_for_their_time(db: Connection) -> None:
    live(db, rate_per_s=0.1)
    made = [emit(db, str(number)) for number in range(3)]
    dispatched(db)
    made.append(emit(db, "3"))
    dispatched(db)
    found = rows(
        db,
        "select causation_event_id, extract(epoch from process_after - min(process_after) over ())::integer"
        " from penstock.job where actor = 'consumer:greeter' order by process_after",
    )
    assert found == list(zip(made, (0, 10, 20, 30), strict=True))


def test_switched_off_says_so_and_moves_nothing(db: Connection) -> None:
    live(db)
    configure(db, "queue.consumer_dispatch.enabled", "false")
    event = emit(db, "n/7")
    dispatch = "select penstock.fn_consumer_dispatch(%s)"
    assert consumers.dispatch_run(db) == {"skipped": "queue.consumer_dispatch.enabled is not true"}
    assert value(db, dispatch, event) == {"skipped": "queue.consumer_dispatch.enabled is not true"}
    configure(db, "queue.consumer_dispatch.enabled", "true")
    dispatched(db)
    assert jobs_of(db) == [event]


def test_one_event_can_be_dispatched_again_and_makes_nothing_new(db: Connection) -> None:
    live(db)
    event = emit(db, "n/7")
    dispatch = "select penstock.fn_consumer_dispatch(%s)"
    assert value(db, dispatch, event)["jobs"] == 1
    assert value(db, dispatch, event)["duplicates"] == 1
    assert dispatched(db)["duplicates"] == 1
    assert jobs_of(db) == [event]
    with pytest.raises(BadRequest, match="there is no event"):
        value(db, dispatch, uuid4())


def test_a_stream_of_its_own_narrows_and_none_does_not(db: Connection) -> None:
    live(db)
    live(db, "narrow", "narrow_kind", stream="update")
    event = emit(db, "n/7")
    dispatched(db)
    assert jobs_of(db)[-1] == jobs_of(db, "narrow")[-1] == event


def test_a_key_that_an_open_transaction_keeps_costs_its_own_event_a_dead_letter_and_no_other(
    db: Connection, database: str
) -> None:
    live(db, key="{event_subject_ref}")
    with connect(database) as other, other.transaction():
        jobs.enqueue(other, {"kind": KIND, "idempotency_key": "held"})
        good, held, better = emit(db, "a"), emit(db, "held"), emit(db, "b")
        assert dispatched(db)["failed"] == 1
        assert jobs_of(db) == [good, better]
        assert [one["event"] for one in letters(db)] == [held]


def test_a_moment_when_nothing_can_be_written_makes_no_dead_letters(db: Connection, database: str) -> None:
    live(db)
    made = [emit(db, str(number)) for number in range(30)]
    events.tick(db)
    with connect(database) as other, other.transaction():
        other.execute("lock table penstock.job_queue in access exclusive mode")
        with pytest.raises(Busy):
            consumers.dispatch_run(db)
    assert letters(db) == []
    dispatched(db)
    assert jobs_of(db) == made


def test_keys_that_somebody_holds_delay_no_other_event_and_no_route(db: Connection, session: Connect) -> None:
    live(db, key="{event_subject_ref}")
    other = session()
    with other.transaction():
        for number in range(40):
            jobs.enqueue(other, {"kind": KIND, "idempotency_key": f"k{number}"})
        for number in range(40):
            emit(db, f"k{number}")
        free = emit(db, "free")
        assert dispatched(db) == {"events": 41, "jobs": 1, "dry_run": 0, "duplicates": 0, "failed": 40}
        assert free in jobs_of(db)
    for _ in range(2):
        queue.tick(db)
    assert letters(db) == []


def test_a_table_that_is_locked_whole_makes_no_dead_letters(db: Connection, session: Connect) -> None:
    live(db)
    other = session()
    for number in range(10):
        emit(db, f"n{number}")
    with other.transaction():
        other.execute("lock table penstock.once_key in share mode")
        with pytest.raises(Busy, match="holds a lock on a whole table"):
            dispatched(db)
    assert letters(db) == []
    assert dispatched(db)["jobs"] == 10
