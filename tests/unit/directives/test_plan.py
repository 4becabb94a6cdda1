"""Directives: what is listed is followed, everything else is data and on record."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.directives.headers import Attribute, normalise
from penstock.directives.plan import Plan, plan
from penstock.directives.rules import Rule, Rules, TraceRules

ROUTE = Rule("X-Route", "dispatch.playbook", allowed=("bills", "fraud"))
POOL = Rule("x-pool", "dispatch.execution_pool", allowed=("iot", "shared"))
PRIORITY = Rule("x-priority", "priority", map={"high": "fast", "low": "slow"})
KEY = Rule("x-key", "idempotency_key")


def planned(rules: list[Rule], *attributes: Attribute) -> Plan:
    return plan(Rules("s", tuple(rules)), normalise(attributes), "id")


def test_a_listed_value_is_followed_whatever_the_case_of_its_key() -> None:
    made = planned([ROUTE], ("x-ROUTE", b"fraud"))
    assert (made.playbook, made.to_json()) == (
        "fraud",
        '{"applied":[{"header":"x-route","controls":"dispatch.playbook","value":"fraud"}],"ignored":[],"trace":null}',
    )


@pytest.mark.parametrize("value", ["Fraud", "fraud ", " fraud", "fraud\n", "fraud/", "fraudulent", "fr", "\u202efraud"])
def test_a_near_miss_is_ignored_and_recorded(value: str) -> None:
    made = planned([ROUTE], ("x-route", value.encode()))
    assert made.playbook is None
    assert [(one.value, one.reason) for one in made.ignored] == [(value, "not_allowed")]


def test_the_last_of_several_values_counts() -> None:
    assert planned([ROUTE], ("x-route", b"bills"), ("X-Route", b"fraud")).playbook == "fraud"
    assert planned([ROUTE], ("x-route", b"bills"), ("X-Route", b"evil")).playbook is None


@pytest.mark.parametrize("rules", [[POOL, PRIORITY], [PRIORITY, POOL]])
def test_an_explicit_pool_beats_a_priority_whatever_the_order(rules: list[Rule]) -> None:
    assert planned(rules, ("x-pool", b"iot"), ("x-priority", b"high")).pool == "iot"
    assert planned(rules, ("x-pool", b"evil"), ("x-priority", b"high")).pool == "fast"


def test_of_one_control_the_later_rule_that_applies_wins() -> None:
    second = Rule("x-second", "dispatch.playbook", allowed=("late",))
    assert planned([ROUTE, second], ("x-second", b"late"), ("x-route", b"bills")).playbook == "late"
    assert planned([ROUTE, second], ("x-second", b"evil"), ("x-route", b"bills")).playbook == "bills"


def test_the_value_of_a_priority_is_the_pool_it_stands_for() -> None:
    assert [one.value for one in planned([PRIORITY], ("x-priority", b"low")).applied] == ["slow"]


@pytest.mark.parametrize(
    ("value", "reason"), [(b"", "empty"), (b"\xff", "not_text"), (b"a\0", "not_text"), (b"k" * 513, "too_long")]
)
def test_a_free_value_is_bounded_text(value: bytes, reason: str) -> None:
    made = planned([KEY], ("x-key", value))
    assert (made.idempotency_key, [one.reason for one in made.ignored]) == (None, [reason])


def test_a_free_value_is_measured_in_characters() -> None:
    assert planned([KEY], ("x-key", "💧".encode() * 512)).idempotency_key == "💧" * 512
    assert planned([Rule("c", "content_type")], ("c", b"t" * 257)).content_type is None
    assert planned([Rule("c", "schema_hint")], ("c", b"t" * 256)).schema_hint == "t" * 256


def test_an_ignored_value_is_shown_up_to_256_characters() -> None:
    ignored = planned([KEY], ("x-key", "é".encode() * 600)).ignored
    assert [one.value for one in ignored] == ["é" * 256]


def test_applied_and_ignored_stand_in_the_order_of_the_rules() -> None:
    made = planned(
        [KEY, ROUTE, POOL, PRIORITY], ("x-priority", b"?"), ("x-pool", b"iot"), ("x-key", b"k"), ("x-route", b"")
    )
    assert [one.header for one in made.applied] == ["x-key", "x-pool"]
    assert [(one.header, one.reason) for one in made.ignored] == [("x-route", "empty"), ("x-priority", "not_allowed")]


def test_a_message_that_asks_for_nothing_leaves_no_record() -> None:
    made = planned([KEY, ROUTE], ("other", b"data"))
    assert (made.to_json(), made.trace) == (None, None)


def test_a_message_under_trace_rules_always_has_a_trace() -> None:
    made = plan(Rules("s", (), TraceRules()), {}, "id")
    assert made.trace is not None
    assert json.loads(made.to_json() or "")["trace"] == {"traceparent": made.trace.traceparent}
    assert plan(Rules("s", (), TraceRules(propagate=None)), {}, "id").trace is None


@pytest.mark.parametrize(
    "said",
    [
        {"controls": "dispatch.playbook"},
        {"controls": "dispatch.execution_pool", "map": {"a": "b"}},
        {"controls": "priority", "allowed": ("a",)},
        {"controls": "priority"},
        {"controls": "idempotency_key", "allowed": ("a",)},
        {"controls": "credential", "allowed": ("a",)},
    ],
)
def test_a_rule_without_its_allowlist_cannot_be_made(said: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="the directive on 'x-h'"):
        Rule("X-H", **said)


@pytest.mark.parametrize("said", [{"baggage_allowlist": ("a b",)}, {"baggage_allowlist": ("",)}, {"trust": "yes"}])
def test_trace_rules_that_mean_nothing_cannot_be_made(said: dict[str, Any]) -> None:
    with pytest.raises(ValueError):
        TraceRules(**said)


NAMES = st.sampled_from(["x-route", "X-ROUTE", "x-pool", "X-Pool", "x-priority", "x-key", "traceparent"])
SAID = st.binary(max_size=12) | st.sampled_from(
    [b"bills", b"fraud", b"iot", b"high", b"low", b"Bills", b"fast", b"slow"]
)


@given(st.lists(st.tuples(NAMES, SAID), max_size=10), st.permutations([ROUTE, POOL, PRIORITY, KEY]))
def test_no_header_reaches_what_is_not_listed(attributes: list[Attribute], rules: list[Rule]) -> None:
    made = planned(rules, *attributes)
    assert made.playbook in {None, "bills", "fraud"}
    assert made.pool in {None, "iot", "shared", "fast", "slow"}
    assert len(made.applied) + len(made.ignored) <= len(rules)
