"""`kind: Playbook`: named steps, and what an execution of them is given."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from penstock.catalog import names
from penstock.catalog.graph import Graph, graph_of
from penstock.catalog.graph_check import check_graph
from penstock.catalog.reading import UNREAD, Reader
from penstock.catalog.steps import Step, read_step
from penstock.catalog.templates import texts
from penstock.catalog.values import shown

_MOST_STEPS = 1000


@dataclass(frozen=True)
class PlaybookSpec:
    """A playbook as the program uses it; `workload` holds the defaults of an execution's input."""

    name: str
    path: str
    workflow: tuple[Step, ...]
    workload: Mapping[str, Any] = field(default_factory=dict)
    start: str | None = None

    @cached_property
    def steps(self) -> dict[str, Step]:
        return {step.step: step for step in self.workflow}

    @cached_property
    def graph(self) -> Graph:
        return graph_of(self.workflow, self.start)

    @property
    def first(self) -> Step:
        """Where an execution begins."""
        return self.steps[self.graph.start]

    @property
    def is_single(self) -> bool:
        """One step, one job: no row of a workflow is written for it."""
        (only, *others) = self.workflow
        return not others and only.loop is None and only.on_error == "fail" and not only.next

    def playbooks(self) -> tuple[str, ...]:
        """Every other playbook it may start."""
        return tuple(sorted({tool.settings["path"] for tool in self._tools() if tool.kind == "playbook"} - {self.path}))

    def pools(self) -> tuple[str, ...]:
        """Every pool it may put work into, sorted."""
        return tuple(sorted({step.pool for step in self.workflow if step.pool}))

    def credentials(self) -> tuple[str, ...]:
        """The aliases it needs."""
        return tuple(sorted({tool.settings["auth"] for tool in self._tools() if "auth" in tool.settings}))

    def roaming_credentials(self) -> tuple[tuple[str, str], ...]:
        """Steps and the aliases they send to hosts that come out of a template."""
        return tuple(
            (step.step, tool.settings["auth"])
            for step in self.workflow
            for tool in step.tools
            if tool.kind == "http" and "auth" in tool.settings and not names.names_its_host(tool.settings["url"])
        )

    def _tools(self) -> Iterator[Any]:
        return (tool for step in self.workflow for tool in step.tools)


def read_playbook(name: str, path: str, document: Reader) -> PlaybookSpec:
    """The spec of a document whose head is read already; only to be used if no problem was noted."""
    workload = document.take_data("workload")
    for place in document.places_of(frozenset(texts(workload)), "workload"):
        document.refuse_place(place, f"expected the values themselves, found {shown(place.value)}")
    start = document.take("start", names.step, None)
    blocks = document.inside_each("workflow", most=_MOST_STEPS, required=True)
    steps = tuple(read_step(block) for block in blocks)
    if start is not UNREAD and all(step.step is not UNREAD and step.tools for step in steps):
        check_graph(document, blocks, steps, start)
    return PlaybookSpec(name, path, steps, workload, start)
