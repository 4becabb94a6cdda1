"""Where a subscription's messages come from: the keys that differ by source."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from penstock.catalog import names
from penstock.catalog.reading import Reader
from penstock.catalog.values import Unfit, flag, instant, one_of, scalar, whole

BUILT_IN = ("pubsub", "nats", "kafka", "webhook")
# a key of one source that stands with another is refused by naming its owner
_OWNERS = {
    "subscription": "pubsub",
    "ack_deadline_s": "pubsub",
    "lanes": "pubsub",
    "restore_mark": "pubsub",
    "stream": "nats",
    "consumer": "nats",
    "topic": "kafka",
    "topics": "kafka",
    "topic_pattern": "kafka",
    "group": "kafka",
}
_TOPICS = ("topic", "topics", "topic_pattern")
_MOST_TOPICS = 1000
_MOST_OPTIONS = 200
# twice what a batch should take from its fetch to its acknowledgement, and what Pub/Sub grants
_LEAST_DEADLINE_S, _MOST_DEADLINE_S = 30, 600


@dataclass(frozen=True)
class KafkaOptions:
    """Topics by name, or a pattern; `group` is where positions are published for lag tools."""

    topics: tuple[str, ...]
    topic_pattern: str | None
    group: str | None


@dataclass(frozen=True)
class NatsOptions:
    stream: str
    consumer: str


@dataclass(frozen=True)
class PubsubOptions:
    """`ack_deadline_s` is how long Pub/Sub waits for a fetched message's acknowledgement; `lanes` what makes a lane.

    `restore_mark`: the number of the last batch is kept at the subscription, so that an older database is noticed.
    """

    subscription: str
    ack_deadline_s: int = 120
    lanes: str | None = None
    restore_mark: bool = False


@dataclass(frozen=True)
class OwnOptions:
    """What a user's own source is given."""

    values: Mapping[str, str | int | float | bool] = field(default_factory=dict)


SourceOptions = KafkaOptions | NatsOptions | PubsubOptions | OwnOptions


@dataclass(frozen=True)
class Start:
    """Where reading begins without a ledger: earliest, latest, timestamp (then `at`), or ledger: not without one."""

    position: str = "earliest"
    at: datetime | None = None


def source_kind(value: Any) -> str:
    """One of ours, or the import path of a user's own."""
    if isinstance(value, str) and (value in BUILT_IN or names.reader.fullmatch(value)):
        return value
    raise Unfit("pubsub, nats, kafka, webhook, or your own source as pkg.module:Class", value)


def read_options(spec: Reader, source: str, mode: str) -> SourceOptions | None:
    """The keys of this source; those of another are refused, and push has none."""
    if not source or not mode:
        # which keys are right depends on both
        spec.ignore(*_OWNERS, "options")
        return None
    reading = source if mode == "pull" else None
    spec.refuse_any({key: _misplaced(key, owner, source, mode) for key, owner in _OWNERS.items() if owner != reading})
    if source in BUILT_IN:
        spec.refuse_any({"options": "options are for a source of your own (source: pkg.module:Class)"})
    return _options(spec, source) if reading else None


def read_place(spec: Reader, source: str) -> SourceOptions | None:
    """The same for a step that polls a source of ours."""
    if not source:
        spec.ignore(*_OWNERS)
        return None
    spec.refuse_any({key: _misplaced(key, owner, source, "pull") for key, owner in _OWNERS.items() if owner != source})
    if source != "pubsub":
        return _options(spec, source)
    # no key of a runtime, and as much time as can be had: a later step may acknowledge
    return PubsubOptions(*_pubsub_place(spec, _MOST_DEADLINE_S))


def read_start(spec: Reader, source: str) -> Start:
    """A word, or a mapping with a timestamp; a source that keeps its own position cannot be told where to begin."""
    if not spec.has("start"):
        spec.take("start", _start_word, None)
        return Start()
    if spec.holds_mapping("start"):
        block = spec.inside("start")
        start = Start("timestamp", block.take("timestamp", instant))
        block.close()
    else:
        start = Start(spec.take("start", _start_word))
    if source == "nats" and start.position in ("latest", "timestamp"):
        spec.refuse(
            "start", "a durable NATS consumer begins where its deliver policy says: make the consumer with that"
        )
    if source == "pubsub" and start.position != "earliest":
        spec.refuse("start", "Pub/Sub keeps the position itself: seek the subscription there")
    return start


def _start_word(value: Any) -> str:
    try:
        return one_of("earliest", "latest", "ledger")(value)
    except Unfit:
        raise Unfit('earliest, latest, ledger or {timestamp: "2026-06-11T08:00:00Z"}', value) from None


def _misplaced(key: str, owner: str, source: str, mode: str) -> str:
    if mode == "push" and owner == source:
        return "is read with mode: pull only; a push subscription is reached at ingress.gateway_path"
    return f"belongs to source: {owner}, and this one is {source}"


def _options(spec: Reader, source: str) -> SourceOptions | None:
    if source == "kafka":
        return _kafka(spec)
    if source == "nats":
        return NatsOptions(spec.take("stream", names.stream), spec.take("consumer", names.consumer))
    if source == "pubsub":
        return PubsubOptions(
            *_pubsub_place(spec),
            spec.take("lanes", one_of("ordering_key"), None),
            spec.take("restore_mark", flag, False),
        )
    return OwnOptions(spec.take_pairs("options", scalar, _MOST_OPTIONS))


def _pubsub_place(spec: Reader, deadline_s: int = PubsubOptions.ack_deadline_s) -> tuple[str, int]:
    return (
        spec.take("subscription", names.pubsub_subscription),
        spec.take("ack_deadline_s", whole(_LEAST_DEADLINE_S, _MOST_DEADLINE_S), deadline_s),
    )


def _kafka(spec: Reader) -> KafkaOptions:
    given = [key for key in _TOPICS if spec.has(key)]
    topic = spec.take("topic", names.topic, None)
    topics = spec.take_all("topics", names.topic, _MOST_TOPICS)
    pattern = spec.take("topic_pattern", names.topic_pattern, None)
    if not given:
        spec.require("topic", "is missing: kafka needs topic, topics or topic_pattern")
    for extra in given[1:]:
        spec.refuse(extra, f"{given[0]} is there already: use one of topic, topics and topic_pattern")
    return KafkaOptions(topics or ((topic,) if topic else ()), pattern, spec.take("group", names.group, None))
