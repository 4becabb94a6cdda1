"""A subscription in words: what it reads, what it runs, what headers may decide, and what its limits come to."""

from collections.abc import Mapping, Sequence
from typing import Any

from penstock.catalog.headers import FREE, PLAYBOOK, POOL, PRIORITY, Directive
from penstock.catalog.source import KafkaOptions, NatsOptions, OwnOptions, PubsubOptions
from penstock.catalog.subscription import DEFAULT_POOL, SubscriptionSpec
from penstock.cli.output import duration
from penstock.directives.rules import FREE as LONGEST

_PAYLOADS = {
    "message.json": "the body is read as JSON, and its members stand beside it; what is none is a dead letter",
    "message.body": "the playbook gets the body as text",
    "message.attributes": "the playbook gets the body as text, and the headers stand beside it",
}
_RECORDED = "is recorded with the message, and nothing else yet"
_FREE = {
    "idempotency_key": "is the key of dedup, and the job's idempotency key",
    "content_type": _RECORDED,
    "schema_hint": _RECORDED,
}
_TRUST = {
    "continue": "the sender's trace goes on in the execution",
    "link": "the execution has a trace of its own, with the sender's as a link",
    "restart": "the execution has a trace of its own, and the sender's is dropped",
}
_LOSS = {
    "fail": "if the source has lost messages that were not read, the runtime ends with an error, and nothing moves",
    "skip_and_record": "if the source has lost messages that were not read, the range is recorded, and it goes on",
}


def told(spec: SubscriptionSpec, pool: str | None, unused: Sequence[str]) -> dict[str, list[str]]:
    """What it does, by subject; `pool` is what it says itself."""
    return {
        "reads": _reads(spec),
        "begins": _begins(spec),
        "runs": _runs(spec, pool),
        "headers": _headers(spec),
        "trace": _trace(spec),
        "dedup": _dedup(spec),
        "limits": _limits(spec),
        "not used yet": list(unused) or ["every key has its effect"],
    }


def own_pool(stated: str | None, of_playbook: str | None) -> str:
    """Where a message is served if no header says: the subscription's pool, else that of the playbook's first step."""
    if stated is not None:
        return f"the subscription's own, {stated}"
    if of_playbook is not None:
        return f"the playbook's own, {of_playbook}"
    return f"{DEFAULT_POOL}, as neither the subscription nor the playbook names one"


def decided(directives: Mapping[str, Any], playbook: str, pool: str) -> list[str]:
    """What the headers of a message came to, from the record that is kept with it; `pool` says whose counts else."""
    applied = directives.get("applied", [])
    said = [f"the header {item['header']} said {item['value']}, which {item['controls']} allows" for item in applied]
    said += [
        f"the header {item['header']} said {item['value']} for {item['controls']}: ignored, {item['reason']}"
        for item in directives.get("ignored", [])
    ]
    dropped = (directives.get("trace") or {}).get("dropped", [])
    said += [f"the header {name} was dropped: it is not valid, or not to be kept" for name in dropped]
    controls = {item["controls"] for item in applied}
    if PLAYBOOK not in controls:
        said.append(f"no header chose a playbook: the subscription's own, {playbook}")
    if not controls & {POOL, PRIORITY}:
        said.append(f"no header chose a pool: {pool}")
    return said


def _reads(spec: SubscriptionSpec) -> list[str]:
    said = [_place(spec) + (f", with the credential {spec.auth}" if spec.auth else "")]
    if isinstance(spec.options, KafkaOptions) and spec.options.group:
        said.append(f"its positions are published as the consumer group {spec.options.group}, for tools that watch lag")
    if spec.mode == "push":
        return [*said, "push comes with a later version: it can be registered, and not activated"]
    if spec.activation == "scheduled":
        return [*said, f"drained by the cadence {spec.cadence} (UTC): what is there then is read, and no more"]
    return [*said, f"read all the time: a batch begins every {spec.runtime.trigger_ms:,} ms at most"]


def _place(spec: SubscriptionSpec) -> str:
    match spec.options:
        case KafkaOptions(topic_pattern=str(pattern)):
            return f"Kafka: every topic whose whole name matches {pattern}, also those that come later"
        case KafkaOptions(topics=topics):
            return f"Kafka: the topic{'s' if len(topics) > 1 else ''} {', '.join(topics)}"
        case NatsOptions(stream=stream, consumer=consumer):
            return f"NATS: the stream {stream}, by its durable consumer {consumer}"
        case PubsubOptions(subscription=name, lanes=lanes):
            return f"Pub/Sub: the subscription {name}" + (", one lane per ordering key" if lanes else "")
        case OwnOptions(values=values):
            return f"your own source {spec.source}" + (f", given {', '.join(values)}" if values else "")
    path = spec.ingress.gateway_path if spec.ingress else "?"
    return f"{spec.source}: what is sent to {path}"


