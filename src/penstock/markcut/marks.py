"""Where a document is to be cut. Pure: bytes in, marks out; joined in their order they are the document.

A heading begins a piece. Within its section, pieces are filled with whole paragraphs up to the maximum. A fenced block
of code is cut only when it alone is larger, and then at the ends of lines, as is a paragraph; a line that is larger is
cut at a blank, and if it has none, between characters.
"""

from collections.abc import Iterator
from typing import NamedTuple

from penstock.errors import SettingsError
from penstock.markcut.addresses import Addresses
from penstock.markcut.blocks import Block, markdown_blocks, text_blocks

LEAST_BYTES = 16
MOST_BYTES = 16 * 1024 * 1024


class Mark(NamedTuple):
    """One piece: its bytes from `first` up to, and without, `end`."""

    first: int
    end: int
    address: str


def find_marks(name: str, document: bytes, *, max_bytes: int, is_markdown: bool = True) -> list[Mark]:
    """The marks of a document, in order. An empty document has none."""
    if not LEAST_BYTES <= max_bytes <= MOST_BYTES:
        raise SettingsError(f"max_bytes is {max_bytes}: a piece has from {LEAST_BYTES} to {MOST_BYTES:,} bytes")
    addresses = Addresses(name)
    marks: list[Mark] = []
    first = 0
    blocks = markdown_blocks(document) if is_markdown else text_blocks(document)
    for size, heading in _sizes(blocks, max_bytes):
        if heading is not None:
            addresses.enter(heading.level, heading.title)
        marks.append(Mark(first, first + size, addresses.next()))
        first += size
    return marks


def _sizes(blocks: Iterator[Block], most: int) -> Iterator[tuple[int, Block | None]]:
    """The size of each piece, and the heading it begins with."""
    held, heading = 0, None
    for block in blocks:
        if block.level and held:
            yield held, heading
            held, heading = 0, None
        if block.level:
            heading = block
        for size in _parts(block, most):
            if held + size > most:
                yield held, heading
                held, heading = 0, None
            held += size
    if held:
        yield held, heading


def _parts(block: Block, most: int) -> Iterator[int]:
    """The block's size; if it is larger than a piece, the sizes of its lines, and of parts of those."""
    if block.size <= most:
        yield block.size
        return
    for line in block.lines:
        yield from _line_parts(line, most)


def _line_parts(line: bytes, most: int) -> Iterator[int]:
    """A line that fits is one part; of one that does not, a part ends after a blank of its last half, if it has one."""
    begin = 0
    while len(line) - begin > most:
        end = _break(line, begin, begin + most)
        yield end - begin
        begin = end
    yield len(line) - begin


def _break(line: bytes, begin: int, limit: int) -> int:
    blank = max(line.rfind(b" ", begin, limit), line.rfind(b"\t", begin, limit)) + 1
    return blank if blank - begin > (limit - begin) // 2 else character_start(line, limit)


def character_start(text: bytes, at: int) -> int:
    """`at`, or if a character of UTF-8 or a CRLF would be cut there, where that begins."""
    if text[at - 1 : at + 1] == b"\r\n":
        return at - 1
    for back in range(1, 4):
        lead = text[at - back] if at >= back else 0
        if lead & 0xC0 != 0x80:
            # of bytes that are no character nothing is cut in two
            length = 4 if lead >= 0xF0 else 3 if lead >= 0xE0 else 2 if lead >= 0xC0 else 1
            return at - back if length > back and _is_character(text[at - back : at - back + length]) else at
    return at


def _is_character(sequence: bytes) -> bool:
    try:
        return len(sequence.decode()) == 1
    except UnicodeDecodeError:
        return False
