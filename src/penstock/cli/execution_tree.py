"""An execution as a tree of steps: state, attempts and time of each, and what has not begun."""

from collections.abc import Callable, Sequence
from datetime import timedelta

from penstock.catalog.graph import Edge
from penstock.catalog.playbook import PlaybookSpec
from penstock.cli.outline import outline
from penstock.cli.output import cell
from penstock.kernel.executions import ItemsView, StepView
from penstock.kernel.reads import ExecutionTrail, StepHappening

_ENDED = frozenset(("succeeded", "failed", "cancelled"))


def tree_lines(
    spec: PlaybookSpec, begun: Sequence[StepView], status: str, items: Sequence[ItemsView] = ()
) -> list[str]:
    """A line per step, under the step that leads to it; a join stands under the first of them.

    Below a loop stand the first of its items that went wrong.
    """
    last = {one.step: one for one in begun}
    loops = last_items(items)
    rows = list(outline(spec.graph, _mark))
    width = max(len(head) for head, _ in rows)
    lines: list[str] = []
    for head, name in rows:
        lines.append(f"{head:<{width}}  {_said(spec, name, last.get(name), loops.get(name, []), status)}")
        below = "".join("│" if mark in "│├" else " " for mark in head)
        lines += [f"{below:<{width}}    {line}" for line in item_lines(loops.get(name, []))]
    return lines


def item_lines(items: Sequence[ItemsView]) -> list[str]:
    """The first items of a loop that went wrong, each with its job and its error, and how many more there are."""
    wrong = [one for one in items if one.first]
    lines = [f"item {one.item}: {_stands(one)}" for group in wrong for one in group.first]
    more = sum(group.count - len(group.first) for group in wrong)
    return [*lines, f"and {more:,} more"] if more else lines


def last_items(items: Sequence[ItemsView]) -> dict[str, list[ItemsView]]:
    """Of the last visit of each step."""
    found: dict[str, list[ItemsView]] = {}
    for one in sorted(items, key=lambda one: one.visit):
        own = found.setdefault(one.step, [])
        if own and own[0].visit < one.visit:
            own.clear()
        own.append(one)
    return found


def forgotten_line(trail: ExecutionTrail) -> str | None:
    """Says so of an execution whose steps are no longer kept."""
    when = next((one.happened_at for one in trail.lines if one.happening == "execution_swept"), None)
    if when is None:
        return None
    return f"its steps were forgotten on {cell(when)}, as execution.keep_days says; the trail of its first job is left"


def trail_rows(trail: ExecutionTrail, row: Callable[[StepHappening], Sequence[object]]) -> list[Sequence[object]]:
    """The trail for a table whose third column says what happened; a row says how many lines are left out."""
    shown = [row(one) for one in trail.lines]
    if trail.left_out:
        gap = [None] * len(shown[0])
        shown.insert(len(trail.first), [*gap[:2], f"… {trail.left_out:,} lines are left out here …", *gap[3:]])
    return shown


def _mark(edge: Edge) -> str:
    return {"error": "(error) ", "late": "(late) "}.get(edge.kind, "")


def _said(spec: PlaybookSpec, name: str, last: StepView | None, items: Sequence[ItemsView], status: str) -> str:
    if not name:
        return ""
    if last is None:
        return "not taken" if status in _ENDED else "not yet"
    if last.is_skipped:
        return f"skipped: {spec.steps[name].when} did not hold{_visits(last)}, job {last.job_id}"
    if items and items[0].visit == last.visit:
        return f"{items_said(items)}{_visits(last)}" + (f", then {problem(last)}" if last.is_stuck else "")
    if spec.steps[name].loop and last.status == "succeeded":
        return f"no items{_visits(last)}, job {last.job_id}"
    return _stands(last)


def items_said(items: Sequence[ItemsView]) -> str:
    """How many items a loop has, and how they stand."""
    count = sum(one.count for one in items)
    most = sorted(items, key=lambda one: -one.count)
    return f"{count:,} item{'s' if count > 1 else ''}: {', '.join(f'{one.count:,} {one.status}' for one in most)}"


def _stands(one: StepView) -> str:
    words = f"{one.status}, attempt {one.attempt}/{one.max_attempts}{_visits(one)}{_took(one)}, job {one.job_id}"
    return words + (f": {problem(one)}" if one.is_stuck or one.status in ("retrying", "dead_lettered") else "")


def _visits(one: StepView) -> str:
    return f", visit {one.visit}" if one.visit > 1 else ""


def _took(one: StepView) -> str:
    if one.started_at is None or one.finished_at is None:
        return ""
    return f", {_duration(one.finished_at - one.started_at)}"


def _duration(took: timedelta) -> str:
    seconds = took.total_seconds()
    return f"{seconds * 1000:.0f} ms" if seconds < 1 else f"{seconds:.1f} s"


def problem(one: StepView) -> str:
    """The error it ended with, or is retried for, on one line."""
    error = one.error or {}
    return cell(f"{error.get('type', 'it failed')}: {error.get('message', '')}")[:300]
