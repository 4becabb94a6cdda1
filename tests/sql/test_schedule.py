"""Schedules: what is set, what is due, and that one run is one job."""

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from threading import Barrier
from typing import Any

import psycopg
import pytest
from psycopg.types.json import Jsonb

from penstock.kernel.connection import Connection
from tests.concurrency.sessions import never_waits
from tests.conftest import Connect

JOB: dict[str, Any] = {"kind": "report", "safe_payload": {"page": 1}}


def schedule(
    db: Connection,
    schedule_id: str = "nightly",
    job: dict[str, Any] | None = None,
    *,
    cron: str | None = None,
    every: str | None = None,
    timezone: str | None = "UTC",
    enabled: bool = True,
    actor: str | None = None,
) -> datetime:
    row = db.execute(
        "select penstock.fn_schedule_set(%s, %s, %s, %s::interval, %s, %s, %s)",
        [schedule_id, Jsonb(JOB if job is None else job), cron, every, timezone, enabled, actor],
    ).fetchone()
    assert row is not None
    next_run: datetime = row[0]
    return next_run


def make_due(db: Connection, late: str = "0 seconds", schedule_id: str = "nightly") -> datetime:
    """Move the planned run into the past; returns it."""
    row = db.execute(
        "update penstock.schedule set next_run_at = now() - %s::interval where schedule_id = %s returning next_run_at",
        [late, schedule_id],
    ).fetchone()
    assert row is not None
    planned: datetime = row[0]
    return planned


def run(db: Connection) -> dict[str, int]:
    row = db.execute("select penstock.schedules_run()").fetchone()
    assert row is not None
    answer: dict[str, int] = row[0]
    return answer


def jobs(db: Connection) -> list[tuple[Any, ...]]:
    return db.execute("select job_kind, idempotency_key, actor from penstock.job order by job_id").fetchall()


def stored(db: Connection, columns: str, schedule_id: str = "nightly") -> tuple[Any, ...]:
    query = f"select {columns} from penstock.schedule where schedule_id = %s".encode()
    row = db.execute(query, [schedule_id]).fetchone()
    assert row is not None
    return row


def test_setting_a_cron_schedule_plans_its_first_run(db: Connection) -> None:
    planned = schedule(db, cron="30 4 * * *", timezone="Europe/Berlin")
    row = db.execute("select penstock.cron_next('30 4 * * *', now(), 'Europe/Berlin')").fetchone()
    assert row == (planned,)
    assert stored(db, "next_run_at, cron, timezone, enabled, set_by, last_run_at") == (
        planned,
        "30 4 * * *",
        "Europe/Berlin",
        True,
        "role:postgres",
        None,
    )


def test_a_due_schedule_enqueues_its_job_with_the_planned_run_in_the_key(db: Connection) -> None:
    schedule(db, cron="* * * * *", actor="user:ada")
    planned = make_due(db)
    assert run(db) == {"enqueued": 1, "failed": 0}
    assert jobs(db) == [("report", f"schedule:nightly:{planned.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}", "user:ada")]
    job_id, ran, planned_next, error = stored(db, "last_job_id, last_run_at, next_run_at, last_error")
    assert db.execute("select status::text from penstock.job_queue where job_id = %s", [job_id]).fetchone() == (
        "ready",
    )
    assert ran < planned_next <= ran + timedelta(minutes=1)
    assert error is None


def test_the_jobs_own_actor_wins_over_the_setters(db: Connection) -> None:
    schedule(db, job=JOB | {"actor": "agency:press"}, every="1 hour", actor="user:ada")
    make_due(db)
    run(db)
    assert [actor for _, _, actor in jobs(db)] == ["agency:press"]


def test_nothing_runs_before_its_time(db: Connection) -> None:
    schedule(db, every="1 hour")
    assert run(db) == {"enqueued": 0, "failed": 0}
    assert jobs(db) == []


def test_two_runs_in_a_row_enqueue_once(db: Connection) -> None:
    schedule(db, every="1 hour")
    make_due(db)
    assert [run(db)["enqueued"], run(db)["enqueued"]] == [1, 0]
    assert len(jobs(db)) == 1


