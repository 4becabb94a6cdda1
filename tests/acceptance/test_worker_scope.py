"""What a worker takes, in which order, when it looks, and how it refuses to start."""

import os
import subprocess

import pytest

from penstock.kernel import jobs
from penstock.kernel.connection import Connection
from tests.acceptance import processes
from tests.acceptance.outcomes import await_end, set_config, status
from tests.acceptance.processes import APPS, PENSTOCK, ROOT, Crew, until

crew = processes.crew


def _refusal(database: str, *words: str) -> tuple[int, str]:
    """Run a worker that cannot start; its exit code and what it said."""
    ran = subprocess.run(
        [PENSTOCK, "worker", *words],
        cwd=ROOT,
        env=os.environ | {"PENSTOCK_DATABASE_URL": database},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
    )
    return ran.returncode, ran.stderr


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("--app", f"{APPS}.nowhere"), 1, "there is no module of that name"),
        (("--app", f"{APPS}.empty"), 1, "no function there is decorated with @penstock.job(kind)"),
        (("--app", f"{APPS}.twice"), 1, "two handlers for the job kind 'twice'"),
        (("--app", f"{APPS}.plain", "--executor", "nobody"), 1, "executor 'nobody' is not registered"),
        (("--app", f"{APPS}.plain", "--pool", "nope"), 1, "pool 'nope' does not exist"),
        (("--app", f"{APPS}.plain", "--concurrency", "0"), 2, "--concurrency"),
        (("--app", f"{APPS}.plain", "--poll-ms", "60001"), 2, "--poll-ms"),
    ],
)
def test_a_worker_that_cannot_start_says_why(database: str, words: tuple[str, ...], code: int, said: str) -> None:
    ended, complaint = _refusal(database, *words)
    assert (ended, said in " ".join(complaint.split())) == (code, True), complaint
    assert "Traceback" not in complaint


def test_a_worker_without_a_server_says_so(tmp_path: os.PathLike[str]) -> None:
    ended, complaint = _refusal(f"postgresql://postgres@/nowhere?host={os.fspath(tmp_path)}", "--app", f"{APPS}.plain")
    assert ended == 1
    assert "cannot connect to PostgreSQL" in complaint
    assert "Traceback" not in complaint


def test_an_executor_without_an_enabled_rule_claims_nothing_and_the_worker_says_so(db: Connection, crew: Crew) -> None:
    db.execute("select penstock.fn_executor_register('lonely', 'PG_worker')")
    job_id = jobs.enqueue(db, {"kind": "note"})
    worker = crew.start("plain", "--executor", "lonely")
    worker.says("executor lonely has no enabled job subscription")
    assert status(db, job_id) == "ready"


def test_a_worker_whose_executor_is_deregistered_says_so_and_works_again_once_it_is_back(
    db: Connection, crew: Crew
) -> None:
    _register(db, "leaving")
    worker = crew.start("plain", "--executor", "leaving")
    db.execute("select penstock.fn_executor_deregister('leaving')")
    worker.says("executor 'leaving' is not registered")
    _register(db, "leaving")
    job_id = jobs.enqueue(db, {"kind": "note"})
    await_end(db, [job_id])


def test_a_worker_of_one_pool_leaves_the_others(db: Connection, crew: Crew) -> None:
    other = jobs.enqueue(db, {"kind": "note", "pool": "shared", "priority": 5})
    ours = jobs.enqueue(db, {"kind": "note", "pool": "priority"})
    crew.start("plain", "--pool", "priority")
    await_end(db, [ours])
    assert status(db, other) == "ready"


def test_a_kind_the_worker_has_no_handler_for_stays_visible_with_the_reason(db: Connection, crew: Crew) -> None:
    jobs.enqueue(db, {"kind": "unheard_of"})
    served = jobs.enqueue(db, {"kind": "note"})
    crew.start("plain")
    await_end(db, [served])
    rows = db.execute("select job_kind, ready, reason from penstock.v_job_queue_backlog").fetchall()
    assert rows == [("unheard_of", 1, "no living worker serves it")]


def test_higher_priority_runs_first_then_older(db: Connection, crew: Crew) -> None:
    made = [jobs.enqueue(db, {"kind": "note", "priority": priority}) for priority in (0, 5, -5, 5, 0)]
    crew.start("plain", "--concurrency", "1")
    await_end(db, made)
    assert [line["job"] for line in crew.notes()] == [made[1], made[3], made[0], made[4], made[2]]


def test_a_job_enqueued_while_idle_is_run_by_its_wake_up_alone(db: Connection, crew: Crew) -> None:
    crew.start("plain", "--poll-ms", "60000")
    until(lambda: _is_listening(db), "the worker listens")
    for _ in range(3):
        # one by one, so that each finds the worker asleep
        await_end(db, [jobs.enqueue(db, {"kind": "note"})], deadline_s=30)


def test_without_wake_ups_a_lone_job_is_found_by_polling(db: Connection, crew: Crew) -> None:
    set_config(db, "queue.notify.bridge_enabled", "false")
    crew.start("plain", "--poll-ms", "200")
    for _ in range(3):
        await_end(db, [jobs.enqueue(db, {"kind": "note"})], deadline_s=30)


def test_a_scheduled_job_is_run_when_due_without_a_poll(db: Connection, crew: Crew) -> None:
    crew.start("plain", "--poll-ms", "60000")
    row = db.execute(
        "select penstock.fn_job_enqueue('note', p_process_after => clock_timestamp() + interval '1 second')"
    ).fetchone()
    assert row is not None
    await_end(db, [row[0]], deadline_s=30)


def _register(db: Connection, executor_id: str) -> None:
    db.execute("select penstock.fn_executor_register(%s, 'PG_worker')", [executor_id])
    db.execute("select penstock.fn_job_subscription_set(%s, 'PG_worker', p_enabled => true)", [executor_id])


def _is_listening(db: Connection) -> bool:
    row = db.execute(
        "select from pg_stat_activity where datname = current_database() and query ilike 'listen%'"
    ).fetchone()
    return row is not None
