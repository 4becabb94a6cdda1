"""What a local run waits for: whatever a worker would still do by itself, and nothing else."""

from datetime import datetime

import pytest

from penstock.cli.tally import is_busy
from penstock.kernel import jobs, local
from penstock.kernel.connection import Connection
from penstock.kernel.local import UNTOLD
from tests.ingest.support import PATH, PLAYBOOK, Runtime, offsets, subscription
from tests.playbooks.support import claimed, finished
from tests.playbooks.support import playbook as flow

WAITS = """
  - {step: a, tool: {kind: playbook, path: NAMED}, next: b}
  - {step: b, tool: {kind: noop}}
"""
LEAF = """
  - {step: leaf, tool: {kind: noop}}
"""


@pytest.fixture
def runtime(db: Connection) -> Runtime:
    flow(db, LEAF, path="leaf")
    flow(db, WAITS.replace("NAMED", "leaf"), path="child")
    flow(db, WAITS.replace("NAMED", "child"), path=PLAYBOOK)
    subscription(db, dispatch={"playbook": PLAYBOOK, "payload_from": "message.json"})
    return Runtime(db)


def _child(db: Connection, path: str) -> int:
    """The step that is ready starts an execution of that playbook, and waits for it."""
    ((step, held),) = claimed(db)
    assert step == "a"
    child = jobs.child(db, held.job_id, held.lease_token, {"playbook": path}, wait=True)
    assert jobs.wait(db, held.job_id, held.lease_token).accepted
    return child


def _is_busy(db: Connection, since: datetime) -> bool:
    return is_busy(local.standing(db, PATH, since))


def test_a_run_is_busy_until_each_parent_has_heard_of_its_child_and_ended(db: Connection, runtime: Runtime) -> None:
    since = local.clock(db)
    assert not _is_busy(db, since)
    runtime.put(*offsets(1))
    runtime.commit()
    child = _child(db, "child")
    leaf = _child(db, "leaf")
    finished(db, claimed(db))
    for ended, awaiting in ((leaf, {"awaiting": 1, UNTOLD: 1}), (child, {UNTOLD: 1})):
        # the parent waits, the child has ended, and the job that is to tell of it has not run
        found = local.standing(db, PATH, since)
        assert (found.own, found.children) == ({"awaiting": 1}, awaiting)
        assert is_busy(found)
        # what a worker would do with it
        ((_, answer),) = claimed(db)
        assert _is_busy(db, since)
        assert jobs.child_ended(db, ended)
        jobs.finish(db, [answer.job_id], [answer.lease_token])
        assert _is_busy(db, since)
        after = claimed(db)
        assert [step for step, _ in after] == ["b"]
        finished(db, after)
    found = local.standing(db, PATH, since)
    assert (found.own, found.children, is_busy(found)) == ({"succeeded": 1}, {}, False)


def test_a_run_is_not_busy_with_what_waits_for_somebody(db: Connection, runtime: Runtime) -> None:
    since = local.clock(db)
    runtime.put(*offsets(1))
    runtime.commit()
    _child(db, "child")
    ((_, held),) = claimed(db)
    jobs.wait(db, held.job_id, held.lease_token)
    assert not _is_busy(db, since)