def test_a_schedule_another_session_is_running_is_left_to_it(session: Connect) -> None:
    first, second = session(), session()
    schedule(first, every="1 hour")
    make_due(first)
    second.execute("set statement_timeout = '10s'")
    with first.transaction():
        assert run(first)["enqueued"] == 1
        assert run(second) == {"enqueued": 0, "failed": 0}
    assert run(second) == {"enqueued": 0, "failed": 0}
    assert len(jobs(first)) == 1


def test_many_due_schedules_run_once_each_from_two_sessions_at_once(session: Connect) -> None:
    sessions = [session(), session()]
    for n in range(40):
        schedule(sessions[0], f"s{n}", every="1 hour")
    for hours in range(1, 6):
        sessions[0].execute("update penstock.schedule set next_run_at = now() - %s * interval '1 hour'", [hours])
        sessions[0].execute("truncate penstock.job, penstock.job_queue")
        start = Barrier(2)

        def at_once(connection: Connection, start: Barrier = start) -> int:
            start.wait(timeout=10)
            return run(connection)["enqueued"]

        with ThreadPoolExecutor(2) as pool:
            enqueued = sum(pool.map(at_once, sessions))
        assert (enqueued, len(jobs(sessions[0]))) == (40, 40)


def test_a_planned_run_that_has_its_job_is_not_enqueued_again(db: Connection) -> None:
    schedule(db, every="1 hour")
    planned = make_due(db)
    run(db)
    (job_id,) = stored(db, "last_job_id")
    db.execute("update penstock.schedule set next_run_at = %s", [planned])
    assert run(db) == {"enqueued": 0, "failed": 0}
    assert stored(db, "last_job_id, next_run_at > now()") == (job_id, True)
    assert len(jobs(db)) == 1


def test_a_producers_job_of_the_same_key_neither_takes_a_runs_place_nor_holds_it_up(
    db: Connection, session: Connect
) -> None:
    schedule(db, every="1 hour")
    planned = make_due(db)
    theirs = session()
    theirs.execute("begin")
    key = f"schedule:nightly:{planned.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}"
    theirs.execute("select penstock.fn_job_enqueue('report', %s)", [key])
    assert run(never_waits(db)) == {"enqueued": 1, "failed": 0}
    theirs.execute("commit")
    assert len(jobs(db)) == 2


def test_missed_cron_runs_are_caught_up_once(db: Connection) -> None:
    schedule(db, cron="*/5 * * * *")
    make_due(db, "3 days")
    assert [run(db)["enqueued"], run(db)["enqueued"]] == [1, 0]
    assert stored(db, "next_run_at = penstock.cron_next(cron, last_run_at, timezone)") == (True,)


@pytest.mark.parametrize(
    ("every", "late"),
    [
        ("1 hour", "0 seconds"),
        ("1 hour", "59 minutes"),
        ("7 seconds", "3 days"),
        ("1 day", "40 days"),
        ("1.5 seconds", "1 day"),
    ],
)
def test_an_interval_stays_on_its_grid(db: Connection, every: str, late: str) -> None:
    # a session in a zone with clock changes: a day of the interval is 24 hours all the same
    db.execute("set timezone = 'America/New_York'")
    schedule(db, every=every)
    # at one moment, or a short interval would be due again
    with db.transaction():
        planned = make_due(db, late)
        assert [run(db)["enqueued"], run(db)["enqueued"]] == [1, 0]
    step, following, ran = stored(db, "every, next_run_at, last_run_at")
    planned, following, ran = (at.astimezone(UTC) for at in (planned, following, ran))
    assert (following - planned) % step == timedelta(0)
    assert ran < following <= ran + step


def test_a_disabled_schedule_does_nothing(db: Connection) -> None:
    schedule(db, every="1 hour", enabled=False)
    planned = make_due(db, "1 day")
    assert run(db) == {"enqueued": 0, "failed": 0}
    assert (jobs(db), stored(db, "next_run_at, last_run_at")) == ([], (planned, None))


def test_what_a_disabled_schedule_missed_is_not_caught_up(db: Connection) -> None:
    schedule(db, every="1 hour", enabled=False)
    planned = make_due(db, "90 minutes")
    assert schedule(db, every="1 hour", enabled=True) == planned + timedelta(hours=2)
    assert run(db) == {"enqueued": 0, "failed": 0}


