"""However a file is damaged, it is either read whole or refused in words."""

import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from penstock.catalog.entry import Entry, read, spec_of
from penstock.errors import SpecError
from tests.unit.catalog.damage import WORDS, damaged
from tests.unit.catalog.files import EXAMPLES, PLAYBOOK, entry

FILES = [EXAMPLES[name] for name in sorted(EXAMPLES)] + [PLAYBOOK]
CONTENTS = [entry(text).content for text in FILES]
SNIPPETS = [
    "\n",
    "\t",
    " ",
    "  ",
    ": ",
    "- ",
    "{",
    "}",
    "[",
    "]",
    ",",
    '"',
    "'",
    "#",
    "|\n",
    ">\n",
    "&a ",
    "*a",
    "!!int ",
    "!x ",
]
SNIPPETS += [
    "---\n",
    "...\n",
    "%YAML 1.1\n",
    "? ",
    "<<: ",
    "{{ x }}",
    "~",
    "null",
    "1e400",
    "0x",
    "\x00",
    "\ufeff",
    "\u2028",
    "\ud800",
]


@st.composite
def damaged_texts(draw: st.DrawFn) -> str:
    """A file with pieces cut out, put in twice, or replaced by something else."""
    text = draw(st.sampled_from(FILES))
    for _ in range(draw(st.integers(1, 4))):
        begin = draw(st.integers(0, len(text)))
        end = min(len(text), begin + draw(st.sampled_from([0, 0, 1, 2, 10, 60])))
        piece = draw(
            st.sampled_from(SNIPPETS) | st.sampled_from(WORDS) | st.just(text[begin:end] * 2) | st.text(max_size=4)
        )
        text = text[:begin] + piece + text[end:]
    return text


def _entries(text: str) -> list[Entry]:
    """What was read, or nothing when it was refused, with the file's name in every line."""
    said: list[str] = []
    try:
        return read(text, "file.yaml")
    except SpecError as error:
        said = str(error).splitlines()
    assert said
    assert all(line.startswith("file.yaml:") for line in said)
    return []


def _check(found: Entry) -> None:
    """What was read is whole: it comes back from the database, and from its own text."""
    assert found.spec == spec_of(found.kind, json.loads(json.dumps(found.content, allow_nan=False)))
    assert "\x00" not in found.source
    found.source.encode("utf-8")
    again = read(found.source, "again.yaml")
    assert [(one.content, one.spec, one.unused) for one in again] == [(found.content, found.spec, found.unused)]
    assert all(
        isinstance(name, str) for name in (*found.spec.playbooks(), *found.spec.pools(), *found.spec.credentials())
    )


@settings(max_examples=300, deadline=None)
@given(damaged_texts())
def test_a_damaged_text_is_read_whole_or_refused(text: str) -> None:
    for found in _entries(text):
        _check(found)


@settings(max_examples=300, deadline=None)
@given(damaged(CONTENTS))
def test_a_damaged_document_is_read_whole_or_refused(content: dict[str, Any]) -> None:
    for found in _entries(json.dumps(content, ensure_ascii=False)):
        _check(found)


@settings(max_examples=200, deadline=None)
@given(damaged(CONTENTS))
def test_content_from_the_database_is_read_whole_or_refused(content: dict[str, Any]) -> None:
    kind = "Playbook" if "workflow" in content else "Subscription"
    said = f"the {kind} in the catalog: "
    try:
        spec_of(kind, content)
    except SpecError as error:
        said = str(error)
    assert said.startswith(f"the {kind} in the catalog: ")


@settings(max_examples=300, deadline=None)
@given(st.text(max_size=60) | st.lists(st.sampled_from(SNIPPETS + WORDS[:20]), max_size=20).map("".join))
def test_any_text_is_read_or_refused(text: str) -> None:
    _entries(text)
