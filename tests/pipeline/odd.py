"""Records that a careless or ill-meaning sender might publish, and what becomes of each."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

Header = tuple[str, bytes | None]


@dataclass(frozen=True)
class Odd:
    """`stored` is how the attributes are kept; `dead` says why there is no execution."""

    name: str
    body: bytes | None
    headers: Sequence[Header] = ()
    stored: Any = None
    dead: str | None = None


MANY = [(f"Key-{number % 700}", b"%d" % number) for number in range(2000)]
LARGE = b'"' + b"x" * (5 * 2**20) + b'"'

ODD = (
    Odd("plain", b'{"n": 1}', [("X-A", b"1")], [["X-A", "1"]]),
    Odd("empty body", b"", dead="bad_json"),
    Odd("5 MB", LARGE, stored=[]),
    Odd("2,000 headers", b"{}", MANY, [[key, value.decode()] for key, value in MANY]),
    Odd("header value that is not UTF-8", b"{}", [("h", b"\xff\xfe")], [["h", {"base64": "//4="}]]),
    Odd("U+0000 in a header key", b"{}", [("a\0b", b"v")], [[{"base64": "YQBi"}, "v"]]),
    Odd("U+0000 in a header value", b"{}", [("h", b"a\0b")], [["h", {"base64": "YQBi"}]]),
    Odd("U+0000 in the value of a directive", b"{}", [("x-key", b"a\0b")], [["x-key", {"base64": "YQBi"}]]),
    Odd("directive that is not listed", b"{}", [("x-route", b"domain/secret")], [["x-route", "domain/secret"]]),
    Odd("escaped U+0000 in JSON", b'{"a": "\\u0000"}', dead="bad_json"),
    Odd("raw U+0000 in JSON", b'{"a": "\0"}', dead="bad_json"),
    Odd("U+0000 alone", b"\0", dead="bad_json"),
    Odd("body that is not UTF-8", b'"\xff"', dead="bad_json"),
    Odd("JSON that is too deep", b"[" * 100_000, dead="bad_json"),
    Odd(
        "key that comes three times",
        b"{}",
        [("Twice", b"1"), ("twice", b"2"), ("Twice", b"3")],
        [["Twice", "1"], ["twice", "2"], ["Twice", "3"]],
    ),
)
# Kafka alone can send these
ODD_RECORDS = (
    *ODD,
    Odd("no value", None, stored=[]),
    Odd("header without a value", b"{}", [("h", None)], [["h", None]]),
)
