"""A playbook's steps as a graph: what waits for what, what is skipped with what, and which steps form a cycle.

Execution, in short. A step starts when every arc into it is settled, taken or skipped, and one at least was taken. An
arc is skipped when its step chose others, or was skipped itself. Within a cycle one step runs at a time, arcs into a
step do not wait for one another, and the arcs that lead out are settled when the cycle is left.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from penstock.catalog.steps import Step


@dataclass(frozen=True)
class Edge:
    """An arc as the graph has it: `next`, or where a step goes after an error, or when nobody answered in time."""

    source: str
    target: str
    ordinal: int
    kind: str
    is_conditional: bool
    max_times: int | None = None


class Graph:
    def __init__(self, start: str, edges: Sequence[Edge], steps: Sequence[str]) -> None:
        self.start = start
        self.steps = tuple(steps)
        self.edges = tuple(edges)
        self.out: dict[str, list[Edge]] = {step: [] for step in steps}
        self.into: dict[str, list[Edge]] = {step: [] for step in steps}
        for edge in edges:
            self.out[edge.source].append(edge)
            self.into[edge.target].append(edge)

    @cached_property
    def choosing(self) -> frozenset[str]:
        """The steps whose way on takes a look at a condition."""
        return frozenset(edge.source for edge in self.edges if edge.is_conditional)

    @cached_property
    def cycles(self) -> dict[str, int]:
        """The number of the cycle a step belongs to, for those that belong to one."""
        return {
            step: number
            for number, group in enumerate(_components(self))
            if len(group) > 1 or any(edge.target == step for step in group for edge in self.out[step])
            for step in group
        }

    def is_inside(self, edge: Edge) -> bool:
        """Whether it stays within a cycle."""
        cycle = self.cycles.get(edge.source)
        return cycle is not None and cycle == self.cycles.get(edge.target)

    def waits_for(self, step: str) -> list[Edge]:
        """The arcs that must be settled before it starts."""
        return [edge for edge in self.into[step] if not self.is_inside(edge)]

    def is_join(self, step: str) -> bool:
        return len(self.waits_for(step)) > 1

    @cached_property
    def _leaving(self) -> dict[int, list[Edge]]:
        found: dict[int, list[Edge]] = {cycle: [] for cycle in set(self.cycles.values())}
        for edge in self.edges:
            if edge.source in self.cycles and not self.is_inside(edge):
                found[self.cycles[edge.source]].append(edge)
        return found

    def skipped_with(self, step: str) -> list[Edge]:
        """The arcs that are skipped when a step is, or the cycle that begins with it."""
        return self._leaving[self.cycles[step]] if step in self.cycles else self.out[step]

    def skips(self, edge: Edge) -> Counter[str]:
        """The joins that are counted down when this arc is skipped, each with how often."""
        found: Counter[str] = Counter()
        todo = [edge]
        while todo:
            one = todo.pop()
            if self.is_join(one.target):
                found[one.target] += 1
            else:
                todo += self.skipped_with(one.target)
        return found

    @cached_property
    def reachable(self) -> dict[str, int]:
        """The steps that can be reached from each, itself only through a cycle, as bits."""
        found = dict.fromkeys(self.steps, 0)
        changed = True
        while changed:
            changed = False
            for step in reversed(self.steps):
                bits = found[step]
                for edge in self.out[step]:
                    bits |= self.bit[edge.target] | found[edge.target]
                if bits != found[step]:
                    found[step], changed = bits, True
        return found

    @cached_property
    def bit(self) -> dict[str, int]:
        return {step: 1 << number for number, step in enumerate(self.steps)}

    def can_come_before(self, earlier: str, later: str) -> bool:
        return bool(self.reachable[earlier] & self.bit[later])

    @cached_property
    def _on_every_path(self) -> dict[str, int]:
        every = (1 << len(self.steps)) - 1
        found = dict.fromkeys(self.steps, every) | {self.start: self.bit[self.start]}
        changed = True
        while changed:
            changed = False
            for step in self.steps:
                if step == self.start:
                    continue
                bits = every if self.into[step] else 0
                for edge in self.into[step]:
                    bits &= found[edge.source]
                bits |= self.bit[step]
                if bits != found[step]:
                    found[step], changed = bits, True
        return found

    def surely_before(self, step: str, always_goes_on: frozenset[str], always_runs: frozenset[str]) -> frozenset[str]:
        """The steps that have run, whichever way the execution came to this one.

        Those on every path; and those that such a one always starts, because a join waits for them. It does not wait
        for a result of one that may be skipped, or go another way.
        """
        bits = self._on_every_path[step]
        sure = {one for one in self.steps if bits & self.bit[one]} - {step}
        todo = list(sure)
        while todo:
            one = todo.pop()
            if one not in always_goes_on or one in self.cycles:
                continue
            for edge in self.out[one]:
                other = edge.target
                fits = edge.kind == "next" and other not in sure and other != step and other not in self.cycles
                if fits and other in always_runs and self.can_come_before(other, step):
                    sure.add(other)
                    todo.append(other)
        return frozenset(sure)


def graph_of(workflow: Iterable[Step], start: str | None = None) -> Graph:
    """The graph of steps whose arcs all lead somewhere."""
    steps = tuple(workflow)
    edges = [edge for step in steps for edge in _edges(step)]
    return Graph(start or steps[0].step, edges, [step.step for step in steps])


def _edges(step: Step) -> list[Edge]:
    found = [
        Edge(step.step, arc.step, nth, "next", step.is_choice and _is_conditional(step, nth), arc.max_times)
        for nth, arc in enumerate(step.next)
    ]
    for kind, target in (("error", step.error_step), ("late", step.late_step)):
        if target is not None:
            found.append(Edge(step.step, target, len(found), kind, False))
    return found


def _is_conditional(step: Step, nth: int) -> bool:
    """Whether it takes a look to know: a lone arc without conditions is always taken."""
    arc = step.next[nth]
    return len(step.next) > 1 or arc.when is not None or arc.max_times is not None


def _components(graph: Graph) -> list[list[str]]:
    """The strongly connected groups of steps, found without recursion (Tarjan's way)."""
    number: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    on_stack: set[str] = set()
    groups: list[list[str]] = []
    for root in graph.steps:
        if root in number:
            continue
        work = [(root, 0)]
        while work:
            step, nth = work.pop()
            if nth == 0:
                number[step] = low[step] = len(number)
                stack.append(step)
                on_stack.add(step)
            edges = graph.out[step]
            if nth > 0:
                low[step] = (
                    min(low[step], low[edges[nth - 1].target]) if edges[nth - 1].target in on_stack else low[step]
                )
            while nth < len(edges) and edges[nth].target in number:
                if edges[nth].target in on_stack:
                    low[step] = min(low[step], number[edges[nth].target])
                nth += 1
            if nth < len(edges):
                work += [(step, nth + 1), (edges[nth].target, 0)]
                continue
            if low[step] == number[step]:
                group: list[str] = []
                while not group or group[-1] != step:
                    group.append(stack.pop())
                    on_stack.discard(group[-1])
                groups.append(group)
    return groups
