"""YAML 1.2 with the line of every key and value, within bounds, and only what JSON can say too."""

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple, cast

from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.events import (
    AliasEvent,
    DocumentStartEvent,
    Event,
    MappingEndEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
)
from ruamel.yaml.nodes import ScalarNode

from penstock.catalog.faults import Fault, syntax_fault, text_fault

MAX_BYTES = 1024 * 1024
MAX_DEPTH = 40
# of a whole file, each alias counted as what it stands for
MAX_NODES = 20_000

_TAG = "tag:yaml.org,2002:"
_WIDEST = 2**63


@dataclass(frozen=True)
class Node:
    """A value and where it stands: its own line and its key's (or its item's); without lines where it came as JSON."""

    value: "str | int | float | bool | dict[str, Node] | list[Node] | None"
    line: int | None = None
    key_line: int | None = None
    # how many nodes it is, itself included, and how deep they go
    size: int = 1
    depth: int = 1


class Place(NamedTuple):
    """A single value of a file, its line and its path."""

    path: str
    line: int | None
    value: object


@dataclass(frozen=True)
class Document:
    root: Node
    source: str


@dataclass
class _Open:
    """A mapping or list that is still being read."""

    line: int
    key_line: int
    anchor: str | None
    value: dict[str, Node] | list[Node]
    key: str | None = None
    next_key_line: int = 0
    key_lines: dict[str, int] = field(default_factory=dict)


def documents(text: str) -> list[Document]:
    """Every document of a file that is not empty; raises Fault at the first thing that is no YAML."""
    text = text.removeprefix("\ufeff")
    if len(text.encode("utf-8", "surrogatepass")) > MAX_BYTES:
        raise Fault(None, f"the file is larger than {MAX_BYTES:,} bytes")
    text_fault(text)
    composer = _Composer()
    try:
        for event in _events(text):
            composer.take(event)
    except MarkedYAMLError as error:
        raise syntax_fault(error) from None
    except YAMLError as error:
        raise Fault(None, f"this is not YAML: {' '.join(str(error).split())[:200]}") from None
    return composer.documents(text)


def located(value: Any) -> Node:
    """The same tree for data that came from JSON, and has no lines."""
    if isinstance(value, dict):
        return Node({key: located(one) for key, one in value.items()})
    if isinstance(value, list):
        return Node([located(one) for one in value])
    return Node(value)


def plain(node: Node) -> Any:
    """The data alone, as JSON has it."""
    if isinstance(node.value, dict):
        return {key: plain(one) for key, one in node.value.items()}
    if isinstance(node.value, list):
        return [plain(one) for one in node.value]
    return node.value


def places(node: Node, path: str = "") -> Iterator[Place]:
    """Every single value of a tree, and where it stands."""
    if isinstance(node.value, dict):
        for key, one in node.value.items():
            yield from places(one, below(path, key))
    elif isinstance(node.value, list):
        for nth, one in enumerate(node.value):
            yield from places(one, f"{path}[{nth}]")
    else:
        yield Place(path, node.line, node.value)


def below(path: str, key: str) -> str:
    """The path of a key."""
    printable = key if key.isprintable() else repr(key)
    shortened = printable if len(printable) <= 80 else printable[:80] + "…"
    return f"{path}.{shortened}" if path else shortened


def _events(text: str) -> Iterator[Event]:
    yield from YAML(typ="safe", pure=True).parse(text)


