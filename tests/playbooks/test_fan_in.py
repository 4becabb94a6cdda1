"""Two sessions that finish at once: the step that waits for both runs, and runs once."""

from threading import Barrier, Thread

from penstock.kernel import executions, jobs
from penstock.kernel.connection import Connection
from penstock.model import Claim
from tests.conftest import Connect
from tests.playbooks.support import claimed, driven, finished, playbook, state, steps_of
from tests.playbooks.test_graph_run import DIAMOND

PAIRS = 1000


def _end(session: Connection, claims: list[Claim], start: Barrier) -> None:
    for one in claims:
        start.wait()
        assert not jobs.finish(session, [one.job_id], [one.lease_token], None, [None])


def test_two_last_parents_finishing_at_once_start_the_child_once_a_thousand_times(
    db: Connection, session: Connect
) -> None:
    playbook(db, DIAMOND)
    asked = executions.execute_batch(db, [{"playbook": "flow"} for _ in range(PAIRS)])
    finished(db, claimed(db))
    both = claimed(db) + claimed(db)
    sides = [[one for step, one in both if step == name] for name in ("b", "c")]
    assert [len(side) for side in sides] == [PAIRS, PAIRS]
    start = Barrier(2)
    threads = [Thread(target=_end, args=[session(), side, start]) for side in sides]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    assert driven(db) == ["d"] * PAIRS
    assert {state(db, one.execution_id or 0) for one in asked} == {("succeeded", 0, 0)}


def test_a_loop_of_ten_thousand_is_counted_right(db: Connection, session: Connect) -> None:
    playbook(
        db,
        """
  - {step: each, tool: {kind: noop}, loop: {in: "{{ workload.n }}", mode: parallel}, next: after}
  - {step: after, tool: {kind: noop}}
""",
    )
    execution = executions.execute(db, {"playbook": "flow"})[0]
    finished(db, claimed(db), lambda *_: {"items": list(range(10_000))})
    sessions = [session() for _ in range(3)]

    def work(one: Connection) -> None:
        while claims := claimed(one, 500):
            assert not finished(one, claims)

    threads = [Thread(target=work, args=[one]) for one in sessions]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    driven(db)
    assert state(db, execution) == ("succeeded", 0, 0)
    assert [step for step, *_ in steps_of(db, execution)].count("after") == 1


def test_a_finish_and_a_pause_at_once_leave_nothing_ready(db: Connection, session: Connect) -> None:
    """A step that goes on plainly takes no lock of its workflow: a pause still finds what it writes."""
    lines = [f"  - {{step: s{n}, tool: {{kind: noop}}, next: s{n + 1}}}" for n in range(5)]
    playbook(db, "\n".join([*lines, "  - {step: s5, tool: {kind: noop}}"]))
    other = session()
    for _ in range(150):
        execution = executions.execute(db, {"playbook": "flow"})[0]
        ((_, claim),) = claimed(db)
        start = Barrier(2)

        def finish(start: Barrier = start, claim: Claim = claim) -> None:
            _end(other, [claim], start)

        thread = Thread(target=finish)
        thread.start()
        start.wait()
        executions.move(db, execution, "pause")
        thread.join(30)
        assert [one[3] for one in steps_of(db, execution)] == ["succeeded", "blocked"]
        executions.move(db, execution, "cancel")
