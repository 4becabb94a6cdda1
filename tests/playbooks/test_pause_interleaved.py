"""A pause or a cancel, and finishes under way wherever it looks: each writes a job that it has not seen."""

from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import ExitStack, contextmanager

import pytest

from penstock.kernel import executions, jobs
from penstock.kernel.connection import Connection
from penstock.model import Claim
from tests.concurrency.sessions import answer, aside, wait_until
from tests.conftest import Connect
from tests.playbooks.support import claimed, driven, finished, playbook, started, state, steps_of
from tests.sql.support import value

# every step goes on plainly: its finish takes no lock of the workflow, and so waits for no pause
TWO_LINES = """
  - {step: a, tool: {kind: noop}, next: [b, c]}
  - {step: b, tool: {kind: noop}, next: b2}
  - {step: b2, tool: {kind: noop}, next: b3}
  - {step: b3, tool: {kind: noop}, next: b4}
  - {step: b4, tool: {kind: noop}}
  - {step: c, tool: {kind: noop}, next: c2}
  - {step: c2, tool: {kind: noop}}
"""


@contextmanager
def _finishing(session: Connection, claim: Claim, *, is_lost: bool = False) -> Iterator[None]:
    """A finish that is not committed before the block ends; or never, as when its connection is lost."""
    with session.transaction(force_rollback=is_lost):
        assert not jobs.finish(session, [claim.job_id], [claim.lease_token], None, [None])
        yield


def _waits_for(db: Connection, moving: Connection, other: Connection, future: Future[str]) -> None:
    """The move has come to what the other session holds; or has ended, which is for the test to judge."""
    pids = moving.info.backend_pid, other.info.backend_pid
    wait_until(
        lambda: future.done() or value(db, "select %s = any(pg_blocking_pids(%s))", pids[1], pids[0]),
        "the move waits for a finish",
    )


def _interleaved(db: Connection, session: Connect, execution: int, action: str, *, is_lost: bool) -> str:
    """The move, which waits three times; `is_lost` is the finish of c, which then writes nothing."""
    claims = dict(claimed(db))
    moving, first, second, third = (session() for _ in range(4))
    with aside(db) as beside, ExitStack() as under_way:
        with _finishing(second, claims["c"], is_lost=is_lost):
            with _finishing(first, claims["b"]):
                # it sees b and c, and waits at b: what comes after them is not there yet
                future = beside.run_until_it_waits(moving, lambda one: executions.move(one, execution, action))
            _waits_for(db, moving, second, future)
            ((step, claim),) = claimed(third)
            assert step == "b2"
            under_way.enter_context(_finishing(third, claim))
        # it has seen all it knew of. Now b2 is there, and is being finished: whoever waits for it finds it gone
        _waits_for(db, moving, third, future)
        under_way.close()
        return answer(future)


@pytest.mark.parametrize("is_lost", [False, True])
@pytest.mark.parametrize("action", ["pause", "cancel"])
def test_a_move_goes_on_looking_while_finishes_write_new_jobs(
    db: Connection, session: Connect, action: str, is_lost: bool
) -> None:
    playbook(db, TWO_LINES)
    execution = started(db)
    finished(db, claimed(db))
    now = _interleaved(db, session, execution, action, is_lost=is_lost)
    assert now == {"pause": "paused", "cancel": "cancelling" if is_lost else "cancelled"}[action]
    assert claimed(db) == []
    left = {step: status for step, _, _, status in steps_of(db, execution) if status != "succeeded"}
    stands = {"pause": "blocked", "cancel": "cancelled"}[action]
    assert left == {"b3": stands, **({"c": "running"} if is_lost else {"c2": stands})}


def test_what_a_pause_has_found_goes_on_when_it_is_resumed(db: Connection, session: Connect) -> None:
    playbook(db, TWO_LINES)
    execution = started(db)
    finished(db, claimed(db))
    _interleaved(db, session, execution, "pause", is_lost=False)
    executions.move(db, execution, "resume")
    assert sorted(driven(db)) == ["b3", "b4", "c2"]
    assert state(db, execution) == ("succeeded", 0, 0)
