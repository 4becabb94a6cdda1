"""Whether a body is JSON that can be stored. PostgreSQL's bytes_are_json says the same: a test sees to it."""

import json
import re
from collections.abc import Iterator
from typing import Any, NoReturn

# What PostgreSQL's text has no place for: U+0000, and half of a pair.
_UNFIT = re.compile("[\0\ud800-\udfff]")
_NUMBER = re.compile(r"-?([0-9]+)(?:\.([0-9]+))?(?:[eE]([+-]?[0-9]+))?")
_WHOLE_DIGITS = 131_072
_PLACES = 16_383
_LARGEST_EXPONENT = 2**30


class _Unfit(ValueError):
    pass


def is_json(body: bytes) -> bool:
    """RFC 8259 in UTF-8, without U+0000, lone surrogates, or numbers that no numeric holds."""
    try:
        found = json.loads(body.decode("utf-8"), parse_int=_number, parse_float=_number, parse_constant=_refused)
        return not any(_UNFIT.search(text) for text in _texts(found))
    except (ValueError, RecursionError):
        return False


def _refused(word: str) -> NoReturn:
    """NaN and Infinity, which Python reads and JSON does not know."""
    raise _Unfit(word)


def _number(text: str) -> int:
    """Its value does not matter here, only that there is room for it."""
    found = _NUMBER.fullmatch(text)
    assert found is not None
    whole, places, exponent = found[1], found[2] or "", int((found[3] or "0")[:12])
    zeros = whole + places
    leading = len(zeros) - len(zeros.lstrip("0"))
    is_zero = leading == len(zeros)
    if abs(exponent) >= _LARGEST_EXPONENT or len(places) - exponent > _PLACES:
        raise _Unfit(text[:20])
    if not is_zero and len(whole) - leading + exponent > _WHOLE_DIGITS:
        raise _Unfit(text[:20])
    return 0


def _texts(data: Any) -> Iterator[str]:
    """Every text and every key."""
    if isinstance(data, str):
        yield data
    elif isinstance(data, dict):
        yield from data
        for one in data.values():
            yield from _texts(one)
    elif isinstance(data, list):
        for one in data:
            yield from _texts(one)
