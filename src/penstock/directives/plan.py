"""What one message's headers come to, under the rules of its subscription."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from penstock.directives.headers import Value, texts
from penstock.directives.jsontext import array, member, quoted, record
from penstock.directives.rules import FREE, LISTED, PLAYBOOK, POOL, PRIORITY, Rule, Rules
from penstock.directives.trace import Trace, trace_of

SHOWN = 256


@dataclass(frozen=True)
class Applied:
    """A directive that was followed: the value is what it came to, for a priority the pool."""

    header: str
    controls: str
    value: str

    def to_json(self) -> str:
        return record(_opening(self.header, self.controls, self.value))


@dataclass(frozen=True)
class Ignored:
    """A directive that was not followed, and why. A value that is not text is None, a long one cut."""

    header: str
    controls: str
    value: str | None
    reason: str

    def to_json(self) -> str:
        return record((*_opening(self.header, self.controls, self.value), member("reason", quoted(self.reason))))


@dataclass(frozen=True)
class Plan:
    """Everything the headers decided; None where the subscription's own choice stands."""

    playbook: str | None
    pool: str | None
    idempotency_key: str | None
    content_type: str | None
    schema_hint: str | None
    trace: Trace | None
    applied: list[Applied]
    ignored: list[Ignored]

    def to_json(self) -> str | None:
        """As it is stored; None if nothing was applied, ignored or traced."""
        if not (self.applied or self.ignored or self.trace):
            return None
        trace = self.trace.to_json() if self.trace else "null"
        applied, ignored = (array(one.to_json() for one in items) for items in (self.applied, self.ignored))
        return record((member("applied", applied), member("ignored", ignored), member("trace", trace)))


def outcomes_of(rules: Rules, headers: Mapping[str, Value | Sequence[Value]]) -> list[Applied | Ignored | None]:
    """What each rule came to, in their order; None where its header was not sent."""
    sent = ((rule, texts(headers, rule.header)) for rule in rules.directives)
    return [_outcome(rule, values) if values else None for rule, values in sent]


def plan(rules: Rules, headers: Mapping[str, Value | Sequence[Value]], identity: str) -> Plan:
    """Each rule in its order; of one control the later rule that applies wins, and a pool beats a priority."""
    outcomes = outcomes_of(rules, headers)
    applied = [one for one in outcomes if isinstance(one, Applied)]
    effective = {one.controls: one.value for one in applied}
    return Plan(
        playbook=effective.get(PLAYBOOK),
        pool=effective.get(POOL, effective.get(PRIORITY)),
        idempotency_key=effective.get("idempotency_key"),
        content_type=effective.get("content_type"),
        schema_hint=effective.get("schema_hint"),
        trace=trace_of(rules.tracing, headers, identity) if rules.tracing else None,
        applied=applied,
        ignored=[one for one in outcomes if isinstance(one, Ignored)],
    )


def _outcome(rule: Rule, values: Sequence[str | None]) -> Applied | Ignored:
    value = values[-1]
    reason = _reason(rule, value)
    if value is None or reason:
        return Ignored(rule.header, rule.controls, None if value is None else value[:SHOWN], reason or "not_text")
    return Applied(rule.header, rule.controls, rule.map.get(value, value))


def _reason(rule: Rule, value: str | None) -> str | None:
    if value is None:
        return "not_text"
    if not value:
        return "empty"
    if rule.controls in FREE:
        return "too_long" if len(value) > FREE[rule.controls] else None
    listed = rule.allowed if rule.controls in LISTED else rule.map
    return None if value in listed else "not_allowed"


def _opening(header: str, controls: str, value: str | None) -> tuple[str, ...]:
    shown = "null" if value is None else quoted(value)
    return member("header", quoted(header)), member("controls", quoted(controls)), member("value", shown)
