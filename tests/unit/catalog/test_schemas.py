"""docs/*.schema.json say what the reader does: the same keys, the same values, the same bounds."""

import json
import re
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from jsonschema import Draft202012Validator

from penstock.model import Json
from tests.tree import ROOT, files, nothing, shown, text
from tests.unit.catalog.damage import damaged
from tests.unit.catalog.files import EXAMPLES, PLAYBOOK
from tests.unit.catalog.files import changed as changed_text
from tests.unit.catalog.schemas import (
    KINDS,
    SCHEMAS,
    SMALL,
    WHOLE,
    Place,
    contents,
    fits,
    kind_of,
    mappings,
    misfits,
    part_of,
    places,
    refusals,
    replaced,
)

# what no schema can say: how steps hang together, what a template means, and what a number or text stands for
BEYOND = re.compile(
    r"is no step of this playbook|is the name of another step too|no arc leads to|leads to \w+ twice"
    r"|both lead into the cycle|starts several steps within a cycle|has no bound|iterator \w+ means something else"
    r"|does not come before|is unknown here|may not have run|can only be the last of a list|two tools of the list"
    r"|two polls of the Kafka group|cannot be in one list"
    r"|is no template that can be read|expected one expression in|cannot be used in a template|cannot be touched"
    r"|only methods of values|nested too deep|the template .*: a template has at most"
    r"|expected a cron line|expected a time such as|expected a regular expression|more than max, which is"
    r"|more than half of ack_deadline_s"
    r"|is the name of another test too|which this subscription may not start|expected a list of \[name, value\]"
    r"|expected a size in bytes.*found '\d|found -?\d+\.0$|found \d+e\+\d+$"
)
UNKNOWN = "zzzzzzzz"
COMMENT = re.compile(r"# yaml-language-server: \$schema=(\S+)\n")
HEAD = {"apiVersion": "penstock/v1", "metadata": {"path": "a"}}


def _yaml_blocks(page: Path) -> list[str]:
    return re.findall(r"^```yaml\n(.*?)^```", text(page), re.MULTILINE | re.DOTALL)


def _written_down() -> Iterator[tuple[str, str]]:
    yield from EXAMPLES.items()
    yield "a playbook", PLAYBOOK
    for path in files(".yaml"):
        if ROOT / "examples" in path.parents:
            yield shown(path), text(path)
    for page in files(".md"):
        for nth, block in enumerate(_yaml_blocks(page)):
            yield f"{shown(page)} {nth}", block


def _document(content: Json) -> Json:
    """A page about tools shows steps alone."""
    return content if "kind" in content else {**HEAD, "kind": "Playbook", "workflow": [content]}


WRITTEN_DOWN = dict(_written_down())


@pytest.mark.parametrize("kind", KINDS)
def test_a_schema_is_one(kind: str) -> None:
    Draft202012Validator.check_schema(SCHEMAS[kind])


@pytest.mark.parametrize("kind", KINDS)
def test_every_key_is_described(kind: str) -> None:
    defined = SCHEMAS[kind]["$defs"]
    bare = [
        f"{sorted(part['properties'])}: {key}"
        for part in mappings(SCHEMAS[kind])
        for key, one in part["properties"].items()
        if one is not True and "description" not in {**defined.get(one.get("$ref", "")[8:], {}), **one}
    ]
    nothing(bare)


@pytest.mark.parametrize("kind", KINDS)
def test_every_definition_is_used(kind: str) -> None:
    used = {part["$ref"] for _, part in places(SCHEMAS[kind]) if isinstance(part, dict) and "$ref" in part}
    assert {f"#/$defs/{name}" for name in SCHEMAS[kind]["$defs"]} == used


def test_both_schemas_mean_the_same_by_a_name() -> None:
    one, other = (SCHEMAS[kind]["$defs"] for kind in KINDS)
    assert {name for name in one if name in other and one[name] != other[name]} == set()


@pytest.mark.parametrize("kind", KINDS)
def test_patterns_are_those_of_editors_too(kind: str) -> None:
    """Neither inline flags nor Python's own anchors and groups; a dot means other things to others."""
    patterns = [part["pattern"] for _, part in places(SCHEMAS[kind]) if isinstance(part, dict) and "pattern" in part]
    bare = {one: re.sub(r"\\[^AZdDwWb]|\[[^\]]*\]", "", one) for one in patterns}
    assert bare
    nothing([one for one in patterns if re.search(r"\.|\\|\(\?[^!=:]", bare[one])])


