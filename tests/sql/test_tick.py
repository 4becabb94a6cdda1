"""The tick: one pass of everything the clock drives, part by part."""

from uuid import uuid4

import pytest

from penstock.kernel import jobs, queue
from penstock.kernel.connection import Connection
from tests.conftest import Connect
from tests.sql.support import (
    beat,
    configure,
    enqueue,
    enqueue_later,
    expire,
    fall_due,
    finish,
    rows,
    status,
    take_one,
    tick,
    value,
)

PARTS = {
    *(
        "outbox",
        "dispatch",
        "routes",
        "broadcasts",
        "cursors",
        "events_sweep",
        "events_audit",
        "promote",
        "reap",
        "silence",
        "schedules",
        "lanes",
        "once_keys",
        "analyze",
    ),
    *("partitions", "subscriptions", "awaiting", "workflows", "staging", "history"),
}

# what each part cannot do without, taken away
BREAKS = {
    "promote": "alter function penstock.jobs_promote rename to away",
    "reap": "alter function penstock.attempts_failed rename to away",
    "silence": "alter table penstock.queue_heartbeat rename to away",
    "schedules": "alter table penstock.schedule rename to away",
    "lanes": "alter table penstock.lane_check rename to away",
    "once_keys": "alter function penstock.once_sweep rename to away",
    "partitions": "alter function penstock.partitions_ahead rename to away",
    "outbox": "alter function penstock.fn_outbox_tick rename to away",
    "dispatch": "alter function penstock.fn_consumer_dispatch_run rename to away",
    "broadcasts": "alter function penstock.broadcasts_count rename to away",
    "routes": "alter function penstock.routes_tick rename to away",
    "cursors": "alter function penstock.cursors_watch rename to away",
    "events_sweep": "alter function penstock.events_sweep rename to away",
    "events_audit": "alter function penstock.events_audit rename to away",
    "subscriptions": "alter table penstock.subscription_runtime rename to away",
    "history": "alter function penstock.history_begins rename to away",
    "staging": "alter table penstock.iu_staging_record rename to away",
}


def _work(db: Connection) -> tuple[int, int]:
    """A running job whose lease has ended, and a scheduled one that is due."""
    reaped = enqueue(db)
    take_one(db, start=True)
    expire(db, reaped)
    due = enqueue_later(db)
    fall_due(db, due)
    return reaped, due


def test_a_tick_reports_every_part(db: Connection) -> None:
    report = tick(db)
    assert set(report) == PARTS
    assert all(part["ok"] for part in report.values())
    assert {part for (part,) in rows(db, "select part from penstock.queue_tick_part")} == PARTS


@pytest.mark.parametrize("broken", BREAKS)
def test_a_part_that_fails_stops_no_other(broken: str, db: Connection) -> None:
    reaped, due = _work(db)
    db.execute(BREAKS[broken].encode())
    report = tick(db)
    assert {part for part, did in report.items() if not did["ok"]} == {broken}
    assert report[broken]["error"]
    assert len(report[broken]["sqlstate"]) == 5
    assert status(db, reaped) == ("running" if broken == "reap" else "retrying")
    assert status(db, due) == ("scheduled" if broken == "promote" else "ready")
    assert rows(db, "select part from penstock.queue_tick_part where failed_since is not null") == [(broken,)]


def test_one_bad_schedule_stops_neither_the_others_nor_the_reaper(db: Connection) -> None:
    reaped, _ = _work(db)
    for name in ("good", "bad", "worse"):
        value(db, "select penstock.fn_schedule_set(%s, '{\"kind\": \"nightly\"}', p_every => '1 hour')", name)
    db.execute("update penstock.schedule set next_run_at = now() - interval '1 minute'")
    db.execute('update penstock.schedule set job = \'{"kind": "nightly", "pool": "gone"}\' where schedule_id = \'bad\'')
    db.execute("update penstock.schedule set every = null, cron = 'not a line' where schedule_id = 'worse'")
    report = tick(db)
    assert report["schedules"] == {"ok": True, "did": {"enqueued": 1, "failed": 2}}
    assert status(db, reaped) == "retrying"
    failed = rows(db, "select schedule_id from penstock.schedule where last_error is not null order by 1")
    assert failed == [("bad",), ("worse",)]
    assert tick(db)["schedules"] == {"ok": True, "did": {"enqueued": 0, "failed": 0}}


def test_a_part_that_works_again_is_no_longer_marked(db: Connection) -> None:
    db.execute("alter table penstock.lane_check rename to away")
    tick(db)
    since = value(db, "select failed_since from penstock.queue_tick_part where part = 'lanes'")
    tick(db)
    assert value(db, "select failed_since from penstock.queue_tick_part where part = 'lanes'") == since
    db.execute("alter table penstock.away rename to lane_check")
    tick(db)
    assert value(db, "select failed_since from penstock.queue_tick_part where part = 'lanes'") is None


def test_a_tick_that_meets_another_leaves_the_work_to_it(db: Connection, session: Connect) -> None:
    other = session()
    other.execute("begin")
    tick(other)
    db.execute("set lock_timeout = '3s'")
    assert tick(db) == {"skipped": "another tick is running"}
    other.execute("commit")
    assert "skipped" not in tick(db)


def test_a_tick_alone_reaps_when_no_worker_lives(db: Connection) -> None:
    job_id = enqueue(db)
    take_one(db)
    expire(db, job_id)
    assert tick(db)["reap"]["did"] == 1
    assert status(db, job_id) == "ready"


