"""Playbooks of several steps, run by workers."""

from typing import Any

from penstock.client import Client
from penstock.kernel import executions, jobs
from penstock.kernel.connection import Connection
from penstock.kernel.results import results
from tests.acceptance import processes
from tests.acceptance.outcomes import quick_retries
from tests.acceptance.processes import Crew, until
from tests.playbooks.support import playbook, state, steps_of

crew = processes.crew


def _ended(db: Connection, execution: int, status: str = "succeeded", deadline_s: float = 30) -> None:
    until(lambda: executions.show(db, execution).finished_at is not None, f"the end of {execution}", deadline_s)
    assert executions.show(db, execution).status == status, steps_of(db, execution)


def _result(db: Connection, execution: int, step: str) -> Any:
    return results(db, execution, [step]).by_step[step]


def _run(database: str, path: str = "flow", payload: dict[str, Any] | None = None, **more: Any) -> int:
    with Client(database) as client:
        return client.execute(path, payload, **more)


def test_templates_carry_results_from_step_to_step(db: Connection, database: str, crew: Crew) -> None:
    playbook(
        db,
        """
  - step: read
    tool: {kind: python, function: "APP:echo"}
    args: {order: "{{ workload.order }}", rate: "{{ workload.rate }}"}
    next:
      - {step: big, when: "{{ read.order.total > 100 }}"}
      - {step: small, args: {why: "only {{ read.order.total }}"}}
  - {step: big, tool: {kind: noop}}
  - step: small
    tool: {kind: python, function: "APP:echo"}
    args: {tax: "{{ read.order.total * read.rate }}", lines: "{{ read.order.lines | map(attribute='sku') | list }}"}
""",
        workload={"rate": 0.5, "order": {}},
    )
    execution = _run(database, payload={"order": {"total": 42, "lines": [{"sku": "a"}, {"sku": "b"}]}})
    crew.start("plain")
    _ended(db, execution)
    assert [one[0] for one in steps_of(db, execution)] == ["read", "small"]
    assert _result(db, execution, "small") == {"tax": 21.0, "lines": ["a", "b"], "why": "only 42"}


def test_a_loop_in_parallel_and_what_comes_after_it(db: Connection, database: str, crew: Crew) -> None:
    playbook(
        db,
        """
  - step: each
    tool: {kind: python, function: "APP:echo"}
    loop: {in: "{{ workload.numbers }}", iterator: n, mode: parallel, max_in_flight: 3}
    args: {twice: "{{ n * 2 }}"}
    next: sum
  - step: sum
    tool: {kind: python, function: "APP:echo"}
    args: {sum: "{{ each.results | sum(attribute='twice') }}", count: "{{ each.count }}"}
""",
    )
    execution = _run(database, payload={"numbers": list(range(20))})
    crew.start("plain")
    _ended(db, execution)
    assert _result(db, execution, "sum") == {"sum": 380, "count": 20}


def test_an_error_goes_where_the_playbook_says(db: Connection, database: str, crew: Crew) -> None:
    quick_retries(db)
    playbook(
        db,
        """
  - step: risky
    tool: {kind: python, function: "APP:fails"}
    args: {words: no luck}
    retry: {max_attempts: 2, backoff: {strategy: fixed, base_ms: 10}}
    on_error: {step: rescue}
    next: fine
  - {step: fine, tool: {kind: noop}, next: end}
  - step: rescue
    tool: {kind: python, function: "APP:echo"}
    args: {said: "{{ risky.error.message }}"}
    next: end
  - {step: end, tool: {kind: noop}}
""",
    )
    execution = _run(database)
    crew.start("plain")
    _ended(db, execution)
    assert [one[0] for one in steps_of(db, execution)] == ["risky", "rescue", "end"]
    assert _result(db, execution, "rescue") == {"said": "no luck"}
    assert db.execute("select resolution from penstock.job_dead_letter").fetchall() == [("on_error",)]


def test_going_on_after_an_error_decides_by_what_happened(db: Connection, database: str, crew: Crew) -> None:
    playbook(
        db,
        """
  - step: risky
    tool: {kind: python, function: "APP:fails"}
    retry: {max_attempts: 1}
    on_error: continue
    next: [{step: good, when: "{{ 'error' not in risky }}"}, {step: bad}]
  - {step: good, tool: {kind: noop}}
  - {step: bad, tool: {kind: noop}}
""",
    )
    execution = _run(database)
    crew.start("plain")
    _ended(db, execution)
    assert [one[0] for one in steps_of(db, execution)] == ["risky", "bad"]


def test_a_failed_execution_is_retried_from_where_it_stopped(db: Connection, database: str, crew: Crew) -> None:
    playbook(
        db,
        """
  - {step: first, tool: {kind: python, function: "APP:noted"}, next: [risky, side]}
  - {step: risky, tool: {kind: python, function: "nowhere.to.be:found"}, retry: {max_attempts: 1}, next: last}
  - {step: side, tool: {kind: python, function: "APP:noted"}, next: last}
  - {step: last, tool: {kind: noop}}
""",
    )
    execution = _run(database)
    crew.start("plain")
    _ended(db, execution, "failed")
    assert state(db, execution) == ("failed", 0, 1)
    assert executions.move(db, execution, "retry") == "running"
    _ended(db, execution, "failed")
    assert [line["step"] for line in crew.notes("ran")] == ["first", "side"]
    assert state(db, execution) == ("failed", 0, 1)