class _Composer:
    """Builds the trees from the parser's events, without recursion, and stops where a bound is passed."""

    def __init__(self) -> None:
        self._yaml = YAML(typ="safe", pure=True)
        self._open: list[_Open] = []
        self._anchors: dict[str, Node | None] = {}
        self._nodes = 0
        self._roots: list[tuple[int, Node]] = []

    def documents(self, text: str) -> list[Document]:
        starts = [0, *(start for start, _ in self._roots[1:]), len(text)]
        return [
            Document(root, text[starts[nth] : starts[nth + 1]])
            for nth, (_, root) in enumerate(self._roots)
            if root.value is not None
        ]

    def take(self, event: Event) -> None:
        line = event.start_mark.line + 1
        if isinstance(event, DocumentStartEvent):
            self._begin(event, line)
        elif isinstance(event, MappingStartEvent | SequenceStartEvent):
            self._enter(event, line)
        elif isinstance(event, MappingEndEvent | SequenceEndEvent):
            self._leave()
        elif isinstance(event, ScalarEvent):
            self._scalar(event, line)
        elif isinstance(event, AliasEvent):
            self._alias(event, line)

    def _begin(self, event: DocumentStartEvent, line: int) -> None:
        if event.version not in (None, (1, 2)):
            raise Fault(line, "catalog files are YAML 1.2: leave the %YAML line out")
        self._anchors = {}
        self._roots.append((event.start_mark.index, Node(None)))

    def _enter(self, event: MappingStartEvent | SequenceStartEvent, line: int) -> None:
        mapping = isinstance(event, MappingStartEvent)
        if event.tag is not None and str(event.tag) not in (f"{_TAG}map", f"{_TAG}seq"):
            raise Fault(line, f"tags such as {event.tag} are not used here: leave it out")
        if self._awaits_key():
            raise Fault(line, "a key must be text; a template such as {{ … }} stands in quotes")
        self._descend(1, line)
        if event.anchor is not None:
            self._anchors[event.anchor] = None
        self._open.append(_Open(line, self._key_line(line), event.anchor, {} if mapping else []))

    def _leave(self) -> None:
        done = self._open.pop()
        children = list(done.value.values() if isinstance(done.value, dict) else done.value)
        size = 1 + sum(child.size for child in children)
        depth = 1 + max((child.depth for child in children), default=0)
        node = Node(done.value, done.line, done.key_line, size, depth)
        if done.anchor is not None:
            self._anchors[done.anchor] = node
        self._place(node)

    def _scalar(self, event: ScalarEvent, line: int) -> None:
        value = self._value(event, line)
        if self._awaits_key():
            self._key(value, event, line)
            return
        # an empty value's mark lies behind it, on the next line that says something
        empty = value is None and event.value == ""
        self._count(1, line)
        node = Node(value, self._key_line(line) if empty else line, self._key_line(line))
        if event.anchor is not None:
            self._anchors[event.anchor] = node
        self._place(node)

    def _alias(self, event: AliasEvent, line: int) -> None:
        if self._awaits_key():
            raise Fault(line, f"*{event.anchor} stands where a key is expected: write the key out")
        if event.anchor not in self._anchors:
            raise Fault(line, f"*{event.anchor} refers to &{event.anchor}, which does not stand before it")
        node = self._anchors[event.anchor]
        if node is None:
            raise Fault(line, f"*{event.anchor} stands inside &{event.anchor} itself")
        self._count(node.size, line)
        self._descend(node.depth, line)
        self._place(Node(node.value, line, self._key_line(line), node.size, node.depth))

    def _awaits_key(self) -> bool:
        return bool(self._open) and isinstance(self._open[-1].value, dict) and self._open[-1].key is None

    def _key_line(self, line: int) -> int:
        inside = bool(self._open) and isinstance(self._open[-1].value, dict)
        return self._open[-1].next_key_line if inside else line

    def _key(self, value: Any, event: ScalarEvent, line: int) -> None:
        within = self._open[-1]
        if event.value == "<<" and event.style is None:
            raise Fault(line, "<< is not YAML 1.2: write the keys out")
        if not isinstance(value, str):
            raise Fault(line, f'a key must be text: write "{event.value[:40]}" in quotes')
        if value in within.key_lines:
            raise Fault(line, f"the key {value[:100]} stands here twice: first in line {within.key_lines[value]}")
        within.key, within.next_key_line = value, line
        within.key_lines[value] = line

    def _place(self, node: Node) -> None:
        if not self._open:
            self._roots[-1] = (self._roots[-1][0], node)
            return
        within = self._open[-1]
        if isinstance(within.value, list):
            within.value.append(node)
        elif within.key is not None:
            within.value[within.key] = node
            within.key = None

    def _count(self, nodes: int, line: int) -> None:
        self._nodes += nodes
        if self._nodes > MAX_NODES:
            raise Fault(line, f"more than {MAX_NODES:,} values in one file, each *alias counted as what it stands for")

    def _descend(self, levels: int, line: int) -> None:
        if len(self._open) + levels > MAX_DEPTH:
            raise Fault(line, f"nested more than {MAX_DEPTH} deep")

    def _value(self, event: ScalarEvent, line: int) -> str | int | float | bool | None:
        text: str = event.value
        if "\x00" in text or any("\ud800" <= one <= "\udfff" for one in text):
            raise Fault(line, "the text holds U+0000 or half a character, which the database cannot keep")
        kind = str(event.tag or self._yaml.resolver.resolve(ScalarNode, text, event.implicit)).removeprefix(_TAG)
        if event.tag is not None and kind not in ("str", "int", "float", "bool", "null"):
            raise Fault(line, f"tags such as {event.tag} are not used here: leave it out")
        if kind in ("int", "float", "bool", "null"):
            return self._converted(kind, text, line)
        return text

    def _converted(self, kind: str, text: str, line: int) -> int | float | bool | None:
        try:
            # beyond this no number fits, and Python's own limit for digits would speak first
            value = self._yaml.constructor.construct_object(ScalarNode(_TAG + kind, text[:400])) if text else None
        except (ValueError, KeyError, IndexError, YAMLError):
            raise Fault(line, f"{text[:40]!r} is not a value of this type: write text in quotes") from None
        whole = isinstance(value, int) and not -_WIDEST <= value < _WIDEST
        if whole or (isinstance(value, float) and not math.isfinite(value)) or len(text) > 400:
            raise Fault(line, f"{text[:40]} is no number that can be kept: write it in quotes if it is text")
        return None if kind == "null" else cast(int | float | bool | None, value)