def test_partitions_are_made_two_months_ahead(db: Connection) -> None:
    db.execute(
        "do $$ declare t text; begin for t in select inhrelid::regclass from pg_inherits where inhparent in"
        " ('penstock.job'::regclass, 'penstock.job_outcome'::regclass, 'penstock.execution_event'::regclass,"
        " 'penstock.event_outbox'::regclass, 'penstock.event_read'::regclass, 'penstock.ingest_message'::regclass)"
        " loop execute 'drop table ' || t; end loop; end $$"
    )
    assert tick(db)["partitions"] == {"ok": True, "did": 18}
    assert tick(db)["partitions"] == {"ok": True, "did": 0}


def _silent_events(db: Connection) -> list[tuple[str, str]]:
    return [
        (ref, incarnation)
        for ref, incarnation in rows(
            db,
            "select subject_ref, payload ->> 'incarnation' from penstock.event_outbox"
            " where event_domain = 'system' and event_type = 'queue_worker_silent' and event_stream = 'alert'"
            " order by seq",
        )
    ]


def _hush(db: Connection) -> None:
    """The last beats lie two minutes back."""
    db.execute("update penstock.queue_heartbeat set beat_at = beat_at - interval '2 minutes'")


def test_a_worker_that_falls_silent_is_an_event_once(db: Connection) -> None:
    quiet, loud = uuid4(), uuid4()
    beat(db, quiet)
    _hush(db)
    beat(db, loud)
    assert [tick(db)["silence"]["did"] for _ in range(3)] == [1, 0, 0]
    assert _silent_events(db) == [("default", str(quiet))]


def test_a_second_silence_is_a_second_event(db: Connection) -> None:
    worker = uuid4()
    for _ in range(2):
        beat(db, worker)
        _hush(db)
        tick(db)
        tick(db)
    assert _silent_events(db) == [("default", str(worker))] * 2


def test_silence_begins_where_the_operator_says(db: Connection) -> None:
    configure(db, "queue.heartbeat.stale_threshold_seconds", "3600")
    beat(db, uuid4())
    _hush(db)
    tick(db)
    assert _silent_events(db) == []
    configure(db, "queue.heartbeat.stale_threshold_seconds", "100")
    tick(db)
    assert len(_silent_events(db)) == 1


def test_a_worker_that_says_farewell_is_not_missed(db: Connection) -> None:
    worker = uuid4()
    beat(db, worker)
    value(db, "select penstock.fn_queue_farewell('default', %s)::text", worker)
    tick(db)
    assert rows(db, "select * from penstock.queue_heartbeat") == []
    assert _silent_events(db) == []


def test_a_beat_lost_in_a_crash_counts_from_the_first_tick_that_misses_it(db: Connection) -> None:
    worker = uuid4()
    job_id = enqueue(db)
    claim = take_one(db, incarnation=worker)
    db.execute("truncate penstock.queue_heartbeat")
    assert tick(db)["silence"]["did"] == 0
    assert rows(db, "select incarnation, executor_id from penstock.queue_heartbeat") == [(worker, "default")]
    _hush(db)
    assert tick(db)["silence"]["did"] == 1
    assert _silent_events(db) == [("default", str(worker))]
    assert jobs.heartbeat(db, "default", worker, [job_id], [claim.lease_token]) == []


def test_a_deregistered_executor_is_not_missed(db: Connection) -> None:
    beat(db, uuid4())
    _hush(db)
    value(db, "select penstock.fn_executor_deregister('default')::text")
    tick(db)
    assert _silent_events(db) == []


def test_a_holder_that_never_beat_and_is_done_is_not_missed(db: Connection) -> None:
    enqueue(db)
    claim = take_one(db)
    tick(db)
    finish(db, claim)
    _hush(db)
    tick(db)
    assert _silent_events(db) == []
    assert rows(db, "select * from penstock.queue_heartbeat") == []


def test_a_deregistered_executor_is_not_missed_for_the_leases_it_still_has(db: Connection) -> None:
    enqueue(db)
    take_one(db, incarnation=uuid4())
    value(db, "select penstock.fn_executor_deregister('default')::text")
    tick(db)
    _hush(db)
    tick(db)
    assert _silent_events(db) == []


def test_a_silence_of_more_than_a_day_is_forgotten(db: Connection) -> None:
    beat(db, uuid4())
    _hush(db)
    tick(db)
    db.execute("update penstock.queue_heartbeat set silent_since = now() - interval '25 hours'")
    tick(db)
    assert rows(db, "select * from penstock.queue_heartbeat") == []


def test_a_part_that_cannot_get_its_lock_gives_up_and_the_others_go_on(db: Connection, session: Connect) -> None:
    job_id = enqueue(db)
    expire(db, take_one(db).job_id)
    value(db, "select penstock.fn_schedule_set('often', '{\"kind\": \"work\"}', null, interval '1 second')::text")
    db.execute("update penstock.schedule set next_run_at = now() - interval '1 minute'")
    theirs = session()
    theirs.execute("begin; lock table penstock.schedule in access exclusive mode")
    report = tick(db)
    assert (report["schedules"]["ok"], report["reap"]["did"]) == (False, 1)
    assert "lock timeout" in report["schedules"]["error"]
    assert status(db, job_id) == "ready"


def test_a_part_that_did_all_it_does_in_one_go_is_known_by_its_number(db: Connection) -> None:
    jobs.enqueue_many(db, [{"kind": "work", "lane": f"lane-{n}"} for n in range(600)])
    lanes = [tick(db)["lanes"]["did"] for _ in range(4)]
    assert (lanes, queue.TICK_LIMITS["lanes"]) == ([200, 144, 0, 0], 200)
