"""Attributes, the raw channel of a message in order, and headers, the normalised map made of them.

A key is compared without regard to case, ASCII letters only. What is not UTF-8, or holds U+0000, is not text: a value
like that stays in both as bytes, a key like that stays in the attributes only. A value that is null counts as empty.
"""

import json
from base64 import b64decode, b64encode
from collections.abc import Mapping, Sequence
from string import ascii_lowercase, ascii_uppercase

from penstock.directives.jsontext import array, member, quoted, record

Base64 = dict[str, str]
Value = str | Base64
Attribute = tuple[str | bytes, bytes | None]
Headers = dict[str, Value | list[Value]]

_FOLD = str.maketrans(ascii_uppercase, ascii_lowercase)


def fold(key: str) -> str:
    """Lower case for A to Z, and for nothing else."""
    return key.translate(_FOLD)


def normalise(attributes: Sequence[Attribute]) -> Headers:
    """One map: folded keys, several values of a key as an array in their order."""
    found: dict[str, list[Value]] = {}
    for key, value in attributes:
        name = text_or_none(_key_bytes(key))
        if name is not None:
            found.setdefault(fold(name), []).append(_value(value or b""))
    return {name: values[0] if len(values) == 1 else values for name, values in found.items()}


def texts(headers: Mapping[str, Value | Sequence[Value]], name: str) -> list[str | None] | None:
    """All values of a header, None for each that is not text; None if the header is not there."""
    if name not in headers:
        return None
    values = headers[name]
    several = [values] if isinstance(values, str | dict) else values
    return [value if isinstance(value, str) else None for value in several]


def attributes_to_json(attributes: Sequence[Attribute]) -> str:
    """`[["Key","text"],["K2",{"base64":"…"}]]`; a null value stays null."""
    return array(array((_json(_key_bytes(key)), _json(value))) for key, value in attributes)


def attributes_from_json(text: str) -> list[Attribute]:
    """The way back; a key that is UTF-8 comes back as text."""
    return [(_key(key), None if value is None else _bytes(value)) for key, value in json.loads(text)]


def headers_to_json(headers: Headers) -> str:
    """The map as JSON text, keys in the order of their first value."""
    return record(member(name, _values_json(values)) for name, values in headers.items())


def headers_from_json(text: str) -> Headers:
    """The way back."""
    headers: Headers = json.loads(text)
    return headers


def _key_bytes(key: str | bytes) -> bytes:
    # A lone surrogate has no UTF-8: passed through, it makes the key one that is not text.
    return key.encode("utf-8", "surrogatepass") if isinstance(key, str) else key


def text_or_none(value: bytes) -> str | None:
    """Bytes as text, None if they are not UTF-8 or hold U+0000."""
    if b"\0" in value:
        return None
    try:
        return value.decode("utf-8")
    except UnicodeDecodeError:
        return None


def _value(value: bytes) -> Value:
    text = text_or_none(value)
    return {"base64": b64encode(value).decode("ascii")} if text is None else text


def _json(value: bytes | None) -> str:
    return "null" if value is None else _value_json(_value(value))


def _value_json(value: Value) -> str:
    return quoted(value) if isinstance(value, str) else record(member(key, quoted(one)) for key, one in value.items())


def _values_json(values: Value | list[Value]) -> str:
    return array(_value_json(one) for one in values) if isinstance(values, list) else _value_json(values)


def _bytes(value: Value) -> bytes:
    return value.encode("utf-8") if isinstance(value, str) else b64decode(value["base64"], validate=True)


def _key(key: Value) -> str | bytes:
    raw = _bytes(key)
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        return raw
