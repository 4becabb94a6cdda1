"""Kinds of single values: each takes what the file says and gives what the program uses, or raises Unfit."""

import re
from collections.abc import Callable
from datetime import datetime
from typing import Any, TypeVar

T = TypeVar("T")
Kind = Callable[[Any], T]

_UNITS = {"": 1, **{f"{letter}i": 1024**nth for nth, letter in enumerate("KMGTP", 1)}}
_UNITS |= {letter: 1000**nth for nth, letter in enumerate("KMGTP", 1)} | {"k": 1000}
_SIZE = re.compile(r"([0-9]{1,4}(?:_?[0-9]{1,3}){0,6}) ?([KMGTP]i|[kKMGTP]|)B?")
_LARGEST = 2**63 - 1
UNBOUNDED_S = 10 * 366 * 86_400
_INSTANT = re.compile(r"\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d(\.\d{1,9})?([Zz]|[+-]\d\d:\d\d)", re.ASCII)


class Unfit(Exception):
    """What was expected, and what was found instead."""

    def __init__(self, expected: str, found: Any) -> None:
        super().__init__(f"expected {expected}, found {shown(found)}")


def shown(value: Any) -> str:
    """A value of the file as a message names it."""
    if value is None:
        return "nothing"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, dict | list):
        return "a mapping" if isinstance(value, dict) else "a list"
    if isinstance(value, str) and is_template(value):
        return f"the template {value[:60]!r}"
    if isinstance(value, str):
        return repr(value if len(value) <= 60 else value[:60] + "…") if value else "an empty text"
    return str(value)


def is_template(text: str) -> bool:
    return "{{" in text or "{%" in text


def text(expected: str, pattern: str, longest: int = 500) -> Kind[str]:
    """Text that matches all of the pattern; `expected` says it in words."""
    compiled = re.compile(pattern)

    def kind(value: Any) -> str:
        if not isinstance(value, str):
            hint = ": write it in quotes" if isinstance(value, int | float) and compiled.fullmatch(str(value)) else ""
            raise Unfit(expected + hint, value)
        if len(value) > longest or not compiled.fullmatch(value):
            raise Unfit(expected, value)
        return value

    return kind


def one_of(*words: str, others: dict[str, str] | None = None) -> Kind[str]:
    """One of these words; `others` are words that are refused with a text of their own."""

    def kind(value: Any) -> str:
        if isinstance(value, str) and value in words:
            return value
        if isinstance(value, str) and others and value in others:
            raise _Said(others[value])
        raise Unfit(listed(words), value)

    return kind


def whole(lowest: int, highest: int, unit: str = "") -> Kind[int]:
    """A whole number within bounds; the key's name says its unit, so text with a unit is refused."""
    of = f" of {unit}" if unit else ""

    def kind(value: Any) -> int:
        if isinstance(value, bool) or not isinstance(value, int) or not lowest <= value <= highest:
            raise Unfit(f"a whole number{of} from {lowest:,} to {highest:,}", value)
        return value

    return kind


def seconds(longest: int, shortest: int = 1) -> Kind[int]:
    return whole(shortest, longest, "seconds")


def milliseconds(longest: int, shortest: int = 0) -> Kind[int]:
    return whole(shortest, longest, "milliseconds")


def flag(value: Any) -> bool:
    """true or false; YAML 1.2 has no yes, no, on and off."""
    if not isinstance(value, bool):
        raise Unfit("true or false", value)
    return value


def size(value: Any) -> int:
    """Bytes: 10_000, 512MiB, 50Gi, 2GB. Ki, Mi, Gi … are powers of 1024, K, M, G … of 1000."""
    found = _SIZE.fullmatch(value) if isinstance(value, str) else None
    count = int(found[1].replace("_", "")) * _UNITS[found[2]] if found else value
    if isinstance(count, bool) or not isinstance(count, int) or not 1 <= count <= _LARGEST:
        raise Unfit("a size in bytes such as 10_000, 512MiB or 50Gi", value)
    return count


def instant(value: Any) -> datetime:
    """RFC 3339, with its time zone."""
    expected = "a time such as 2026-06-11T08:00:00Z, with its time zone"
    if not isinstance(value, str) or not _INSTANT.fullmatch(value):
        raise Unfit(expected, value)
    try:
        return datetime.fromisoformat(value.upper())
    except ValueError:
        raise Unfit(expected, value) from None


def scalar(value: Any) -> str | int | float | bool:
    """Text, a number, true or false."""
    if not isinstance(value, str | int | float):
        raise Unfit("text, a number, true or false", value)
    return value


def listed(words: tuple[str, ...]) -> str:
    """a, b or c"""
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} or {words[-1]}"


def plain_text(longest: int) -> Kind[str]:
    """Text of any kind, up to a length."""

    def kind(value: Any) -> str:
        if not isinstance(value, str) or not 1 <= len(value) <= longest:
            raise Unfit(f"text of 1 to {longest:,} characters", value)
        return value

    return kind


def or_nothing(kind: Kind[T]) -> Kind[T | None]:
    """The same, or null."""
    return lambda value: None if value is None else kind(value)


def refused(words: str) -> Unfit:
    """A refusal in words of its own."""
    return _Said(words)


class _Said(Unfit):
    """A refusal in words of its own."""

    def __init__(self, words: str) -> None:
        Exception.__init__(self, words)
