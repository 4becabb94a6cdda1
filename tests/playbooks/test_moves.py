"""Moves of whole executions: what each does to jobs in every state, and who may."""

import pytest

from penstock.errors import ActorRefused, IllegalMove, UnknownJob
from penstock.kernel import executions, jobs
from penstock.kernel.connection import Connection
from tests.logins import Logins
from tests.playbooks.support import claimed, driven, finished, playbook, started, state, steps_of

LINE = """
  - {step: a, tool: {kind: noop}, next: b}
  - {step: b, tool: {kind: noop}, next: c}
  - {step: c, tool: {kind: noop}}
"""
WIDE = """
  - {step: a, tool: {kind: noop}, loop: {in: "{{ workload.n }}", mode: parallel, max_in_flight: 2}, next: b}
  - {step: b, tool: {kind: noop}}
"""
KEY = "a key of sixteen or more"


def _statuses(db: Connection, execution: int) -> list[str]:
    return [one[3] for one in steps_of(db, execution)]


def test_a_running_step_ends_during_a_pause_and_what_comes_after_waits(db: Connection) -> None:
    playbook(db, LINE)
    execution = started(db)
    claims = claimed(db)
    executions.move(db, execution, "pause")
    assert not finished(db, claims)
    assert _statuses(db, execution) == ["succeeded", "blocked"]
    assert claimed(db) == []
    executions.move(db, execution, "resume")
    assert driven(db) == ["b", "c"]
    assert state(db, execution) == ("succeeded", 0, 0)


def test_a_job_given_back_or_failed_during_a_pause_waits(db: Connection) -> None:
    playbook(db, LINE)
    for end in ("release", "fail", "reap"):
        execution = started(db)
        ((_, claim),) = claimed(db)
        executions.move(db, execution, "pause")
        if end == "release":
            jobs.release(db, [claim.job_id], [claim.lease_token])
        elif end == "fail":
            jobs.fail(db, [claim.job_id], [claim.lease_token], [{"type": "Told"}])
        else:
            db.execute(
                "update penstock.job_queue set lease_until = now() - interval '1 second' where lease_until > now()"
            )
            db.execute("select penstock.leases_reap()")
        assert _statuses(db, execution) == ["blocked"], end
        executions.move(db, execution, "resume")
        executions.move(db, execution, "cancel")


def test_items_of_a_loop_wait_through_a_pause_and_keep_their_order(db: Connection) -> None:
    playbook(db, WIDE)
    execution = started(db)
    finished(db, claimed(db), lambda *_: {"items": [1, 2, 3, 4, 5]})
    first = claimed(db)
    assert len(first) == 2
    executions.move(db, execution, "pause")
    assert not finished(db, first)
    assert claimed(db) == []
    executions.move(db, execution, "resume")
    assert driven(db) == ["a", "a", "a", "b"]
    assert state(db, execution) == ("succeeded", 0, 0)


def test_a_cancel_takes_back_what_waits_for_an_answer_and_its_key(db: Connection) -> None:
    playbook(db, LINE)
    execution = started(db)
    ((_, claim),) = claimed(db)
    jobs.wait(db, claim.job_id, claim.lease_token, callback_key=KEY)
    assert executions.move(db, execution, "cancel") == "cancelled"
    with pytest.raises(IllegalMove):
        jobs.resume(db, claim.job_id, KEY)
    assert db.execute("select count(*) from penstock.job_await").fetchone() == (0,)


def test_an_answer_during_a_pause_is_taken_and_what_comes_after_waits(db: Connection) -> None:
    playbook(db, LINE)
    execution = started(db)
    ((_, claim),) = claimed(db)
    jobs.wait(db, claim.job_id, claim.lease_token, callback_key=KEY)
    executions.move(db, execution, "pause")
    assert jobs.resume(db, claim.job_id, KEY, {"ok": True}) == "succeeded"
    assert _statuses(db, execution) == ["succeeded", "blocked"]


def test_a_callback_key_works_once_and_a_wrong_one_never(db: Connection) -> None:
    playbook(db, LINE)
    started(db)
    ((_, claim),) = claimed(db)
    jobs.wait(db, claim.job_id, claim.lease_token, callback_key=KEY)
    with pytest.raises(ActorRefused, match="not the callback key"):
        jobs.resume(db, claim.job_id, "another key of sixteen")
    assert jobs.resume(db, claim.job_id, KEY) == "succeeded"
    with pytest.raises(IllegalMove):
        jobs.resume(db, claim.job_id, KEY)


def test_one_cancelled_step_fails_the_execution_which_can_be_retried(db: Connection) -> None:
    playbook(db, LINE)
    execution = started(db)
    finished(db, claimed(db))
    (job_id,) = db.execute("select job_id from penstock.job_queue").fetchone() or (0,)
    assert jobs.cancel(db, job_id) == "cancelled"
    assert state(db, execution) == ("failed", 0, 1)
    executions.move(db, execution, "retry")
    assert driven(db) == ["b", "c"]
    assert state(db, execution) == ("succeeded", 0, 0)


def test_a_dead_letter_of_a_step_is_replayed_in_its_place(db: Connection) -> None:
    playbook(db, LINE)
    execution = started(db)
    ((_, claim),) = claimed(db)
    jobs.fail(db, [claim.job_id], [claim.lease_token], [{"permanent": True}])
    assert state(db, execution) == ("failed", 0, 1)
    again = jobs.retry(db, claim.job_id)
    assert (again != claim.job_id, state(db, execution)) == (True, ("running", 1, 0))
    assert driven(db) == ["a", "b", "c"]
    assert state(db, execution) == ("succeeded", 0, 0)


@pytest.mark.parametrize(
    ("status", "refused"),
    [
        ("succeeded", ("cancel", "pause", "resume", "retry")),
        ("paused", ("pause", "retry")),
        ("running", ("resume", "retry")),
    ],
)
def test_what_a_status_does_not_allow_is_refused(db: Connection, status: str, refused: tuple[str, ...]) -> None:
    playbook(db, LINE)
    execution = started(db)
    if status == "succeeded":
        driven(db)
    elif status == "paused":
        executions.move(db, execution, "pause")
    for action in refused:
        with pytest.raises(IllegalMove, match=f"execution {execution} is {status}"):
            executions.move(db, execution, action)
    with pytest.raises(UnknownJob):
        executions.move(db, 987654321, "cancel")


def test_others_executions_are_not_moved_and_not_answered(db: Connection, logins: Logins) -> None:
    playbook(db, LINE)
    execution = started(db)
    ((_, claim),) = claimed(db)
    jobs.wait(db, claim.job_id, claim.lease_token, approvers=["user:ann"], prompt="May it?")
    other = logins.member("penstock_producer")
    with pytest.raises(ActorRefused):
        executions.move(other, execution, "cancel")
    with pytest.raises(ActorRefused, match="was not asked"):
        jobs.resume(other, claim.job_id)
    db.execute("select penstock.fn_actor_binding_set('user:ann', 'penstock_producer')")
    assert jobs.resume(other, claim.job_id, None, {"ok": True}, "user:ann") == "succeeded"


def test_a_stranded_execution_is_counted_anew(db: Connection) -> None:
    playbook(db, LINE)
    execution = started(db)
    driven(db)
    db.execute("update penstock.job_workflow set status = 'running', finished_at = null, open = 3")
    report = db.execute("select penstock.workflows_sweep(10)").fetchone()
    assert (report or ({},))[0]["mended"] == 1
    assert state(db, execution) == ("succeeded", 0, 0)
