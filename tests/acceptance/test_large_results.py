"""Results that are too many for one worker: counted without being read, refused before they are sent."""

import re
from pathlib import Path

import pytest

from penstock.errors import ResultsTooLarge
from penstock.kernel import executions
from penstock.kernel.connection import Connection
from penstock.kernel.results import counts, results
from tests.acceptance import processes
from tests.acceptance.processes import Crew, WorkerProcess, until
from tests.playbooks.support import claimed, finished, playbook, started, state
from tests.sql.support import configure

crew = processes.crew

FLOW = """
  - {step: each, tool: {kind: noop}, loop: {in: "{{ workload.n }}", mode: parallel}, next: tell}
  - {step: tell, tool: {kind: python, function: "APP:echo"}, args: {n: "{{ each.count }}"}, next: read}
  - step: read
    tool: {kind: python, function: "APP:echo"}
    args: {n: "{{ each.count }}", first: "{{ each.results[0].text | length }}"}
"""
ITEMS, EACH_BYTES = 2_000, 60_000
# all of it is more than twice as much, in Python's own form several times
MOST_MORE_KB = 60_000


def _looped(db: Connection, items: int, each_bytes: int) -> int:
    """An execution whose loop has ended, with a result of that size per item; paused there."""
    playbook(db, FLOW)
    execution = started(db)
    finished(db, claimed(db), lambda *_: {"items": list(range(items))})
    for _ in range(0, items, 1000):
        assert not finished(db, claimed(db, min(items, 1000)))
    executions.move(db, execution, "pause")
    db.execute(
        "insert into penstock.job_result (job_id, result) select job_id, jsonb_build_object('text', repeat('x', %s))"
        " from penstock.job_step where item > 0",
        [each_bytes],
    )
    return execution


def _peak_kb(worker: WorkerProcess) -> int:
    found = re.search(r"VmHWM:\s+(\d+)", Path(f"/proc/{worker.pid}/status").read_text())
    assert found
    return int(found[1])


def test_a_worker_counts_large_results_and_refuses_to_read_them(db: Connection, crew: Crew) -> None:
    execution = _looped(db, ITEMS, EACH_BYTES)
    worker = crew.start("plain", "--concurrency", "1")
    before = _peak_kb(worker)
    executions.move(db, execution, "resume")
    until(lambda: state(db, execution)[0] in ("failed", "succeeded"), "it ends")
    assert _peak_kb(worker) - before < MOST_MORE_KB
    assert results(db, execution, ["tell"]).by_step == {"tell": {"n": ITEMS}}
    (error,) = db.execute("select error from penstock.v_execution_step where step = 'read'").fetchone() or ({},)
    assert error["message"] == (
        "read: the results of each are 120,024,000 bytes, and the templates of one step may read 16,777,216"
        " (execution.results.max_bytes): keep large results elsewhere and return their addresses, of a loop read only"
        " its count, or raise that setting"
    )


def test_what_was_read_before_counts(db: Connection) -> None:
    execution = _looped(db, 3, 1000)
    found = results(db, execution, ["each"])
    assert (found.by_step["each"]["count"], len(found.by_step["each"]["results"])) == (3, 3)
    configure(db, "execution.results.max_bytes", str(found.size))
    assert results(db, execution, ["each"]) == found
    with pytest.raises(ResultsTooLarge, match="each are"):
        results(db, execution, ["each"], spent=1)
    assert counts(db, execution, ["each"]) == {"each": {"count": 3}}
