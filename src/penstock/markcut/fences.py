"""Stretches of a Markdown document that belong together whatever they hold: fenced code, and front matter."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

# a fence of backticks has no backtick in the rest of its first line
_FENCE = rb"(?P<fence>`{3,}(?=[^`]*\Z)|~{3,})"
_AT_MARGIN = re.compile(rb" {0,3}" + _FENCE)
_IN_ITEM = re.compile(rb"(?P<lead> {0,3}(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)+)" + _FENCE)
_INDENTED = re.compile(rb"[ \t]+" + _FENCE)
_QUOTED = re.compile(rb" {0,3}>[ \t>]*" + _FENCE)
_QUOTE = re.compile(rb" {0,3}>")
_MARGIN = 4
_FRONT = {b"---": (b"---", b"..."), b"+++": (b"+++",)}
_BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True)
class Fence:
    """What closes it, how far in that may stand, and below which column what it is in has ended."""

    mark: bytes
    least: int
    indent: int = 0
    floor: int = 0
    is_quoted: bool = False


def front_matter_end(lines: Sequence[bytes]) -> int:
    """How many lines at the top are front matter; 0 if it has none, or none that ends."""
    first = lines[0].removeprefix(_BOM).rstrip() if lines else b""
    closings = _FRONT.get(first)
    if closings is None:
        return 0
    return next((number + 1 for number in range(1, len(lines)) if lines[number].rstrip() in closings), 0)


def fence_end(lines: Sequence[bytes], begin: int) -> int:
    """Where the fence that begins in this line ends; `begin` itself if none does.

    At the margin, one that nothing closes goes on to the end of the document. One in a list item or a quotation ends
    with that: it cannot swallow what comes after.
    """
    fence = _opened(lines[begin])
    if fence is None:
        return begin
    for number in range(begin + 1, len(lines)):
        line = lines[number]
        if fence.is_quoted and not _QUOTE.match(line):
            return number
        if fence.floor and line.strip() and _indent(line) < fence.floor:
            return number
        if _closes(fence, line):
            return number + 1
    return len(lines)


def _opened(line: bytes) -> Fence | None:
    if b"```" not in line and b"~~~" not in line:
        return None
    if found := _AT_MARGIN.match(line):
        return Fence(found["fence"][:1], len(found["fence"]))
    if found := _IN_ITEM.match(line):
        lead = len(found["lead"])
        return Fence(found["fence"][:1], len(found["fence"]), lead, lead)
    if found := _INDENTED.match(line):
        return Fence(found["fence"][:1], len(found["fence"]), _indent(line), _MARGIN)
    if found := _QUOTED.match(line):
        return Fence(found["fence"][:1], len(found["fence"]), is_quoted=True)
    return None


def _closes(fence: Fence, line: bytes) -> bool:
    text = line.rstrip()
    if not text.endswith(fence.mark):
        return False
    if fence.is_quoted:
        text = text.lstrip(b" \t>")
    elif _indent(text) > fence.indent + 3:
        return False
    text = text.lstrip()
    return len(text) >= fence.least and not text.strip(fence.mark)


def _indent(line: bytes) -> int:
    """In columns; a tab goes to the next multiple of four."""
    column = 0
    for byte in line:
        if byte == 0x20:
            column += 1
        elif byte == 0x09:
            column += 4 - column % 4
        else:
            break
    return column
