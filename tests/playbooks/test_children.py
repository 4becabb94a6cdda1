"""Executions that jobs start: how deep, how often, and what moves with what."""

import pytest

from penstock.errors import BadRequest, IllegalMove
from penstock.kernel import dead_letters, executions, jobs, reads
from penstock.kernel.connection import Connection
from penstock.model import Claim, Json
from tests.conftest import Connect
from tests.playbooks.support import claimed, driven, finished, playbook, started, state
from tests.sql.support import tick

SUB = "  - {step: x, tool: {kind: noop}, next: y}\n  - {step: y, tool: {kind: noop}}"
CALL = "  - {step: call, tool: {kind: playbook, path: sub}, next: after}\n  - {step: after, tool: {kind: noop}}"
ONE = "  - {step: call, tool: {kind: playbook, path: sub}}"


def _child(db: Connection, claim: Claim, *, wait: bool = True, path: str = "sub", **more: object) -> int:
    request: Json = {"playbook": path, **more}
    return jobs.child(db, claim.job_id, claim.lease_token, request, wait=wait)


def _called(db: Connection, workflow: str = CALL) -> tuple[int, Claim, int]:
    """An execution whose first step waits for a child."""
    playbook(db, SUB, path="sub")
    playbook(db, workflow)
    execution = started(db)
    ((_, claim),) = claimed(db)
    child = _child(db, claim)
    assert jobs.wait(db, claim.job_id, claim.lease_token).accepted
    return execution, claim, child


def test_a_child_that_ends_resumes_its_parent_with_its_result(db: Connection) -> None:
    execution, claim, child = _called(db)
    assert driven(db) == ["x", "y", ""]
    assert jobs.child_ended(db, child)
    assert not jobs.child_ended(db, child)
    found = db.execute("select result from penstock.job_result where job_id = %s", [claim.job_id]).fetchone()
    assert found == ({"execution": child, "result": None},)
    assert driven(db) == ["after"]
    assert state(db, execution) == ("succeeded", 0, 0)


@pytest.mark.parametrize(("on_error", "then"), [("fail", []), ("continue", ["after"])])
def test_a_child_that_fails_is_not_started_again_whatever_the_steps_retry_says(
    db: Connection, on_error: str, then: list[str]
) -> None:
    tried = CALL.replace("path: sub}", f"path: sub}}, retry: {{max_attempts: 3}}, on_error: {on_error}")
    execution, claim, child = _called(db, tried)
    ((_, first),) = claimed(db)
    jobs.fail(db, [first.job_id], [first.lease_token], [{"type": "Broken", "permanent": True}])
    assert state(db, child)[0] == "failed"
    assert driven(db) == [""]
    assert jobs.child_ended(db, child)
    assert driven(db) == then
    outcomes = db.execute(
        "select attempt, reason from penstock.job_outcome where job_id = %s", [claim.job_id]
    ).fetchall()
    assert outcomes == [(1, "child_failed")]
    assert state(db, execution)[0] == ("succeeded" if then else "failed")


@pytest.mark.parametrize("workflow", [CALL, ONE], ids=["several steps", "one step"])
def test_nobody_answers_by_hand_for_a_child_that_runs(db: Connection, workflow: str) -> None:
    execution, claim, child = _called(db, workflow)
    with pytest.raises(IllegalMove, match=f"job {claim.job_id} waits for execution {child} of sub@1") as refused:
        jobs.resume(db, claim.job_id, None, {"approved": True})
    assert f"penstock execution cancel {child}" in str(refused.value)
    assert executions.show(db, execution).status == "awaiting"
    assert driven(db) == ["x", "y", ""]
    assert jobs.child_ended(db, child)
    found = db.execute("select job_id, result from penstock.job_result").fetchall()
    assert found == [(claim.job_id, {"execution": child, "result": None})]


def test_nobody_answers_by_hand_between_the_end_of_a_child_and_its_telling(db: Connection) -> None:
    _, claim, child = _called(db)
    _answer(db)
    with pytest.raises(IllegalMove, match=f"execution {child} of sub@1, which has succeeded") as refused:
        jobs.resume(db, claim.job_id)
    assert "the next tick" in str(refused.value)
    assert jobs.child_ended(db, child)


def test_a_step_that_only_starts_an_execution_is_answered_as_any_other(db: Connection) -> None:
    playbook(db, SUB, path="sub")
    playbook(db, CALL)
    started(db)
    ((_, claim),) = claimed(db)
    _child(db, claim, wait=False)
    assert jobs.wait(db, claim.job_id, claim.lease_token).accepted
    assert jobs.resume(db, claim.job_id) == "succeeded"


