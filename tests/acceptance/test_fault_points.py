"""kill -9 at every point of a step's way: the execution always completes, and no step is written twice."""

import pytest

from penstock.client import Client
from penstock.kernel import executions
from penstock.kernel.connection import Connection
from tests.acceptance import processes
from tests.acceptance.outcomes import set_config
from tests.acceptance.processes import Crew, until
from tests.playbooks.support import playbook, state, steps_of

crew = processes.crew

CHILD = """
  - {step: one, tool: {kind: python, function: "APP:echo"}, args: {n: 1}, next: two}
  - {step: two, tool: {kind: python, function: "APP:echo"}, args: {n: "{{ one.n + 1 }}"}}
"""
FLOW = """
  - {step: a, tool: {kind: noop}, next: [b, c]}
  - step: b
    tool: {kind: python, function: "APP:echo"}
    loop: {in: [1, 2, 3], mode: parallel, max_in_flight: 2}
    next: d
  - step: c
    tool: {kind: python, function: "APP:echo"}
    args: {x: 1}
    next: [{step: e, when: "{{ c.x == 1 }}"}, {step: d}]
  - {step: e, tool: {kind: wait, seconds: 0}, next: d}
  - {step: d, tool: {kind: playbook, path: child}, next: f}
  - step: f
    tool: {kind: python, function: "APP:fails"}
    retry: {max_attempts: 6, backoff: {strategy: fixed, base_ms: 10}}
    on_error: continue
    next: [{step: g, when: "{{ 'error' in f }}"}]
  - {step: g, tool: {kind: noop}}
"""
STEPS = {("a", 0), ("b", 0), ("b", 1), ("b", 2), ("b", 3), ("c", 0), ("e", 0), ("d", 0), ("f", 0), ("g", 0)}
POINTS = [
    *(("before_run", 6), ("after_run", 7), ("during_start", 1)),
    *((f"{when}_finish", nth) for when in ("before", "during", "after") for nth in (1, 3)),
    *(("during_fail", 1), ("during_wait", 1), ("after_wait", 2), ("after_child", 1), ("during_child_ended", 1)),
]
OTHERS = [
    *(("before_run", 1), ("after_run", 1)),
    *((f"{when}_finish", nth) for when in ("before", "during", "after") for nth in (2, 5)),
    *((f"{when}_{what}", 1) for when in ("before", "after") for what in ("fail", "wait", "child_ended")),
    *(("before_child", 1), ("during_child", 1)),
]


@pytest.mark.parametrize(("where", "nth"), [*POINTS, *(pytest.param(*one, marks=pytest.mark.long) for one in OTHERS)])
def test_an_execution_completes_wherever_its_worker_is_killed(
    db: Connection, database: str, crew: Crew, where: str, nth: int
) -> None:
    for kind in (
        "tool:python",
        "tool:noop",
        "tool:playbook",
        "tool:wait",
        "tool:decide",
        "tool:child_ended",
        "default",
    ):
        set_config(db, f"queue.lease_ms.{kind}", "1000")
    set_config(db, "queue.retry.backoff.base_ms", "20")
    playbook(db, CHILD, path="child")
    playbook(db, FLOW)
    with Client(database) as client:
        execution = client.execute("flow")
    faulty = crew.start("faulty", "--concurrency", "3", ready=False, FAULT=where, NTH=str(nth))
    until(lambda: not faulty.is_alive, f"it is killed {where}")
    crew.start("plain")
    until(lambda: executions.show(db, execution).finished_at is not None, f"it ends: {where}", 60)
    assert state(db, execution) == ("succeeded", 0, 0)
    found = [(step, item) for step, _, item, _ in steps_of(db, execution)]
    assert (set(found), len(found)) == (STEPS, len(STEPS))
    children = db.execute("select status from penstock.job_workflow where parent_job is not null").fetchall()
    assert children == [("succeeded",)]
