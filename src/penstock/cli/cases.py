"""The tests a subscription brings along: each message is tried, and what came is held against what was expected."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from penstock.catalog.cases import Case
from penstock.cli.rehearsal import Rehearsed, rehearse
from penstock.cli.samples import of_file
from penstock.cli.subjects import Subject


@dataclass(frozen=True)
class Difference:
    """One thing that is not as it was expected; `at` is where, such as payload.order."""

    at: str
    expected: Any
    came: Any

    def __str__(self) -> str:
        return f"{self.at}: expected {_shown(self.expected)}, came {_shown(self.came)}"


@dataclass(frozen=True)
class Tried:
    """A test that was tried: it holds if nothing differs."""

    name: str
    differences: list[Difference]
    plan: Rehearsed


class _Nothing:
    """Stands for a member that is not there."""


NOTHING = _Nothing()


def try_all(subject: Subject) -> list[Tried]:
    """Every test of the file, in its order."""
    return [try_one(subject, case) for case in subject.spec.tests]


def try_one(subject: Subject, case: Case) -> Tried:
    done = rehearse(subject, of_file(case.message, subject.spec))
    # a message that should run must run, whether or not the test says so
    expected = {"dead_letter": None, **case.expect}
    return Tried(case.name, list(_differences(expected, _came(done), "")), done)


def _came(done: Rehearsed) -> dict[str, Any]:
    directives = done.directives or {}
    return {
        "playbook": done.playbook,
        "pool": done.pool,
        "lane": done.lane,
        "dedup_key": done.dedup_key,
        "trace": done.trace,
        "dead_letter": done.dead_letter,
        "applied": directives.get("applied", []),
        "ignored": directives.get("ignored", []),
        "payload": done.payload,
    }


def _differences(expected: Any, came: Any, at: str) -> Iterator[Difference]:
    """Of mappings the members that are named, of lists every item; anything else is the same or not."""
    if isinstance(expected, dict) and isinstance(came, dict):
        for key, value in expected.items():
            yield from _differences(value, came.get(key, NOTHING), f"{at}.{key}" if at else key)
    elif isinstance(expected, list) and isinstance(came, list) and len(expected) == len(came):
        for nth, (one, other) in enumerate(zip(expected, came, strict=True)):
            yield from _differences(one, other, f"{at}[{nth}]")
    elif isinstance(came, _Nothing) or not _same(expected, came):
        yield Difference(at, expected, None if isinstance(came, _Nothing) else came)


def _same(expected: Any, came: Any) -> bool:
    # to JSON true is not 1, though Python thinks so
    return expected == came and isinstance(expected, bool) == isinstance(came, bool)


def _shown(value: Any) -> str:
    text = "nothing" if value is None else json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= 300 else text[:300] + "…"
