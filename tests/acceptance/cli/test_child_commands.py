"""What the commands say of steps that start executions, and of the executions."""

import pytest

from penstock.cli.families import child_lines
from penstock.kernel import executions, families, jobs
from penstock.kernel.connection import Connection
from tests.acceptance.cli.conftest import Penstock
from tests.ingest.support import PLAYBOOK, Runtime, offsets, subscription
from tests.playbooks.support import claimed, playbook, started
from tests.sql.support import value

SUB = "  - {step: x, tool: {kind: noop}, next: y}\n  - {step: y, tool: {kind: noop}}"
AFTER = "  - {step: after, tool: {kind: noop}}"
CALL = f"  - {{step: call, tool: {{kind: playbook, path: sub}}, next: after}}\n{AFTER}"
ONE = "  - {step: call, tool: {kind: playbook, path: sub}}"


def _family(db: Connection, workflow: str = CALL, *, wait: bool = True) -> tuple[int, int]:
    """An execution, and the one its first step has started."""
    playbook(db, SUB, path="sub")
    playbook(db, workflow)
    execution = started(db)
    ((_, claim),) = claimed(db)
    child = jobs.child(db, claim.job_id, claim.lease_token, {"playbook": "sub"}, wait=wait)
    if wait:
        assert jobs.wait(db, claim.job_id, claim.lease_token).accepted
    return execution, child


@pytest.mark.parametrize("workflow", [CALL, ONE], ids=["several steps", "one step"])
def test_a_step_that_waits_for_an_execution_names_it_and_asks_nobody(
    db: Connection, penstock: Penstock, workflow: str
) -> None:
    execution, child = _family(db, workflow)
    shown, job, explained = (
        penstock.ok("execution", "show", execution),
        penstock.ok("job", "show", execution),
        penstock.ok("explain", execution),
    )
    for said in (shown, job, explained):
        assert f"waits for execution {child} of sub@1" in said
        assert f"penstock execution show {child}" in said
        assert "job resume" not in said
    (awaits,) = penstock.json("execution", "show", execution)["awaits"]
    assert (awaits["child_execution"], awaits["child_playbook_ref"]) == (child, "sub@1")
    refusal = penstock.refuses("job", "resume", execution, "--result", '{"approved": true}')
    assert f"penstock execution cancel {child}" in refusal


def test_a_step_that_asks_somebody_says_so_wherever_it_is_looked_at(db: Connection, penstock: Penstock) -> None:
    playbook(db, '  - {step: ask, tool: {kind: approve, prompt: "Pay?", to: ["user:ann"]}, next: after}\n' + AFTER)
    execution = started(db)
    ((_, claim),) = claimed(db)
    assert jobs.wait(db, claim.job_id, claim.lease_token, approvers=["user:ann"], prompt="Pay?").accepted
    for words in (("execution", "show"), ("job", "show"), ("explain",)):
        said = penstock.ok(*words, execution)
        assert "waits for an answer of user:ann: Pay?" in said
        assert f"penstock job resume {execution} --result" in said


@pytest.mark.parametrize("wait", [True, False], ids=["waited for", "not waited for"])
@pytest.mark.parametrize("workflow", [CALL, ONE], ids=["several steps", "one step"])
def test_a_child_names_the_step_that_started_it_and_the_step_its_child(
    db: Connection, penstock: Penstock, workflow: str, wait: bool
) -> None:
    execution, child = _family(db, workflow, wait=wait)
    origin = f"step call of execution {execution} (flow@1)"
    assert f"it was started by {origin}" in penstock.ok("explain", child)
    assert origin in penstock.ok("execution", "show", child)
    for words in (("execution", "show"), ("explain",)):
        assert f"call started execution {child} of sub@1" in penstock.ok(*words, execution)
    parent = {"execution_id": execution, "playbook_ref": "flow@1", "step": "call", "job_id": execution}
    assert penstock.json("execution", "show", child)["parent"] == parent
    (made,) = penstock.json("execution", "show", execution)["children"]
    assert (made["step"], made["execution_id"], made["is_awaited"]) == ("call", child, wait)


def test_an_execution_that_somebody_started_has_no_parent(db: Connection, penstock: Penstock) -> None:
    playbook(db, SUB)
    execution = started(db)
    assert "it was started by role:postgres, as flow@1" in penstock.ok("explain", execution)
    shown = penstock.json("execution", "show", execution)
    assert (shown["parent"], shown["children"]) == (None, [])


def test_a_loop_that_starts_many_names_some_and_counts_the_rest(db: Connection) -> None:
    playbook(db, SUB, path="sub")
    playbook(db, CALL)
    execution = started(db)
    ((_, claim),) = claimed(db)
    for nth in range(25):
        request = {"playbook": "sub", "idempotency_key": f"item {nth}"}
        jobs.child(db, claim.job_id, claim.lease_token, request, wait=False)
    lines = child_lines(families.children(db, execution))
    assert (len(lines), lines[-1]) == (21, "and 5 more")


def test_who_started_an_execution_is_known_when_its_steps_are_forgotten(db: Connection) -> None:
    execution, child = _family(db)
    executions.move(db, execution, "cancel")
    value(db, "select penstock.workflows_forget(now() + interval '1 day', 10)")
    found = families.parent(db, child)
    assert found is not None
    assert (found.execution_id, found.step) == (execution, "call")


def test_no_sender_can_pass_a_message_off_as_what_a_step_started(db: Connection) -> None:
    execution, _ = _family(db)
    playbook(db, SUB, path=PLAYBOOK)
    subscription(db)
    runtime = Runtime(db)
    runtime.put(*offsets(1, message_id=f"penstock://job/{execution}"))
    assert runtime.commit().executions == 1
    assert families.parent(db, executions.newest(db, 1)[0].execution_id) is None
