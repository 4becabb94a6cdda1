"""Handles of polled messages as steps pass them on: the source's own text, and till when it is good.

The time is the database's, so that a worker whose clock is wrong neither trusts nor distrusts a handle for it.
"""

from collections.abc import Mapping
from typing import Any

from penstock.jobs import PermanentError


def deadline(now_s: float, hold_s: float | None) -> int | None:
    """In milliseconds; None where handles do not expire."""
    return None if hold_s is None else int((now_s + hold_s) * 1000)


def marked(handle: str, deadline_ms: int | None) -> str:
    return handle if deadline_ms is None else f"{handle}@{deadline_ms}"


def bare(handle: str) -> str:
    """As the source knows it."""
    return handle if _deadline_ms(handle) is None else handle.rpartition("@")[0]


def is_late(handle: str, now_ms: float) -> bool:
    until = _deadline_ms(handle)
    return until is not None and until < now_ms


def given(value: Any) -> list[str]:
    """One handle, a list of them, or messages that have one each."""
    several = value if isinstance(value, list) else [value]
    return [_handle(one) for one in several]


def _handle(one: Any) -> str:
    found = one.get("handle") if isinstance(one, Mapping) else one
    if isinstance(found, str) and found:
        return found
    raise PermanentError(
        f"subscription: {str(one)[:100]!r} is no handle, and has none: poll with ack: manual, and give the messages' "
        "handles, or the messages"
    )


def _deadline_ms(handle: str) -> int | None:
    _, found, until = handle.rpartition("@")
    return int(until) if found and until.isdecimal() and until.isascii() and len(until) < 20 else None
