"""Executions that jobs start: how deep, how often, and what moves with what."""

import pytest

from penstock.errors import BadRequest, IllegalMove
from penstock.kernel import executions, jobs
from penstock.kernel.connection import Connection
from penstock.model import Claim, Json
from tests.playbooks.support import claimed, driven, finished, playbook, started, state

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
