"""Random graphs against the model: driven by hand in random order, and by workers that are killed."""

import json
import random
from functools import partial
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from penstock.errors import PenstockError
from penstock.kernel import executions, jobs
from penstock.kernel.connection import Connection
from penstock.model import Claim, Json
from tests.acceptance import processes
from tests.acceptance.outcomes import set_config
from tests.acceptance.processes import Crew, WorkerProcess, until
from tests.playbooks.model import Node, fate, graphs, playbook_of
from tests.playbooks.order import ran_early, there_early
from tests.playbooks.support import claimed, playbook, started, state, steps_of
from tests.sql.support import value

crew = processes.crew
_BEGUN_TOO_LATE = """select count(*) from penstock.job_outcome o join penstock.job_step t on t.job_id = o.job_id
  join penstock.job_workflow w on w.execution_id = t.execution_id where o.started_at > w.finished_at"""
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

    def __init__(self, db: Connection, execution: int, nodes: list[Node], rng: random.Random) -> None:
        self._db, self._execution, self._graph = db, execution, nodes
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
        assert there_early(self._db, self._execution, self._graph) == []
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


def _agrees(db: Connection, execution: int, nodes: list[Node], called: dict[str, int]) -> None:
    expected = fate(nodes)
    assert called == expected.called
    assert {name for name, *_ in steps_of(db, execution)} == set(expected.begun)
    status, live, stuck = state(db, execution)
    assert (status, live) == (expected.status, 0)
    assert bool(stuck) == bool(expected.stuck)
    assert ran_early(db, execution, nodes) == []


@settings(max_examples=150, suppress_health_check=ONE_DATABASE)
@given(nodes=graphs(), seed=st.integers(0, 2**32))
def test_whatever_order_jobs_end_in_the_model_says_what_runs(db: Connection, nodes: list[Node], seed: int) -> None:
    text, workload = playbook_of(nodes)
    playbook(db, text, workload=workload)
    execution = started(db)
    driver = Driver(db, execution, nodes, random.Random(seed))
    while driver.step():
        pass
    _agrees(db, execution, nodes, driver.called)


@settings(max_examples=60, suppress_health_check=ONE_DATABASE)
@given(nodes=graphs(), seed=st.integers(0, 2**32))
def test_pauses_change_nothing_and_a_retry_goes_on_from_there(db: Connection, nodes: list[Node], seed: int) -> None:
    text, workload = playbook_of(nodes)
    playbook(db, text, workload=workload)
    execution = started(db)
    rng = random.Random(seed)
    driver = Driver(db, execution, nodes, rng)
    busy = True
    while busy:
        busy = driver.step()
        if rng.random() < 0.3 and state(db, execution)[0] == "running":
            assert executions.move(db, execution, "pause") == "paused"
            ready = "select count(*) from penstock.job_queue where status in ('ready', 'scheduled', 'retrying')"
            assert db.execute(ready.encode()).fetchone() == (0,)
            assert executions.move(db, execution, "resume") == "running"
            busy = True
    _agrees(db, execution, nodes, driver.called)
    expected = fate(nodes)
    if expected.stuck:
        for node in nodes:
            node.fails = False
        assert executions.move(db, execution, "retry") == "running"
        again = Driver(db, execution, nodes, rng)
        while again.step():
            pass
        whole = fate(nodes)
        assert state(db, execution) == ("succeeded", 0, 0)
        assert {name for name, *_ in steps_of(db, execution)} == set(whole.begun) | set(expected.begun)
        assert ran_early(db, execution, nodes) == []


@settings(max_examples=60, suppress_health_check=ONE_DATABASE)
@given(nodes=graphs(), seed=st.integers(0, 2**32))
def test_nothing_runs_after_a_cancel(db: Connection, nodes: list[Node], seed: int) -> None:
    text, workload = playbook_of(nodes)
    playbook(db, text, workload=workload)
    execution = started(db)
    rng = random.Random(seed)
    driver = Driver(db, execution, nodes, rng)
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
    # the first ones are simple
    return found[-count:]