def test_waiting_holds_no_worker_and_ends_by_itself(db: Connection, database: str, crew: Crew) -> None:
    playbook(
        db,
        """
  - {step: rest, tool: {kind: wait, seconds: 1}, next: done}
  - {step: done, tool: {kind: noop}}
""",
    )
    execution = _run(database)
    crew.start("plain", "--concurrency", "1")
    until(lambda: executions.show(db, execution).status == "awaiting", "it waits")
    _ended(db, execution)


def test_an_approval_is_answered_by_an_operator_and_decides(db: Connection, database: str, crew: Crew) -> None:
    playbook(
        db,
        """
  - step: ask
    tool: {kind: approve, prompt: "May order {{ workload.order }} be sent?", to: ["user:ann"]}
    next: [{step: send, when: "{{ ask.approved }}"}, {step: drop}]
  - {step: send, tool: {kind: noop}}
  - {step: drop, tool: {kind: noop}}
""",
    )
    execution = _run(database, payload={"order": 7})
    crew.start("plain")
    until(lambda: executions.show(db, execution).status == "awaiting", "it waits")
    prompt = db.execute("select prompt, approvers from penstock.v_job_awaiting").fetchall()
    assert prompt == [("May order 7 be sent?", ["user:ann"])]
    assert jobs.resume(db, execution, None, {"approved": True}) == "succeeded"
    _ended(db, execution)
    assert [one[0] for one in steps_of(db, execution)] == ["ask", "send"]


def test_nobody_answering_in_time_escalates(db: Connection, database: str, crew: Crew) -> None:
    playbook(
        db,
        """
  - {step: ask, tool: {kind: approve, deadline_s: 1, escalate: boss}, next: send}
  - {step: send, tool: {kind: noop}, next: end}
  - {step: boss, tool: {kind: noop}, next: end}
  - {step: end, tool: {kind: noop}}
""",
    )
    execution = _run(database)
    crew.start("plain")
    _ended(db, execution)
    assert [one[0] for one in steps_of(db, execution)] == ["ask", "boss", "end"]


def test_a_child_is_waited_for_and_its_result_handed_on(db: Connection, database: str, crew: Crew) -> None:
    playbook(
        db,
        """
  - {step: double, tool: {kind: python, function: "APP:echo"}, args: {twice: "{{ workload.n * 2 }}"}}
""",
        path="child",
    )
    playbook(
        db,
        """
  - step: call
    tool: {kind: playbook, path: child, payload: {n: "{{ workload.n }}"}}
    next: after
  - step: after
    tool: {kind: python, function: "APP:echo"}
    args: {got: "{{ call.result.twice }}"}
""",
    )
    execution = _run(database, payload={"n": 21})
    crew.start("plain")
    _ended(db, execution)
    assert _result(db, execution, "after") == {"got": 42}


def test_a_child_that_fails_fails_its_step(db: Connection, database: str, crew: Crew) -> None:
    playbook(
        db,
        """
  - {step: oops, tool: {kind: python, function: "APP:fails"}, retry: {max_attempts: 1}}
""",
        path="child",
    )
    playbook(
        db, "  - {step: call, tool: {kind: playbook, path: child}, next: after}\n  - {step: after, tool: {kind: noop}}"
    )
    execution = _run(database)
    crew.start("plain")
    _ended(db, execution, "failed")
    (error,) = db.execute("select error from penstock.v_execution_step where step = 'call'").fetchone() or (None,)
    assert "of child@1 has failed" in error["message"]


def test_a_template_without_a_value_fails_the_step_with_its_text(db: Connection, database: str, crew: Crew) -> None:
    playbook(
        db,
        """
  - {step: read, tool: {kind: python, function: "APP:echo"}, args: {x: "{{ workload.nothing.here }}"}, next: after}
  - {step: after, tool: {kind: noop}}
""",
    )
    execution = _run(database)
    crew.start("plain")
    _ended(db, execution, "failed")
    (error,) = db.execute("select error from penstock.v_execution_step where step = 'read'").fetchone() or (None,)
    assert "workload.nothing.here" in error["message"]
    assert "has no attribute 'nothing'" in error["message"]


def test_tools_of_a_list_run_in_order_and_see_one_another(db: Connection, database: str, crew: Crew) -> None:
    playbook(
        db,
        """
  - step: both
    tool:
      - {name: one, kind: python, function: "APP:echo"}
      - {name: two, kind: noop}
    args: {n: 1}
    next: after
  - {step: after, tool: {kind: python, function: "APP:echo"}, args: {n: "{{ both.one.n }}"}}
""",
    )
    execution = _run(database)
    crew.start("plain")
    _ended(db, execution)
    assert _result(db, execution, "after") == {"n": 1}
