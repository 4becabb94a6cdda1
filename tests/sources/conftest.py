"""The real servers, shared by the run."""

from tests.parts.jars import broker_jars
from tests.parts.kafka import kafka_broker
from tests.parts.nats import nats_server
from tests.parts.pubsub import pubsub_server
from tests.parts.shop import outbox, shop

__all__ = ["broker_jars", "kafka_broker", "nats_server", "outbox", "pubsub_server", "shop"]
