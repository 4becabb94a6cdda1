"""Cadences: the cron lines that PostgreSQL's cron_next reads, checked before it sees them."""

import re
from typing import Any

from penstock.catalog.values import Unfit

_MONTHS = ["JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"]
_WEEKDAYS = ["SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"]
# name, lowest, highest, names from the lowest on; a weekday 7 is Sunday again
_FIELDS: tuple[tuple[str, int, int, list[str]], ...] = (
    ("minute", 0, 59, []),
    ("hour", 0, 23, []),
    ("day", 1, 31, []),
    ("month", 1, 12, _MONTHS),
    ("weekday", 0, 7, _WEEKDAYS),
)
_SHORT = {"@hourly", "@daily", "@midnight", "@weekly", "@monthly", "@yearly", "@annually"}
_PART = re.compile(r"(?:\*|([0-9]{1,3}|[A-Z]{3})(?:-([0-9]{1,3}|[A-Z]{3}))?)(?:/([0-9]{1,3}))?", re.ASCII)


def cadence(value: Any) -> str:
    """A cron line of five fields, or @hourly and its like."""
    expected = 'a cron line such as "*/5 * * * *" (minute hour day month weekday) or @hourly'
    if not isinstance(value, str) or len(value) > 1000:
        raise Unfit(expected, value)
    if value.strip(" \t").lower() in _SHORT:
        return value
    fields = [one for one in re.split(r"[ \t]+", value.strip(" \t")) if one]
    if len(fields) != len(_FIELDS):
        raise Unfit(expected, value)
    for text, (name, lowest, highest, names) in zip(fields, _FIELDS, strict=True):
        if not all(_fits(part, lowest, highest, names) for part in text.upper().split(",")):
            raise Unfit(f"{expected}, its {name} from {lowest} to {highest}", value)
    return value


def _fits(part: str, lowest: int, highest: int, names: list[str]) -> bool:
    found = _PART.fullmatch(part)
    if not found:
        return False
    first, last, step = (_number(word, lowest, names) for word in found.groups())
    begin = lowest if first is None else first
    end = last if last is not None else highest if first is None or step is not None else begin
    # weekdays are seven, though they may be written 0 to 7
    steps = min(highest - lowest + 1, 7) if names is _WEEKDAYS else highest - lowest + 1
    return lowest <= begin <= end <= highest and (step is None or 1 <= step <= steps)


def _number(word: str | None, lowest: int, names: list[str]) -> int | None:
    if word is None:
        return None
    if word.isdigit():
        return int(word)
    # beyond every bound when it is no name
    return lowest + names.index(word) if word in names else 1000
