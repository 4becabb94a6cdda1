"""Marks: the whole document once, in order, in pieces that are small enough and cut nothing that belongs together."""

import re
from collections.abc import Iterator
from time import monotonic

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from penstock.errors import SettingsError
from penstock.kernel.pieces import MarkRow
from penstock.markcut.checks import cuts_character, marks_fault
from penstock.markcut.marks import Mark, find_marks

ENDS = ["\n", "\r\n", "\r"]
TEXT = st.text(st.characters(exclude_characters="\r\n", codec="utf-8"), max_size=60)
LINES = st.one_of(
    TEXT,
    st.sampled_from(
        ["", "", " ", "---", "===", "```", "````", "~~~", "```python", "    ```", "\t~~~", "> ```", "- ```"]
    ),
    st.sampled_from(["# A", "## B"]),
    st.builds(lambda level, words: "#" * level + " " + words, st.integers(1, 6), TEXT),
)


@st.composite
def documents(draw: st.DrawFn) -> bytes:
    """Markdown of any kind, with one kind of line end or several, and with or without one at the end."""
    ends = draw(st.sampled_from([["\n"], ["\r\n"], ENDS]))
    text = "".join(line + draw(st.sampled_from(ends)) for line in draw(st.lists(LINES, max_size=40)))
    return (text + draw(st.sampled_from(["", "the end", "# The end"]))).encode()


SIZES = st.integers(16, 400)


def _pieces(document: bytes, marks: list[Mark]) -> list[bytes]:
    return [document[one.first : one.end] for one in marks]


def _fault(document: bytes, marks: list[Mark], max_bytes: int) -> object:
    rows = [MarkRow(number, *one) for number, one in enumerate(marks)]
    return marks_fault("d.md", document, rows, max_bytes)


def _marks(document: bytes, max_bytes: int = 4000, *, is_markdown: bool = True) -> list[Mark]:
    return find_marks("d.md", document, max_bytes=max_bytes, is_markdown=is_markdown)


def _cut(document: bytes, max_bytes: int = 4000, *, is_markdown: bool = True) -> list[bytes]:
    return _pieces(document, _marks(document, max_bytes, is_markdown=is_markdown))


def _fences(document: bytes) -> Iterator[tuple[int, int]]:
    """The fences at the margin of a document, told by another way than the one under test: from line to line."""
    at, opened = 0, None
    for line in re.findall(rb"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+\Z", document):
        bare = line.rstrip(b"\r\n \t")
        indented = len(bare) - len(bare.lstrip(b" "))
        word = bare.lstrip(b" ")
        run = len(word) - len(word.lstrip(word[:1]))
        is_fence = word[:1] in (b"`", b"~") and word[:1] != b"" and run >= 3 and indented <= 3
        if opened is None and is_fence and not (word[:1] == b"`" and b"`" in word[run:]):
            opened = (at, word[:1], run)
        elif opened is not None and is_fence and word[:1] == opened[1] and run >= opened[2] and run == len(word):
            yield opened[0], at + len(line)
            opened = None
        at += len(line)
    if opened is not None:
        yield opened[0], at


@given(documents(), SIZES, st.booleans())
def test_marks_cover_the_document_once_and_in_order(document: bytes, max_bytes: int, is_markdown: bool) -> None:
    marks = _marks(document, max_bytes, is_markdown=is_markdown)
    assert [one.first for one in marks] == [0, *(one.end for one in marks)][: len(marks)]
    assert b"".join(_pieces(document, marks)) == document
    assert all(_pieces(document, marks))


@given(documents(), SIZES, st.booleans())
def test_no_piece_is_larger_than_the_maximum(document: bytes, max_bytes: int, is_markdown: bool) -> None:
    assert all(len(one) <= max_bytes for one in _cut(document, max_bytes, is_markdown=is_markdown))


@given(documents(), SIZES, st.booleans())
def test_no_piece_ends_within_a_character(document: bytes, max_bytes: int, is_markdown: bool) -> None:
    for piece in _cut(document, max_bytes, is_markdown=is_markdown):
        piece.decode()


@given(documents(), SIZES, st.booleans())
def test_no_cut_divides_a_line_end(document: bytes, max_bytes: int, is_markdown: bool) -> None:
    marks = _marks(document, max_bytes, is_markdown=is_markdown)
    assert not [one.end for one in marks if document[one.end - 1 : one.end + 1] == b"\r\n"]