@pytest.mark.parametrize("name", sorted(WRITTEN_DOWN))
def test_whatever_is_written_down_fits(name: str) -> None:
    found = [_document(content) for content in contents(WRITTEN_DOWN[name])]
    assert found
    for content in found:
        assert (refusals(content), misfits(content)) == ([], [])


def test_the_documents_with_every_key_fit() -> None:
    for content in WHOLE:
        assert (refusals(content), misfits(content)) == ([], [])


def test_examples_name_the_schema_of_their_kind() -> None:
    for path in files(".yaml"):
        if ROOT / "examples" in path.parents:
            named = COMMENT.match(text(path))
            assert named, f"{shown(path)} does not begin with the comment that names its schema"
            (content,) = contents(text(path))
            assert (path.parent / named[1]).resolve() == ROOT / "docs" / f"{content['kind'].lower()}.schema.json"


def _known(said: list[str]) -> set[str]:
    """The keys the reader lists where it met one it does not know."""
    (listed,) = [one.rpartition("the keys here are ")[2] for one in said if f"{UNKNOWN}: is no key here" in one]
    return set(listed.split(", "))


def test_both_know_the_same_keys() -> None:
    """A key nobody knows, put into every mapping: both refuse it, or both take it for the user's own."""
    known: dict[tuple[str, ...], set[str]] = defaultdict(set)
    for content in WHOLE:
        for place, value in places(content):
            if not isinstance(value, dict):
                continue
            changed = replaced(content, place, {**value, UNKNOWN: "a"})
            said = refusals(changed)
            closed = [one for one in misfits(changed) if one.validator == "additionalProperties"]
            assert bool(said) == bool(closed), (place, said)
            for error in closed:
                assert tuple(error.absolute_path) == place
                known[tuple(sorted(part_of(error)["properties"]))] |= _known(said)
    assert {keys: set(keys) for keys in known} == known
    assert set(known) == {tuple(sorted(part["properties"])) for kind in KINDS for part in mappings(SCHEMAS[kind])}


def _compare(content: Json, place: Place) -> None:
    """The schema says what the reader says, but for what lies beyond any schema."""
    said = refusals(content)
    if fits(content):
        nothing(f"only the reader, at {place}: {one}" for one in said if not BEYOND.search(one))
    else:
        assert said, f"only the schema, at {place}: {misfits(content)[0].message[:300]}"


def _keys(part: Any) -> Json:
    return part if isinstance(part, dict) else {}


WORDS = sorted({one for kind in KINDS for _, part in places(SCHEMAS[kind]) for one in _keys(part).get("enum", ())})
ODD = [
    *("a b", "/", "..", "/./a", "/a/../b", "a@b@c", "x:y", "http://a b", "https://u@h", "s3://ab", "gs://ab", "role:"),
    *("a" * 200 + "@b", "a" * 201 + "@b", "@daily", "* * * *", "true", "iter"),
    *("workload", "callback", "2026-06-11", "2026-06-11t08:00:00.5+02:00", "2026-13-11T08:00:00Z", "((", "\ufeff", "é"),
]
SIZES = ["0", "0Gi", "1_000", "5 kB", "10kiB", "9999999P"]
OTHERS: list[Any] = [
    *(None, True, False, 1.5, 7, "", " ", [], {}, [{}], ["a"], ["a", "a"], ["a", 1], {"step": "a"}, {"a": "{{ x"}),
    *("{{ workload.x }}", "a {{ workload.x }}", "{% if workload.x %}a{% endif %}", "{{ 1 + }}", "{{ nobody }}"),
    *("{{ '" + "a" * 19_992 + "' }}", "{{ '" + "a" * 19_993 + "' }}", "{{ workload.x }}\n", " {{ workload.x }} "),
]
DISTINGUISHING = ("kind", "controls", "backend", "type")


def _variants(value: Any) -> Iterator[Any]:
    """What might stand there instead."""
    yield from OTHERS
    if isinstance(value, int):
        yield from SIZES
    elif value in WORDS:
        yield from (*WORDS, value.upper(), f"{value} ")
    elif isinstance(value, str):
        yield from (*SIZES, *ODD)
        yield from (f"{value}\n", f" {value}", f"{value} ", f"{value}\nx", value.upper(), f"-{value}", value[:1])
        yield from (f"{value[:2]}{odd}{value[2:]}" for odd in "\n\r\0\t @/:.?#é{%")


