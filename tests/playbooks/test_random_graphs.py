"""Random graphs against the model: driven by hand in random order, and by workers that are killed."""

import json
import random
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from penstock.kernel import executions, jobs
from penstock.kernel.connection import Connection
from penstock.model import Claim, Json
from tests.acceptance import processes
from tests.acceptance.outcomes import set_config
from tests.acceptance.processes import Crew, until
from tests.playbooks.model import Fate, Node, fate, graphs, playbook_of
from tests.playbooks.support import claimed, playbook, started, state, steps_of

crew = processes.crew
# every example leaves the queue empty
ONE_DATABASE = [HealthCheck.function_scoped_fixture]


def _following(node: Node, item: int, claim_items: bool) -> Json | None:
    """What a worker would say when the step has run."""
    if item > 0:
        return None
    if item == 0 and not node.holds:
        return {"skipped": True}
    if node.items is not None and item == 0 and claim_items:
        return {"items": list(range(node.items))}
    if node.is_choice and node.arcs:
        return {"next": [node.arcs[node.chosen]] if node.chosen < len(node.arcs) else []}
    return None


class Driver:
    """Plays the workers: claims a few, ends them in any order."""

    def __init__(self, db: Connection, nodes: list[Node], rng: random.Random) -> None:
        self._db = db
        self._nodes = {node.name: node for node in nodes}
        self._rng = rng
        self._held: list[tuple[str, Claim]] = []
        self.called: dict[str, int] = {}

    def step(self) -> bool:
        """Whether there was anything to do."""
        if self._rng.random() < 0.5 or not self._held:
            self._held += claimed(self._db, self._rng.randint(1, 3))
        if not self._held:
            return False
        self._end(*self._held.pop(self._rng.randrange(len(self._held))))
        return True

    def _end(self, name: str, claim: Claim) -> None:
        node = self._nodes[name]
        item = _item(self._db, claim.job_id)
        is_opener = item == 0 and node.items is not None
        if item >= 0 and node.holds and not is_opener:
            self.called[name] = self.called.get(name, 0) + 1
            if node.fails:
                jobs.fail(self._db, [claim.job_id], [claim.lease_token], [{"permanent": True, "type": "Told"}])
                return
        following = _following(node, item, is_opener)
        refused = jobs.finish(
            self._db, [claim.job_id], [claim.lease_token], None, [None if following is None else json.dumps(following)]
        )
        assert not refused, (name, following, refused)


def _item(db: Connection, job_id: int) -> int:
    row = db.execute("select item from penstock.job_queue where job_id = %s", [job_id]).fetchone()
    assert row is not None
    return int(row[0] or 0)


def _agrees(db: Connection, execution: int, expected: Fate, called: dict[str, int]) -> None:
    assert called == expected.called
    assert {name for name, *_ in steps_of(db, execution)} == set(expected.begun)
    status, live, stuck = state(db, execution)
    assert (status, live) == (expected.status, 0)
    assert bool(stuck) == bool(expected.stuck)


@settings(max_examples=150, suppress_health_check=ONE_DATABASE)
@given(nodes=graphs(), seed=st.integers(0, 2**32))
def test_whatever_order_jobs_end_in_the_model_says_what_runs(db: Connection, nodes: list[Node], seed: int) -> None:
    text, workload = playbook_of(nodes)
    playbook(db, text, workload=workload)
    execution = started(db)
    driver = Driver(db, nodes, random.Random(seed))
    while driver.step():
        pass
    _agrees(db, execution, fate(nodes), driver.called)


@settings(max_examples=60, suppress_health_check=ONE_DATABASE)
@given(nodes=graphs(), seed=st.integers(0, 2**32))
def test_pauses_change_nothing_and_a_retry_goes_on_from_there(db: Connection, nodes: list[Node], seed: int) -> None:
    text, workload = playbook_of(nodes)
    playbook(db, text, workload=workload)
    execution = started(db)
    rng = random.Random(seed)
    driver = Driver(db, nodes, rng)
    busy = True
    while busy:
        busy = driver.step()
        if rng.random() < 0.3 and state(db, execution)[0] == "running":
            assert executions.move(db, execution, "pause") == "paused"
            ready = "select count(*) from penstock.job_queue where status in ('ready', 'scheduled', 'retrying')"
            assert db.execute(ready.encode()).fetchone() == (0,)
            assert executions.move(db, execution, "resume") == "running"
            busy = True
    expected = fate(nodes)
    _agrees(db, execution, expected, driver.called)
    if expected.stuck:
        for node in nodes:
            node.fails = False
        assert executions.move(db, execution, "retry") == "running"
        again = Driver(db, nodes, rng)
        while again.step():
            pass
        whole = fate(nodes)
        assert state(db, execution) == ("succeeded", 0, 0)
        assert {name for name, *_ in steps_of(db, execution)} == set(whole.begun) | set(expected.begun)


