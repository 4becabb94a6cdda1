"""What a body will cost once it is parsed, told from its bytes: before a single object of it is made."""

import re
from collections.abc import Iterator

# one of these stands before everything that JSON holds, but the outermost
_MARKS = (b",", b":", b"[", b"{")
# closed, or cut off by the end of a piece
_STRING = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*("?)', re.DOTALL)
# looked at in one go: other threads wait for no more than that
_PIECE_BYTES = 2**18


def values(sent: bytes, most: int) -> int:
    """How many values a JSON text has at most; exact where texts within it look like more than `most`."""
    found = 1 + sum(_marks(sent[at : at + _PIECE_BYTES]) for at in range(0, len(sent), _PIECE_BYTES))
    return found if found <= most else _outside_strings(sent, most)


def _outside_strings(sent: bytes, most: int) -> int:
    """Without what stands in strings. Stops where it is over `most`."""
    found, strings, inside = 1, 0, False
    for piece in _pieces(sent):
        text = b'"' + piece if inside else piece
        # one that goes on was counted where it began
        at, strings = 0, strings - inside
        between: list[bytes] = []
        for string in _STRING.finditer(text):
            between.append(text[at : string.start()])
            at, inside = string.end(), not string[1]
        found += _marks(b"".join([*between, text[at:]]))
        # two of them have a mark between them, or this is no JSON
        strings += len(between)
        if max(found, strings) > most:
            return most + 1
    return found


def _pieces(sent: bytes) -> Iterator[bytes]:
    """In order, none of them ending in the middle of an escape."""
    at = 0
    while at < len(sent):
        piece = sent[at : at + _PIECE_BYTES]
        slashes = len(piece) - len(piece.rstrip(b"\\"))
        if slashes % 2:
            piece = sent[at : at + _PIECE_BYTES + 1]
        yield piece
        at += len(piece)


def _marks(text: bytes) -> int:
    return sum(text.count(mark) for mark in _MARKS)
