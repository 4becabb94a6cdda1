"""What is wrong with steps taken together: arcs to nowhere, cycles without a bound, templates that read too early."""

from collections.abc import Iterable, Iterator, Sequence, Set

from penstock.catalog.graph import Graph, graph_of
from penstock.catalog.reading import Reader
from penstock.catalog.steps import Step
from penstock.catalog.templates import names, problems
from penstock.catalog.values import shown
from penstock.catalog.yaml import Place

_ALWAYS = frozenset(("workload", "message", "execution"))
_TAKEN = _ALWAYS | {"callback"}
# what a template would read instead of a step of that name
_RESERVED = _TAKEN | frozenset(
    (
        *("iter", "true", "false", "none", "True", "False", "None", "and", "or", "not", "in", "is", "if", "else"),
        *("recursive", "loop", "self", "varargs", "kwargs", "caller"),
    )
)


def check_graph(document: Reader, blocks: Sequence[Reader], steps: Sequence[Step], start: str | None) -> None:
    """Note every problem under the key it comes from."""
    by_name = dict(zip([step.step for step in steps], blocks, strict=True))
    if not _are_names_good(document, blocks, steps, start):
        return
    graph = graph_of(steps, start)
    _check_reach(graph, by_name)
    _check_cycles(graph, by_name, {step.step: step for step in steps})
    _check_templates(graph, by_name, steps)


def _are_names_good(document: Reader, blocks: Sequence[Reader], steps: Sequence[Step], start: str | None) -> bool:
    known = [step.step for step in steps]
    good = True
    for nth, (block, step) in enumerate(zip(blocks, steps, strict=True)):
        if step.step in known[:nth]:
            block.refuse("step", f"{step.step} is the name of another step too")
            good = False
        # the only step of a playbook is read by no template
        if step.step in _RESERVED and len(known) > 1:
            block.refuse("step", f"{step.step} means something else in templates: choose another name")
        if step.loop and step.late_step:
            block.refuse("tool", "escalate and loop do not go together: say in on_error where the loop goes")
        for key, target in _targets(step):
            if target and target not in known:
                block.refuse(key, f"{target} is no step of this playbook; its steps are {_listed(known)}")
                good = False
        aimed = [arc.step for arc in step.next]
        for twice in sorted({one for one in aimed if one and aimed.count(one) > 1}):
            block.refuse("next", f"leads to {twice} twice: join the conditions with or")
            good = False
        if step.loop and (step.loop.iterator in known or step.loop.iterator in _TAKEN):
            block.refuse("loop", f"the iterator {step.loop.iterator} means something else in templates")
        good = good and all(target for _, target in _targets(step))
    if start is not None and start not in known:
        document.refuse("start", f"{start} is no step of this playbook; its steps are {_listed(known)}")
        good = False
    return good and bool(steps)


def _targets(step: Step) -> Iterator[tuple[str, str]]:
    for arc in step.next:
        yield "next", arc.step
    if step.error_step is not None:
        yield "on_error", step.error_step
    if step.late_step is not None:
        yield "tool", step.late_step


def _check_reach(graph: Graph, blocks: dict[str, Reader]) -> None:
    reached = graph.reachable[graph.start] | graph.bit[graph.start]
    for step, block in blocks.items():
        if not reached & graph.bit[step]:
            block.refuse("step", f"no arc leads to {step}: name it in the next of a step that comes before")


def _check_cycles(graph: Graph, blocks: dict[str, Reader], steps: dict[str, Step]) -> None:
    for cycle in sorted(set(graph.cycles.values())):
        members = [step for step in graph.steps if graph.cycles.get(step) == cycle]
        entries = [one for one in members if one == graph.start or graph.waits_for(one)]
        for late in entries[1:]:
            blocks[late].refuse(
                "step",
                f"{late} and {entries[0]} both lead into the cycle of {_listed(members)}: a cycle begins with one step",
            )
        for one in members:
            inside = [edge for edge in graph.out[one] if edge.kind == "next" and graph.is_inside(edge)]
            if inside and len(steps[one].next) > 1 and not steps[one].is_choice:
                blocks[one].refuse(
                    "next",
                    "starts several steps within a cycle: in a cycle one step runs at a time. "
                    "Use a list of {step, when}, or put the parallel part into a playbook of its own",
                )
        unbounded = _unbounded(graph, members)
        if unbounded is not None:
            blocks[unbounded].refuse(
                "next", f"the cycle of {_listed(members)} has no bound: give an arc of it max_times"
            )


def _unbounded(graph: Graph, members: list[str]) -> str | None:
    """A step of a cycle that is left when the arcs with a bound are taken out."""
    left = set(members)
    while True:
        ends = {
            one for one in left if not any(edge.target in left and edge.max_times is None for edge in graph.out[one])
        }
        if not ends:
            return next((one for one in members if one in left), None)
        left -= ends


def _check_templates(graph: Graph, blocks: dict[str, Reader], steps: Sequence[Step]) -> None:
    always = frozenset(step.step for step in steps if _goes_on_with_all(step))
    runs = frozenset(step.step for step in steps if _runs_when_started(step))
    for step in steps:
        own = {step.loop.iterator, "iter"} if step.loop else set()
        tools = {step.step} if len(step.tools) > 1 else set()
        callback = {"callback"} if step.tool.kind == "approve" and len(step.tools) > 1 else set()
        block = blocks[step.step]
        for way, used in step.templates():
            mine = own if way[0] != "loop" else set()
            allowed = _ALWAYS | mine | (tools | callback if way[0] == "tool" else set())
            for place, text, name in _unallowed(block.places_of(used, *way), allowed):
                if name not in graph.bit:
                    block.refuse_place(place, _unknown(name, text, graph))
                elif name == step.step or not graph.can_come_before(name, step.step):
                    block.refuse_place(place, f"{shown(text)}: {name} does not come before {step.step}")
        sure = graph.surely_before(step.step, always, runs) | {step.step}
        for way, used in step.arc_templates():
            for place, text, name in _unallowed(block.places_of(used, *way), _ALWAYS | sure):
                block.refuse_place(place, _unsure(name, text, graph))


def _unallowed(places: Iterable[Place], allowed: Set[str]) -> Iterator[tuple[Place, str, str]]:
    """The names that templates look up and that are not among these, each with its template and where that stands."""
    for place in places:
        text = str(place.value)
        for name in sorted(_names(text) - allowed):
            yield place, text, name


def _goes_on_with_all(step: Step) -> bool:
    """Whether all that `next` names is started once it has run."""
    plain = step.when is None and step.on_error == "fail" and step.late_step is None
    return plain and (not step.is_choice or (len(step.next) == 1 and step.next[0].when is None))


def _runs_when_started(step: Step) -> bool:
    """Whether what waits for it finds its result: it is not skipped, and does not go elsewhere instead."""
    return step.when is None and step.error_step is None and step.late_step is None


def _names(text: str) -> frozenset[str]:
    return frozenset() if problems(text) else names(text)


def _unknown(name: str, text: str, graph: Graph) -> str:
    return (
        f"{shown(text)}: {name} is unknown here; there are workload, message, execution, "
        f"and the steps before: {_listed(graph.steps)}"
    )


def _unsure(name: str, text: str, graph: Graph) -> str:
    if name not in graph.bit:
        return _unknown(name, text, graph)
    return f"{shown(text)}: {name} may not have run when this is decided: an arc reads steps that always come before"


def _listed(words: Sequence[str]) -> str:
    return ", ".join(words[:20]) + (" …" if len(words) > 20 else "")
