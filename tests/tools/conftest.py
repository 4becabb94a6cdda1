"""One worker's services for the tools of a test."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.parts.jars import broker_jars
from tests.parts.kafka import kafka_broker
from tests.parts.nats import nats_server
from tests.parts.pubsub import pubsub_server
from tests.tools.calling import Caller

__all__ = ["broker_jars", "kafka_broker", "nats_server", "pubsub_server"]


@pytest.fixture
def caller(database: str, tmp_path: Path) -> Iterator[Caller]:
    made = Caller(database, tmp_path)
    yield made
    made.close()