def _begins(spec: SubscriptionSpec) -> list[str]:
    if spec.mode == "push":
        return ["with what is sent to it"]
    position = spec.start.position
    first = {
        "latest": "the first time with what comes after that moment",
        "timestamp": f"the first time with what was published at {spec.start.at} or later",
        "ledger": "never without a ledger: a first start ends with an error",
    }.get(position, "the first time with the oldest message the source has")
    if isinstance(spec.options, NatsOptions) and position == "earliest":
        first = "the first time where the consumer's deliver policy says"
    if isinstance(spec.options, PubsubOptions):
        first = "the first time with the oldest message the subscription has not heard an acknowledgement of"
    return [first, "afterwards where the ledger ends, whoever runs it", _LOSS[spec.on_data_loss], *_restored(spec)]


def _restored(spec: SubscriptionSpec) -> tuple[str, ...]:
    if isinstance(spec.options, PubsubOptions) and spec.options.restore_mark:
        return ("an older copy of the database, once restored, is noticed by a mark at the Pub/Sub subscription",)
    return spec.cautions()


def _runs(spec: SubscriptionSpec, pool: str | None) -> list[str]:
    dispatch = spec.dispatch
    chosen = {rule.controls for rule in spec.headers.directives}
    return [
        f"the playbook {dispatch.playbook}" + (", unless a header chooses another" if PLAYBOOK in chosen else ""),
        (f"in the pool {pool}" if pool else f"in the playbook's own pool, or {DEFAULT_POOL} if it has none")
        + (", unless a header chooses another" if chosen & {POOL, PRIORITY} else ""),
        _PAYLOADS[dispatch.payload_from],
    ]


def _headers(spec: SubscriptionSpec) -> list[str]:
    rules = spec.headers.directives
    if not rules:
        return ["none decides anything: they are data"]
    said = [_rule(rule) for rule in rules]
    if {POOL, PRIORITY} <= {rule.controls for rule in rules}:
        said.append("a pool that a header chooses beats a priority")
    return [*said, "any other header is data; a value that does not count is ignored, and that is recorded"]


def _rule(rule: Directive) -> str:
    if rule.controls in FREE:
        return f"{rule.header} {_FREE[rule.controls]}: any text of up to {LONGEST[rule.controls]} characters"
    if rule.controls == PRIORITY:
        means = ", ".join(f"{value} means {pool}" for value, pool in sorted(rule.map.items()))
        return f"{rule.header} chooses the pool: {means}"
    what = "playbook" if rule.controls == PLAYBOOK else "pool"
    return f"{rule.header} chooses the {what}: {' or '.join(rule.allowed)}"


def _trace(spec: SubscriptionSpec) -> list[str]:
    trace = spec.headers.trace
    if trace is None or trace.propagate == "off":
        return ["none: traceparent, tracestate and baggage are plain headers"]
    kept = ", ".join(trace.baggage_allowlist)
    return [_TRUST[trace.trust], f"of its baggage {kept} is kept" if kept else "no baggage is kept"]


def _dedup(spec: SubscriptionSpec) -> list[str]:
    if not spec.dedup.enabled:
        return ["none: every message is one execution"]
    window = spec.dedup.window_s
    length = duration(window) if window else "the time queue.once_key.ttl_s.dedup says"
    keys = [rule.header for rule in spec.headers.directives if rule.controls == "idempotency_key"]
    if keys:
        key = f"the key is what {' or '.join(keys)} says, or else the message's id"
    else:
        key = "the key is the message's id: no header names one, so a message that was sent twice is two"
    return [f"messages of one key within {length} are one execution", key]


def _limits(spec: SubscriptionSpec) -> list[str]:
    if spec.mode == "push":
        return ["none yet"]
    in_flight, rate = spec.max_in_flight(), spec.limits.max_dispatch_per_sec
    said = [f"a batch has at most {spec.batch():,} messages{_because(spec)}"]
    if rate:
        said.append(f"at most {rate:,} messages become executions in a second; the others wait at the source")
    if in_flight:
        said.append(
            f"at most {in_flight:,} messages and executions are under way; the others wait at the source until some end"
        )
    return said


def _because(spec: SubscriptionSpec) -> str:
    batch, in_flight = spec.batch(), spec.max_in_flight()
    if batch == spec.runtime.batch:
        return ", as runtime.batch says"
    if in_flight and batch == max(1, in_flight // 2):
        return ", half of max_in_flight, so that the next one fits"
    return ", a second's worth of max_dispatch_per_sec"
