"""What people look at: each state shown right, and read within bounds however much lies behind it."""

from typing import Any
from uuid import uuid4

import pytest

from penstock.kernel import jobs
from penstock.kernel.connection import Connection
from tests.sql.support import (
    beat,
    configure,
    enqueue,
    enqueue_later,
    expire,
    fail,
    fall_due,
    finish,
    reap,
    register,
    retry_at_once,
    row,
    rows,
    rule,
    take_one,
    tick,
    value,
)


def _health(db: Connection, part: str) -> tuple[str, Any, str]:
    ((state, number, detail),) = rows(
        db, "select state, value, detail from penstock.v_queue_health where part = %s", part
    )
    return state, number, detail


def _backlog(db: Connection) -> dict[str, tuple[int, bool, str | None]]:
    found = rows(db, "select job_kind, ready, more, reason from penstock.v_job_queue_backlog")
    return {kind: (ready, more, reason) for kind, ready, more, reason in found}


def test_a_job_is_shown_whole_in_each_of_its_states(db: Connection) -> None:
    worker = uuid4()
    ready, scheduled = enqueue(db, "ready", lane="l"), enqueue_later(db, "scheduled")
    blocked = enqueue(db, "blocked", lane="l")
    leased, running, retrying = enqueue(db, "leased"), enqueue(db, "running"), enqueue(db, "retrying")
    take_one(db, kinds=["leased"], incarnation=worker)
    take_one(db, kinds=["running"], start=True, incarnation=worker)
    fail(db, take_one(db, kinds=["retrying"], incarnation=worker))
    done, dead, cancelled = enqueue(db, "done"), enqueue(db, "dead"), enqueue(db, "cancelled")
    finish(db, take_one(db, kinds=["done"], incarnation=worker))
    fail(db, take_one(db, kinds=["dead"], incarnation=worker), {"permanent": True})
    jobs.cancel(db, cancelled)
    shown = {
        job_id: (view.status, view.attempt, view.lease_until is not None, view.leased_by, view.finished_at is not None)
        for job_id in range(1, 10)
        for view in [jobs.show(db, job_id)]
    }
    assert shown == {
        ready: ("ready", 0, False, None, False),
        scheduled: ("scheduled", 0, False, None, False),
        blocked: ("blocked", 0, False, None, False),
        leased: ("leased", 1, True, worker, False),
        running: ("running", 1, True, worker, False),
        retrying: ("retrying", 1, False, None, False),
        done: ("succeeded", 1, False, worker, True),
        dead: ("dead_lettered", 1, False, worker, True),
        cancelled: ("cancelled", 0, False, None, True),
    }
    assert value(db, "select count(*) from penstock.v_job") == 9


def test_a_job_shows_the_attempts_it_has_in_all(db: Connection) -> None:
    configure(db, "queue.retry.max_attempts.default", "7")
    configure(db, "queue.retry.max_attempts.twice", "2")
    shown = [jobs.show(db, enqueue(db, "any")), jobs.show(db, enqueue(db, "twice"))]
    shown += [jobs.show(db, enqueue(db, "twice", max_attempts=9))]
    assert [view.max_attempts for view in shown] == [7, 2, 9]


def test_the_trail_of_a_job_tells_everything_that_happened_to_it(db: Connection) -> None:
    retry_at_once(db)
    job_id = enqueue(db, actor="user:ann")
    fail(db, take_one(db, start=True), {"type": "Boom", "message": "no"})
    take_one(db, start=True)
    reap(db, job_id)
    claim = take_one(db)
    jobs.start(db, [job_id], [claim.lease_token])
    finish(db, claim)
    trail = rows(
        db,
        "select happening, attempt, actor, detail ->> 'reason' from penstock.v_execution_event"
        " where job_id = %s and execution_id = job_id order by happened_at, attempt nulls first",
        job_id,
    )
    assert [(happening, attempt, reason) for happening, attempt, _, reason in trail] == [
        ("enqueued", None, None),
        ("started", 1, None),
        ("failed", 1, "failed"),
        ("started", 2, None),
        ("failed", 2, "lease_expired"),
        ("started", 3, None),
        ("succeeded", 3, None),
    ]
    assert trail[0][2] == "user:ann"


def test_the_trail_shows_a_running_job_and_who_runs_it(db: Connection) -> None:
    job_id = enqueue(db)
    take_one(db, start=True)
    assert rows(
        db, "select happening, actor from penstock.v_execution_event where job_id = %s order by happened_at", job_id
    ) == [("enqueued", f"role:{value(db, 'select session_user')}"), ("started", "agent:default")]


