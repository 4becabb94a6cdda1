"""What the clock does for the event plane: stalls are noticed, gaps are found, and what nobody needs goes away."""

from uuid import UUID

import pytest

from penstock.kernel import consumers, events, jobs, outbound, queue
from penstock.kernel.connection import Connection, connect
from tests.conftest import Connect
from tests.events.support import DOMAIN, TYPE, dispatched, emit, jobs_of, known, letters, live, newest_tick
from tests.logins import Logins
from tests.sql.support import configure, rows, value

STALLED = "select subject_ref from penstock.event_outbox where event_type = 'cursor_stalled'"
AUDIT = "select penstock.events_audit('0 seconds')"


@pytest.fixture(autouse=True)
def _live(db: Connection) -> None:
    known(db)
    live(db)
    _audited_from_now_on(db)


def _audited_from_now_on(db: Connection) -> None:
    """A consumer's first minute is not."""
    db.execute(
        "update penstock.consumer_registry set live_at = clock_timestamp() - interval '1 minute'"
        " where live_at is not null"
    )


def _grow_older(db: Connection, interval: str) -> None:
    db.execute("update penstock.event_cursor set moved_at = moved_at - %s::interval", [interval])
    db.execute("update penstock.outbox_tick set ticked_at = ticked_at - %s::interval", [interval])


def test_a_reader_that_stands_still_with_something_to_read_is_an_event_once(db: Connection) -> None:
    value(db, "select penstock.broadcasts_count()")
    _grow_older(db, "2 minutes")
    assert value(db, "select penstock.cursors_watch()") == 0
    emit(db)
    events.tick(db)
    _grow_older(db, "2 minutes")
    for _ in range(2):
        value(db, "select penstock.cursors_watch()")
    assert sorted(rows(db, STALLED)) == [("broadcasts",), ("consumers",)]
    health = "select state from penstock.v_queue_health where part = 'cursor:consumers'"
    assert value(db, health) == "alert"
    consumers.dispatch_run(db)
    assert value(db, health) == "ok"


def test_a_reader_that_moves_and_lags_is_an_event_once_an_hour(db: Connection) -> None:
    configure(db, "queue.cursor.lag_s", "600")
    emit(db)
    events.tick(db)
    _grow_older(db, "11 minutes")
    db.execute("update penstock.event_cursor set moved_at = now()")
    # within one hour of the clock
    with db.transaction():
        for _ in range(2):
            value(db, "select penstock.cursors_watch()")
    lagging = "select subject_ref from penstock.event_outbox where event_type = 'cursor_lagging'"
    assert sorted(rows(db, lagging)) == [("broadcasts",), ("consumers",)]
    health = "select state from penstock.v_queue_health where part = 'cursor:consumers'"
    assert value(db, health) == "warn"
    consumers.dispatch_run(db)
    assert value(db, health) == "ok"


@pytest.mark.parametrize("when", ["before", "after"])
def test_behind_a_closed_gate_events_wait_however_long(db: Connection, when: str) -> None:
    gate = "iu_core.routes_enabled"
    configure(db, gate, "true")
    configure(db, "iu_core.route_worker_enabled", "true")
    definition = {"event_domain": DOMAIN, "event_type": TYPE, "route_kind": "notify", "target": {"channel": "told"}}
    outbound.route_set(db, "out", definition, enabled=True)
    queue.tick(db)
    configure(db, gate, "false")
    waiting = []
    for _ in range(3):
        if when == "before":
            waiting.append(emit(db))
        queue.tick(db)
        _grow_older(db, "3 days")
        if when == "after":
            waiting.append(emit(db))
        queue.tick(db)
    assert value(db, "select count(*) from penstock.outbox_tick where ticked_at < now() - interval '2 days'") <= 4
    configure(db, gate, "true")
    events.tick(db)
    outbound.worker_run(db)
    tried = rows(db, "select event_ref from penstock.iu_route_attempt where event_ref = any (%s)", waiting)
    assert sorted(event for (event,) in tried) == sorted(waiting)


def test_a_tick_that_a_reader_is_moving_to_is_kept(db: Connection, session: Connect) -> None:
    emit(db)
    events.tick(db)
    reader = session()
    with reader.transaction():
        consumers.dispatch_run(reader)
        emit(db, "later")
        events.tick(db)
        _ticks_grow_older(db)
        value(db, "select penstock.events_sweep()")
    assert dispatched(db)["jobs"] == 1
    value(db, "select penstock.events_sweep()")
    assert value(db, "select count(*) from penstock.outbox_tick where ticked_at < now() - interval '2 days'") <= 4


def _ticks_grow_older(db: Connection) -> None:
    db.execute(
        "update penstock.outbox_tick set ticked_at = ticked_at - interval '3 days'"
        " where tick_id < (select max(tick_id) from penstock.outbox_tick)"
    )