@pytest.mark.parametrize("count", [25, pytest.param(300, marks=pytest.mark.long)])
def test_a_storm_loses_no_step_and_runs_none_too_many(db: Connection, crew: Crew, count: int) -> None:
    """Workers are killed; executions are cancelled, paused and resumed; attempts fail; what failed is run again."""
    for kind in ("tool:python", "tool:decide", "default"):
        set_config(db, f"queue.lease_ms.{kind}", "1500")
    flows: dict[int, list[Node]] = {}
    for nth, nodes in enumerate(_drawn(count, 0)):
        text, workload = playbook_of(nodes)
        # a killed worker uses an attempt up
        playbook(db, text.replace('"max_attempts": 1', '"max_attempts": 50'), path=f"flow{nth}", workload=workload)
        flows[started(db, f"flow{nth}")] = nodes
    storm = Storm(db, crew, random.Random(7))
    storm.rages(kills=6)
    storm.passes()
    assert storm.cancelled
    _all_agree(db, crew, flows, storm.cancelled)
    failed = [one for one in flows if state(db, one)[0] == "failed"]
    assert failed, "some fail for good"
    for execution in failed:
        assert executions.move(db, execution, "retry") == "running"
    storm.rages(kills=2, cancels=False)
    storm.passes()
    _all_agree(db, crew, flows, storm.cancelled)


class Storm:
    """What happens to two workers and the executions they run."""

    def __init__(self, db: Connection, crew: Crew, rng: random.Random) -> None:
        self._db, self._crew, self._rng = db, crew, rng
        self._workers = [self._worker() for _ in range(2)]
        self.cancelled: set[int] = set()

    def rages(self, *, kills: int, cancels: bool = True) -> None:
        if cancels:
            # while nothing can end yet: on a busy machine all might be over before
            self._move("cancel", ("cancelling", "cancelled"))
            self._crew.open_gate("storm")
        while self._left() and kills:
            noted = len(self._crew.notes("called"))
            if cancels:
                self._move("cancel", ("cancelling", "cancelled"))
            self._move("pause", ("paused",))
            until(partial(self._goes_on, noted), "some steps run")
            self._workers.pop(self._rng.randrange(2)).kill()
            self._workers.append(self._worker())
            kills -= 1

    def passes(self) -> None:
        for execution in self._in("paused"):
            assert executions.move(self._db, execution, "resume") == "running"
        until(lambda: not self._left(), "all executions end", 120)

    def _move(self, action: str, expected: tuple[str, ...]) -> None:
        running = self._in("running")
        for execution in self._rng.sample(running, min(len(running), 1 + len(running) // 10)):
            try:
                assert executions.move(self._db, execution, action) in expected
                self.cancelled |= {execution} if action == "cancel" else set()
            except PenstockError:
                assert execution not in self._in("running"), "it has ended meanwhile"

    def _worker(self) -> WorkerProcess:
        return self._crew.start("plain", "--concurrency", "4")

    def _goes_on(self, noted: int) -> bool:
        return len(self._crew.notes("called")) > noted + 5 or not self._in("running")

    def _in(self, status: str) -> list[int]:
        query = "select execution_id from penstock.job_workflow where status = %s order by 1"
        return [row[0] for row in self._db.execute(query, [status])]

    def _left(self) -> int:
        return int(value(self._db, "select count(*) from penstock.job_workflow where finished_at is null"))


def _all_agree(db: Connection, crew: Crew, flows: dict[int, list[Node]], cancelled: set[int]) -> None:
    calls: dict[int, set[tuple[str, int]]] = {execution: set() for execution in flows}
    for line in crew.notes("called"):
        calls[line["execution"]].add((line["step"], line["item"]))
    for execution, nodes in flows.items():
        expected, called = fate(nodes), _counted(calls[execution])
        if execution not in cancelled:
            _agrees(db, execution, nodes, called)
            continue
        assert ran_early(db, execution, nodes) == []
        assert state(db, execution)[:2] == ("cancelled", 0)
        assert all(count <= expected.called.get(step, 0) for step, count in called.items())
        assert {name for name, *_ in steps_of(db, execution)} <= set(expected.begun)
    assert value(db, "select count(*) from penstock.job_queue") == 0
    assert value(db, _BEGUN_TOO_LATE) == 0


def _counted(calls: set[tuple[str, int]]) -> dict[str, Any]:
    """How many jobs of each step called it, each counted once however often it was tried."""
    found: dict[str, int] = {}
    for step, _ in calls:
        found[step] = found.get(step, 0) + 1
    return found