def _farthest(fits_at: Callable[[int], bool], limit: int) -> int:
    """How far one can go from a value that fits: the schema takes this step and not the next."""
    near, far = 0, limit
    while far - near > 1:
        middle = (near + far) // 2
        near, far = (middle, far) if fits_at(middle) else (near, middle)
    return near


def _stretched(value: Any) -> Iterator[tuple[int, Callable[[int], Any]]]:
    """Ways to go on from a value, and how far to try: a greater number, a smaller one, a longer text."""
    if isinstance(value, int) and not isinstance(value, bool):
        yield 2**32, lambda steps: value + steps
        yield 2**32, lambda steps: value - steps
    if isinstance(value, str):
        yield 2**21, lambda steps: value + value[-1] * steps


def _check_bound(content: Json, place: Place, limit: int, stretched: Callable[[int], Any]) -> None:
    def at(steps: int) -> Json:
        changed: Json = replaced(content, place, stretched(steps))
        return changed

    last = _farthest(lambda steps: fits(at(steps)), limit)
    _compare(at(last), place)
    _compare(at(last + 1), place)


def _sort(content: Json, place: Place) -> tuple[Any, ...]:
    """Values of one sort are read by the same code; one of them is enough."""
    kinds: list[Any] = []
    here: Any = content
    for key in place:
        if isinstance(here, dict):
            kinds += [here.get(one) for one in DISTINGUISHING]
        here = here[key]
    return (*(key for key in place if isinstance(key, str)), *kinds, type(here))


def _sorts() -> dict[tuple[Any, ...], tuple[Json, Place]]:
    """A place for every sort of value, in the smallest document that has one."""
    by_size = sorted(WHOLE, key=lambda content: len(str(content)), reverse=True)
    return {_sort(content, place): (content, place) for content in by_size for place, _ in places(content) if place}


SORTS = _sorts()


@pytest.mark.parametrize("kind", KINDS)
def test_both_take_the_same_values(kind: str) -> None:
    for content, place in SORTS.values():
        if content["kind"] == kind:
            for variant in _variants(dict(places(content))[place]):
                _compare(replaced(content, place, variant), place)


@pytest.mark.parametrize("kind", KINDS)
def test_both_have_the_same_bounds(kind: str) -> None:
    for content, place in SORTS.values():
        if content["kind"] == kind:
            for limit, stretched in _stretched(dict(places(content))[place]):
                _check_bound(content, place, limit, stretched)


@pytest.mark.parametrize(
    ("empty", "least", "most"), [([], "minItems", "maxItems"), ({}, "minProperties", "maxProperties")]
)
def test_both_have_the_same_bounds_for_lists_and_mappings(empty: Any, least: str, most: str) -> None:
    """Of an empty one the reader says how many there may be."""
    seen = set()
    for content, place in SORTS.values():
        if isinstance(dict(places(content))[place], type(empty)):
            changed = replaced(content, place, empty)
            said = re.findall(r"expected a (?:list|mapping) of 1 to ([\d,]+) ", "\n".join(refusals(changed)))
            bounds = [part_of(error)[most] for error in misfits(changed) if error.validator == least]
            assert bounds == [int(one.replace(",", "")) for one in said], place
            seen |= set(bounds)
    every = {part[most] for kind in KINDS for _, part in places(SCHEMAS[kind]) if most in _keys(part)}
    assert seen == every


@pytest.mark.parametrize("content", WHOLE, ids=lambda content: str(content["metadata"]["path"]))
def test_both_miss_the_same_keys(content: Json) -> None:
    for place, value in places(content):
        for key in value if isinstance(value, dict) else ():
            left = {one: value[one] for one in value if one != key}
            _compare(replaced(content, place, left), (*place, key))


def _neighbours(content: Json) -> Iterator[tuple[Place, Json]]:
    """A mapping of another document of the kind, with one of its keys put in here."""
    for other in WHOLE:
        if kind_of(other) != kind_of(content):
            continue
        for place, value in places(other):
            here = dict(places(content)).get(place)
            if isinstance(value, dict) and isinstance(here, dict):
                for key in value:
                    yield (*place, key), replaced(content, place, {**here, key: value[key]})


