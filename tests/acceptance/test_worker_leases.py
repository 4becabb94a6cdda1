"""Leases of jobs claimed ahead: never lost to slow neighbours, and hardly to deadly ones."""

from collections import Counter

import pytest

from penstock.kernel import jobs
from penstock.kernel.connection import Connection
from tests.acceptance import processes
from tests.acceptance.outcomes import await_end, live, outcomes, quick_retries, set_config, status
from tests.acceptance.processes import Crew, WorkerProcess, until

crew = processes.crew


@pytest.mark.parametrize(("kind", "count"), [("ms_1", 6000), ("ms_10", 3000)])
def test_short_leases_of_jobs_claimed_ahead_are_kept(db: Connection, crew: Crew, kind: str, count: int) -> None:
    set_config(db, f"queue.lease_ms.{kind}", "4000")
    jobs.enqueue_many(db, [{"kind": kind}] * count)
    worker = crew.start("timed", "--concurrency", "10")
    until(lambda: live(db) == 0, "the end of all jobs", deadline_s=120)
    ran = Counter(line["job"] for line in crew.notes("ran"))
    assert (len(ran), set(ran.values())) == (count, {1})
    ended = db.execute("select status::text, attempt, count(*) from penstock.job_outcome group by 1, 2").fetchall()
    assert ended == [("succeeded", 1, count)]
    assert "refused" not in worker.log()


@pytest.mark.parametrize("how", ["exit", "signal"])
def test_a_job_that_kills_its_worker_takes_no_neighbour_along(db: Connection, crew: Crew, how: str) -> None:
    for kind in ("killer", "neighbour"):
        set_config(db, f"queue.lease_ms.{kind}", "3000")
    quick_retries(db)
    neighbours = [one.job_id for one in jobs.enqueue_many(db, [{"kind": "neighbour"}] * 200)]
    killer = jobs.enqueue(db, {"kind": "killer", "max_attempts": 3, "safe_payload": {"how": how}})
    neighbours += [one.job_id for one in jobs.enqueue_many(db, [{"kind": "neighbour"}] * 400)]
    worker = _restarted(db, crew, killer)
    await_end(db, [killer, *neighbours])
    assert [(one.attempt, one.reason) for one in outcomes(db, killer)] == [(n, "lease_expired") for n in (1, 2, 3)]
    assert len(crew.notes("began")) == 3
    reason = db.execute("select reason from penstock.job_dead_letter where job_id = %s", [killer]).fetchone()
    assert reason == ("lease_expired",)
    views = [jobs.show(db, job_id) for job_id in neighbours]
    assert {view.status for view in views} == {"succeeded"}
    assert max(view.attempt for view in views) <= 2
    assert worker.stopped() == 0


def _restarted(db: Connection, crew: Crew, killer: int) -> WorkerProcess:
    """Start workers, each after the end of the one before, until the killer is dead; the one that survived."""
    for _ in range(4):
        worker = crew.start("killer", "--concurrency", "5", ready=False)
        _await_a_death(db, worker, killer)
        if worker.is_alive:
            return worker
    raise AssertionError("the killer was tried too often")


def _await_a_death(db: Connection, worker: WorkerProcess, killer: int) -> None:
    until(lambda: not worker.is_alive or status(db, killer) == "dead_lettered", "the worker's end, or the killer's")


def test_a_long_job_that_once_lost_its_worker_holds_up_no_others(db: Connection, crew: Crew) -> None:
    set_config(db, "queue.lease_ms.gated", "3000")
    quick_retries(db)
    long, *others = [
        jobs.enqueue(db, {"kind": "gated", "safe_payload": {"gate": gate}}) for gate in ("long", "go", "go", "go")
    ]
    first = crew.start("gated", "--concurrency", "4")
    crew.await_notes("began", 4)
    first.kill()
    crew.open_gate("go")
    second = crew.start("gated", "--concurrency", "4")
    until(lambda: second.pid in {line["pid"] for line in crew.notes("began") if line["job"] == long}, "the long job")
    await_end(db, [jobs.enqueue(db, {"kind": "quick"})])
    crew.start("gated", "--concurrency", "4")
    await_end(db, others)
    assert status(db, long) == "running"


def test_a_worker_with_too_many_handlers_that_never_end_gives_up_its_life(db: Connection, crew: Crew) -> None:
    set_config(db, "queue.timeout_ms.gated", "20")
    jobs.enqueue_many(db, [{"kind": "gated", "max_attempts": 1}] * 130)
    worker = crew.start("gated", "--concurrency", "20")
    assert worker.ended() == 1
    assert "handlers have not ended after their timeout" in worker.log()
    assert db.execute("select count(*) from penstock.job_queue where status = 'running'").fetchone() == (0,)
