"""A worker that stood still past its lease, and wakes up in a world that went on without it."""

from penstock.kernel import jobs
from penstock.kernel.connection import Connection
from tests.acceptance import processes
from tests.acceptance.outcomes import await_end, outcomes, quick_retries, result, set_config, status
from tests.acceptance.processes import Crew, until

crew = processes.crew


def test_a_worker_that_slept_past_its_lease_has_its_finish_refused(db: Connection, crew: Crew) -> None:
    set_config(db, "queue.lease_ms.gated", "3000")
    quick_retries(db)
    job_id = jobs.enqueue(db, {"kind": "gated"})
    sleeper = crew.start("gated")
    crew.await_notes("began", 1)
    sleeper.pause()
    other = crew.start("gated")
    crew.await_notes("began", 2)
    crew.open_gate("go")
    await_end(db, [job_id])
    sleeper.resume()
    sleeper.says("finish refused")
    (refusal,) = [line for line in sleeper.log().splitlines() if "finish refused" in line]
    assert f"job={job_id}" in refusal
    assert "reason=finished" in refusal
    first, second = crew.notes("began")
    assert (first["pid"], second["pid"]) == (sleeper.pid, other.pid)
    assert result(db, job_id) == {"lease": second["lease"]}
    assert [(one.attempt, one.status) for one in outcomes(db, job_id)] == [(1, "retrying"), (2, "succeeded")]


def test_a_worker_that_slept_does_not_disturb_the_one_that_works_now(db: Connection, crew: Crew) -> None:
    set_config(db, "queue.lease_ms.gated", "3000")
    quick_retries(db)
    job_id = jobs.enqueue(db, {"kind": "gated", "safe_payload": {"gate": "second"}})
    sleeper = crew.start("gated")
    crew.await_notes("began", 1)
    sleeper.pause()
    crew.start("gated")
    crew.await_notes("began", 2)
    sleeper.resume()
    # told of its loss by its next beat, it lets its handler know
    sleeper.says("abandoned")
    assert status(db, job_id) == "running"
    crew.open_gate("second")
    sleeper.says("finish refused")
    await_end(db, [job_id])
    assert result(db, job_id) == {"lease": crew.notes("began")[1]["lease"]}


def test_jobs_claimed_ahead_are_not_run_by_a_worker_that_slept(db: Connection, crew: Crew) -> None:
    for kind in ("quick", "gated"):
        set_config(db, f"queue.lease_ms.{kind}", "3000")
    quick_retries(db)
    # a first round, so that the worker knows quick handlers and claims ahead
    warm = [one.job_id for one in jobs.enqueue_many(db, [{"kind": "quick"}] * 200)]
    sleeper = crew.start("gated", "--concurrency", "1")
    await_end(db, warm)
    request = [{"kind": "gated"}, *({"kind": "quick"} for _ in range(50))]
    made = [one.job_id for one in jobs.enqueue_many(db, request)]
    crew.await_notes("began", 1)
    sleeper.pause()
    behind = set(made[1:])
    held = [
        row[0]
        for row in db.execute("select job_id from penstock.job_queue where lease_until is not null").fetchall()
        if row[0] in behind
    ]
    assert held, "the worker should have claimed ahead"
    crew.open_gate("go")
    other = crew.start("gated")
    until(lambda: not behind - {line["job"] for line in crew.notes("ran")}, "the other worker runs them all")
    sleeper.resume()
    sleeper.says("finish refused")
    await_end(db, made)
    assert sleeper.stopped() == 0
    ran = [(line["job"], line["pid"]) for line in crew.notes("ran") if line["job"] in behind]
    assert sorted(ran) == sorted((job_id, other.pid) for job_id in behind)


def test_a_restarted_executor_of_the_same_id_does_not_keep_its_dead_twins_leases(db: Connection, crew: Crew) -> None:
    set_config(db, "queue.lease_ms.gated", "3000")
    quick_retries(db)
    job_id = jobs.enqueue(db, {"kind": "gated"})
    twin = crew.start("gated", "--executor", "default")
    crew.await_notes("began", 1)
    twin.kill()
    crew.start("gated", "--executor", "default")
    # the new one beats several times within the old lease; the job comes free all the same
    crew.await_notes("began", 2)
    crew.open_gate("go")
    await_end(db, [job_id])
    first, second = outcomes(db, job_id)
    assert (first.attempt, first.reason) == (1, "lease_expired")
    assert (second.attempt, second.status) == (2, "succeeded")