@pytest.mark.parametrize("workflow", [CALL, ONE], ids=["several steps", "one step"])
def test_cancelling_the_parent_cancels_what_it_waits_for(db: Connection, workflow: str) -> None:
    execution, _, child = _called(db, workflow)
    assert executions.move(db, execution, "cancel") == "cancelled"
    assert state(db, child)[0] == "cancelled"
    assert [step for step, _ in claimed(db) if step] == []


def test_cancelling_the_step_cancels_what_it_waits_for(db: Connection) -> None:
    _, claim, child = _called(db)
    jobs.cancel(db, claim.job_id)
    assert state(db, child)[0] == "cancelled"


def test_a_pause_and_a_resume_reach_the_child(db: Connection) -> None:
    execution, _, child = _called(db)
    executions.move(db, execution, "pause")
    assert (state(db, child)[0], claimed(db)) == ("paused", [])
    executions.move(db, execution, "resume")
    assert state(db, child)[0] == "running"


def test_a_child_of_a_paused_execution_begins_paused_and_a_cancelled_one_has_none(db: Connection) -> None:
    playbook(db, SUB, path="sub")
    playbook(db, CALL)
    paused = started(db)
    ((_, claim),) = claimed(db)
    executions.move(db, paused, "pause")
    assert state(db, _child(db, claim))[0] == "paused"
    cancelled = started(db)
    ((_, other),) = claimed(db)
    executions.move(db, cancelled, "cancel")
    with pytest.raises(IllegalMove, match="being cancelled"):
        _child(db, other)


def test_one_job_starts_a_child_per_key_and_nobody_else_can_take_its_place(db: Connection) -> None:
    playbook(db, SUB, path="sub")
    playbook(db, CALL)
    started(db)
    ((_, claim),) = claimed(db)
    for guess in ("only", f"job:{claim.job_id}", f"child:{claim.job_id}"):
        executions.execute(db, {"playbook": "sub", "idempotency_key": guess})
    first = _child(db, claim, wait=False, idempotency_key="one")
    second = _child(db, claim, idempotency_key="two")
    assert _child(db, claim, idempotency_key="two") == second
    parents = db.execute(
        "select execution_id, parent_job from penstock.job_workflow where parent_execution is not null order by 1"
    ).fetchall()
    assert parents == [(first, None), (second, claim.job_id)]


@pytest.mark.parametrize("wait", [True, False])
def test_playbooks_that_start_themselves_come_to_an_end(db: Connection, wait: bool) -> None:
    playbook(db, f"  - {{step: again, tool: {{kind: playbook, path: flow, wait: {str(wait).lower()}}}}}")
    started(db)
    for _ in range(16):
        ((_, claim),) = claimed(db)
        _child(db, claim, wait=wait, path="flow")
        if not wait:
            finished(db, [("again", claim)])
    ((_, last),) = claimed(db)
    with pytest.raises(BadRequest, match="17 executions have started one another"):
        _child(db, last, wait=wait, path="flow")


def _answer(db: Connection) -> Claim:
    """The claimed job that is to tell the parent; the child has ended before."""
    for step in ("x", "y"):
        claims = claimed(db)
        assert [name for name, _ in claims] == [step]
        finished(db, claims)
    ((_, claim),) = claimed(db)
    return claim


def _told(db: Connection) -> int:
    told: int = tick(db)["workflows"]["did"]["told"]
    return told


@pytest.mark.parametrize("workflow", [CALL, ONE], ids=["several steps", "one step"])
@pytest.mark.parametrize("end", ["dead-lettered", "discarded", "cancelled"])
def test_a_parent_is_told_once_though_its_answer_came_to_nothing(db: Connection, workflow: str, end: str) -> None:
    execution, claim, child = _called(db, workflow)
    answer = _answer(db)
    if end == "cancelled":
        jobs.release(db, [answer.job_id], [answer.lease_token])
        jobs.cancel(db, answer.job_id)
    else:
        jobs.fail(db, [answer.job_id], [answer.lease_token], [{"type": "Told", "permanent": True}])
    if end == "discarded":
        (letter,) = db.execute("select dead_letter_id from penstock.job_dead_letter").fetchone() or (0,)
        dead_letters.resolve(db, f"job-{letter}", "not needed")
    assert executions.show(db, execution).status == "awaiting"
    assert [_told(db) for _ in range(3)] == [1, 0, 0]
    found = db.execute("select job_id, result from penstock.job_result").fetchall()
    assert found == [(claim.job_id, {"execution": child, "result": None})]
    assert db.execute("select count(*) from penstock.job_dead_letter where resolved_at is null").fetchone() == (0,)
    assert driven(db) == (["after"] if workflow == CALL else [])
    assert executions.show(db, execution).status == "succeeded"
    trail = [one.happening for one in reads.trail(db, claim.job_id)]
    assert trail.count("child_told_by_tick") == 1