def test_oldest_first_up_to_the_limit(db: Connection) -> None:
    for name, late in (("young", "1 minute"), ("old", "3 minutes"), ("middle", "2 minutes")):
        schedule(db, name, {"kind": name}, every="1 hour")
        make_due(db, late, name)
    db.execute("select penstock.schedules_run(2)")
    assert [kind for kind, _, _ in jobs(db)] == ["old", "middle"]


def test_the_next_run_stays_when_only_the_job_changes(db: Connection) -> None:
    planned = schedule(db, every="1 hour")
    assert schedule(db, job={"kind": "other"}, every="60 minutes", actor="user:bob") == planned
    assert stored(db, "job, set_by") == ({"kind": "other"}, "user:bob")


def test_the_next_run_stays_when_it_is_due(db: Connection) -> None:
    schedule(db, cron="0 0 * * *")
    planned = make_due(db, "1 hour")
    assert schedule(db, cron="0 0 * * *", job={"kind": "other"}) == planned


@pytest.mark.parametrize(
    "change",
    [{"cron": "0 5 * * *"}, {"every": "1 day"}, {"cron": "0 4 * * *", "timezone": "Asia/Kolkata"}],
    ids=["cron", "every", "timezone"],
)
def test_a_new_time_plans_anew(db: Connection, change: dict[str, str]) -> None:
    schedule(db, cron="0 4 * * *")
    planned = make_due(db, "1 hour")
    assert schedule(db, **change) > planned + timedelta(hours=1)  # type: ignore[arg-type]


def test_one_bad_schedule_does_not_stop_the_others(db: Connection) -> None:
    db.execute("insert into penstock.pool (pool, set_by) values ('gone', 'system:test')")
    db.execute("select penstock.fn_event_domain_register('gone')")
    bad = {
        "pool": JOB | {"pool": "gone"},
        "domain": JOB | {"event_domain": "gone"},
        "executor": JOB,
        "job": JOB,
        "cron": JOB,
    }
    for name, job in ({"first": JOB} | bad | {"last": JOB}).items():
        schedule(db, name, job, cron="0 * * * *")
        make_due(db, "1 day" if name == "first" else "1 minute" if name == "last" else "1 hour", name)
    db.execute("delete from penstock.pool where pool = 'gone'")
    db.execute("delete from penstock.event_domain where event_domain = 'gone'")
    db.execute("""update penstock.schedule set job = job || '{"executor": "MOT"}' where schedule_id = 'executor'""")
    db.execute("""update penstock.schedule set job = '{"kind": "x", "priority": "high"}' where schedule_id = 'job'""")
    db.execute("update penstock.schedule set cron = '0 0 30 2 *' where schedule_id = 'cron'")

    assert run(db) == {"enqueued": 2, "failed": 5}
    assert [key.split(":")[1] for _, key, _ in jobs(db)] == ["first", "last"]
    errors = db.execute("select schedule_id, left(last_error, 5) from penstock.schedule where last_error is not null")
    assert dict(errors.fetchall()) == {
        "pool": "PS003",
        "domain": "PS012",
        "executor": "PS002",
        "job": "PS011",
        "cron": "PS008",
    }
    assert run(db) == {"enqueued": 0, "failed": 0}
    assert stored(db, "next_run_at between now() and now() + interval '1 minute', last_run_at", "cron") == (True, None)
    assert stored(db, "next_run_at = penstock.cron_next(cron, now(), timezone), last_run_at", "pool") == (True, None)


def test_a_run_that_met_a_lock_timeout_stays_due(session: Connect) -> None:
    db, blocker = session(), session()
    schedule(db, every="1 hour")
    planned = make_due(db)
    db.execute("set lock_timeout = '50ms'")
    with blocker.transaction():
        blocker.execute("lock table penstock.job_queue in exclusive mode")
        assert run(db) == {"enqueued": 0, "failed": 1}
    assert stored(db, "next_run_at, left(last_error, 5)") == (planned, "55P03")
    assert run(db) == {"enqueued": 1, "failed": 0}
    assert stored(db, "last_error") == (None,)


