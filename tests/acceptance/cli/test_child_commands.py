"""What the commands say of a step that waits for an execution."""

import pytest

from penstock.kernel import jobs
from penstock.kernel.connection import Connection
from tests.acceptance.cli.conftest import Penstock
from tests.playbooks.support import claimed, playbook, started

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
