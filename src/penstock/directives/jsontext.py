"""JSON as it is stored: one text for one value, so that Python and Spark Columns can be compared letter by letter."""

from collections.abc import Iterable

# What a Java JSON writer escapes, in its spelling: upper-case digits, nothing beyond the control characters.
_ESCAPES = {code: f"\\u{code:04X}" for code in range(0x20)} | {
    0x08: "\\b",
    0x09: "\\t",
    0x0A: "\\n",
    0x0C: "\\f",
    0x0D: "\\r",
    0x22: '\\"',
    0x5C: "\\\\",
}


def quoted(text: str) -> str:
    """A JSON string."""
    return f'"{text.translate(_ESCAPES)}"'


def array(items: Iterable[str]) -> str:
    """A JSON array of items that are JSON already."""
    return f"[{','.join(items)}]"


def member(key: str, value: str) -> str:
    """One member of an object: the key is text, the value JSON already."""
    return f"{quoted(key)}:{value}"


def record(members: Iterable[str]) -> str:
    """A JSON object of members."""
    return f"{{{','.join(members)}}}"
