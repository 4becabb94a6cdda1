"""The end of a worker: asked for, forced, or sudden; and the end of a job that is not wanted any more."""

import signal

import pytest

from penstock.kernel import jobs
from penstock.kernel.connection import Connection
from tests.acceptance import processes
from tests.acceptance.outcomes import await_end, live, outcomes, quick_retries, result, set_config, status
from tests.acceptance.processes import Crew, until
from tests.conftest import Connect

crew = processes.crew


def test_sigterm_finishes_what_has_begun_and_gives_the_rest_back(db: Connection, crew: Crew) -> None:
    made = [one.job_id for one in jobs.enqueue_many(db, [{"kind": "gated"}] * 40)]
    worker = crew.start("gated", "--concurrency", "3")
    crew.await_notes("began", 3)
    worker.terminate()
    worker.says("stopping")
    crew.open_gate("go")
    assert worker.ended() == 0
    begun = {line["job"] for line in crew.notes("began")}
    assert len(begun) == 3
    for job_id in made:
        view = jobs.show(db, job_id)
        assert (view.status, view.attempt) == (("succeeded", 1) if job_id in begun else ("ready", 0))


def test_sigterm_gives_back_jobs_that_wait_behind_quick_ones(db: Connection, crew: Crew) -> None:
    jobs.enqueue_many(db, [{"kind": "quick"}] * 300)
    jobs.enqueue_many(db, [{"kind": "gated"}] * 2)
    rest = [one.job_id for one in jobs.enqueue_many(db, [{"kind": "quick"}] * 50)]
    worker = crew.start("gated", "--concurrency", "2")
    crew.await_notes("began", 2)
    worker.terminate()
    worker.says("stopping")
    crew.open_gate("go")
    assert worker.ended() == 0
    assert live(db) == len(rest)
    rows = db.execute("select status::text, attempt, lease_token from penstock.job_queue").fetchall()
    assert set(rows) == {("ready", 0, None)}


def test_an_idle_worker_ends_at_once_and_says_goodbye(db: Connection, crew: Crew) -> None:
    worker = crew.start("plain", "--poll-ms", "60000")
    assert worker.stopped() == 0
    assert db.execute("select count(*) from penstock.queue_heartbeat").fetchone() == (0,)


def test_a_handler_that_outlives_the_grace_time_is_interrupted(db: Connection, crew: Crew) -> None:
    job_id = jobs.enqueue(db, {"kind": "gated"})
    worker = crew.start("gated", "--grace-s", "0.3")
    crew.await_notes("began", 1)
    assert worker.stopped() == 0
    (one,) = outcomes(db, job_id)
    assert (one.attempt, one.status, one.error["type"]) == (1, "retrying", "Interrupted")


def test_a_hangup_is_heeded_like_sigterm_and_a_second_one_is_no_hurry(db: Connection, crew: Crew) -> None:
    job_id = jobs.enqueue(db, {"kind": "gated"})
    worker = crew.start("gated", "--grace-s", "600")
    crew.await_notes("began", 1)
    worker.send(signal.SIGHUP)
    worker.says("stopping")
    worker.send(signal.SIGHUP)
    crew.open_gate("go")
    assert worker.ended() == 0
    assert status(db, job_id) == "succeeded"


@pytest.mark.parametrize("second", [signal.SIGINT, signal.SIGTERM])
def test_a_second_signal_ends_the_grace_time_at_once(db: Connection, crew: Crew, second: signal.Signals) -> None:
    job_id = jobs.enqueue(db, {"kind": "gated"})
    worker = crew.start("gated", "--grace-s", "600")
    crew.await_notes("began", 1)
    worker.terminate()
    worker.says("stopping: running handlers may go on for 600 s; a second signal ends that")
    worker.send(second)
    assert worker.ended() == 0
    (one,) = outcomes(db, job_id)
    assert (one.attempt, one.status, one.error["type"]) == (1, "retrying", "Interrupted")


@pytest.mark.parametrize("kind", ["babbles", "hangs_in_a_pool"])
def test_a_handler_that_never_ends_does_not_spoil_the_end(db: Connection, crew: Crew, kind: str) -> None:
    jobs.enqueue_many(db, [{"kind": kind}] * 4)
    worker = crew.start("wild", "--grace-s", "0.1")
    crew.await_notes("began", 4)
    assert worker.stopped() == 0


def test_handlers_given_up_at_their_timeout_do_not_hold_up_the_end(db: Connection, crew: Crew) -> None:
    set_config(db, "queue.timeout_ms.gated", "100")
    job_id = jobs.enqueue(db, {"kind": "gated", "max_attempts": 1})
    worker = crew.start("gated", "--grace-s", "600")
    await_end(db, [job_id])
    assert worker.stopped() == 0


