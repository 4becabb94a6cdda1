"""A playbook's graph as the database keeps it: what jobs of its steps are asked for with, and what follows what."""

from dataclasses import asdict
from typing import TYPE_CHECKING

from penstock.catalog.graph import Edge, Graph
from penstock.catalog.steps import Step
from penstock.model import Json

if TYPE_CHECKING:
    from penstock.catalog.playbook import PlaybookSpec


def graph_data(spec: "PlaybookSpec") -> Json:
    """For fn_catalog_register."""
    graph = spec.graph
    return {
        "steps": [_step(step, graph, spec.is_single) for step in spec.workflow],
        "arcs": [_arc(edge, graph) for edge in graph.edges],
    }


def _step(step: Step, graph: Graph, is_single: bool) -> Json:
    return {
        "step": step.step,
        "job_kind": step.job_kind,
        "executor": step.executor,
        "pool": step.pool,
        "lane": step.lane,
        "max_attempts": step.max_attempts,
        "backoff": None if step.backoff is None else asdict(step.backoff),
        "on_error": step.on_error,
        "is_start": step.step == graph.start,
        "is_single": is_single,
        "is_choice": step.is_choice,
        "is_loop": step.loop is not None,
        "max_in_flight": None if step.loop is None else step.loop.at_once,
        "waits_for": len(graph.waits_for(step.step)),
        "cycle": graph.cycles.get(step.step),
        "plain_next": _plain_next(step, graph),
    }


def _plain_next(step: Step, graph: Graph) -> str | None:
    """The one step it always goes on with, if nothing else in the workflow changes with that."""
    edges = graph.out[step.step]
    ahead = [edge for edge in edges if edge.kind == "next"]
    if len(ahead) != 1 or step.when is not None or step.loop is not None or step.step in graph.cycles:
        return None
    (only,) = ahead
    if only.is_conditional or graph.is_join(only.target):
        return None
    return only.target if not any(graph.skips(edge) for edge in edges if edge is not only) else None


def _arc(edge: Edge, graph: Graph) -> Json:
    is_inside = graph.is_inside(edge)
    return {
        "from": edge.source,
        "to": edge.target,
        "ordinal": edge.ordinal,
        "kind": edge.kind,
        "is_inside": is_inside,
        "is_join": not is_inside and graph.is_join(edge.target),
        "is_conditional": edge.is_conditional,
        "max_times": edge.max_times,
        "skips": {} if is_inside else dict(graph.skips(edge)),
    }
