"""approve: a step that goes on when somebody has answered, or something that knows its callback key."""

from penstock.jobs import Awaiting, PermanentError
from penstock.worker.tools.contract import Call
from penstock.worker.tools.wait import bounded_s


def run(call: Call) -> Awaiting:
    asked = call.settings
    try:
        deadline = None if "deadline_s" not in asked else bounded_s(asked["deadline_s"])
    except ValueError as error:
        raise PermanentError(f"approve: deadline_s: {error}") from error
    return Awaiting(
        seconds=deadline,
        callback_key=asked.get("callback_key"),
        approvers=tuple(asked["to"]) if "to" in asked else None,
        prompt=None if "prompt" not in asked else str(asked["prompt"]).replace("\0", "")[:2000],
    )
