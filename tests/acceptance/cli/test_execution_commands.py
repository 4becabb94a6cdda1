"""What execution show and explain say of steps, as somebody reads it who did not write the playbook."""

from typing import Any

import pytest

from penstock.kernel import executions, jobs
from penstock.kernel.connection import Connection
from penstock.model import Claim, Json
from tests.acceptance.cli.conftest import Penstock
from tests.ingest.support import PLAYBOOK, Runtime, offsets, subscription
from tests.playbooks.support import claimed, driven, finished, playbook, started
from tests.sql.support import value

LOOP = """
  - step: each
    tool: {kind: noop}
    loop: {in: "{{ workload.all }}", mode: parallel, max_in_flight: 100}
    next: [after]
  - {step: after, tool: {kind: noop}}
"""
MANY = 10_000


def _failed(db: Connection, claims: list[tuple[str, Claim]], message: str = "no such order") -> None:
    errors: list[Json] = [{"type": "LookupError", "message": message, "permanent": True}] * len(claims)
    jobs.fail(db, [one.job_id for _, one in claims], [one.lease_token for _, one in claims], errors)


def _line(said: str, begins: str) -> str:
    (found,) = [line for line in said.splitlines() if line.lstrip("└─├│ ").startswith(begins)]
    return found


@pytest.fixture
def fan_out(db: Connection) -> int:
    """A loop of ten thousand items, and the step after it, all run."""
    playbook(db, LOOP.replace("100", str(MANY)), workload={"all": []})
    execution = started(db)
    finished(db, claimed(db), lambda *_: {"items": list(range(MANY))})
    for _ in range(MANY // 1000):
        assert not finished(db, claimed(db))
    assert driven(db) == ["after"]
    assert executions.show(db, execution).status == "succeeded"
    return execution


def test_a_fan_out_of_ten_thousand_is_counted_and_the_step_after_it_is_there(penstock: Penstock, fan_out: int) -> None:
    shown = penstock.ok("execution", "show", fan_out)
    assert "10,000 items: 10,000 succeeded" in _line(shown, "each  ")
    assert "succeeded, attempt 1/5" in _line(shown, "after  ")
    explained = penstock.ok("explain", fan_out)
    assert "each ran first: 10,000 items: 10,000 succeeded" in explained
    assert "after ran after each: succeeded" in explained


def test_a_long_trail_has_both_ends_and_says_what_is_left_out(penstock: Penstock, fan_out: int) -> None:
    for words in (("execution", "show", fan_out), ("explain", fan_out)):
        said = penstock.ok(*words)
        assert "… 29,007 lines are left out here …" in said
        assert "execution_succeeded" in said.splitlines()[-1]
        whole = penstock.json(*words)
        assert (len(whole["trail"]), whole["trail_left_out"]) == (1000, 29_007)


def test_items_that_failed_are_named_with_their_jobs_and_errors(db: Connection, penstock: Penstock) -> None:
    playbook(db, LOOP, workload={"all": []})
    execution = started(db)
    finished(db, claimed(db), lambda *_: {"items": list(range(9))})
    items = claimed(db)
    _failed(db, items[3:8])
    assert not finished(db, items[:3] + items[8:])
    shown, explained = penstock.ok("execution", "show", execution), penstock.ok("explain", execution)
    assert "9 items: 5 dead_lettered, 4 succeeded" in _line(shown, "each  ")
    assert "each ran first: 9 items: 5 dead_lettered, 4 succeeded" in explained
    for said in (shown, explained):
        for nth in (3, 4, 5):
            assert f"item {nth + 1}: dead_lettered, attempt 1/5" in said
            assert f"job {items[nth][1].job_id}: LookupError: no such order" in said
        assert "item 7" not in said
        assert "and 2 more" in said


@pytest.mark.parametrize(
    ("on_error", "sentence"),
    [
        ("continue", "each goes on with after though it failed, as its on_error says"),
        ("{step: after}", "each ended with an error, for which the playbook goes on with after (5 times)"),
    ],
)
def test_errors_a_loop_goes_on_after_are_one_line(
    db: Connection, penstock: Penstock, on_error: str, sentence: str
) -> None:
    workflow = LOOP.replace("next: [after]", f"on_error: {on_error}" + "\n    next: [after]" * (on_error == "continue"))
    playbook(db, workflow, workload={"all": []})
    execution = started(db)
    finished(db, claimed(db), lambda *_: {"items": list(range(5))})
    _failed(db, claimed(db))
    assert driven(db) == ["after"]
    why = penstock.ok("explain", execution).partition("what became of it")[0]
    assert [line.strip() for line in why.splitlines()].count(sentence) == 1
    assert len(why.splitlines()) < 12


def test_a_loop_over_nothing_says_so(db: Connection, penstock: Penstock) -> None:
    playbook(db, LOOP, workload={"all": []})
    execution = started(db)
    driven(db, lambda step, _: {"items": []} if step == "each" else None)
    assert "no items" in _line(penstock.ok("execution", "show", execution), "each  ")


def test_a_skipped_step_is_called_skipped(db: Connection, penstock: Penstock) -> None:
    playbook(
        db,
        '  - {step: first, tool: {kind: noop}, next: maybe}\n  - {step: maybe, when: "{{ workload.on }}",'
        " tool: {kind: noop}, next: last}\n  - {step: last, tool: {kind: noop}}",
        workload={"on": False},
    )
    execution = started(db)
    driven(db, lambda step, _: {"skipped": True} if step == "maybe" else None)
    shown, explained = penstock.ok("execution", "show", execution), penstock.ok("explain", execution)
    assert "skipped: {{ workload.on }} did not hold" in _line(shown, "maybe  ")
    assert "not taken" in _line(shown, "last  ")
    assert "maybe ran" not in explained
    assert "maybe was next after first: skipped" in explained


def test_a_cycle_of_many_visits_shows_its_last_and_the_steps_around_it(db: Connection, penstock: Penstock) -> None:
    playbook(
        db,
        "  - {step: first, tool: {kind: noop}, next: again}\n"
        '  - {step: again, tool: {kind: noop}, next: [{step: again, when: "{{ workload.on }}", max_times: 30},'
        " {step: last}]}\n  - {step: last, tool: {kind: noop}}",
        workload={"on": True},
    )
    execution = started(db)
    visits = iter([["again"]] * 30 + [["last"]])
    driven(db, lambda step, _: {"next": next(visits)} if step == "again" else None)
    shown, explained = penstock.ok("execution", "show", execution), penstock.ok("explain", execution)
    assert "succeeded, attempt 1/5, visit 31" in shown
    assert "succeeded" in _line(shown, "last  ")
    assert "again went on with again: {{ workload.on }} held (30 times)" in explained
    assert "again went on with last: no condition before it held" in explained


STEPS = "  - {step: a, tool: {kind: noop}, next: b}\n  - {step: b, pool: priority, tool: {kind: noop}}"


def _of_message(db: Connection, workflow: str, **spec: Any) -> int:
    playbook(db, workflow, path=PLAYBOOK)
    subscription(db, **spec)
    runtime = Runtime(db)
    runtime.put(*offsets(1))
    assert runtime.commit().executions == 1
    return executions.newest(db, 1)[0].execution_id


@pytest.mark.parametrize(
    ("workflow", "dispatch", "own", "where"),
    [
        (
            STEPS,
            {},
            "no header chose a pool: subscription, as neither the subscription nor the playbook names one",
            ", each step in its own pool: the first in subscription",
        ),
        (
            STEPS.replace("a, tool", "a, pool: priority, tool"),
            {},
            "no header chose a pool: the playbook's own, priority",
            ", each step in its own pool: the first in priority",
        ),
        (
            STEPS,
            {"execution_pool": "shared"},
            "no header chose a pool: the subscription's own, shared",
            " in the pool shared",
        ),
    ],
)
def test_the_pool_of_a_message_is_where_its_jobs_are(
    db: Connection, penstock: Penstock, workflow: str, dispatch: Json, own: str, where: str
) -> None:
    execution = _of_message(db, workflow, dispatch={"playbook": PLAYBOOK, **dispatch})
    said = penstock.ok("explain", execution)
    assert own in said
    assert f"so it runs {PLAYBOOK}@1{where}" in said
    assert where.endswith(value(db, "select pool from penstock.job where job_id = %s", execution))
