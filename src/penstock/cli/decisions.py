"""Why each step of an execution ran, in words, from what was stored when it did."""

from collections.abc import Iterator, Sequence

from penstock.catalog.playbook import PlaybookSpec
from penstock.catalog.steps import Step
from penstock.kernel.executions import StepView
from penstock.kernel.reads import StepHappening

_WORDS = {
    "step_skipped": "was skipped: its condition {when} did not hold",
    "step_failed": "ended with an error, for which the playbook goes on with {error}",
    "step_late": "was not answered in time, and went on with {late}",
}


def decisions(spec: PlaybookSpec, begun: Sequence[StepView], trail: Sequence[StepHappening]) -> list[str]:
    """A line per step that has begun, and one for each look at a condition."""
    said: dict[str, list[str]] = {}
    for one in trail:
        step = spec.steps.get((one.detail or {}).get("step", "") if one.detail else "")
        if step is not None:
            said.setdefault(step.step, []).append(_decided(step, one))
    lines = [line for name in dict.fromkeys(one.step for one in begun) for line in _lines(spec, name, begun, said)]
    return lines if len(spec.workflow) > 1 else []


def _lines(spec: PlaybookSpec, name: str, begun: Sequence[StepView], said: dict[str, list[str]]) -> Iterator[str]:
    own = [one for one in begun if one.step == name]
    came_from = list(dict.fromkeys(other for one in own for other in one.via))
    items = sum(one.item > 0 for one in own)
    why = f"after {' and '.join(came_from)}" if came_from else "first"
    yield f"{name} ran {why}" + (f", for {items} items" if items else "") + f": {own[-1].status}"
    for line in said.get(name, []):
        yield f"  {name} {line}"
    always = [edge.target for edge in spec.graph.out[name] if edge.kind == "next" and not edge.is_conditional]
    if always and name not in said and all(one.status == "succeeded" for one in own):
        yield f"  {name} always goes on with {', '.join(always)}"


def _decided(step: Step, one: StepHappening) -> str:
    if one.happening in _WORDS:
        return _WORDS[one.happening].format(when=step.when, error=step.error_step, late=step.late_step)
    taken = (one.detail or {}).get("next") or []
    if not taken:
        return "went nowhere: none of its conditions held"
    arc = next(arc for arc in step.next if arc.step == taken[0])
    return f"went on with {taken[0]}: " + (
        f"{arc.when} held" if arc.when is not None else "no condition before it held"
    )
