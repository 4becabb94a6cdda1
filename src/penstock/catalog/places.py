"""Where something stands in a catalog file, for what is found out only when it is registered."""

import re

from penstock.catalog.entry import Entry
from penstock.catalog.yaml import Place, places

_TOOL = r"workflow\[\d+\]\.tool(\[\d+\])?"
_DIRECTIVE = r"spec\.headers\.directives\[\d+\]"
_PLAYBOOK = re.compile(rf"{_TOOL}\.path|spec\.dispatch\.playbook|{_DIRECTIVE}\.allowed\[\d+\]")
_POOL = re.compile(rf"workflow\[\d+\]\.pool|spec\.dispatch\.execution_pool|{_DIRECTIVE}\.(allowed\[\d+\]|map\..+)")
_ALIAS = re.compile(rf"{_TOOL}\.auth|spec\.(spool\.)?auth|spec\.ingress\.verify\.secret")
_TIMEOUT = re.compile(r"(workflow\[\d+\]\.)(tool(\[\d+\])?\.)?timeout_s")


def playbook_place(entry: Entry, name: str) -> str:
    return _shown(entry, _named(entry, _PLAYBOOK, name))


def pool_place(entry: Entry, name: str) -> str:
    return _shown(entry, _named(entry, _POOL, name))


def alias_place(entry: Entry, alias: str) -> str:
    return _shown(entry, _named(entry, _ALIAS, alias))


def timeout_place(entry: Entry, step: str) -> str:
    """Its longest timeout, or that of one of its tools."""
    own = [one for one in _of_step(entry, step) if _TIMEOUT.fullmatch(one.path)]
    return _shown(entry, sorted(own, key=lambda one: -int(str(one.value))))


def url_place(entry: Entry, step: str, alias: str) -> str:
    """The url a step sends a credential to."""
    own = {one.path: one for one in _of_step(entry, step)}
    tools = [path.removesuffix("auth") for path, one in own.items() if path.endswith(".auth") and one.value == alias]
    return _shown(entry, [own[tool + "url"] for tool in tools if tool + "url" in own])


def _shown(entry: Entry, found: list[Place]) -> str:
    """`file:line: path` of the first; at least the file and the entry, if there is none."""
    if not found:
        return f"{entry.file}: {entry.path}"
    line = "" if found[0].line is None else f":{found[0].line}"
    return f"{entry.file}{line}: {found[0].path}"


def _named(entry: Entry, pattern: re.Pattern[str], name: str) -> list[Place]:
    return [one for one in places(entry.root) if one.value == name and pattern.fullmatch(one.path)]


def _of_step(entry: Entry, step: str) -> list[Place]:
    every = list(places(entry.root))
    named = [one.path for one in every if one.value == step and re.fullmatch(r"workflow\[\d+\]\.step", one.path)]
    return [one for one in every if named and one.path.startswith(named[0].removesuffix("step"))]
