"""Messages that stand in a file, and the `tests:` of a subscription: each a message and what should become of it."""

import json
from base64 import b64decode
from collections.abc import Callable, Container, Mapping
from dataclasses import dataclass, field
from typing import Any

from penstock.catalog import names
from penstock.catalog.headers import CONTROLS
from penstock.catalog.reading import Reader
from penstock.catalog.values import one_of, or_nothing, plain_text, text

Attribute = tuple[str | bytes, bytes | None]

# why a message would make no execution, or one that fails at once
BAD_JSON, GONE, UNREADABLE = "bad_json", "playbook_gone", "unreadable"
_DEAD = or_nothing(one_of(BAD_JSON, GONE, UNREADABLE))
_REASONS = one_of("not_allowed", "empty", "too_long", "not_text")
_MOST = 1000
_SHORT = or_nothing(plain_text(1000))
_VALUE = or_nothing(text("text of at most 1,000 characters", r"(?s).*", 1000))
_TEXT = text("text, or {base64: …} for bytes that are none", r"(?s).*", 1024 * 1024)
_BASE64 = text("base64", r"(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?", 1024 * 1024)


@dataclass(frozen=True)
class Sample:
    """A message as a source would hand it over; what the file does not say is None. Without a body it has none."""

    id: str | None = None
    key: bytes | None = None
    body: bytes | None = None
    attributes: tuple[Attribute, ...] = ()


@dataclass(frozen=True)
class Case:
    """`expect` names what is looked at, and how it should be; what it does not name may be anything."""

    name: str
    message: Sample
    expect: Mapping[str, Any] = field(default_factory=dict)


def read_sample(block: Reader) -> Sample:
    """A message of a file: `data` is written as JSON, `body` taken as it stands."""
    sample = Sample(
        id=block.take("id", names.short, None),
        key=_bytes(block, "key"),
        body=_body(block),
        attributes=_attributes(block),
    )
    block.close()
    return sample


def read_cases(document: Reader) -> tuple[Case, ...]:
    """What stands under `tests:`."""
    cases = tuple(_case(one) for one in document.inside_each("tests", _MOST))
    named = [case.name for case in cases]
    for name in {name for nth, name in enumerate(named) if name and name in named[:nth]}:
        document.refuse("tests", f"{name!r} is the name of another test too")
    return cases


def _case(block: Reader) -> Case:
    case = Case(block.take("name", names.title), read_sample(block.inside("message")), _expect(block.inside("expect")))
    block.close()
    return case


def _expect(block: Reader) -> dict[str, Any]:
    read: dict[str, Callable[[str], Any]] = {
        "playbook": lambda key: block.take(key, names.path),
        "pool": lambda key: block.take(key, names.pool),
        "lane": lambda key: block.take(key, _SHORT),
        "dedup_key": lambda key: block.take(key, _SHORT),
        "trace": lambda key: block.take(key, _SHORT),
        "dead_letter": lambda key: block.take(key, _DEAD),
        "applied": lambda key: [_directive(one) for one in block.inside_each(key, _MOST, least=0)],
        "ignored": lambda key: [_directive(one, ignored=True) for one in block.inside_each(key, _MOST, least=0)],
        "payload": lambda key: dict(block.take_data(key)),
    }
    expected = {key: take(key) for key, take in read.items() if block.has(key)}
    block.ignore(*read)
    block.close()
    return expected


def _directive(block: Reader, ignored: bool = False) -> dict[str, Any]:
    found: dict[str, Any] = {"header": block.take("header", names.header), "controls": block.take("controls", CONTROLS)}
    if block.has("value"):
        found["value"] = block.take("value", _VALUE)
    if ignored:
        found["reason"] = block.take("reason", _REASONS)
    block.ignore("value")
    block.close()
    return found


def _body(block: Reader) -> bytes | None:
    if block.has("data") and block.has("body"):
        block.refuse("body", "stands beside data: say what the message holds once")
    found = _bytes(block, "body")
    data = block.take_any("data")
    return json.dumps(data, ensure_ascii=False).encode("utf-8", "surrogatepass") if block.has("data") else found


def _bytes(block: Reader, key: str) -> bytes | None:
    """Text, or {base64: …} for bytes that are none."""
    if not block.holds_mapping(key):
        found = block.take(key, _TEXT, None)
        return found.encode("utf-8", "surrogatepass") if found else b"" if block.has(key) else None
    inner = block.inside(key)
    coded = inner.take("base64", _BASE64)
    inner.close()
    return b64decode(coded or "")


def _attributes(block: Reader) -> tuple[Attribute, ...]:
    if block.has("headers") and block.has("attributes"):
        block.refuse("headers", "stands beside attributes: say the headers once")
    pairs = _pairs(block.take_any("attributes") if block.has("attributes") else [])
    if pairs is None:
        block.refuse("attributes", "expected a list of [name, value], each text or {base64: …}; a value may be null")
    return pairs or _headers(block)


def _headers(block: Reader) -> tuple[Attribute, ...]:
    """A map for people: a header that came several times has a list."""
    pairs: list[Attribute] = []
    for name, value in block.take_data("headers").items():
        values = value if isinstance(value, list) else [value]
        if not all(isinstance(one, str) for one in values):
            block.refuse("headers", f"expected text, or a list of texts, as the value of {name[:80]!r}")
            return ()
        pairs += [(name, one.encode("utf-8", "surrogatepass")) for one in values]
    return tuple(pairs)


def _pairs(found: Any) -> tuple[Attribute, ...] | None:
    """As a playbook gets them, `[[name, value], …]`; None if it is anything else."""
    if not isinstance(found, list) or not all(isinstance(one, list) and len(one) == 2 for one in found):
        return None
    try:
        return tuple((_key(_coded(key)), None if value is None else _coded(value)) for key, value in found)
    except ValueError:
        return None


def _coded(value: Any) -> bytes:
    if isinstance(value, str):
        return value.encode("utf-8", "surrogatepass")
    if not (isinstance(value, dict) and set(value) == {"base64"} and isinstance(value["base64"], str)):
        raise ValueError(value)
    return b64decode(value["base64"], validate=True)


def _key(raw: bytes) -> str | bytes:
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        return raw


def check_reachable(document: Reader, cases: tuple[Case, ...], playbooks: Container[str]) -> None:
    """A playbook that no message can reach is expected by mistake."""
    for case in cases:
        expected = case.expect.get("playbook")
        if expected and expected not in playbooks:
            document.refuse("tests", f"{case.name!r} expects {expected}, which this subscription may not start")
