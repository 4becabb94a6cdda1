"""How executions go through a graph, driven by hand: joins, choices, skips, loops, cycles."""

import pytest

from penstock.kernel.connection import Connection
from penstock.model import Claim, Json
from tests.playbooks.support import claimed, driven, finished, playbook, started, state, steps_of
from tests.sql.support import configure

DIAMOND = """
  - {step: a, tool: {kind: noop}, next: [b, c]}
  - {step: b, tool: {kind: noop}, next: d}
  - {step: c, tool: {kind: noop}, next: d}
  - {step: d, tool: {kind: noop}}
"""
CHOICE = """
  - {step: a, tool: {kind: noop}, next: [{step: b, when: "{{ a.x }}"}, {step: c}]}
  - {step: b, tool: {kind: noop}, next: d}
  - {step: c, tool: {kind: noop}, next: d}
  - {step: d, tool: {kind: noop}}
"""


def test_a_line_runs_in_order_and_ends(db: Connection) -> None:
    steps = "\n".join(
        f"  - {{step: s{n}, tool: {{kind: noop}}{f', next: s{n + 1}' if n < 9 else ''}}}" for n in range(10)
    )
    playbook(db, steps)
    execution = started(db, payload={"n": 1})
    assert driven(db) == [f"s{n}" for n in range(10)]
    assert state(db, execution) == ("succeeded", 0, 0)


def test_a_join_waits_for_all_and_runs_once(db: Connection) -> None:
    playbook(db, DIAMOND)
    execution = started(db)
    finished(db, claimed(db))
    (one, two) = claimed(db)
    finished(db, [one])
    assert (claimed(db), state(db, execution)) == ([], ("running", 1, 0))
    finished(db, [two])
    assert driven(db) == ["d"]
    assert state(db, execution) == ("succeeded", 0, 0)


def test_a_branch_that_is_not_taken_counts_down_its_join(db: Connection) -> None:
    playbook(db, CHOICE)
    execution = started(db)
    assert driven(db, lambda step, _: {"next": ["c"]} if step == "a" else None) == ["a", "c", "d"]
    assert state(db, execution) == ("succeeded", 0, 0)


def test_a_choice_of_nothing_ends_there(db: Connection) -> None:
    playbook(db, CHOICE)
    execution = started(db)
    assert driven(db, lambda step, _: {"next": []} if step == "a" else None) == ["a"]
    assert state(db, execution) == ("succeeded", 0, 0)


def test_a_skipped_step_skips_what_only_it_leads_to(db: Connection) -> None:
    playbook(
        db,
        """
  - {step: a, tool: {kind: noop}, next: [b, c]}
  - {step: b, tool: {kind: noop}, when: "{{ a.x }}", next: e}
  - {step: c, tool: {kind: noop}, next: d}
  - {step: e, tool: {kind: noop}, next: d}
  - {step: d, tool: {kind: noop}}
""",
    )
    execution = started(db)
    assert driven(db, lambda step, _: {"skipped": True} if step == "b" else None) == ["a", "b", "c", "d"]
    assert state(db, execution) == ("succeeded", 0, 0)


def test_a_bad_next_refuses_the_finish_whole(db: Connection) -> None:
    playbook(db, CHOICE)
    execution = started(db)
    claims = claimed(db)
    for bad in (
        {"next": ["d"]},
        {"next": ["b", "c"]},
        {},
        {"items": [1]},
        {"next": "b"},
        {"skipped": True, "next": []},
    ):
        (answer,) = finished(db, claims, lambda *_, bad=bad: bad)
        assert (answer.accepted, answer.reason) == (False, "bad_next"), bad
    assert steps_of(db, execution) == [("a", 1, 0, "running")]


@pytest.mark.parametrize(("setting", "most"), [("max_items", 3), ("max_bytes", len('["é", 1, 2]') + 1)])
def test_a_loop_of_more_than_is_kept_is_refused_whole(db: Connection, setting: str, most: int) -> None:
    playbook(db, '  - {step: each, tool: {kind: noop}, loop: {in: "{{ workload.n }}"}}')
    execution = started(db)
    claims = claimed(db)
    configure(db, f"execution.loop.{setting}", str(most - 1))
    (answer,) = finished(db, claims, lambda *_: {"items": ["é", 1, 2]})
    assert answer.reason == "bad_next"
    assert db.execute("select count(*) from penstock.job_item").fetchone() == (0,)
    configure(db, f"execution.loop.{setting}", str(most))
    assert finished(db, claims, lambda *_: {"items": ["é", 1, 2]}) == []
    assert driven(db) == ["each"] * 3
    assert state(db, execution) == ("succeeded", 0, 0)


def test_a_loop_runs_each_item_and_then_goes_on(db: Connection) -> None:
    playbook(
        db,
        """
  - {step: each, tool: {kind: noop}, loop: {in: "{{ workload.n }}", mode: parallel, max_in_flight: 2}, next: after}
  - {step: after, tool: {kind: noop}}
""",
    )
    execution = started(db)

    def items(step: str, claim: Claim) -> Json | None:
        return {"items": [10, 20, 30]} if claim.job_id == execution else None

    finished(db, claimed(db), items)
    assert state(db, execution) == ("running", 3, 0)
    assert [one[3] for one in steps_of(db, execution)] == ["succeeded", "ready", "ready", "blocked"]
    assert driven(db, items) == ["each", "each", "each", "after"]
    assert state(db, execution) == ("succeeded", 0, 0)


def test_a_loop_over_nothing_goes_on(db: Connection) -> None:
    playbook(
        db,
        """
  - {step: each, tool: {kind: noop}, loop: {in: "{{ workload.n }}"}, next: after}
  - {step: after, tool: {kind: noop}}
""",
    )
    execution = started(db)
    assert driven(db, lambda step, _: {"items": []} if step == "each" else None) == ["each", "after"]
    assert state(db, execution) == ("succeeded", 0, 0)


def test_a_cycle_goes_round_as_often_as_it_may_and_settles_the_join_behind_it(db: Connection) -> None:
    playbook(
        db,
        """
  - {step: a, tool: {kind: noop}, next: [poll, side]}
  - {step: side, tool: {kind: noop}, next: end}
  - {step: poll, tool: {kind: noop}, next: [{step: ready, when: "{{ poll.done }}"}, {step: rest}]}
  - {step: rest, tool: {kind: noop}, next: [{step: poll, max_times: 2}]}
  - {step: ready, tool: {kind: noop}, next: end}
  - {step: end, tool: {kind: noop}}
""",
    )
    execution = started(db)
    seen: list[str] = []

    def decide(step: str, _: Claim) -> Json | None:
        seen.append(step)
        if step == "poll":
            return {"next": ["ready" if seen.count("poll") == 3 else "rest"]}
        return {"next": ["poll"]} if step == "rest" else None

    ran = driven(db, decide)
    assert [one for one in ran if one != "side"] == ["a", "poll", "rest", "poll", "rest", "poll", "ready", "end"]
    assert state(db, execution) == ("succeeded", 0, 0)
