"""Which headers may be instructions, and how far they may go."""

from typing import Any

import pytest

from penstock.catalog.headers import folded
from tests.unit.catalog.files import changed, entry, example, only_problem

TWO = ("dispatch.playbook", "dispatch.execution_pool")


def _with_rule(**rule: Any) -> str:
    return changed(example("orders-drain"), {"spec/headers": {"directives": [{"header": "x-h", **rule}]}})


@pytest.mark.parametrize("controls", TWO)
def test_a_header_that_chooses_needs_a_list_of_what_it_may_choose(controls: str) -> None:
    place = "spec.headers.directives[0].allowed: "
    assert f"{place}is missing: {controls} needs the list" in only_problem(_with_rule(controls=controls))
    assert f"{place}expected a list of 1 to 1,000 items, found an empty one" in only_problem(
        _with_rule(controls=controls, allowed=[])
    )


@pytest.mark.parametrize("controls", ["idempotency_key", "content_type", "schema_hint"])
def test_a_header_that_chooses_nothing_takes_any_value(controls: str) -> None:
    entry(_with_rule(controls=controls))
    assert f"allowed: {controls} takes any value" in only_problem(_with_rule(controls=controls, allowed=["a"]))


@pytest.mark.parametrize(
    ("rule", "words"),
    [
        (
            {"controls": "priority"},
            "map: is missing: priority needs to know which value of the header means which pool",
        ),
        ({"controls": "priority", "map": {}}, "map: expected a mapping of 1 to 1,000 keys, found an empty one"),
        ({"controls": "priority", "map": {"high": "Pool One"}}, "map.high: expected a pool's name"),
        ({"controls": "priority", "map": {"a": "b"}, "allowed": ["a"]}, "allowed: priority takes map"),
        ({"controls": TWO[0], "allowed": ["a"], "map": {"a": "b"}}, "map: dispatch.playbook takes allowed, a list"),
        ({"controls": TWO[0], "allowed": ["a b"]}, "allowed[0]: expected a path such as"),
        ({"controls": TWO[1], "allowed": ["A"]}, "allowed[0]: expected a pool's name"),
        ({"controls": TWO[1], "allowed": ["a", "a"]}, "allowed[1]: 'a' stands here twice"),
        ({"controls": TWO[1], "alowed": ["a"]}, "alowed: is no key here: did you mean allowed?"),
        ({"controls": "auth", "allowed": ["a"]}, "controls: a header never chooses a credential"),
        ({"controls": "trace"}, "controls: trace context needs no directive: set headers.trace.propagate to w3c"),
        (
            {"controls": "pool"},
            "controls: expected dispatch.playbook, dispatch.execution_pool, priority, idempotency_key,",
        ),
        ({}, "controls: is missing"),
        ({"controls": "content_type", "header": " x"}, "header: expected a header's name"),
        ({"controls": "content_type", "header": 5}, "header: expected a header's name"),
    ],
)
def test_a_rule_that_cannot_be_kept_is_refused(rule: dict[str, Any], words: str) -> None:
    assert f"spec.headers.directives[0].{words}" in only_problem(_with_rule(**rule))


@pytest.mark.parametrize(
    ("headers", "words"),
    [
        ({"trace": {"propagate": "b3"}}, "spec.headers.trace.propagate: expected w3c or off, found 'b3'"),
        ({"trace": {"trust": "yes"}}, "spec.headers.trace.trust: expected continue, link or restart"),
        (
            {"trace": {"baggage_allowlist": ["a b"]}},
            "spec.headers.trace.baggage_allowlist[0]: expected a key of the baggage",
        ),
        ({"trace": {}, "normalize": False}, "spec.headers.normalize: directives and trace read the normalised headers"),
        ({"passthrough": "drop"}, "spec.headers.passthrough: expected data, found 'drop'"),
        ({"directives": {}}, "spec.headers.directives: expected a list of 1 to 100 items, found a mapping"),
        ({"directives": ["x"]}, "spec.headers.directives[0]: expected a mapping, found 'x'"),
    ],
)
def test_the_rest_of_the_block(headers: dict[str, Any], words: str) -> None:
    assert words in only_problem(changed(example("orders-drain"), {"spec/headers": headers}))


def test_only_ascii_letters_are_folded() -> None:
    assert folded("X-İd-ÄB-Key") == "x-İd-Äb-key"