def test_the_trail_shows_what_people_did(db: Connection) -> None:
    job_id = enqueue_later(db)
    jobs.retry(db, job_id, "user:ann")
    jobs.cancel(db, job_id, "user:bo", "no")
    trail = rows(
        db, "select happening, actor from penstock.v_execution_event where job_id = %s order by happened_at", job_id
    )
    assert trail[1:] == [("retry_requested", "user:ann"), ("cancel_requested", "user:bo"), ("cancelled", None)]


def test_the_backlog_says_why_nobody_takes_a_job(db: Connection) -> None:
    enqueue(db, "unserved")
    assert _backlog(db)["unserved"] == (1, False, "no living worker serves it")
    value(db, "select penstock.fn_queue_heartbeat('default', 'PG_worker', null, array['other'])::text")
    assert _backlog(db)["unserved"][2] == "no living worker serves it"
    worker = uuid4()
    beat(db, worker)
    assert _backlog(db)["unserved"][2] is None
    rule(db, job_kind="unserved", enabled=False)
    assert _backlog(db)["unserved"][2] == "no enabled job subscription takes it"
    enqueue(db, "foreign", executor="Hermes")
    assert _backlog(db)["foreign"] == (1, False, "no executor of kind Hermes is registered")


def test_the_backlog_says_that_a_priority_is_below_every_floor(db: Connection) -> None:
    rule(db, floor=5)
    beat(db, uuid4())
    enqueue(db, "low", priority=4)
    enqueue(db, "high", priority=5)
    reason = "its priority 4 is below the floor of every job subscription that takes it"
    assert (_backlog(db)["low"][2], _backlog(db)["high"][2]) == (reason, None)


def test_a_silent_worker_serves_nobody(db: Connection) -> None:
    enqueue(db)
    beat(db, uuid4())
    db.execute("update penstock.queue_heartbeat set beat_at = now() - interval '1 hour'")
    tick(db)
    assert _backlog(db)["work"][2] == "no living worker serves it"


def test_a_worker_of_other_pools_serves_nobody_here(db: Connection) -> None:
    enqueue(db)
    value(db, "select penstock.fn_queue_heartbeat('default', 'PG_worker', null, null, array['priority'])::text")
    assert _backlog(db)["work"][2] == "no living worker serves it"


def test_the_backlog_counts_to_10000_and_says_when_there_is_more(db: Connection) -> None:
    for _ in range(2):
        jobs.enqueue_many(db, [{"kind": "work"}] * 5000)
    enqueue(db, "few")
    assert _backlog(db)["work"][:2] == (10_000, False)
    enqueue(db)
    assert _backlog(db)["work"][:2] == (10_000, True)
    assert _backlog(db)["few"][:2] == (1, False)


def test_the_backlog_shows_what_is_ready_by_kind_pool_and_domain_with_the_oldest(db: Connection) -> None:
    old = enqueue(db, "a")
    enqueue(db, "a")
    enqueue(db, "a", pool="priority", event_domain="kg")
    enqueue_later(db, "a")
    take_one(db, pools=["priority"])
    found = rows(
        db, "select executor, pool, job_kind, event_domain, ready, oldest_enqueued_at from penstock.v_job_queue_backlog"
    )
    assert found == [("PG_worker", "shared", "a", None, 2, row(db, old)["enqueued_at"])]


def test_the_health_of_an_untouched_queue_says_that_nothing_ticks(db: Connection) -> None:
    assert _health(db, "tick")[0] == "alert"
    tick(db)
    assert _health(db, "tick")[0] == "ok"
    states = dict(rows(db, "select part, state from penstock.v_queue_health"))
    assert {part for part, state in states.items() if state != "ok"} == {"workers:default"}


def test_workers_are_well_while_they_live(db: Connection) -> None:
    assert _health(db, "workers:default")[:2] == ("warn", 0)
    beat(db, uuid4())
    assert _health(db, "workers:default")[:2] == ("ok", 1)
    beat(db, uuid4())
    db.execute(
        "update penstock.queue_heartbeat set beat_at = now() - interval '1 hour'"
        " where incarnation = (select min(incarnation::text)::uuid from penstock.queue_heartbeat)"
    )
    tick(db)
    assert _health(db, "workers:default") == ("alert", 1, "1 living, 1 silent")


def test_executors_are_shown_with_their_rules_and_lives(db: Connection) -> None:
    register(db, "idle", "Hermes")
    rule(db, "idle", kind="Hermes", enabled=False)
    beat(db, uuid4())
    found = rows(
        db,
        "select executor_id, executor_kind, registered, rules, any_enabled, living, silent"
        " from penstock.v_executor_subscription_health order by 1",
    )
    assert found == [("default", "PG_worker", True, 1, True, 1, 0), ("idle", "Hermes", True, 1, False, 0, 0)]


