"""The client of a subscription's source."""

import importlib
import inspect
from collections.abc import Mapping
from typing import Any, cast

from penstock.catalog.source import KafkaOptions, NatsOptions, OwnOptions, PubsubOptions
from penstock.catalog.subscription import SubscriptionSpec
from penstock.credentials import Credentials
from penstock.errors import SourceMissing, SourceUnfit
from penstock.sources.contract import Peekable, Queue, Source
from penstock.sources.kafka import KafkaSource
from penstock.sources.nats import NatsSource

_METHODS = ("check", "spans", "backlog", "floors", "fetch", "acknowledge", "give_back", "close")


def open_source(spec: SubscriptionSpec, credentials: Credentials) -> Source:
    """Kafka, a queue such as NATS, or the user's own class."""
    credential = credentials.get(spec.auth) if spec.auth else {}
    if isinstance(spec.options, KafkaOptions):
        return KafkaSource(credential, topics=spec.options.topics, pattern=spec.options.topic_pattern)
    return open_queue(spec, credential)


def open_queue(spec: SubscriptionSpec, credential: Mapping[str, Any]) -> Queue:
    """A source that hands out messages one by one."""
    if isinstance(spec.options, NatsOptions):
        return NatsSource(credential, stream=spec.options.stream, consumer=spec.options.consumer)
    if isinstance(spec.options, PubsubOptions):
        return _pubsub(credential, spec.options)
    if isinstance(spec.options, OwnOptions):
        return _made(spec.source, credential, spec.options)
    raise SourceUnfit(f"{spec.path} reads {spec.source}, which this version does not read")


def peeking(source: Source, spec: SubscriptionSpec) -> Peekable:
    """The same source, for looking at messages without taking them."""
    if not callable(getattr(source, "peek", None)):
        raise SourceUnfit(
            f"{spec.path} reads {spec.source}, whose messages cannot be looked at without taking them: it has no peek. "
            "Try a message of a file instead: --message FILE"
        )
    return cast(Peekable, source)


def _pubsub(credential: Mapping[str, Any], options: PubsubOptions) -> Queue:
    # Google's client takes a while to import, which the tasks of other sources are spared
    from penstock.sources.pubsub import PubsubSource

    return PubsubSource(
        credential,
        subscription=options.subscription,
        deadline_s=options.ack_deadline_s,
        marks=options.restore_mark,
        in_order=options.lanes is not None,
    )


def _made(path: str, credential: Mapping[str, Any], options: OwnOptions) -> Queue:
    made = _own(path)
    lacking = [name for name in _METHODS if not callable(getattr(made, name, None))]
    if lacking:
        raise SourceUnfit(f"the source {path} has no {', '.join(lacking)}: see Queue in penstock.sources.contract")
    try:
        inspect.signature(made).bind(credential, **options.values)
    except TypeError as error:
        raise SourceUnfit(f"the source {path} does not take the options of this subscription: {error}") from error
    return cast(Queue, made(credential, **options.values))


def _own(path: str) -> Any:
    module, _, name = path.partition(":")
    try:
        return getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError) as error:
        raise SourceMissing(
            f"the source {path} cannot be imported here: {error}. "
            "Install it, or put its folder on PYTHONPATH, wherever Spark runs."
        ) from error