@settings(max_examples=60, suppress_health_check=ONE_DATABASE)
@given(nodes=graphs(), seed=st.integers(0, 2**32))
def test_nothing_runs_after_a_cancel(db: Connection, nodes: list[Node], seed: int) -> None:
    text, workload = playbook_of(nodes)
    playbook(db, text, workload=workload)
    execution = started(db)
    rng = random.Random(seed)
    driver = Driver(db, nodes, rng)
    for _ in range(rng.randint(0, 6)):
        driver.step()
    if state(db, execution)[0] != "running":
        return
    held = db.execute(
        "select job_id, lease_token from penstock.job_queue where status in ('leased', 'running')"
    ).fetchall()
    became = executions.move(db, execution, "cancel")
    assert became == ("cancelling" if held else "cancelled")
    assert claimed(db) == []
    if held:
        answers = jobs.finish(db, [job for job, _ in held], [token for _, token in held])
        assert {answer.reason for answer in answers} == {"cancelled"}
    assert state(db, execution)[:2] == ("cancelled", 0)
    assert db.execute("select count(*) from penstock.job_queue").fetchone() == (0,)


def _drawn(count: int, seed: int) -> list[list[Node]]:
    """Graphs for workers, the same every time."""
    found: list[list[Node]] = []

    @settings(max_examples=count * 3, database=None, derandomize=seed == 0)
    @given(graphs())
    def collect(nodes: list[Node]) -> None:
        if len(nodes) > 2:
            found.append(nodes)

    collect()
    return found[:count]


@pytest.mark.parametrize("count", [25, pytest.param(300, marks=pytest.mark.long)])
def test_workers_that_are_killed_lose_no_step_and_run_none_too_many(db: Connection, crew: Crew, count: int) -> None:
    for kind in ("tool:python", "tool:decide", "default"):
        set_config(db, f"queue.lease_ms.{kind}", "1500")
    flows: dict[int, list[Node]] = {}
    for nth, nodes in enumerate(_drawn(count, 0)):
        text, workload = playbook_of(nodes)
        # a killed worker uses an attempt up
        playbook(db, text.replace('"max_attempts": 1', '"max_attempts": 50'), path=f"flow{nth}", workload=workload)
        flows[started(db, f"flow{nth}")] = nodes
    rng = random.Random(7)
    workers = [crew.start("plain", "--concurrency", "4") for _ in range(2)]

    def left() -> int:
        row = db.execute("select count(*) from penstock.job_workflow where finished_at is null").fetchone()
        assert row is not None
        return int(row[0])

    kills = 0
    while left() and kills < 6:
        noted = len(crew.notes("called"))
        until(partial(_goes_on, crew, noted, left), "some steps run")
        workers.pop(rng.randrange(2)).kill()
        workers.append(crew.start("plain", "--concurrency", "4"))
        kills += 1
    until(lambda: not left(), "all executions end", 120)
    calls: dict[int, set[tuple[str, int]]] = {execution: set() for execution in flows}
    for line in crew.notes("called"):
        calls[line["execution"]].add((line["step"], line["item"]))
    for execution, nodes in flows.items():
        _agrees(db, execution, fate(nodes), _counted(calls[execution]))


def _goes_on(crew: Crew, noted: int, left: Callable[[], int]) -> bool:
    return len(crew.notes("called")) > noted + 5 or not left()


def _counted(calls: set[tuple[str, int]]) -> dict[str, Any]:
    """How many jobs of each step called it, each counted once however often it was tried."""
    found: dict[str, int] = {}
    for step, _ in calls:
        found[step] = found.get(step, 0) + 1
    return found
