"""Trace context: the W3C's table, and what each degree of trust makes of the caller's trace."""

import pytest

from penstock.directives.headers import Attribute, normalise
from penstock.directives.rules import TraceRules
from penstock.directives.trace import Trace, identity_of, read_parent, trace_of
from tests.unit.directives.w3c import CASES, PARENT, SPAN_ID, TRACE_ID, Case

IDENTITY = identity_of("orders", "topic-0", "17")
CALLER: list[Attribute] = [("traceparent", PARENT.encode()), ("tracestate", b"foo=1")]


def traced(rules: TraceRules, *attributes: Attribute) -> Trace:
    return trace_of(rules, normalise(attributes), IDENTITY)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.why)
def test_the_w3c_table(case: Case) -> None:
    trace = traced(TraceRules(), *((key, value.encode()) for key, value in case.sent))
    _, trace_id, span_id, _ = trace.traceparent.split("-")
    assert (trace_id == TRACE_ID) == case.continued
    assert span_id != SPAN_ID
    assert trace.tracestate == case.tracestate
    assert read_parent([trace.traceparent]) == trace.traceparent


def test_continue_makes_a_child_of_the_callers_span() -> None:
    trace = traced(TraceRules(), *CALLER)
    assert (trace.parent, trace.link, trace.tracestate, trace.dropped) == (PARENT, None, "foo=1", ())


def test_link_begins_a_trace_and_keeps_the_callers() -> None:
    trace = traced(TraceRules(trust="link"), *CALLER)
    assert (trace.parent, trace.link, trace.tracestate, trace.dropped) == (None, PARENT, "foo=1", ())
    assert TRACE_ID not in trace.traceparent


def test_restart_begins_a_trace_and_drops_the_callers() -> None:
    trace = traced(TraceRules(trust="restart"), *CALLER)
    assert (trace.parent, trace.link, trace.tracestate) == (None, None, None)
    assert trace.dropped == ("traceparent", "tracestate")
    assert TRACE_ID not in trace.traceparent


@pytest.mark.parametrize(("sent", "passed"), [("00", "00"), ("01", "01"), ("02", "00"), ("ff", "01"), ("0a", "00")])
def test_of_the_flags_only_sampled_is_passed_on(sent: str, passed: str) -> None:
    assert traced(TraceRules(), ("traceparent", f"{PARENT[:-2]}{sent}".encode())).traceparent.endswith(f"-{passed}")


def test_ids_depend_on_the_message_and_on_nothing_else() -> None:
    first, again = traced(TraceRules()), traced(TraceRules())
    other = trace_of(TraceRules(), {}, identity_of("orders", "topic-0", "18"))
    assert first == again
    assert first.traceparent != other.traceparent


def test_values_that_are_not_text_are_dropped_and_named() -> None:
    rules = TraceRules(baggage_allowlist=("tenant",))
    trace = traced(rules, ("traceparent", b"\xff"), ("tracestate", b"foo=1"), ("baggage", b"tenant=\xff"))
    assert trace.dropped == ("traceparent", "tracestate", "baggage")
    kept = traced(rules, CALLER[0], ("tracestate", b"foo=1"), ("tracestate", b"\0"))
    assert (kept.parent, kept.tracestate, kept.dropped) == (PARENT, None, ("tracestate",))


def test_the_stored_form_says_what_there_is_in_a_fixed_order() -> None:
    trace = Trace("t", None, "l", "a=1", {"k": 'v"'}, ("baggage",))
    assert trace.to_json() == (
        '{"traceparent":"t","link":"l","tracestate":"a=1","baggage":{"k":"v\\""},"dropped":["baggage"]}'
    )
