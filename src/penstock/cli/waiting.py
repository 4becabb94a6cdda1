"""What a job waits for, in words, and what can be done about it."""

from collections.abc import Sequence

from penstock.cli.output import cell
from penstock.kernel.executions import Question

# a loop may ask for every item
_MOST = 20


def waiting_lines(asked: Sequence[Question]) -> list[str]:
    """What has to happen for an execution to go on: two lines for each, the second a command."""
    lines = [line for one in asked[:_MOST] for line in _lines(one)]
    return [*lines, f"and {len(asked) - _MOST:,} more"] if len(asked) > _MOST else lines


def waiting_line(one: Question) -> str:
    """The same of one job, on one line."""
    command = _command(one)
    return _waits(one) + (f"; {command}" if command else "")


def _lines(one: Question) -> list[str]:
    who = f"job {one.job_id}" + (f" ({one.step})" if one.step else "")
    command = _command(one)
    return [f"{who} {_waits(one)}", *([f"  {command}"] if command else [])]


def _waits(one: Question) -> str:
    until = f", until {cell(one.due_at)}" if one.due_at else ""
    if one.child_execution is not None:
        return f"waits for execution {one.child_execution} of {one.child_playbook_ref}{until}"
    if one.on_due == "resume":
        return f"waits{until}"
    whom = f" of {', '.join(one.approvers)}" if one.approvers else ""
    prompt = " ".join((one.prompt or "no more is said").split())
    return f"waits for an answer{whom}{until}: {prompt}"


def _command(one: Question) -> str | None:
    if one.child_execution is not None:
        return f"penstock execution show {one.child_execution}"
    return None if one.on_due == "resume" else f"penstock job resume {one.job_id} --result '{{\"approved\": true}}'"