@pytest.mark.parametrize("held", ["ready", "running", "retrying"])
def test_a_tick_leaves_the_telling_to_an_answer_that_lives(db: Connection, held: str) -> None:
    execution, _, child = _called(db)
    answer = _answer(db)
    if held == "ready":
        jobs.release(db, [answer.job_id], [answer.lease_token])
    if held == "retrying":
        jobs.fail(db, [answer.job_id], [answer.lease_token], [{"type": "Told"}])
    assert _told(db) == 0
    assert executions.show(db, execution).status == "awaiting"
    assert jobs.child_ended(db, child)
    assert _told(db) == 0
    assert [step for step, _ in claimed(db) if step] == ["after"]


def test_a_parent_is_told_by_whoever_serves_its_own_pool(db: Connection) -> None:
    playbook(db, SUB, path="sub")
    playbook(db, CALL)
    execution = started(db, pool="priority")
    (claim,) = jobs.claim(db, "default", 10, pools=["priority"], start=True)
    child = _child(db, claim, pool="subscription")
    assert jobs.wait(db, claim.job_id, claim.lease_token).accepted
    for _ in range(2):
        (one,) = jobs.claim(db, "default", 10, pools=["subscription"], start=True)
        jobs.finish(db, [one.job_id], [one.lease_token])
    (answer,) = jobs.claim(db, "default", 10, pools=["priority"], start=True)
    assert answer.job_kind == "tool:child_ended"
    assert jobs.child_ended(db, child)
    (after,) = jobs.claim(db, "default", 10, pools=["priority"], start=True)
    jobs.finish(db, [after.job_id, answer.job_id], [after.lease_token, answer.lease_token])
    assert state(db, execution) == ("succeeded", 0, 0)


def test_a_tick_tells_a_parent_whose_answer_nobody_claims(db: Connection) -> None:
    execution, claim, child = _called(db)
    answer = _answer(db)
    jobs.release(db, [answer.job_id], [answer.lease_token])
    assert _told(db) == 0
    db.execute(
        "update penstock.job_workflow set finished_at = finished_at - interval '2 minutes'"
        " where finished_at is not null"
    )
    assert [_told(db) for _ in range(2)] == [1, 0]
    assert jobs.show(db, answer.job_id).status == "cancelled"
    found = db.execute("select job_id, result from penstock.job_result").fetchall()
    assert found == [(claim.job_id, {"execution": child, "result": None})]
    assert driven(db) == ["after"]
    assert state(db, execution) == ("succeeded", 0, 0)


def test_a_parent_that_does_not_wait_yet_is_told_when_it_does(db: Connection) -> None:
    playbook(db, SUB, path="sub")
    playbook(db, CALL)
    execution = started(db)
    ((_, claim),) = claimed(db)
    _child(db, claim)
    answer = _answer(db)
    jobs.fail(db, [answer.job_id], [answer.lease_token], [{"permanent": True}])
    assert _told(db) == 0
    assert jobs.wait(db, claim.job_id, claim.lease_token).accepted
    assert _told(db) == 1
    assert driven(db) == ["after"]
    assert state(db, execution) == ("succeeded", 0, 0)


def test_a_parent_that_somebody_holds_is_told_later_and_the_tick_does_not_wait(
    db: Connection, session: Connect
) -> None:
    execution, _, _ = _called(db)
    answer = _answer(db)
    jobs.fail(db, [answer.job_id], [answer.lease_token], [{"permanent": True}])
    other = session()
    for table, column, one in (("job_workflow", "execution_id", execution), ("job_queue", "execution_id", execution)):
        with other.transaction():
            other.execute(f"select from penstock.{table} where {column} = %s for update".encode(), [one])
            assert _told(db) == 0
    assert _told(db) == 1


def test_nobody_is_told_of_a_child_whose_parent_was_cancelled(db: Connection) -> None:
    execution, _, _ = _called(db)
    executions.move(db, execution, "cancel")
    ((_, answer),) = claimed(db)
    jobs.fail(db, [answer.job_id], [answer.lease_token], [{"permanent": True}])
    assert _told(db) == 0
    assert db.execute("select count(*) from penstock.job_workflow where answer_job is not null").fetchone() == (0,)
