"""Why each step of an execution ran, in words, from what was stored when it did."""

from collections.abc import Iterator, Sequence

from penstock.catalog.playbook import PlaybookSpec
from penstock.catalog.steps import Step
from penstock.cli.execution_tree import item_lines, items_said, last_items, problem
from penstock.kernel.executions import ItemsView, StepView
from penstock.kernel.reads import Decision

_WORDS = {
    "step_skipped": "was skipped: its condition {when} did not hold",
    "step_failed": "ended with an error, for which the playbook goes on with {error}",
    "step_late": "was not answered in time, and went on with {late}",
}


def decisions(
    spec: PlaybookSpec, begun: Sequence[StepView], items: Sequence[ItemsView], decided: Sequence[Decision]
) -> list[str]:
    """A line per step that has begun, and one for each way a condition of it was decided."""
    if len(spec.workflow) == 1:
        return []
    loops = last_items(items)
    lines: list[str] = []
    for name in dict.fromkeys(one.step for one in begun):
        own = [one for one in begun if one.step == name]
        lines += _lines(spec, name, own, loops.get(name, []), [one for one in decided if one.step == name])
    return lines


def _lines(
    spec: PlaybookSpec, name: str, own: Sequence[StepView], items: Sequence[ItemsView], decided: Sequence[Decision]
) -> Iterator[str]:
    yield _begun(name, own, items)
    for one in own:
        if one.is_stuck:
            yield f"  {name}, attempt {one.attempt} of {one.max_attempts}, job {one.job_id}: {problem(one)}"
    for line in item_lines(items):
        yield f"  {name}, {line}"
    for decision in decided:
        yield f"  {name} {_decided(spec.steps[name], decision)}"
    always = [edge.target for edge in spec.graph.out[name] if edge.kind == "next" and not edge.is_conditional]
    if always and not decided:
        yield from _always(spec.steps[name], always, {one.status for one in own} | {one.status for one in items})


def _always(step: Step, targets: list[str], statuses: set[str]) -> Iterator[str]:
    if statuses == {"succeeded"}:
        yield f"  {step.step} always goes on with {', '.join(targets)}"
    elif step.on_error == "continue" and statuses <= {"succeeded", "dead_lettered"}:
        yield f"  {step.step} goes on with {', '.join(targets)} though it failed, as its on_error says"


def _begun(name: str, own: Sequence[StepView], items: Sequence[ItemsView]) -> str:
    came_from = list(dict.fromkeys(other for one in own for other in one.via))
    why = f"after {' and '.join(came_from)}" if came_from else "first"
    times = own[-1].visit
    often = f", {times:,} times" if times > 1 else ""
    if own[-1].is_skipped:
        return f"{name} was next {why}{often}: skipped"
    return f"{name} ran {why}{often}: " + (items_said(items) if items else own[-1].status)


def _decided(step: Step, one: Decision) -> str:
    often = f" ({one.times:,} times)" if one.times > 1 else ""
    if one.happening in _WORDS:
        return _WORDS[one.happening].format(when=step.when, error=step.error_step, late=step.late_step) + often
    if not one.next:
        return f"went nowhere: none of its conditions held{often}"
    arc = next(arc for arc in step.next if arc.step == one.next[0])
    why = f"{arc.when} held" if arc.when is not None else "no condition before it held"
    return f"went on with {one.next[0]}: {why}{often}"
