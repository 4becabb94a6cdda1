"""wait: a step that goes on at a time. It holds no worker meanwhile."""

from datetime import datetime

from penstock.jobs import Awaiting, PermanentError
from penstock.worker.tools.contract import Call


def run(call: Call) -> Awaiting:
    until, seconds = call.settings.get("until"), call.settings.get("seconds")
    try:
        if until is not None:
            return Awaiting(until=_instant(until), on_due="resume")
        return Awaiting(seconds=max(0.0, float(str(seconds))), on_due="resume")
    except ValueError as error:
        raise PermanentError(f"wait: {error}") from error


def _instant(text: object) -> datetime:
    found = datetime.fromisoformat(str(text).upper())
    if found.tzinfo is None:
        raise ValueError(f"{text} has no time zone: write 2026-06-11T08:00:00Z")
    return found