def test_one_that_is_switched_off_does_not_count_as_standing_still(db: Connection) -> None:
    configure(db, "queue.consumer_dispatch.enabled", "false")
    emit(db)
    events.tick(db)
    _grow_older(db, "2 minutes")
    value(db, "select penstock.cursors_watch()")
    assert rows(db, STALLED) == [("broadcasts",)]


def _passed_over(db: Connection) -> UUID:
    """An event the dispatcher has passed and made nothing of, as if it had been skipped."""
    event = emit(db, "skipped")
    dispatched(db)
    job = "(select job_id from penstock.job where target_ref = 'skipped')"
    db.execute(f"delete from penstock.job_queue where job_id in {job}".encode())
    db.execute(f"delete from penstock.once_key where ref::bigint in {job}".encode())
    db.execute("delete from penstock.job where target_ref = 'skipped'")
    return event


def test_the_audit_finds_what_was_skipped_and_dispatches_it(db: Connection) -> None:
    kept = emit(db, "kept")
    event = _passed_over(db)
    _grow_older(db, "1 hour")
    audited = value(db, AUDIT)
    assert (audited["missing"], audited["events"]) == (1, 3)
    assert sorted(jobs_of(db)) == sorted([kept, event])
    (alarm,) = rows(db, "select payload from penstock.event_outbox where event_type = 'events_missed'")
    assert alarm[0] == {"events": 1, "first": str(event)}
    dispatched(db)
    _grow_older(db, "1 hour")
    assert value(db, AUDIT)["missing"] == 0


def test_what_was_noted_or_died_or_came_before_is_not_missing(db: Connection) -> None:
    live(db, "keyed", "other", key="{event_subject_ref}:{correlation_id}")
    _audited_from_now_on(db)
    for correlation in ("c", "c", None):
        emit(db, "same", correlation_id=correlation)
    dispatched(db)
    _grow_older(db, "1 hour")
    assert value(db, AUDIT)["missing"] == 0
    emit(db, "before it was live", correlation_id="d")
    dispatched(db)
    live(db, "late", "third")
    _grow_older(db, "1 hour")
    assert value(db, AUDIT)["missing"] == 0


def test_the_audit_waits_for_its_hour(db: Connection) -> None:
    emit(db)
    dispatched(db)
    assert value(db, "select penstock.events_audit()") is None


def test_old_ticks_go_once_every_reader_is_past_them(db: Connection) -> None:
    for number in range(3):
        emit(db, str(number))
        dispatched(db)
    _grow_older(db, "3 days")
    emit(db, "new")
    dispatched(db)
    oldest = value(db, "select min(tick_id) from penstock.outbox_tick")
    value(db, "select penstock.events_sweep()")
    # the other readers have not moved
    assert value(db, "select min(tick_id) from penstock.outbox_tick") == oldest
    db.execute("update penstock.event_cursor set tick_id = %s where cursor_name <> 'consumers'", [newest_tick(db)])
    value(db, "select penstock.events_sweep()")
    assert value(db, "select count(*) from penstock.outbox_tick where ticked_at < now() - interval '2 days'") == 0
    emit(db, "newer")
    assert dispatched(db)["jobs"] == 1


def test_the_tick_of_a_worker_that_is_no_operator_raises_its_alarms(db: Connection, logins: Logins) -> None:
    db.execute("delete from penstock.event_subscription")
    events.subscription_set(db, "user:ann", DOMAIN, event_type=TYPE, payload={"never": 1})
    emit(db)
    events.tick(db)
    _grow_older(db, "2 minutes")
    report = queue.tick(logins.member("dot_executor"))
    assert {part: did for part, did in report.items() if not did["ok"]} == {}
    kinds = rows(db, "select distinct event_type from penstock.event_outbox where event_domain = 'system' order by 1")
    assert ("cursor_stalled",) in kinds
    assert ("subscription_broadcast",) in kinds


def test_what_waited_for_a_lock_becomes_a_job_when_the_lock_is_gone(db: Connection, database: str) -> None:
    with connect(database) as other, other.transaction(force_rollback=True):
        jobs.enqueue(other, {"kind": "greet", "idempotency_key": "held"})
        consumers.register(db, "keyed", DOMAIN, TYPE, "greet", "{event_subject_ref}")
        consumers.switch(db, "keyed", enabled=True)
        emit(db, "dry")
        dispatched(db)
        consumers.switch(db, "keyed", dry_run=False, reviewed_by="user:ann")
        event = emit(db, "held")
        dispatched(db)
        assert jobs_of(db, "keyed") == []
    assert queue.tick(db)["dispatch"]["did"]["unlocked"] == 1
    assert jobs_of(db, "keyed") == [event]
    assert letters(db) == []