@given(documents(), SIZES)
def test_every_address_is_the_piece_of_one(document: bytes, max_bytes: int) -> None:
    addresses = [one.address for one in _marks(document, max_bytes)]
    assert len(set(addresses)) == len(addresses)
    assert all(re.fullmatch(r"d\.md#[^#~]*~[1-9][0-9]*", one) for one in addresses)


MARGINAL = st.lists(st.one_of(TEXT, st.sampled_from(["", "```", "~~~~", "  ```x", "# H"])), max_size=40)


@given(MARGINAL, st.integers(60, 400))
def test_a_fence_that_fits_into_a_piece_is_never_cut(lines: list[str], max_bytes: int) -> None:
    text = "\n".join("x" if re.match(r"\s*([-+*>]|\d|\t| {4}|\.\.\.|---)", line) else line for line in lines)
    document = text.encode()
    cuts = {one.end for one in _marks(document, max_bytes)}
    for first, end in _fences(document):
        if end - first <= max_bytes:
            assert not cuts & set(range(first + 1, end)), document[first:end]


@given(documents(), SIZES)
def test_what_verify_mark_proves_holds_for_every_marks(document: bytes, max_bytes: int) -> None:
    assert _fault(document, _marks(document, max_bytes), max_bytes) is None


@given(st.binary(max_size=2000), SIZES, st.booleans())
@example(b"\x80" * 500, 16, True)
@example(b"\xf0\x9f" * 100, 17, True)
@example(b"\xff\xfe" + "übung".encode("utf-16-le") * 50, 16, False)
def test_bytes_that_are_no_text_are_cut_as_well(document: bytes, max_bytes: int, is_markdown: bool) -> None:
    marks = _marks(document, max_bytes, is_markdown=is_markdown)
    assert b"".join(_pieces(document, marks)) == document
    assert _fault(document, marks, max_bytes) is None


@given(st.text(min_size=1, max_size=300), SIZES)
def test_one_long_line_is_cut_between_characters(text: str, max_bytes: int) -> None:
    line = re.sub(r"[\r\n]", "ü", text) * 20
    pieces = _cut(line.encode(), max_bytes, is_markdown=False)
    assert "".join(piece.decode() for piece in pieces) == line


@given(st.text(max_size=20), st.integers(0, 80))
def test_a_cut_character_is_known_by_decoding(text: str, at: int) -> None:
    document = text.encode()
    ends = {len(text[:number].encode()) for number in range(len(text) + 1)}
    at = min(at, len(document))
    assert cuts_character(document, at) == (at not in ends or document[at - 1 : at + 1] == b"\r\n")


def test_an_empty_document_has_no_pieces() -> None:
    assert _marks(b"") == []


def test_a_heading_begins_a_piece() -> None:
    document = b"before\n\n# One\n\ntext\n\n## Two\ntext\nThree\n=====\nmore\nFour\n---\nlast"
    assert _cut(document) == [
        b"before\n\n",
        b"# One\n\ntext\n\n",
        b"## Two\n",
        b"text\nThree\n=====\n",
        b"more\nFour\n---\nlast",
    ]


def test_an_address_is_the_path_of_headings_and_a_number() -> None:
    head = b"---\ntitle: x\n---\n# Setup\n\n## Installing\n\n### On Linux!\n"
    document = head + b"word " * 30 + "\n\n### On Linux!\ntext\n## Über\n".encode()
    assert [one.address for one in _marks(document, 100)] == [
        "d.md#~1",
        "d.md#setup~1",
        "d.md#setup/installing~1",
        "d.md#setup/installing/on-linux~1",
        "d.md#setup/installing/on-linux~2",
        "d.md#setup/installing/on-linux~3",
        "d.md#setup/installing/on-linux~4",
        "d.md#setup/über~1",
    ]


def test_pieces_are_filled_with_whole_paragraphs() -> None:
    paragraphs = [b"a" * 30 + b"\n\n", b"b" * 30 + b"\n\n", b"c" * 30 + b"\n\n"]
    assert _cut(b"".join(paragraphs), 64) == [paragraphs[0] + paragraphs[1], paragraphs[2]]


