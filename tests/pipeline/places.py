"""A place of the test's own at each source, behind one face: made, made again, trimmed, stopped and started."""

from collections.abc import Iterator, Sequence
from typing import Any, Protocol
from uuid import uuid4

import pytest

from tests.parts.kafka import Kafka
from tests.parts.nats import Nats

# Spark's connector asks for a minute, three times over, before it gives a broker up
_IMPATIENT = {"default.api.timeout.ms": "5000", "request.timeout.ms": "3000"}


class Place(Protocol):
    credential: dict[str, Any]
    spec: dict[str, Any]
    part: str

    def publish(self, bodies: Sequence[bytes]) -> None: ...

    def make(self) -> None: ...

    def remove(self) -> None: ...

    def keep(self, messages: int) -> None:
        """Remove all but the newest, as retention does."""

    def stop(self) -> None: ...

    def start(self) -> None: ...


class Topic:
    def __init__(self, broker: Kafka) -> None:
        self.broker = broker
        self.name = f"t-{uuid4().hex[:8]}"
        self.part = f"{self.name}:0"
        self.credential: dict[str, Any] = broker.credential | {"options": _IMPATIENT}
        self.spec: dict[str, Any] = {"source": "kafka", "topic": self.name}
        self._published = 0

    def publish(self, bodies: Sequence[bytes]) -> None:
        self.broker.publish(self.name, [(None, body, []) for body in bodies])
        self._published += len(bodies)

    def make(self) -> None:
        self._published = 0
        self.broker.add_topic(self.name)

    def remove(self) -> None:
        self.broker.delete_topic(self.name)

    def keep(self, messages: int) -> None:
        self.broker.delete_records(self.name, self._published - messages)

    def stop(self) -> None:
        self.broker.stop()

    def start(self) -> None:
        self.broker.start()


class Stream:
    def __init__(self, server: Nats) -> None:
        self.server = server
        self.name = f"S{uuid4().hex[:8]}"
        self.part = self.name
        self.credential: dict[str, Any] = dict(server.credential)
        self.spec: dict[str, Any] = {"source": "nats", "stream": self.name, "consumer": "penstock"}

    def publish(self, bodies: Sequence[bytes]) -> None:
        self.server.publish(f"{self.name}.a", [(body, []) for body in bodies])

    def make(self) -> None:
        self.server.add_stream(self.name)
        self.server.add_consumer(self.name, "penstock")

    def remove(self) -> None:
        self.server.delete_stream(self.name)

    def keep(self, messages: int) -> None:
        self.server.trim_stream(self.name, messages)

    def stop(self) -> None:
        self.server.stop()

    def start(self) -> None:
        self.server.start()


@pytest.fixture
def topic(kafka_broker: Kafka) -> Iterator[Topic]:
    one = Topic(kafka_broker)
    one.make()
    yield one
    one.remove()


@pytest.fixture
def stream(nats_server: Nats) -> Iterator[Stream]:
    one = Stream(nats_server)
    one.make()
    yield one
    one.remove()


@pytest.fixture(params=["nats", "kafka"])
def place(request: pytest.FixtureRequest) -> Place:
    """Each in turn."""
    found: Place = request.getfixturevalue({"nats": "stream", "kafka": "topic"}[request.param])
    return found
