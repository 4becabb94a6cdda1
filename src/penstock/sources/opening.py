"""The client of a subscription's source."""

import importlib
from collections.abc import Mapping
from typing import Any, cast

from penstock.catalog.source import KafkaOptions, NatsOptions, OwnOptions
from penstock.catalog.subscription import SubscriptionSpec
from penstock.credentials import Credentials
from penstock.errors import SourceMissing, SourceUnfit
from penstock.sources.contract import Queue, Source
from penstock.sources.kafka import KafkaSource
from penstock.sources.nats import NatsSource


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
    if isinstance(spec.options, OwnOptions):
        return cast(Queue, _own(spec.source)(credential, **spec.options.values))
    raise SourceUnfit(f"{spec.path} reads {spec.source}, which this version does not read")


def _own(path: str) -> Any:
    module, _, name = path.partition(":")
    try:
        return getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError) as error:
        raise SourceMissing(f"the source {path} cannot be imported here: {error}") from error
