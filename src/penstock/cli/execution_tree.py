"""An execution as a tree of steps: state, attempts and time of each, and what has not begun."""

from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import timedelta

from penstock.catalog.playbook import PlaybookSpec
from penstock.cli.output import cell
from penstock.kernel.executions import Question, StepView

_ENDED = frozenset(("succeeded", "failed", "cancelled"))


def tree_lines(spec: PlaybookSpec, begun: Sequence[StepView], status: str) -> list[str]:
    """A line per step, under the step that leads to it; a join stands under the first of them."""
    by_step: dict[str, list[StepView]] = {}
    for one in begun:
        by_step.setdefault(one.step, []).append(one)
    rows = list(_walk(spec, spec.graph.start, "", "", set()))
    width = max(len(head) for head, _ in rows)
    return [f"{head:<{width}}  {_said(name, by_step, status)}" for head, name in rows]


def question_lines(asked: Sequence[Question]) -> list[str]:
    """What somebody has to do for it to go on."""
    return [line for one in asked for line in _question(one)]


def _question(one: Question) -> Iterator[str]:
    until = f", until {cell(one.due_at)}" if one.due_at else ""
    if one.on_due == "resume":
        yield f"job {one.job_id} ({one.step}) waits{until}"
        return
    whom = f" of {', '.join(one.approvers)}" if one.approvers else ""
    prompt = " ".join((one.prompt or "no more is said").split())
    yield f"job {one.job_id} ({one.step}) waits for an answer{whom}{until}: {prompt}"
    yield f"  penstock job resume {one.job_id} --result '{{\"approved\": true}}'"


def _walk(spec: PlaybookSpec, name: str, head: str, below: str, seen: set[str]) -> Iterator[tuple[str, str]]:
    if name in seen:
        yield f"{head}{name} ↑", ""
        return
    seen.add(name)
    yield f"{head}{name}", name
    edges = spec.graph.out[name]
    for nth, edge in enumerate(edges):
        is_last = nth == len(edges) - 1
        mark = {"error": "(error) ", "late": "(late) "}.get(edge.kind, "")
        branch = "└─ " if is_last else "├─ "
        yield from _walk(spec, edge.target, f"{below}{branch}{mark}", below + ("   " if is_last else "│  "), seen)


def _said(name: str, by_step: dict[str, list[StepView]], status: str) -> str:
    if not name:
        return ""
    found = by_step.get(name)
    if not found:
        return "not taken" if status in _ENDED else "not yet"
    items = [one for one in found if one.item > 0]
    if items:
        counts = Counter(one.status for one in items)
        return f"{len(items)} items: {', '.join(f'{count} {what}' for what, count in counts.most_common())}"
    last = found[-1]
    visits = f", visit {last.visit}" if last.visit > 1 else ""
    words = f"{last.status}, attempt {last.attempt}/{last.max_attempts}{visits}{_took(last)}, job {last.job_id}"
    return words + (f": {_problem(last)}" if last.is_stuck or last.status == "retrying" else "")


def _took(one: StepView) -> str:
    if one.started_at is None or one.finished_at is None:
        return ""
    return f", {_duration(one.finished_at - one.started_at)}"


def _duration(took: timedelta) -> str:
    seconds = took.total_seconds()
    return f"{seconds * 1000:.0f} ms" if seconds < 1 else f"{seconds:.1f} s"


def _problem(one: StepView) -> str:
    error = one.error or {}
    return cell(f"{error.get('type', 'it failed')}: {error.get('message', '')}")[:300]
