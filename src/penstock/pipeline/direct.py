"""What the headers of each message come to, in Columns: the rules of penstock.directives.plan, one plan per spec."""

from collections.abc import Callable

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from penstock.directives import jsontext
from penstock.directives.plan import SHOWN
from penstock.directives.rules import FREE, LISTED, PLAYBOOK, POOL, PRIORITY, Rule, Rules
from penstock.pipeline import traces
from penstock.pipeline.normalise import NORMALISED, header
from penstock.pipeline.texts import last, quoted

DIRECTED = (*NORMALISED, "playbook", "pool", "dedup_key", "trace", "directives")


def direct(rules: Rules) -> Callable[[DataFrame], DataFrame]:
    """Adds playbook, pool (null where the subscription's own stands), dedup_key, trace and the record of it all.

    Each step is a select of its own, so that nothing is computed twice.
    """

    def directed(messages: DataFrame) -> DataFrame:
        return (
            messages.select(*NORMALISED, *_sent(rules))
            .select("*", *_members(rules))
            .select("*", *_effective(rules), *_kept(rules))
            .select("*", _applied(rules).alias("applied"), _ignored(rules).alias("ignored"))
            .select(
                *NORMALISED,
                _first(rules, PLAYBOOK).alias("playbook"),
                _first(rules, POOL, PRIORITY).alias("pool"),
                _first(rules, "idempotency_key").alias("dedup_key"),
                _trace(rules).alias("trace"),
                _record(rules).alias("directives"),
            )
        )

    return directed


def _names(rules: Rules) -> dict[str, str]:
    """The column of each header that is looked at."""
    traced = traces.SENT if rules.tracing else ()
    names = dict.fromkeys((*(rule.header for rule in rules.directives), *traced))
    return {name: f"sent_{number}" for number, name in enumerate(names)}


def _sent(rules: Rules) -> list[Column]:
    return [header(name).alias(column) for name, column in _names(rules).items()]


def _traced(rules: Rules) -> dict[str, Column]:
    names = _names(rules)
    return {name: F.col(names[name]) for name in traces.SENT}


def _members(rules: Rules) -> list[Column]:
    names = _names(rules)
    headers = dict.fromkeys(rule.header for rule in rules.directives)
    lasts = [last(F.col(names[header])).alias(f"last_{names[header]}") for header in headers]
    return [*lasts, *(traces.members(rules.subscription, _traced(rules)) if rules.tracing else ())]


def _kept(rules: Rules) -> list[Column]:
    return traces.kept(rules.tracing) if rules.tracing else []


def _effective(rules: Rules) -> list[Column]:
    """What each rule comes to, null where it does not apply."""
    names = _names(rules)
    return [
        _accepted(rule, F.col(f"last_{names[rule.header]}")).alias(f"effective_{number}")
        for number, rule in enumerate(rules.directives)
    ]


def _accepted(rule: Rule, value: Column) -> Column:
    present = value != F.lit("")
    if rule.controls in FREE:
        return F.when(present & (F.char_length(value) <= F.lit(FREE[rule.controls])), value)
    if rule.controls in LISTED:
        return F.when(present & value.isin(*rule.allowed), value)
    pools = F.create_map(*(F.lit(text) for pair in rule.map.items() for text in pair))
    return F.when(present, F.try_element_at(pools, value))


def _applied(rules: Rules) -> Column:
    items = [
        F.concat(F.lit(_opening(rule)), quoted(F.col(f"effective_{number}")), F.lit("}"))
        for number, rule in enumerate(rules.directives)
    ]
    return F.concat_ws(",", *items)


def _ignored(rules: Rules) -> Column:
    names = _names(rules)
    items = [_ignored_item(rule, number, names[rule.header]) for number, rule in enumerate(rules.directives)]
    return F.concat_ws(",", *items)


def _ignored_item(rule: Rule, number: int, sent: str) -> Column:
    value = F.col(f"last_{sent}")
    refused = F.lit("too_long" if rule.controls in FREE else "not_allowed")
    reason = F.when(value.isNull(), F.lit("not_text")).when(value == F.lit(""), F.lit("empty")).otherwise(refused)
    shown = F.coalesce(quoted(F.substring(value, 1, SHOWN)), F.lit("null"))
    item = F.concat(F.lit(_opening(rule)), shown, F.lit(',"reason":"'), reason, F.lit('"}'))
    return F.when(F.col(sent).isNotNull() & F.col(f"effective_{number}").isNull(), item)


def _opening(rule: Rule) -> str:
    return f'{{"header":{jsontext.quoted(rule.header)},"controls":{jsontext.quoted(rule.controls)},"value":'


def _first(rules: Rules, *controls: str) -> Column:
    """The effective value of the first of these controls that has one; within a control the last rule comes first."""
    numbers = [
        number
        for control in controls
        for number, rule in reversed(list(enumerate(rules.directives)))
        if rule.controls == control
    ]
    return F.coalesce(*(F.col(f"effective_{number}") for number in numbers), F.lit(None).cast("string"))


def _trace(rules: Rules) -> Column:
    return traces.traceparent(rules.tracing) if rules.tracing else F.lit(None).cast("string")


def _record(rules: Rules) -> Column:
    applied, ignored = F.col("applied"), F.col("ignored")
    trace = traces.trace_json(rules.tracing, _traced(rules)) if rules.tracing else F.lit("null")
    record = F.concat(
        F.lit('{"applied":['), applied, F.lit('],"ignored":['), ignored, F.lit('],"trace":'), trace, F.lit("}")
    )
    return record if rules.tracing else F.when((applied != F.lit("")) | (ignored != F.lit("")), record)