def test_leases_and_due_jobs_nobody_looks_after_are_alerts(db: Connection) -> None:
    held, late = enqueue(db), enqueue_later(db)
    take_one(db)
    expire(db, held)
    fall_due(db, late)
    assert (_health(db, "leases_overdue")[0], _health(db, "due_overdue")[0]) == ("ok", "ok")
    db.execute("update penstock.job_queue set lease_until = lease_until - interval '2 minutes'")
    db.execute("update penstock.job_queue set process_after = process_after - interval '2 minutes'")
    assert _health(db, "leases_overdue")[:2] == ("alert", 1)
    assert _health(db, "due_overdue")[:2] == ("alert", 1)
    tick(db)
    assert (_health(db, "leases_overdue")[0], _health(db, "due_overdue")[0]) == ("ok", "ok")


def test_a_broken_part_of_the_tick_is_an_alert_until_it_works_again(db: Connection) -> None:
    db.execute("alter table penstock.once_key rename to away")
    tick(db)
    state, _, detail = _health(db, "tick:once_keys")
    assert state == "alert"
    assert "once_key" in detail
    db.execute("alter table penstock.away rename to once_key")
    tick(db)
    assert _health(db, "tick:once_keys")[0] == "ok"


def test_open_dead_letters_and_unserved_kinds_and_bad_schedules_are_seen(db: Connection) -> None:
    job_id = enqueue(db)
    fail(db, take_one(db), {"permanent": True})
    enqueue(db, "unserved")
    value(db, 'select penstock.fn_schedule_set(\'nightly\', \'{"kind": "a", "pool": "shared"}\', \'0 0 * * *\')')
    db.execute('update penstock.schedule set next_run_at = now(), job = \'{"kind": "a", "pool": "gone"}\'')
    tick(db)
    assert _health(db, "dead_letters")[:2] == ("warn", 1)
    assert _health(db, "unserved:unserved") == ("warn", 1, "no living worker serves it")
    assert _health(db, "schedule:nightly")[0] == "alert"
    assert rows(db, "select job_id from penstock.v_job_queue_dead_letter_open") == [(job_id,)]


def test_a_lane_that_waits_for_a_look_is_a_warning(db: Connection) -> None:
    db.execute("begin isolation level repeatable read")
    enqueue(db, lane="l")
    db.execute("commit")
    assert _health(db, "lanes_unsettled")[:2] == ("warn", 1)
    tick(db)
    assert _health(db, "lanes_unsettled")[0] == "ok"


def _reads(db: Connection, query: str) -> int:
    """How many rows the plan's scans brought up, all in all."""
    ((plan,),) = db.execute(f"explain (analyze, timing off, summary off, format json) {query}".encode()).fetchall()

    def walk(node: dict[str, Any]) -> int:
        own = 0
        if "Scan" in node["Node Type"] and "Plans" not in node:
            own = int((node["Actual Rows"] + node.get("Rows Removed by Filter", 0)) * node["Actual Loops"])
        return own + sum(walk(child) for child in node.get("Plans", []))

    return walk(plan[0]["Plan"])


@pytest.mark.parametrize(
    "query",
    [
        "select * from penstock.v_queue_health",
        "select * from penstock.v_job_queue_backlog",
        "select * from penstock.v_executor_subscription_health",
        "select * from penstock.v_job where job_id = 17",
        "select * from penstock.v_execution_event where job_id = 17",
    ],
)
def test_no_view_reads_the_history(query: str, db: Connection) -> None:
    enqueue(db)
    small = _reads(db, query)
    db.execute(
        "insert into penstock.job (job_id, enqueued_at, job_kind, executor, pool, priority, actor)"
        " select 1000 + n, now(), 'old', 'PG_worker', 'shared', 0, 'role:x' from generate_series(1, 50000) n"
    )
    db.execute(
        "insert into penstock.job_outcome (job_id, finished_at, lease_token, enqueued_at, attempt, status)"
        " select 1000 + n, now(), 1, now(), 1, 'succeeded' from generate_series(1, 50000) n"
    )
    db.execute(
        "insert into penstock.job_dead_letter (job_id, job_kind, reason, snapshot, resolved_at)"
        " select n, 'old', 'failed', '{}', now() from generate_series(1, 20000) n"
    )
    db.execute(
        "insert into penstock.ingest_dead_letter"
        " (subscription, message_id, part, source_offset, attributes, reason, resolved_at)"
        " select 's', n::text, 'p', n, '[]', 'bad_json', now() from generate_series(1, 20000) n"
    )
    db.execute("analyze penstock.job; analyze penstock.job_outcome; analyze penstock.job_dead_letter")
    db.execute("analyze penstock.ingest_dead_letter")
    assert _reads(db, query) <= small + 2000
