"""A subscription's headers block, as the directives' engine takes it: the same for Spark, the gateway and a dry run."""

from typing import cast

from penstock.catalog.headers import Trace
from penstock.catalog.subscription import SubscriptionSpec
from penstock.directives.rules import Rule, Rules, TraceRules, Trust


def rules_of(spec: SubscriptionSpec) -> Rules:
    """All of its rules, in their order."""
    directives = tuple(Rule(one.header, one.controls, one.allowed, one.map) for one in spec.headers.directives)
    return Rules(spec.path, directives, _trace_rules(spec.headers.trace))


def _trace_rules(trace: Trace | None) -> TraceRules | None:
    if trace is None or trace.propagate == "off":
        return None
    return TraceRules("w3c", trace.baggage_allowlist, cast(Trust, trace.trust))
