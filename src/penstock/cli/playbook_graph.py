"""A playbook's graph as a picture: Mermaid for pages, lines for a terminal."""

from collections.abc import Iterator

from penstock.catalog.graph import Edge
from penstock.catalog.playbook import PlaybookSpec
from penstock.catalog.steps import Step


def mermaid(spec: PlaybookSpec) -> str:
    """A flowchart, for a Markdown page."""
    lines = ["flowchart TD"]
    lines += [f"  {step.step}{_shape(step, f'{step.step}<br/>{_what(step)}')}" for step in spec.workflow]
    for edge in spec.graph.edges:
        label = _label(spec, edge)
        arrow = "-.->" if edge.kind != "next" else "-->"
        lines.append(f"  {edge.source} {arrow}{_quoted(label)} {edge.target}")
    return "\n".join(lines)


def picture(spec: PlaybookSpec) -> str:
    """The same for a terminal: each step below the one that leads to it, a join below the first."""
    return "\n".join(_walk(spec, spec.graph.start, "", "", set()))


def _walk(spec: PlaybookSpec, name: str, head: str, below: str, seen: set[str]) -> Iterator[str]:
    if name in seen:
        yield f"{head}{name} ↑"
        return
    seen.add(name)
    waits = len(spec.graph.waits_for(name))
    yield f"{head}{name}  [{_what(spec.steps[name])}]" + (f"  waits for {waits} arcs" if waits > 1 else "")
    edges = spec.graph.out[name]
    for nth, edge in enumerate(edges):
        is_last = nth == len(edges) - 1
        label = _label(spec, edge)
        branch = ("└─ " if is_last else "├─ ") + (f"{label}: " if label else "")
        yield from _walk(spec, edge.target, below + branch, below + ("   " if is_last else "│  "), seen)


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


def _shape(step: Step, text: str) -> str:
    opening, closing = ("{{", "}}") if step.is_choice and len(step.next) > 1 else ("[", "]")
    return f'{opening}"{_escaped(text)}"{closing}'


def _quoted(label: str) -> str:
    return f'|"{_escaped(label)}"|' if label else ""


def _escaped(text: str) -> str:
    return text.replace('"', "#quot;").replace("<br/>", "\0").replace("<", "#lt;").replace("\0", "<br/>")
