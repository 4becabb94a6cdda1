"""What verify_mark and verify_cut prove, told from the document and what is stored, not from how it was computed."""

from collections.abc import Sequence
from hashlib import sha256
from typing import NamedTuple

from penstock.kernel.pieces import MarkRow, PieceRow


class Fault(NamedTuple):
    """What is wrong, and at which byte of the document."""

    at: int
    what: str


def marks_fault(name: str, document: bytes, marks: Sequence[MarkRow], max_bytes: int) -> Fault | None:
    """The first reason why the marks are not the whole document once, in order, in pieces that may be."""
    reached = 0
    addresses: set[str] = set()
    for number, mark in enumerate(marks):
        if mark.position != number:
            return Fault(reached, f"mark {number} has the position {mark.position}")
        if mark.first != reached:
            verb = "leaves out" if mark.first > reached else "takes again"
            return Fault(min(reached, mark.first), f"mark {number} {verb} {abs(mark.first - reached)} bytes")
        if not mark.first < mark.end <= len(document):
            return Fault(mark.first, f"mark {number} ends at byte {mark.end}, the document at {len(document)}")
        if mark.end - mark.first > max_bytes:
            return Fault(mark.first, f"piece {number} has {mark.end - mark.first} bytes, more than {max_bytes}")
        if cuts_character(document, mark.end):
            return Fault(mark.end, f"piece {number} ends within a character")
        if mark.address in addresses or not mark.address.startswith(f"{name}#"):
            return Fault(mark.first, f"piece {number} cannot have the address {mark.address}")
        addresses.add(mark.address)
        reached = mark.end
    return None if reached == len(document) else Fault(reached, f"{len(document) - reached} bytes have no mark")


def pieces_fault(name: str, document: bytes, pieces: Sequence[PieceRow]) -> Fault | None:
    """The first reason why the pieces, joined in order, are not the document byte for byte."""
    reached = 0
    for number, piece in enumerate(pieces):
        if piece.position != number:
            return Fault(reached, f"piece {piece.address} has the position {piece.position} instead of {number}")
        if not piece.address.startswith(f"{name}#"):
            return Fault(reached, f"piece {number} cannot have the address {piece.address}")
        wanted = document[reached : reached + len(piece.bytes)]
        if piece.bytes != wanted:
            return Fault(reached + _first_difference(piece.bytes, wanted), f"piece {piece.address} is not the document")
        if sha256(piece.bytes).digest() != piece.sha256:
            return Fault(reached, f"the sha256 of piece {piece.address} is not that of its bytes")
        reached += len(piece.bytes)
    return None if reached == len(document) else Fault(reached, f"{len(document) - reached} bytes are in no piece")


def cuts_character(document: bytes, at: int) -> bool:
    """Whether bytes on both sides of `at` make one character of UTF-8, or one CRLF."""
    if document[at - 1 : at + 1] == b"\r\n":
        return True
    # a character is at most four bytes long: whatever window decodes to one character that spans `at` is cut
    return any(
        _is_one_character(document[begin:end])
        for begin in range(max(0, at - 3), at)
        for end in range(at + 1, min(len(document), begin + 4) + 1)
    )


def _is_one_character(window: bytes) -> bool:
    try:
        return len(window.decode()) == 1
    except UnicodeDecodeError:
        return False


def _first_difference(one: bytes, other: bytes) -> int:
    return next((at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))
