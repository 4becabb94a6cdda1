"""Executions that ended long ago are swept with all that was kept of them, and no others."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta
from threading import Barrier

import pytest

from penstock.errors import IllegalMove, UnknownJob
from penstock.kernel import dead_letters, executions, jobs, reads
from penstock.kernel.connection import Connection
from penstock.model import Claim
from tests.conftest import Connect
from tests.playbooks.support import claimed, driven, finished, playbook, started, state, steps_of
from tests.sql.support import configure, enqueue, rows, tick, value

LINE = "  - {step: a, tool: {kind: noop}, next: b}\n  - {step: b, tool: {kind: noop}}"
WIDE = """
  - {step: a, tool: {kind: noop}, next: [each, c]}
  - {step: each, tool: {kind: noop}, loop: {in: "{{ workload.n }}", mode: parallel}, next: d}
  - {step: c, tool: {kind: noop}, next: d}
  - {step: d, tool: {kind: noop}}
"""
SINGLE = "  - {step: a, tool: {kind: noop}}"
KEPT = ("job_workflow", "job_step", "job_item", "job_join", "job_loop", "execution_input", "job_result")
NOTHING = dict.fromkeys((*KEPT, "job_workflow_gone"), 0)

_SEVEN = {"job_workflow": 1, "job_step": 7, "job_item": 3, "execution_input": 1, "job_result": 7}


def _counts(db: Connection) -> dict[str, int]:
    found = {table: db.execute(f"select count(*) from penstock.{table}".encode()).fetchone() for table in NOTHING}
    return {table: row[0] for table, row in found.items() if row}


def _age(db: Connection, days: int = 40) -> None:
    """All that has happened so far happened so much earlier."""
    moments = rows(db, "select enqueued_at from penstock.job union select finished_at from penstock.job_outcome")
    for (moment,) in moments:
        for parent in ("job", "job_outcome"):
            value(db, "select penstock.partition_ensure(%s, %s)", parent, moment - timedelta(days=days))
    for table, columns in {
        "job": ["enqueued_at"],
        "job_queue": ["enqueued_at"],
        "job_outcome": ["enqueued_at", "started_at", "finished_at"],
        "job_workflow": ["started_at", "finished_at"],
        "job_step": ["enqueued_at"],
        "job_result": ["created_at"],
        "execution_input": ["created_at"],
    }.items():
        moved = ", ".join(f"{one} = {one} - {days} * interval '1 day'" for one in columns)
        db.execute(f"update penstock.{table} set {moved}".encode())


def _given_back(db: Connection) -> list[str]:
    """Run to the end; every step gives something back."""
    ran = []
    while claims := claimed(db):
        following = ['{"items": [1, 2, 3]}' if _is_opening(db, name, one) else None for name, one in claims]
        ids, tokens = [one.job_id for _, one in claims], [one.lease_token for _, one in claims]
        assert jobs.finish(db, ids, tokens, ['{"ok": true}'] * len(claims), following) == []
        ran += [name for name, _ in claims]
    return ran


def _is_opening(db: Connection, step: str, claim: Claim) -> bool:
    return step == "each" and value(db, "select count(*) from penstock.job_item where job_id = %s", claim.job_id) == 0


def _swept(db: Connection) -> dict[str, int]:
    report = tick(db)["history"]
    assert report["ok"], report
    return {name: report["did"][name] for name in ("executions", "steps", "inputs", "results")}


def test_one_past_its_time_goes_with_all_its_rows(db: Connection) -> None:
    playbook(db, WIDE, workload={"n": []})
    execution = started(db, payload={"n": [1, 2, 3]})
    assert sorted(_given_back(db)) == ["a", "c", "d", "each", "each", "each", "each"]
    assert state(db, execution)[0] == "succeeded"
    assert _counts(db) | {"job_join": 0, "job_loop": 0} == NOTHING | _SEVEN
    _age(db)
    configure(db, "execution.keep_days", "30")
    assert _swept(db) == {"executions": 1, "steps": 7, "inputs": 0, "results": 0}
    assert _counts(db) == NOTHING
    assert _swept(db) == {"executions": 0, "steps": 0, "inputs": 0, "results": 0}


def test_a_young_one_stays(db: Connection) -> None:
    playbook(db, WIDE, workload={"n": []})
    started(db, payload={"n": [1]})
    _given_back(db)
    _age(db, days=29)
    configure(db, "execution.keep_days", "30")
    before = _counts(db)
    assert sum(_swept(db).values()) == 0
    assert _counts(db) == before


def test_by_default_it_is_kept_as_long_as_its_jobs(db: Connection) -> None:
    playbook(db, LINE)
    started(db, payload={})
    _given_back(db)
    _age(db, days=400)
    assert sum(_swept(db).values()) == 0
    (month,) = rows(db, "select to_char((now() - interval '400 days') at time zone 'UTC', '\"y\"YYYY\"m\"MM')")[0]
    for parent in ("job", "job_outcome"):
        db.execute(f"alter table penstock.{parent} detach partition penstock.{parent}_{month}".encode())
    assert _swept(db) == {"executions": 1, "steps": 2, "inputs": 0, "results": 0}
    assert _counts(db) == NOTHING


def _running(db: Connection, execution: int) -> None:
    claimed(db)


def _paused(db: Connection, execution: int) -> None:
    executions.move(db, execution, "pause")


def _awaiting(db: Connection, execution: int) -> None:
    ((_, claim),) = claimed(db)
    jobs.wait(db, claim.job_id, claim.lease_token)


def _cancelling(db: Connection, execution: int) -> None:
    claimed(db)
    executions.move(db, execution, "cancel")


@pytest.mark.parametrize("into", [_running, _paused, _awaiting, _cancelling])
def test_a_live_one_is_never_touched_however_old(db: Connection, into: Callable[[Connection, int], None]) -> None:
    playbook(db, LINE)
    execution = started(db, payload={})
    ((_, claim),) = claimed(db)
    assert not jobs.finish(db, [claim.job_id], [claim.lease_token], ['{"ok": true}'])
    into(db, execution)
    before = _counts(db)
    assert before["job_result"] == before["execution_input"] == 1
    ended = started(db)
    executions.move(db, ended, "cancel")
    _age(db, days=4000)
    configure(db, "execution.keep_days", "1")
    assert _swept(db) == {"executions": 1, "steps": 1, "inputs": 0, "results": 0}
    assert _counts(db) == before


def _failed(db: Connection) -> int:
    playbook(db, LINE)
    execution = started(db, payload={})
    ((_, claim),) = claimed(db)
    jobs.fail(db, [claim.job_id], [claim.lease_token], [{"permanent": True}])
    assert state(db, execution)[0] == "failed"
    return execution


def test_a_failed_one_can_be_retried_until_its_time_is_over(db: Connection) -> None:
    execution = _failed(db)
    configure(db, "execution.keep_days", "30")
    _age(db, days=29)
    assert sum(_swept(db).values()) == 0
    executions.move(db, execution, "retry")
    _age(db, days=29)
    assert sum(_swept(db).values()) == 0
    assert driven(db) == ["a", "b"]


def test_a_forgotten_one_cannot_be_moved_and_its_dead_letter_says_why(db: Connection) -> None:
    execution = _failed(db)
    _age(db)
    configure(db, "execution.keep_days", "30")
    assert _swept(db)["executions"] == 1
    for action in ("retry", "cancel", "pause", "resume"):
        with pytest.raises(IllegalMove, match=f"execution {execution} has ended, and its steps are forgotten"):
            executions.move(db, execution, action)
    (letter,) = rows(db, "select dead_letter_id from penstock.job_dead_letter where resolved_at is null")[0]
    with pytest.raises(IllegalMove, match=f"execution {execution} is forgotten: its step a cannot be run again"):
        dead_letters.replay(db, f"job-{letter}")
    assert claimed(db) == []


def test_a_child_stays_until_its_parent_has_heard_of_its_end(db: Connection) -> None:
    playbook(db, LINE, path="sub")
    playbook(db, "  - {step: call, tool: {kind: playbook, path: sub}}")
    started(db)
    ((_, claim),) = claimed(db)
    child = jobs.child(db, claim.job_id, claim.lease_token, {"playbook": "sub"}, wait=True)
    jobs.wait(db, claim.job_id, claim.lease_token)
    for _ in range(2):
        finished(db, claimed(db))
    claimed(db)  # the job that is to tell it, which a worker holds
    _age(db)
    configure(db, "execution.keep_days", "30")
    assert _swept(db)["executions"] == 0
    assert jobs.child_ended(db, child)
    assert _swept(db)["executions"] == 1


def test_a_large_one_goes_in_several_passes_and_is_gone_for_everybody_from_the_first_on(db: Connection) -> None:
    playbook(db, WIDE, workload={"n": []})
    execution = started(db, payload={"n": [1, 2, 3]})
    _given_back(db)
    _age(db)
    configure(db, "execution.keep_days", "30")
    assert value(db, "select penstock.workflows_forget(penstock.history_begins(), 10)") == 1
    with pytest.raises(IllegalMove, match="forgotten"):
        executions.move(db, execution, "retry")
    assert [value(db, "select penstock.steps_forget(3)") for _ in range(4)] == [3, 3, 1, 0]
    assert _counts(db) == NOTHING


def test_two_sweepers_share_the_work(db: Connection, session: Connect) -> None:
    playbook(db, LINE)
    for _ in range(60):
        started(db, payload={})
    _given_back(db)
    _age(db)
    configure(db, "execution.keep_days", "30")
    start = Barrier(2, timeout=60)

    def sweep(own: Connection) -> tuple[int, int]:
        start.wait()
        gone = steps = 0
        for _ in range(40):
            gone += value(own, "select penstock.workflows_forget(penstock.history_begins(), 5)")
            steps += value(own, "select penstock.steps_forget(7)")
        return gone, steps

    with ThreadPoolExecutor(2) as pool:
        first, second = pool.map(sweep, [session(), session()])
    assert (first[0] + second[0], first[1] + second[1]) == (60, 120)
    assert _counts(db) == NOTHING


def test_a_sweeper_waits_for_nobody_and_leaves_what_is_being_retried(db: Connection, session: Connect) -> None:
    execution = _failed(db)
    _age(db)
    configure(db, "execution.keep_days", "30")
    other = session()
    with other.transaction():
        executions.move(other, execution, "retry")
        db.execute("set lock_timeout = '1s'")
        assert value(db, "select penstock.workflows_forget(penstock.history_begins(), 10)") == 0
    assert _swept(db)["executions"] == 0
    assert driven(db) == ["a", "b"]


def test_inputs_and_results_of_single_jobs_go_too_unless_they_are_needed(db: Connection) -> None:
    playbook(db, SINGLE)
    ended, waits, dead, replayed = (started(db, payload={"n": n}) for n in range(4))
    claims = {one.job_id: one for _, one in claimed(db)}
    assert jobs.finish(db, [ended], [claims[ended].lease_token], ['{"ok": true}']) == []
    jobs.wait(db, waits, claims[waits].lease_token)
    for one in (dead, replayed):
        jobs.fail(db, [one], [claims[one].lease_token], [{"permanent": True}])
    executions.move(db, replayed, "retry")
    _age(db)
    configure(db, "execution.keep_days", "30")
    assert _swept(db) == {"executions": 0, "steps": 0, "inputs": 1, "results": 1}
    kept = rows(db, "select execution_id from penstock.execution_input order by 1")
    assert kept == [(waits,), (dead,), (replayed,)]
    # its replay ends now, and is kept for as long as any
    ((_, again),) = claimed(db)
    jobs.finish(db, [again.job_id], [again.lease_token])
    assert _swept(db)["inputs"] == 0
    _age(db)
    assert _swept(db)["inputs"] == 1


def test_the_result_of_a_job_of_no_playbook_goes_by_the_same_clock(db: Connection) -> None:
    enqueue(db)
    ((_, claim),) = claimed(db)
    assert jobs.finish(db, [claim.job_id], [claim.lease_token], ['{"ok": true}']) == []
    configure(db, "execution.keep_days", "30")
    _age(db, days=29)
    assert _swept(db)["results"] == 0
    _age(db, days=2)
    assert _swept(db)["results"] == 1
    assert jobs.show(db, claim.job_id).status == "succeeded"


def test_the_walk_gets_past_what_has_to_stay(db: Connection) -> None:
    playbook(db, SINGLE)
    for n in range(10):
        started(db, payload={"n": n})
    claims = [one for _, one in claimed(db)]
    done = claims[6:]
    jobs.finish(db, [one.job_id for one in done], [one.lease_token for one in done], ['{"ok": true}'] * len(done))
    _age(db)
    configure(db, "execution.keep_days", "30")
    gone, after = 0, 0
    for _ in range(4):
        found = rows(db, "select * from penstock.inputs_forget(penstock.history_begins(), %s, 3)", after)
        gone, after = gone + found[0][0], found[0][1]
    assert (gone, after) == (4, 0)
    assert value(db, "select gone from penstock.results_forget(penstock.history_begins(), 0, 3)") == 3


def test_a_retried_item_leaves_nothing_behind(db: Connection) -> None:
    playbook(db, WIDE, workload={"n": []})
    execution = started(db)
    finished(db, claimed(db))
    finished(db, claimed(db), lambda step, _: {"items": [1, 2]} if step == "each" else None)
    bad, good = claimed(db)
    jobs.fail(db, [bad[1].job_id], [bad[1].lease_token], [{"permanent": True}])
    finished(db, [good])
    executions.move(db, execution, "retry")
    assert driven(db) == ["each", "d"]
    assert value(db, "select count(*) from penstock.job_item") == 2
    _age(db)
    configure(db, "execution.keep_days", "30")
    _swept(db)
    assert _counts(db) == NOTHING


def test_what_is_left_of_a_forgotten_one_says_how_it_ended(db: Connection) -> None:
    playbook(db, LINE)
    execution = started(db)
    driven(db)
    _age(db)
    was = executions.show(db, execution)
    configure(db, "execution.keep_days", "30")
    _swept(db)
    left = executions.show(db, execution)
    # each step had its own pool: that of the first is left
    assert left == replace(was, pool="shared")
    assert steps_of(db, execution) == []
    assert [one.execution_id for one in executions.newest(db, 5)] == [execution]
    trail = [one.happening for one in reads.trail_of_execution(db, execution).lines]
    assert trail == ["enqueued", "started", "succeeded", "execution_swept"]


def test_one_whose_jobs_are_gone_too_is_unknown_in_words_that_say_why(db: Connection) -> None:
    playbook(db, LINE)
    execution = started(db)
    driven(db)
    db.execute("delete from penstock.job; delete from penstock.job_outcome; delete from penstock.job_workflow")
    with pytest.raises(UnknownJob, match="does not exist") as raised:
        executions.show(db, execution)
    assert "goes with the month of its jobs" in str(raised.value.hint)
