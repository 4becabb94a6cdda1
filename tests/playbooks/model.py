"""What must become of an execution, worked out without the database: the rules of docs/playbooks.md, a second time.

A random playbook reads every decision from its workload, so that the model knows them all beforehand.
"""

import json
from dataclasses import dataclass, field
from typing import Any, Literal

from hypothesis import assume
from hypothesis import strategies as st

OnError = Literal["fail", "continue", "step"]


@dataclass
class Node:
    """A step, and what it will do."""

    name: str
    arcs: list[str] = field(default_factory=list)
    is_choice: bool = False
    # which arc of a choice holds; beyond the last one: none
    chosen: int = 0
    has_when: bool = False
    holds: bool = True
    on_error: OnError = "fail"
    error_arc: str | None = None
    fails: bool = False
    # how many items of its loop; None for no loop
    items: int | None = None
    # its first attempt fails, and is tried again
    is_shaky: bool = False

    def leads_to(self) -> list[str]:
        return [*self.arcs, *([self.error_arc] if self.error_arc else [])]

    def taken(self) -> list[str]:
        """The arcs that are taken when it has run."""
        if self.fails and self.on_error == "step" and self.items != 0:
            return [self.error_arc] if self.error_arc else []
        if not self.is_choice:
            return self.arcs
        return [self.arcs[self.chosen]] if self.chosen < len(self.arcs) else []


@dataclass(frozen=True)
class Fate:
    """`called` holds each step whose tool is called, with how many items."""

    status: str
    begun: frozenset[str]
    called: dict[str, int]
    stuck: frozenset[str]


def fate(nodes: list[Node]) -> Fate:
    """Walk the steps in order: every arc leads forward."""
    settled: dict[str, list[bool | None]] = {node.name: [] for node in nodes}
    begun: set[str] = set()
    called: dict[str, int] = {}
    stuck: set[str] = set()
    for nth, node in enumerate(nodes):
        into = settled[node.name]
        all_arcs = node.leads_to()
        if nth > 0 and None in into:
            outcome: dict[str, bool | None] = dict.fromkeys(all_arcs)
        elif nth > 0 and not any(into):
            outcome = dict.fromkeys(all_arcs, False)
        else:
            begun.add(node.name)
            outcome = _run(node, all_arcs, called, stuck)
        for arc in all_arcs:
            settled[arc].append(outcome[arc])
    return Fate("failed" if stuck else "succeeded", frozenset(begun), called, frozenset(stuck))


def before(nodes: list[Node]) -> dict[str, set[str]]:
    """Per step those that must have ended before it begins, if they run at all: all that lead to it, by whatever arcs.

    An arc that will not be taken is waited for too: before its step has ended nobody knows.
    """
    found: dict[str, set[str]] = {node.name: set() for node in nodes}
    for node in nodes:
        for arc in node.leads_to():
            found[arc] |= found[node.name] | {node.name}
    return found


def _run(node: Node, arcs: list[str], called: dict[str, int], stuck: set[str]) -> dict[str, bool | None]:
    if not node.holds:
        return dict.fromkeys(arcs, False)
    if node.items != 0:
        called[node.name] = 1 if node.items is None else node.items
    if node.fails and node.on_error == "fail" and node.items != 0:
        stuck.add(node.name)
        return dict.fromkeys(arcs)
    taken = node.taken()
    return {arc: arc in taken for arc in arcs}


def playbook_of(nodes: list[Node]) -> tuple[str, dict[str, Any]]:
    """The steps as YAML, and the workload that has them do what the nodes say."""
    steps = [_step(node) for node in nodes]
    workload = {
        "chosen": {node.name: node.chosen for node in nodes},
        "holds": {node.name: node.holds for node in nodes},
        "fails": {node.name: node.fails for node in nodes},
        "shaky": {node.name: node.is_shaky for node in nodes},
        "items": {node.name: list(range(node.items or 0)) for node in nodes},
    }
    return "\n".join(f"  - {json.dumps(step)}" for step in steps), workload


def _step(node: Node) -> dict[str, Any]:
    step: dict[str, Any] = {
        "step": node.name,
        "tool": {"kind": "python", "function": "APP:behaves"},
        "args": {"fails": f"{{{{ workload.fails.{node.name} }}}}", "shaky": f"{{{{ workload.shaky.{node.name} }}}}"},
        "retry": {"max_attempts": 1, "backoff": {"strategy": "fixed", "base_ms": 10, "cap_ms": 10}},
    }
    if node.arcs and node.is_choice:
        condition = "{{{{ workload.chosen.{name} == {nth} }}}}"
        step["next"] = [
            {"step": arc, "when": condition.format(name=node.name, nth=nth)} for nth, arc in enumerate(node.arcs)
        ]
    elif node.arcs:
        step["next"] = node.arcs
    if node.has_when:
        step["when"] = f"{{{{ workload.holds.{node.name} }}}}"
    if node.on_error == "continue":
        step["on_error"] = "continue"
    elif node.error_arc:
        step["on_error"] = {"step": node.error_arc}
    if node.items is not None:
        step["loop"] = {"in": f"{{{{ workload.items.{node.name} }}}}", "mode": "parallel", "max_in_flight": 2}
    return step


@st.composite
def graphs(draw: st.DrawFn, most: int = 8) -> list[Node]:
    """Random steps whose arcs lead forward, each step reached by an earlier one."""
    count = draw(st.integers(2, most))
    nodes = [Node(f"s{nth}") for nth in range(count)]
    for nth, node in enumerate(nodes[1:], 1):
        nodes[draw(st.integers(0, nth - 1))].arcs.append(node.name)
    for nth, node in enumerate(nodes):
        later = [one.name for one in nodes[nth + 1 :] if one.name not in node.arcs]
        node.arcs += draw(st.lists(st.sampled_from(later), unique=True, max_size=2)) if later else []
        node.is_choice = bool(node.arcs) and draw(st.booleans())
        node.chosen = draw(st.integers(0, len(node.arcs)))
        node.has_when = draw(st.integers(0, 4)) == 0
        node.holds = not node.has_when or draw(st.booleans())
        node.items = draw(st.sampled_from([None, None, None, 0, 1, 3]))
        node.fails = draw(st.integers(0, 5)) == 0
        node.is_shaky = draw(st.integers(0, 3)) == 0
        node.on_error = draw(st.sampled_from(["fail", "continue", "step"]))
        free = [one.name for one in nodes[nth + 1 :]]
        node.error_arc = draw(st.sampled_from(free)) if node.on_error == "step" and free else None
        if node.error_arc is None and node.on_error == "step":
            node.on_error = "fail"
        if node.error_arc in node.arcs:
            # a target twice from one step: once for going well, once for an error
            node.arcs.remove(node.error_arc)
            node.is_choice = node.is_choice and bool(node.arcs)
    assume(count == len({nodes[0].name} | {arc for node in nodes for arc in node.leads_to()}))
    return nodes