@pytest.mark.parametrize("content", WHOLE, ids=lambda content: str(content["metadata"]["path"]))
def test_both_judge_the_same_combinations(content: Json) -> None:
    for place, changed in _neighbours(content):
        _compare(changed, place)


@pytest.mark.parametrize(
    ("path", "place", "value"),
    [
        ("a/step", "kind", "playbook"),
        ("a/step", "apiVersion", "v1"),
        ("a/step", "metadata", {"name": "no path"}),
        ("a/step", "workflow/0/step", "2nd step"),
        ("a/next", "workflow/1/step", "workload"),
        ("a/approve", "workflow/0/loop", {"in": [1]}),
        ("a/step", "workflow/0/when", "x > 1"),
        ("a/step", "workflow/0/timeout_s", "1h"),
        ("a/step", "workflow/0/executor", "MOT"),
        ("a/step", "workflow/0/lane", "{{ message.device }}"),
        ("a/step", "workflow/0/tool", "noop"),
        ("a/step", "workflow/0/tool", {"kind": "subscription"}),
        ("a/step", "workflow/0/tool", {"kind": "noop", "name": "a"}),
        ("a/step", "workflow/0/tool", [{"kind": "noop"}]),
        ("a/step", "workflow/0/tool", {"kind": "python"}),
        ("a/step", "workflow/0/tool", {"kind": "python", "function": "a:b", "code": "result = 1"}),
        ("a/step", "workflow/0/tool", {"kind": "wait", "seconds": 1, "until": "2026-06-11T08:00:00Z"}),
        ("a/step", "workflow/0/tool", {"kind": "approve", "escalate": "first"}),
        ("a/step", "workflow/0/tool", {"kind": "http", "url": "ftp://a"}),
        ("a/http", "workflow/0/tool/body", "beside json"),
        ("a/postgres", "workflow/0/tool/statement", "select {{ workload.x }}"),
        ("a/workload", "workload/deep", [{"deeper": "{{ x }}"}]),
        ("a/loop", "workflow/0/loop", {"in": [1], "max_in_flight": 2}),
        ("a/choice", "workflow/0/next", ["b", {"step": "c"}]),
        ("a/choice", "workflow/1/on_error", "ignore"),
        ("s/kafka", "spec/mode", "push"),
        ("s/kafka", "spec/topics", ["beside topic"]),
        ("s/kafka", "spec/stream", "ORDERS"),
        ("s/kafka", "spec/activation", "continuous"),
        ("s/kafka", "spec/batch_dispatch", {"max": 5}),
        ("s/kafka", "spec/ack", "after_completion"),
        ("s/kafka", "spec/headers/normalize", False),
        ("s/kafka", "spec/headers/directives", [{"header": "x", "controls": "auth", "allowed": ["a"]}]),
        ("s/kafka", "spec/headers/directives", [{"header": "x", "controls": "dispatch.playbook"}]),
        ("s/kafka", "spec/headers/directives", [{"header": "x", "controls": "content_type", "map": {"a": "b"}}]),
        ("s/nats", "spec/start", "latest"),
        ("s/nats", "spec/options", {"a": 1}),
        ("s/nats", "spec/spool", {"mode": False}),
        ("s/nats", "spec/ingress", {"gateway_path": "/a", "verify": {"type": "bearer", "secret": "a"}}),
        ("s/pubsub", "spec/spool/bucket", "s3://acme"),
        ("s/pubsub", "spec/spool/ordering", "none"),
        ("s/webhook", "spec/auth", "a"),
        ("s/webhook", "spec/spool/ordering", "per_key"),
        ("s/webhook", "spec/spool/drain/on_recovery", "interleave"),
        ("s/webhook", "spec/ingress/verify/type", "none"),
        ("s/google", "spec/ingress/verify/secret", "a"),
        ("s/google", "spec/subscription", "projects/a/subscriptions/abc"),
    ],
)
def test_both_refuse_what_is_wrong(path: str, place: str, value: Any) -> None:
    (content,) = [one for one in WHOLE if one["metadata"]["path"] == path]
    changed = json.loads(changed_text(content, {place: value}))
    assert refusals(changed)
    assert misfits(changed)


@settings(max_examples=1000, deadline=None)
@given(damaged(SMALL))
def test_both_say_the_same_of_a_damaged_document(content: Json) -> None:
    _compare(content, ())
