"""A reader over one mapping of a catalog file: every key is taken once, and what nobody took is refused."""

from collections.abc import Container, Iterator, Mapping
from difflib import get_close_matches
from typing import Any, TypeVar, cast, overload

from penstock.catalog.problems import Problems
from penstock.catalog.templates import problems
from penstock.catalog.values import Kind, Unfit, is_template, shown
from penstock.catalog.yaml import Node, Place, below, places, plain

T = TypeVar("T")
D = TypeVar("D")


class _Unread:
    """Stands for a value that could not be read; its problem is noted, so no spec with it ever leaves the reading."""

    def __bool__(self) -> bool:
        return False

    def __iter__(self) -> Any:
        return iter(())


UNREAD: Any = _Unread()
_REQUIRED: Any = object()
# of one mapping: a file with more unknown keys is not misspelt, but another kind of file
_GUESSES = 20


class Reader:
    """Takes the keys of one mapping and notes what is wrong with them; `close` refuses the keys that are left."""

    def __init__(self, node: Node, path: str, problems: Problems) -> None:
        self._values: dict[str, Node] = node.value if isinstance(node.value, dict) else {}
        self._line = node.key_line if node.key_line is not None else node.line
        self._path = path
        self._problems = problems
        self._known: dict[str, None] = {}
        self._missing: dict[str, str] = {}
        if not isinstance(node.value, dict):
            self._problems.add(self._line, path, f"expected a mapping, found {shown(node.value)}")
            # nothing more to say about what is no mapping at all
            self._problems = Problems("")

    def has(self, key: str) -> bool:
        return key in self._values

    def holds_mapping(self, key: str) -> bool:
        return key in self._values and isinstance(self._values[key].value, dict)

    def holds_list(self, key: str) -> bool:
        return key in self._values and isinstance(self._values[key].value, list)

    @overload
    def take(self, key: str, kind: Kind[T]) -> T: ...
    @overload
    def take(self, key: str, kind: Kind[T], default: D) -> T | D: ...
    def take(self, key: str, kind: Kind[Any], default: Any = _REQUIRED) -> Any:
        """A single value; without a default it must be there."""
        node = self._node(key, default is _REQUIRED)
        if node is None:
            return UNREAD if default is _REQUIRED else default
        return self._fit(node, kind, self._below(key))

    def take_all(self, key: str, kind: Kind[T], most: int = 1000, required: bool = False) -> tuple[T, ...]:
        """A list of single values, none of them twice; empty only when the key is missing."""
        node = self._node(key, required)
        if node is None:
            return cast(tuple[T, ...], UNREAD) if required else ()
        items = self._items(node, key, most)
        values = tuple(self._fit(item, kind, f"{self._below(key)}[{nth}]") for nth, item in enumerate(items))
        for nth, value in enumerate(values):
            if value is not UNREAD and value in values[:nth]:
                self._problems.add(items[nth].line, f"{self._below(key)}[{nth}]", f"{shown(value)} stands here twice")
        return values

    def take_pairs(self, key: str, kind: Kind[T], most: int = 1000, required: bool = False) -> dict[str, T]:
        """A mapping whose keys are the user's own; empty only when the key is missing."""
        node = self._node(key, required)
        if node is None:
            return {}
        if not isinstance(node.value, dict) or not 1 <= len(node.value) <= most:
            self._problems.add(
                node.key_line, self._below(key), f"expected a mapping of 1 to {most:,} keys, {_found(node, dict)}"
            )
            return {}
        return {name: self._fit(one, kind, below(self._below(key), name)) for name, one in node.value.items()}

    def take_data(self, key: str) -> Mapping[str, Any]:
        """A mapping of anything; empty when the key is missing."""
        node = self._node(key, required=False)
        if node is None:
            return {}
        if not isinstance(node.value, dict):
            self._problems.add(node.key_line, self._below(key), f"expected a mapping, {_found(node, dict)}")
            return {}
        return cast(Mapping[str, Any], plain(node))

    def take_any(self, key: str) -> Any:
        """Data of any shape."""
        node = self._node(key, required=False)
        return None if node is None else plain(node)

    def take_templates(self, key: str) -> Any:
        """Data of any shape in which texts may be templates."""
        node = self._node(key, required=False)
        if node is None:
            return None
        for place in places(node, self._below(key)):
            if isinstance(place.value, str) and is_template(place.value):
                for problem in problems(place.value):
                    self.refuse_place(place, f"{shown(place.value)}: {problem}")
        return plain(node)

    def inside(self, key: str) -> "Reader":
        """The reader of a mapping that must be there; an empty one that complains of nothing, if it is not."""
        node = self._node(key, required=True)
        return Reader(node, self._below(key), self._problems) if node is not None else self._nowhere(key)

    def inside_if_any(self, key: str) -> "Reader | None":
        node = self._node(key, required=False)
        return None if node is None else Reader(node, self._below(key), self._problems)

    def inside_each(self, key: str, most: int, required: bool = False, least: int = 1) -> "list[Reader]":
        """A reader for each mapping of a list."""
        node = self._node(key, required)
        if node is None:
            return []
        items = self._items(node, key, most, least)
        return [Reader(item, f"{self._below(key)}[{nth}]", self._problems) for nth, item in enumerate(items)]

    def holds_text(self, key: str) -> bool:
        return key in self._values and isinstance(self._values[key].value, str)

    def is_text_list(self, key: str) -> bool:
        """Whether it is a list whose first item is a text."""
        node = self._values.get(key)
        return node is not None and isinstance(node.value, list) and bool(node.value) and _is_text(node.value[0])

    def refuse(self, key: str | None, text: str) -> None:
        """Note what is wrong with a key, or with the mapping as a whole."""
        node = self._values.get(key) if key is not None else None
        if key is not None:
            self._known[key] = None
        if node is None:
            self._problems.add(self._line, self._path if key is None else self._below(key), text)
        else:
            self._problems.add(node.key_line, self._below(cast(str, key)), text)

    def places_of(self, texts: Container[str], *way: str | int) -> Iterator[Place]:
        """Where these texts stand below a key, and the keys and items after it.

        A part of the way that the file does not have is left out: a list of one may stand there without its brackets.
        """
        path, node = self._path, Node(self._values)
        for part in way:
            if isinstance(part, str) and isinstance(node.value, dict) and part in node.value:
                path, node = below(path, part), node.value[part]
            elif isinstance(part, int) and isinstance(node.value, list):
                path, node = f"{path}[{part}]", node.value[part]
        return (place for place in places(node, path) if isinstance(place.value, str) and place.value in texts)

    def refuse_place(self, place: Place, text: str) -> None:
        """Note what is wrong with a single value, however deep it stands."""
        self._problems.add(place.line, place.path, text)

    def require(self, key: str, text: str) -> None:
        """Say that a key is missing, in words of its own, unless a misspelt one explains it."""
        self._known[key] = None
        if key not in self._values:
            self._missing[key] = text

    def refuse_any(self, texts: Mapping[str, str]) -> None:
        """Refuse those of these keys that are there, each in its own words."""
        for key, text in texts.items():
            if key in self._values:
                self.refuse(key, text)

    def ignore(self, *keys: str) -> None:
        """Say nothing of these keys, because what they should be depends on a value that could not be read."""
        self._known.update(dict.fromkeys(keys))

    def ignore_all(self) -> None:
        self.ignore(*self._values)

    def unused(self, *keys: str) -> None:
        """Remember that these keys, where they stand, have no effect yet."""
        self._problems.unused += [self._below(key) for key in keys if key in self._values]

    def close(self) -> None:
        """Refuse the keys that nobody took, and say which are missing."""
        missing = dict(self._missing)
        unknown = [key for key in self._values if key not in self._known]
        for nth, key in enumerate(unknown):
            near = get_close_matches(key[:100].lower(), [*missing, *self._known], n=1) if nth < _GUESSES else []
            if near:
                missing.pop(near[0], None)
            self._problems.add(self._values[key].key_line, self._below(key), self._unknown(near))
        for key, text in missing.items():
            self._problems.add(self._line, self._below(key), text)

    def _unknown(self, near: list[str]) -> str:
        if near:
            return f"is no key here: did you mean {near[0]}?"
        return f"is no key here; the keys here are {', '.join(sorted(self._known))}"

    def _node(self, key: str, required: bool) -> Node | None:
        self._known[key] = None
        node = self._values.get(key)
        if node is None and required:
            self._missing.setdefault(key, "is missing")
        return node

    def _fit(self, node: Node, kind: Kind[T], path: str) -> T:
        try:
            return kind(node.value)
        except Unfit as error:
            self._problems.add(node.line if _single(node) else node.key_line, path, str(error))
            return cast(T, UNREAD)

    def _items(self, node: Node, key: str, most: int, least: int = 1) -> list[Node]:
        if isinstance(node.value, list) and least <= len(node.value) <= most:
            return node.value
        self._problems.add(
            node.key_line, self._below(key), f"expected a list of {least} to {most:,} items, {_found(node, list)}"
        )
        return []

    def _nowhere(self, key: str) -> "Reader":
        return Reader(Node({}, self._line), self._below(key), Problems(""))

    def _below(self, key: str) -> str:
        return below(self._path, key)


def _is_text(node: Node) -> bool:
    return isinstance(node.value, str)


def _single(node: Node) -> bool:
    return not isinstance(node.value, dict | list)


def _found(node: Node, wanted: type) -> str:
    if isinstance(node.value, wanted) and isinstance(node.value, dict | list):
        return f"found {len(node.value):,}" if node.value else "found an empty one"
    return f"found {shown(node.value)}"