def test_after_a_kill_another_worker_takes_over_when_the_lease_ends(db: Connection, crew: Crew) -> None:
    set_config(db, "queue.lease_ms.gated", "3000")
    quick_retries(db)
    made = [one.job_id for one in jobs.enqueue_many(db, [{"kind": "gated"}] * 4)]
    first = crew.start("gated", "--concurrency", "4")
    crew.await_notes("began", 4)
    first.kill()
    crew.open_gate("go")
    second = crew.start("gated")
    await_end(db, made)
    for job_id in made:
        ended = [(one.attempt, one.status, one.reason) for one in outcomes(db, job_id)]
        assert ended == [(1, "retrying", "lease_expired"), (2, "succeeded", None)]
    assert {line["pid"] for line in crew.notes("ended")} == {second.pid}


def test_a_cancelled_sync_handler_is_told_and_its_job_ends_cancelled(db: Connection, crew: Crew) -> None:
    set_config(db, "queue.lease_ms.heeding", "3000")
    job_id = jobs.enqueue(db, {"kind": "heeding"})
    crew.start("gated")
    crew.await_notes("began", 1)
    assert jobs.cancel(db, job_id) == "cancel_requested"
    await_end(db, [job_id])
    assert len(crew.notes("heard")) == 1
    assert [(one.status, one.reason) for one in outcomes(db, job_id)] == [("cancelled", "cancelled")]


def test_a_cancelled_async_handler_tidies_up_before_its_lane_goes_on(db: Connection, crew: Crew) -> None:
    set_config(db, "queue.lease_ms.heeding_async", "3000")
    job_id = jobs.enqueue(db, {"kind": "heeding_async", "lane": "a"})
    behind = jobs.enqueue(db, {"kind": "quick", "lane": "a"})
    crew.start("gated")
    crew.await_notes("began", 1)
    jobs.cancel(db, job_id)
    crew.await_notes("heard", 1)
    assert (status(db, job_id), status(db, behind)) == ("running", "blocked")
    crew.open_gate("tidied")
    await_end(db, [job_id, behind])
    assert [line["what"] for line in crew.notes()] == ["began", "heard", "tidied", "ran"]
    assert (status(db, job_id), status(db, behind)) == ("cancelled", "succeeded")


def test_a_handler_that_does_not_heed_the_cancel_has_its_result_refused(db: Connection, crew: Crew) -> None:
    set_config(db, "queue.lease_ms.gated", "3000")
    job_id = jobs.enqueue(db, {"kind": "gated"})
    worker = crew.start("gated")
    crew.await_notes("began", 1)
    jobs.cancel(db, job_id)
    worker.says("abandoned")
    crew.open_gate("go")
    worker.says("finish refused")
    assert (status(db, job_id), result(db, job_id)) == ("cancelled", None)


def test_a_job_cancelled_while_it_waits_in_the_worker_is_not_begun(db: Connection, crew: Crew) -> None:
    # a first round, so that the worker knows quick handlers and claims ahead
    warm = [one.job_id for one in jobs.enqueue_many(db, [{"kind": "quick"}] * 200)]
    crew.start("gated", "--concurrency", "1")
    await_end(db, warm)
    made = [one.job_id for one in jobs.enqueue_many(db, [{"kind": "gated"}, {"kind": "quick"}, {"kind": "quick"}])]
    crew.await_notes("began", 1)
    jobs.cancel(db, made[2])
    until(lambda: status(db, made[2]) == "cancelled", "the worker lets go of the cancelled job")
    crew.open_gate("go")
    await_end(db, made)
    assert made[2] not in {line["job"] for line in crew.notes("ran")}


def test_jobs_that_wait_behind_slow_handlers_are_given_to_others(db: Connection, crew: Crew) -> None:
    warm = [one.job_id for one in jobs.enqueue_many(db, [{"kind": "quick"}] * 200)]
    first = crew.start("gated", "--concurrency", "1")
    await_end(db, warm)
    slow, *behind = [
        one.job_id for one in jobs.enqueue_many(db, [{"kind": "gated"}, *({"kind": "quick"} for _ in range(20))])
    ]
    crew.await_notes("began", 1)
    crew.start("gated", "--concurrency", "1")
    await_end(db, behind)
    assert (status(db, slow), first.is_alive) == ("running", True)
    assert {jobs.show(db, job_id).attempt for job_id in behind} == {1}


def test_a_cancel_that_is_not_committed_holds_up_no_other_report(db: Connection, session: Connect, crew: Crew) -> None:
    job_id = jobs.enqueue(db, {"kind": "gated"})
    crew.start("gated", "--concurrency", "4")
    crew.await_notes("began", 1)
    theirs = session()
    theirs.execute("begin")
    assert jobs.cancel(theirs, job_id) == "cancel_requested"
    crew.open_gate("go")
    quick = [one.job_id for one in jobs.enqueue_many(db, [{"kind": "quick"}] * 50)]
    await_end(db, quick)
    assert status(db, job_id) == "running"
    theirs.execute("commit")
    await_end(db, [job_id])
    assert status(db, job_id) == "cancelled"