@pytest.mark.parametrize("end", ENDS)
def test_every_kind_of_line_end_ends_a_line(end: str) -> None:
    document = end.join(["# A", "text", "", "# B", "```", "# no heading", "```", ""]).encode()
    assert len(_cut(document)) == 2


@pytest.mark.parametrize(
    "fence",
    [
        "```\n# no\n\n# heading\n```\n",
        "~~~~ python\n# no\n~~~\n# heading\n~~~~\n",
        "- ```\n  # no\n\n  # heading\n  ```\n",
        "1. item\n\n    ```\n    # no\n\n    # heading\n    ```\n",
        "> ```\n> # no\n>\n> # heading\n> ```\n",
        "```\n# no\n\n# it is never closed\n",
        "   ```\n# no\n    ```\n# heading\n   ```\n",
    ],
)
def test_a_fence_holds_no_headings_and_no_paragraphs(fence: str) -> None:
    document = b"x" * 10 + b"\n\n" + fence.encode()
    begin = document.rindex(b"\n", 0, re.search(rb"```|~~~", document).start()) + 1  # type: ignore[union-attr]
    for max_bytes in range(len(document) - begin, len(document) + 1):
        assert not [one.end for one in _marks(document, max_bytes) if begin < one.end < len(document)]


def test_a_fence_larger_than_the_maximum_is_cut_at_the_ends_of_lines() -> None:
    fence = b"```\n" + b"0123456789\n" * 20 + b"```\n"
    pieces = _cut(fence, 50)
    assert len(pieces) > 1
    assert all(piece.endswith(b"\n") for piece in pieces)


def test_what_is_quoted_or_in_an_item_ends_its_fence() -> None:
    document = b"> ```\n> open\n\n# Heading\n- ```\n  open\n\n# Another\n    ```\n    open\n\n# Third\n"
    assert [one.address for one in _marks(document)] == ["d.md#~1", "d.md#heading~1", "d.md#another~1", "d.md#third~1"]


@pytest.mark.parametrize("front", ["---\n# no heading\n---\n", "\ufeff---\ntitle: x\n# no\n...\n", "+++\n# no\n+++\n"])
def test_front_matter_is_no_heading(front: str) -> None:
    assert _cut(front.encode() + b"# Heading\n") == [front.encode(), b"# Heading\n"]


def test_front_matter_that_never_ends_is_none() -> None:
    assert _cut(b"---\ntitle: x\n# Heading\n") == [b"---\ntitle: x\n", b"# Heading\n"]


@pytest.mark.parametrize("text", ["- item\n---\n", "> quote\n===\n", "    code\n---\n", "\n---\n", "| a |\n|---|\n"])
def test_an_underline_below_what_is_no_paragraph_makes_no_heading(text: str) -> None:
    assert [one.address for one in _marks(text.encode())] == ["d.md#~1"]


def test_plain_text_has_no_headings_and_no_fences() -> None:
    document = b"# A\n\n```\n\n# B\n"
    assert _cut(document, is_markdown=False) == [document]


def test_a_line_is_cut_after_a_blank_if_it_has_one() -> None:
    assert _cut(b"one two three four five six", 16) == [b"one two three ", b"four five six"]


@pytest.mark.parametrize(
    "document",
    [
        *(b"x" * 10_000_000, b"a b " * 2_500_000, "ü".encode() * 5_000_000, b"    ```x\n" * 200_000),
        *(b"> ```x\n" * 200_000, b"# a" + b" " * 10_000_000 + b"b\n", b"#" + b" #" * 5_000_000 + b" b\n"),
        *(b"- " * 5_000_000 + b"```x`", b"a\n---" + b" " * 10_000_000 + b"b"),
    ],
    ids=[
        *("letters", "words", "two bytes", "fences in items", "fences in quotes", "blanks in a heading"),
        *("hashes in a heading", "bullets", "blanks after an underline"),
    ],
)
def test_ten_megabytes_of_anything_take_seconds(document: bytes) -> None:
    began = monotonic()
    assert b"".join(_cut(document)) == document
    assert monotonic() - began < 20


@pytest.mark.parametrize("max_bytes", [0, 15, 1 << 30])
def test_a_maximum_that_cannot_be_is_refused(max_bytes: int) -> None:
    with pytest.raises(SettingsError, match="max_bytes"):
        _marks(b"text", max_bytes)
