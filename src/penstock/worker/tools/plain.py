"""Values of a database as plain data: what JSON has, and text for all else, with nothing lost."""

import math
from base64 import b64encode
from collections.abc import Mapping
from datetime import date, time
from decimal import Decimal
from typing import Any

_MOST_DIGITS = 1000


def plain(value: Any) -> Any:
    """Times as ISO text, bytes as base64, numbers as numbers where they stay exact."""
    match value:
        case None | bool() | int() | str():
            return value
        case float():
            return value if math.isfinite(value) else _named(value)
        case Decimal():
            return _number(value)
        case date() | time():
            return value.isoformat()
        case bytes() | bytearray() | memoryview():
            return b64encode(value).decode()
        case Mapping():
            return {str(key): plain(one) for key, one in value.items()}
        case list() | tuple():
            return [plain(one) for one in value]
    return str(value)


def _number(value: Decimal) -> int | float | str:
    if not value.is_finite():
        return _named(float(value))
    exponent = value.as_tuple().exponent
    if exponent == 0 and value.adjusted() < _MOST_DIGITS:
        return int(value)
    near = float(value)
    return near if math.isfinite(near) and Decimal(repr(near)) == value else str(value)


def _named(value: float) -> str:
    """As PostgreSQL writes it."""
    return "NaN" if math.isnan(value) else f"{'-' if value < 0 else ''}Infinity"
