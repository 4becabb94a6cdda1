"""A document as blocks of lines: headings, paragraphs, blank lines, and what must stay whole."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from penstock.markcut.fences import fence_end, front_matter_end

# CRLF, LF and CR end a line; each line keeps its end
_LINE = re.compile(rb"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+\Z")
# only how a heading begins: a pattern for its end would try every blank within it
_ATX = re.compile(rb" {0,3}(#{1,6})(?=[ \t\r\n]|\Z)")
_UNDERLINE = re.compile(rb" {0,3}(=+|-+)[ \t]*[\r\n]*\Z")
# what cannot be the text of a heading that is underlined
_NO_PARAGRAPH = re.compile(rb"[ \t]*(?:>|(?:[-*+]|\d{1,9}[.)])(?:[ \t]|[\r\n]|\Z))|[ ]{4}|\t| {0,3}<")


@dataclass(frozen=True)
class Block:
    """Lines that belong together: cut only if they are too large alone. `level` is that of a heading, else 0."""

    lines: list[bytes]
    level: int = 0
    title: bytes = b""

    @property
    def size(self) -> int:
        return sum(map(len, self.lines))


def lines_of(document: bytes) -> list[bytes]:
    return _LINE.findall(document)


def text_blocks(document: bytes) -> Iterator[Block]:
    """Plain text: paragraphs and what is between them."""
    lines = lines_of(document)
    begin = 0
    while begin < len(lines):
        end = _run_end(lines, begin)
        yield Block(lines[begin:end])
        begin = end


def markdown_blocks(document: bytes) -> Iterator[Block]:
    """Markdown: the same, with headings, fences and front matter."""
    lines = lines_of(document)
    begin = front_matter_end(lines)
    if begin:
        yield Block(lines[:begin])
    while begin < len(lines):
        end = fence_end(lines, begin)
        if end > begin:
            yield Block(lines[begin:end])
        elif found := _atx(lines[begin]):
            end = begin + 1
            yield Block(lines[begin:end], *found)
        else:
            end = _text_end(lines, begin)
            yield from _paragraph(lines[begin:end])
        begin = end


def _run_end(lines: list[bytes], begin: int) -> int:
    """The end of the lines that are all blank, or all not."""
    is_blank = not lines[begin].strip()
    end = begin + 1
    while end < len(lines) and (not lines[end].strip()) == is_blank:
        end += 1
    return end


def _text_end(lines: list[bytes], begin: int) -> int:
    """The same, up to a heading or a fence; an underline ends it, too, since it makes what is above it a heading."""
    if not lines[begin].strip():
        return _run_end(lines, begin)
    end = begin + 1
    while end < len(lines) and lines[end].strip():
        if _ATX.match(lines[end]) or fence_end(lines, end) > end:
            break
        end += 1
        if _UNDERLINE.match(lines[end - 1]):
            break
    return end


def _paragraph(lines: list[bytes]) -> Iterator[Block]:
    underline = _UNDERLINE.match(lines[-1]) if len(lines) > 1 else None
    if underline is None or any(_NO_PARAGRAPH.match(line) for line in lines[:-1]):
        yield Block(lines)
        return
    title = b" ".join(line.strip() for line in lines[:-1])
    yield Block(lines, 1 if underline[1].startswith(b"=") else 2, title)


def _atx(line: bytes) -> tuple[int, bytes] | None:
    found = _ATX.match(line)
    return None if found is None else (len(found[1]), _title(line[found.end() :].strip()))


def _title(text: bytes) -> bytes:
    """Without the hashes that close it, which stand after a blank or alone."""
    bare = text.rstrip(b"#")
    return bare.rstrip() if not bare or bare[-1:] in b" \t" else text