def test_an_error_is_forgotten_when_the_schedule_is_set_again(db: Connection) -> None:
    schedule(db, every="1 hour")
    db.execute("update penstock.schedule set last_error = 'PS003: no pool'")
    schedule(db, every="1 hour")
    assert stored(db, "last_error") == (None,)


def test_whoever_ticks_needs_no_right_to_speak_for_the_schedules_actor(db: Connection) -> None:
    schedule(db, job=JOB | {"executor": "Codex"}, every="1 hour", actor="user:ada")
    make_due(db)
    db.execute("create function public.tick() returns jsonb security definer return penstock.schedules_run()")
    db.execute("set role dot_executor")
    assert db.execute("select public.tick()").fetchone() == ({"enqueued": 1, "failed": 0},)


def test_the_setter_needs_the_right_to_what_its_jobs_will_do(db: Connection) -> None:
    db.execute("grant execute on function penstock.fn_schedule_set to penstock_producer")
    db.execute("set role penstock_producer")
    schedule(db, every="1 hour")
    for job, actor, sqlstate in (
        (JOB, "user:ada", "PS004"),
        (JOB | {"actor": "user:ada"}, None, "PS004"),
        (JOB | {"executor": "Codex"}, None, "PS005"),
    ):
        with pytest.raises(psycopg.Error) as caught:
            schedule(db, job=job, every="1 hour", actor=actor)
        assert caught.value.sqlstate == sqlstate


@pytest.mark.parametrize(
    ("call", "sqlstate", "expected"),
    [
        ({}, "PS011", "give either p_cron or p_every"),
        ({"cron": "* * * * *", "every": "1 hour"}, "PS011", "give either p_cron or p_every"),
        ({"every": "999 milliseconds"}, "PS008", "not between 1 second and 1826 days"),
        ({"every": "-1 hour"}, "PS008", "not between 1 second and 1826 days"),
        ({"every": "1827 days"}, "PS008", "not between 1 second and 1826 days"),
        ({"every": "1 month"}, "PS008", "use a cron line"),
        ({"cron": "61 * * * *"}, "PS008", "cron field '61'"),
        ({"every": "1 hour", "timezone": "Mars/Olympus"}, "PS008", "there is no time zone"),
        ({"every": "1 hour", "schedule_id": "no spaces"}, "PS011", "cannot be a schedule_id"),
        ({"every": "1 hour", "job": JOB | {"idempotency_key": "k"}}, "PS011", "no idempotency_key"),
        ({"every": "1 hour", "job": JOB | {"colour": "red"}}, "PS011", "unknown field colour"),
        ({"every": "1 hour", "job": JOB | {"priority": "high"}}, "PS011", "a field that cannot be read"),
        ({"every": "1 hour", "job": {}}, "PS011", "kind"),
        ({"every": "1 hour", "job": JOB | {"safe_payload": {"password": "x"}}}, "PS006", "password"),
        ({"every": "1 hour", "job": JOB | {"safe_payload": {"x": "y" * 9000}}}, "PS007", "larger than"),
        ({"every": "1 hour", "job": JOB | {"pool": "nowhere"}}, "PS003", "nowhere"),
        ({"every": "1 hour", "job": JOB | {"executor": "MOT"}}, "PS002", "MOT"),
        ({"every": "1 hour", "job": JOB | {"event_domain": "nowhere"}}, "PS012", "nowhere"),
        ({"every": "1 hour", "actor": "nobody"}, "PS004", "is not an actor"),
    ],
)
def test_a_bad_schedule_is_refused_when_it_is_set(
    db: Connection, call: dict[str, Any], sqlstate: str, expected: str
) -> None:
    with pytest.raises(psycopg.Error) as caught:
        schedule(db, **call)
    assert caught.value.sqlstate == sqlstate
    assert expected in str(caught.value)
    assert db.execute("select count(*) from penstock.schedule").fetchone() == (0,)


def test_dropping_a_schedule_says_whether_there_was_one(db: Connection) -> None:
    schedule(db, every="1 hour")
    make_due(db)
    assert db.execute("select penstock.fn_schedule_drop('nightly', 'user:ada')").fetchone() == (True,)
    assert db.execute("select penstock.fn_schedule_drop('nightly')").fetchone() == (False,)
    assert run(db) == {"enqueued": 0, "failed": 0}
