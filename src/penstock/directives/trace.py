"""W3C trace context: what the caller's trace becomes.

A traceparent is valid alone, with blanks around it; sent twice it is not. Without a valid one a new trace begins, and
the tracestate is dropped; so it is when any member of it breaks the grammar, when a key stands twice in it, or when it
has more than 32 members, empty ones not counted. Of the flags only `sampled` is passed on.
Ids of our own are taken from the identity of the message: computed twice they are the same.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256

from penstock.directives.baggage import OWS, read_baggage
from penstock.directives.headers import Value, texts
from penstock.directives.jsontext import array, member, quoted, record
from penstock.directives.rules import TraceRules

TRACEPARENT = "traceparent"
TRACESTATE = "tracestate"
BAGGAGE = "baggage"
STATE_MEMBERS = 32
# Patterns are read by Python and by Java, always against the whole text. The groups: trace id, span id, flags.
_IDS = r"-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})"
PARENT_PATTERN = rf"(?:00(?![\s\S]{{54}})|(?!00|ff)[0-9a-f]{{2}}){_IDS}(?:-[\s\S]*)?"
_KEY = r"[a-z0-9_*/\-]"
_VALUE = r"\x21-\x2B\x2D-\x3C\x3E-\x7E"
STATE_PATTERN = (
    rf"(?:[a-z]{_KEY}{{0,255}}|[a-z0-9]{_KEY}{{0,240}}@[a-z]{_KEY}{{0,13}})=[\x20{_VALUE}]{{0,255}}[{_VALUE}]"
)
_PARENT = re.compile(PARENT_PATTERN)
_STATE = re.compile(STATE_PATTERN)


@dataclass(frozen=True)
class Trace:
    """The trace of one message. The tracestate is the caller's, and goes with `parent` or `link`."""

    traceparent: str
    parent: str | None
    link: str | None
    tracestate: str | None
    baggage: Mapping[str, str]
    dropped: tuple[str, ...]

    def to_json(self) -> str:
        """As it is stored: what there is, in this order."""
        said = ("traceparent", self.traceparent), ("parent", self.parent), ("link", self.link)
        members = [member(key, quoted(text)) for key, text in (*said, (TRACESTATE, self.tracestate)) if text]
        if self.baggage:
            members.append(member(BAGGAGE, record(member(key, quoted(one)) for key, one in self.baggage.items())))
        if self.dropped:
            members.append(member("dropped", array(map(quoted, self.dropped))))
        return record(members)


def identity_of(subscription: str, part: str, message_id: str) -> str:
    """The text a message's own trace ids are made of."""
    return "\n".join((subscription, part, message_id))


def trace_of(rules: TraceRules, headers: Mapping[str, Value | Sequence[Value]], identity: str) -> Trace:
    """Continue the caller's trace, link to it, or begin anew."""
    parents, states, baggages = (texts(headers, name) for name in (TRACEPARENT, TRACESTATE, BAGGAGE))
    caller = read_parent(parents or ()) if rules.trust != "restart" else None
    state = read_state(states or ()) if caller else None
    baggage = read_baggage(baggages or (), rules.baggage_allowlist) if rules.baggage_allowlist else {}
    kept = {TRACEPARENT: caller, TRACESTATE: state, BAGGAGE: baggage}
    sent = {TRACEPARENT: parents, TRACESTATE: states, BAGGAGE: baggages}
    return Trace(
        traceparent=_own(identity, caller if rules.trust == "continue" else None),
        parent=caller if rules.trust == "continue" else None,
        link=caller if rules.trust == "link" else None,
        tracestate=state or None,
        baggage=baggage or {},
        dropped=tuple(name for name, values in sent.items() if values is not None and kept[name] is None),
    )


def read_parent(values: Sequence[str | None]) -> str | None:
    """The caller's traceparent as version 00 says it; None if there is none, or none that is valid."""
    value = values[0] if len(values) == 1 else None
    found = None if value is None else _PARENT.fullmatch(value.strip(OWS))
    return f"00-{found[1]}-{found[2]}-{_sampled(found[3])}" if found else None


def read_state(values: Sequence[str | None]) -> str | None:
    """The caller's tracestate as one line, empty if it has no members; None if it is not valid."""
    texts = [value for value in values if value is not None]
    members = [member for one in ",".join(texts).split(",") if (member := one.strip(OWS))]
    keys = {member.split("=", 1)[0] for member in members}
    if len(texts) < len(values) or len(members) > STATE_MEMBERS or len(keys) < len(members):
        return None
    return ",".join(members) if all(map(_STATE.fullmatch, members)) else None


def _own(identity: str, caller: str | None) -> str:
    digest = sha256(identity.encode("utf-8")).hexdigest()
    trace_id, flags = (caller[3:35], caller[-2:]) if caller else (digest[:32], "01")
    return f"00-{trace_id}-{digest[32:48]}-{flags}"


def _sampled(flags: str) -> str:
    return "01" if flags[1] in "13579bdf" else "00"


def carried_on(trace: str | None) -> dict[str, str]:
    """The headers that take a job's trace to whoever it calls: a traceparent alone, or what a message's trace holds.

    Baggage stays here: what a sender told us is not for everybody we call.
    """
    try:
        told = json.loads(trace or "null")
    except ValueError:
        told = {TRACEPARENT: trace}
    kept = told if isinstance(told, dict) else {}
    parent, state = read_parent([kept.get(TRACEPARENT)]), read_state([kept.get(TRACESTATE)])
    sent = {TRACEPARENT: parent, TRACESTATE: state if parent else None}
    return {name: value for name, value in sent.items() if value}
