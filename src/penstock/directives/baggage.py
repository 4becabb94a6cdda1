"""W3C baggage: of what the caller sends, the allowlisted members.

All baggage headers are one list. One that holds anything but text, more than 8,192 bytes or more than 64 members is
dropped whole. A member that breaks the grammar is passed over; of several with one key the last counts; properties are
dropped. Values are percent-decoded once: `+` is no space, a `%` without two digits stands for itself, bytes that are no
UTF-8 become U+FFFD. A value with U+0000 in it is left out.
"""

import re
from collections.abc import Sequence
from functools import lru_cache
from urllib.parse import unquote

MEMBERS = 64
BYTES = 8192
OWS = " \t"
_TOKEN = re.compile(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+")
_OCTETS = r"[\x21\x23-\x2B\x2D-\x3A\x3C-\x5B\x5D-\x7E]*"


def is_token(key: str) -> bool:
    """Can a member have this key?"""
    return _TOKEN.fullmatch(key) is not None


def member_pattern(key: str) -> str:
    """A whole member with this key, in a form Python and Java read alike; the first group is its value."""
    exact = "".join(f"\\x{ord(one):02X}" for one in key)
    return rf"{exact}[ \t]*=[ \t]*({_OCTETS})[ \t]*(?:;[\s\S]*)?"


def read_baggage(values: Sequence[str | None], allowlist: Sequence[str]) -> dict[str, str] | None:
    """The allowlisted members, in the order of the list; None if the header is dropped."""
    texts = [value for value in values if value is not None]
    joined = ",".join(texts)
    members = [member for one in joined.split(",") if (member := one.strip(OWS))]
    if len(texts) < len(values) or len(joined.encode("utf-8")) > BYTES or len(members) > MEMBERS:
        return None
    found = {key: _last(key, members) for key in allowlist}
    return {key: value for key, value in found.items() if value is not None and "\0" not in value}


def _last(key: str, members: Sequence[str]) -> str | None:
    matches = [match for member in members if (match := _compiled(key).fullmatch(member))]
    return unquote(matches[-1][1], "utf-8", "replace") if matches else None


@lru_cache(maxsize=1024)
def _compiled(key: str) -> re.Pattern[str]:
    return re.compile(member_pattern(key))
