"""W3C trace context and baggage in Columns: the rules of penstock.directives.trace and .baggage.

Used in three steps, each a select of its own: the headers' members, what is kept of them, the trace itself.
"""

from collections.abc import Sequence

from pyspark.sql import Column
from pyspark.sql import functions as F

from penstock.directives import jsontext
from penstock.directives.baggage import BYTES, MEMBERS, member_pattern
from penstock.directives.rules import TraceRules
from penstock.directives.trace import BAGGAGE, PARENT_PATTERN, STATE_MEMBERS, STATE_PATTERN, TRACEPARENT, TRACESTATE
from penstock.pipeline.texts import (
    all_text,
    last,
    listed,
    matches,
    quoted,
    quoted_plainly,
    text_or_null,
    trimmed,
    whole,
)

SENT = (TRACEPARENT, TRACESTATE, BAGGAGE)
_ODD = tuple("13579bdf")


def members(subscription: str, sent: dict[str, Column]) -> list[Column]:
    """Step one: the parts of each header, and the digest a message's own ids are taken from."""
    parent = F.when(F.size(sent[TRACEPARENT]) == F.lit(1), trimmed(F.get(sent[TRACEPARENT], F.lit(0))))
    identity = F.concat_ws("\n", F.lit(subscription), _or_empty("source_part"), _or_empty("message_id"))
    return [
        parent.alias("sent_parent"),
        F.when(all_text(sent[TRACESTATE]), listed(sent[TRACESTATE])).alias("state_members"),
        F.when(_in_bounds(sent[BAGGAGE]), listed(sent[BAGGAGE])).alias("baggage_members"),
        F.sha2(identity.cast("binary"), 256).alias("digest"),
    ]


def kept(rules: TraceRules) -> list[Column]:
    """Step two: the caller's traceparent and tracestate, and each allowlisted baggage value, or null."""
    baggage = [_baggage_value(key).alias(f"baggage_{number}") for number, key in enumerate(rules.baggage_allowlist)]
    return [_caller(rules).alias("caller"), _state().alias("state"), *baggage]


def traceparent(rules: TraceRules) -> Column:
    """Step three: the trace of the message itself."""
    caller, digest = F.col("caller"), F.col("digest")
    fresh = F.concat(F.lit("00-"), F.substring(digest, 1, 32), F.lit("-"), F.substring(digest, 33, 16), F.lit("-01"))
    if rules.trust != "continue":
        return fresh
    child = F.concat(F.substring(caller, 1, 36), F.substring(digest, 33, 16), F.substring(caller, 53, 3))
    return F.coalesce(child, fresh)


def trace_json(rules: TraceRules, sent: dict[str, Column]) -> Column:
    """Step three: the trace as it is stored."""
    said = [
        _member("traceparent", quoted_plainly(traceparent(rules))),
        _member("link" if rules.trust == "link" else "parent", quoted_plainly(F.col("caller"))),
        _member(TRACESTATE, quoted(F.when(_state_is_kept(), F.nullif(F.col("state"), F.lit(""))))),
        _member(BAGGAGE, _baggage_json(rules.baggage_allowlist)),
        _member("dropped", _enclosed("[", _dropped(rules, sent), "]")),
    ]
    return F.concat(F.lit("{"), F.concat_ws(",", *said), F.lit("}"))


def _or_empty(name: str) -> Column:
    return F.coalesce(F.col(name), F.lit(""))


def _in_bounds(values: Column) -> Column:
    return all_text(values) & (F.octet_length(F.array_join(values, ",")) <= F.lit(BYTES))


def _caller(rules: TraceRules) -> Column:
    if rules.trust == "restart":
        return F.lit(None).cast("string")
    sent = F.col("sent_parent")
    flags = F.when(F.substring(sent, 55, 1).isin(*_ODD), F.lit("-01")).otherwise(F.lit("-00"))
    return F.when(matches(sent, PARENT_PATTERN), F.concat(F.lit("00-"), F.substring(sent, 4, 49), flags))


def _state() -> Column:
    members = F.col("state_members")
    keys = F.transform(members, lambda member: F.substring_index(member, "=", 1))
    unique = F.size(F.array_distinct(keys)) == F.size(members)
    sound = F.forall(members, lambda member: matches(member, STATE_PATTERN))
    return F.when((F.size(members) <= F.lit(STATE_MEMBERS)) & unique & sound, F.array_join(members, ","))


def _state_is_kept() -> Column:
    return F.col("caller").isNotNull() & F.col("state").isNotNull()


def _baggage_value(key: str) -> Column:
    pattern = member_pattern(key)
    members = F.when(F.size("baggage_members") <= F.lit(MEMBERS), F.col("baggage_members"))
    found = last(F.filter(members, lambda member: matches(member, pattern)))
    value = F.regexp_extract(found, whole(pattern), 1)
    return F.when(F.contains(value, F.lit("%")), _decoded(value)).otherwise(value)


def _decoded(value: Column) -> Column:
    """Percent-decoded through hexadecimal: url_decode would make a blank of `+`, and fail on a lone `%`."""
    pieces = F.split(F.regexp_replace(value, "%(?![0-9A-Fa-f]{2})", "%25"), "%", -1)
    rest = F.transform(
        F.slice(pieces, F.lit(2), F.size(pieces)),
        lambda piece: F.concat(F.substring(piece, 1, 2), F.hex(F.substr(piece, F.lit(3)))),
    )
    raw = F.unhex(F.concat(F.hex(F.get(pieces, F.lit(0))), F.array_join(rest, "")))
    return text_or_null(F.make_valid_utf8(raw.cast("string")).cast("binary"))


def _baggage_json(allowlist: Sequence[str]) -> Column:
    values = [_member(key, quoted(F.col(f"baggage_{number}"))) for number, key in enumerate(allowlist)]
    return _enclosed("{", F.concat_ws(",", *values), "}")


def _dropped(rules: TraceRules, sent: dict[str, Column]) -> Column:
    lost = {TRACEPARENT: F.col("caller").isNull(), TRACESTATE: ~_state_is_kept()}
    if rules.baggage_allowlist:
        too_many = F.size("baggage_members") > F.lit(MEMBERS)
        lost[BAGGAGE] = F.col("baggage_members").isNull() | too_many
    names = [F.when(sent[name].isNotNull() & gone, F.lit(jsontext.quoted(name))) for name, gone in lost.items()]
    return F.concat_ws(",", *names)


def _member(key: str, value: Column) -> Column:
    return F.concat(F.lit(jsontext.quoted(key) + ":"), value)


def _enclosed(before: str, text: Column, after: str) -> Column:
    return F.when(text != F.lit(""), F.concat(F.lit(before), text, F.lit(after)))
