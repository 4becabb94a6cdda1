"""approve: a step that goes on when somebody has answered, or something that knows its callback key."""

from penstock.jobs import Awaiting, PermanentError
from penstock.worker.tools.contract import Call


def run(call: Call) -> Awaiting:
    asked = call.settings
    deadline = asked.get("deadline_s")
    if deadline is not None and (isinstance(deadline, bool) or not isinstance(deadline, int | float) or deadline < 0):
        raise PermanentError(f"approve: deadline_s is {deadline!r}: it must be a number of seconds")
    return Awaiting(
        seconds=deadline,
        callback_key=asked.get("callback_key"),
        approvers=tuple(asked["to"]) if "to" in asked else None,
        prompt=None if "prompt" not in asked else str(asked["prompt"])[:2000],
    )
