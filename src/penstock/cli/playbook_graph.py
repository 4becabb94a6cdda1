"""A playbook's graph as a picture: Mermaid for pages, lines for a terminal."""

from functools import partial

from penstock.catalog.graph import Edge
from penstock.catalog.playbook import PlaybookSpec
from penstock.catalog.steps import Step
from penstock.cli.outline import outline


def mermaid(spec: PlaybookSpec) -> str:
    """A flowchart, for a Markdown page."""
    lines = ["flowchart TD"]
    lines += [f"  {_id(step.step)}{_shape(step, f'{step.step}<br/>{_what(step)}')}" for step in spec.workflow]
    for edge in spec.graph.edges:
        label = _label(spec, edge)
        arrow = "-.->" if edge.kind != "next" else "-->"
        lines.append(f"  {_id(edge.source)} {arrow}{_quoted(label)} {_id(edge.target)}")
    return "\n".join(lines)


def picture(spec: PlaybookSpec) -> str:
    """The same for a terminal: each step below the one that leads to it, a join below the first."""
    return "\n".join(head + _told(spec, step) for head, step in outline(spec.graph, partial(_mark, spec)))


def _told(spec: PlaybookSpec, step: str) -> str:
    if not step:
        return ""
    waits = len(spec.graph.waits_for(step))
    return f"  [{_what(spec.steps[step])}]" + (f"  waits for {waits} arcs" if waits > 1 else "")


def _mark(spec: PlaybookSpec, edge: Edge) -> str:
    label = _label(spec, edge)
    return f"{label}: " if label else ""


def _label(spec: PlaybookSpec, edge: Edge) -> str:
    if edge.kind != "next":
        return {"error": "on error", "late": "nobody answered"}[edge.kind]
    step = spec.steps[edge.source]
    arc = step.next[edge.ordinal]
    words = [] if arc.when is None else [f"if {_bare(arc.when)}"]
    if arc.when is None and step.is_choice and len(step.next) > 1:
        words = ["else"]
    return ", ".join([*words, *([f"at most {arc.max_times} times"] if arc.max_times else [])])


def _what(step: Step) -> str:
    tools = " then ".join(_tool(step, nth) for nth in range(len(step.tools)))
    return f"{tools} for each" if step.loop else tools


def _tool(step: Step, nth: int) -> str:
    tool = step.tools[nth]
    named = tool.settings.get("function") or tool.settings.get("path")
    return f"{tool.kind} {named}" if named else tool.kind


def _bare(condition: str | bool) -> str:
    return str(condition).strip().removeprefix("{{").removesuffix("}}").strip()


def _id(step: str) -> str:
    """Mermaid takes end, graph or style for words of its own."""
    return f"step_{step}"


def _shape(step: Step, text: str) -> str:
    opening, closing = ("{{", "}}") if step.is_choice and len(step.next) > 1 else ("[", "]")
    return f'{opening}"{_escaped(text)}"{closing}'


def _quoted(label: str) -> str:
    return f'|"{_escaped(label)}"|' if label else ""


def _escaped(text: str) -> str:
    return text.replace('"', "#quot;").replace("<br/>", "\0").replace("<", "#lt;").replace("\0", "<br/>")
