"""wait: a step that goes on at a time. It holds no worker meanwhile."""

from datetime import datetime

from penstock.catalog.values import UNBOUNDED_S
from penstock.jobs import Awaiting, PermanentError
from penstock.worker.tools.contract import Call


def run(call: Call) -> Awaiting:
    until, seconds = call.settings.get("until"), call.settings.get("seconds")
    try:
        if until is not None:
            return Awaiting(until=_instant(until), on_due="resume")
        return Awaiting(seconds=bounded_s(seconds), on_due="resume")
    except (ValueError, OverflowError) as error:
        raise PermanentError(f"wait: {error}") from error


def bounded_s(seconds: object) -> float:
    """So many seconds, ten years at most."""
    if isinstance(seconds, bool) or not isinstance(seconds, int | float | str):
        raise ValueError(f"{seconds!r} is no number of seconds")
    found = float(seconds)
    if not 0 <= found <= UNBOUNDED_S:
        raise ValueError(f"{seconds} seconds: it must be 0 to {UNBOUNDED_S}")
    return found


def _instant(text: object) -> datetime:
    found = datetime.fromisoformat(str(text).upper())
    if found.tzinfo is None:
        raise ValueError(f"{text} has no time zone: write 2026-06-11T08:00:00Z")
    return found
