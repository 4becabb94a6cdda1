"""How many bytes data takes as PostgreSQL writes it: what would not fit is noticed before it is a step's result."""

import json
from decimal import Decimal
from typing import Any

# what stands between two members, and between a key and its value
_BETWEEN = 2
_BRACKETS = 2


def kept_bytes(value: Any) -> int:
    """The bytes of its JSON, by which the limit of results goes."""
    match value:
        case str():
            return len(json.dumps(value, ensure_ascii=False).encode("utf-8", "surrogatepass"))
        case None:
            return len("null")
        case bool():
            return len("false")
        case int() | float():
            # PostgreSQL writes no exponents
            return len(format(Decimal(repr(value)), "f"))
        case dict():
            members = sum(kept_bytes(key) + _BETWEEN + kept_bytes(one) for key, one in value.items())
            return _BRACKETS + members + _BETWEEN * max(0, len(value) - 1)
        case list() | tuple():
            return _BRACKETS + sum(map(kept_bytes, value)) + _BETWEEN * max(0, len(value) - 1)
    raise TypeError(f"{type(value).__name__} is no plain data")
