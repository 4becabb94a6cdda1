"""Where the ingest cells' messages come from: a real broker on this machine, and 200 bytes with four headers."""

import json
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol

from tests.parts.jars import BROKER, cache
from tests.parts.kafka import Kafka
from tests.parts.nats import Nats
from tests.parts.pstest_build import NotBuilt
from tests.parts.pubsub import Pubsub

from bench.processes import MeasurementFailed
from penstock.embedded import maven
from penstock.errors import JarsMissing
from penstock.model import Json

BODY_BYTES = 200
PARTITIONS = 4
_AT_ONCE = 20_000
_TRACE = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
Headers = list[tuple[str, bytes]]


def body(number: int, at_ns: int = 0) -> bytes:
    """JSON of 200 bytes."""
    text = json.dumps({"order": number, "at_ns": at_ns, "customer": "c-4711", "pad": ""})
    return (text[:-2] + "x" * (BODY_BYTES - len(text)) + text[-2:]).encode()


def headers(number: int) -> Headers:
    """Four: one that routes every tenth message, one that gives a priority, a trace, and one that is data."""
    return [
        ("X-Route", b"bench/fraud" if number % 10 == 0 else b"bench/other"),
        ("X-Priority", b"high" if number % 20 == 0 else b"normal"),
        ("traceparent", _TRACE.encode()),
        ("X-Tenant", b"tenant-%d" % (number % 50)),
    ]


class Feed(Protocol):
    name: str

    @property
    def credential(self) -> dict[str, Any]: ...

    def spec(self) -> Json:
        """What a subscription says of it."""

    def publish(self, numbers: Sequence[int], at_ns: int = 0) -> None: ...


class KafkaFeed:
    name = "kafka"

    def __init__(self, broker: Kafka) -> None:
        self._broker = broker
        broker.add_topic("bench", PARTITIONS)

    @property
    def credential(self) -> dict[str, Any]:
        return self._broker.credential

    def spec(self) -> Json:
        return {"source": "kafka", "topic": "bench"}

    def publish(self, numbers: Sequence[int], at_ns: int = 0) -> None:
        for first in range(0, len(numbers), _AT_ONCE):
            some = numbers[first : first + _AT_ONCE]
            for part in range(PARTITIONS):
                share = [(b"k%d" % one, body(one, at_ns), headers(one)) for one in some[part::PARTITIONS]]
                self._broker.publish("bench", share, part)


class NatsFeed:
    name = "nats"

    def __init__(self, server: Nats) -> None:
        self._server = server
        server.add_stream("BENCH")
        server.add_consumer("BENCH", "penstock")

    @property
    def credential(self) -> dict[str, Any]:
        return dict(self._server.credential)

    def spec(self) -> Json:
        return {"source": "nats", "stream": "BENCH", "consumer": "penstock"}

    def publish(self, numbers: Sequence[int], at_ns: int = 0) -> None:
        self._server.publish("BENCH.a", [(body(one, at_ns), headers(one)) for one in numbers])


class PubsubFeed:
    name = "pubsub"

    def __init__(self, server: Pubsub) -> None:
        self._server = server
        self._subscription = server.add("bench")

    @property
    def credential(self) -> dict[str, Any]:
        return self._server.credential

    def spec(self) -> Json:
        return {"source": "pubsub", "subscription": self._subscription}

    def publish(self, numbers: Sequence[int], at_ns: int = 0) -> None:
        attributes = ({key: value.decode() for key, value in headers(one)} for one in numbers)
        sent = [(body(one, at_ns), those, "") for one, those in zip(numbers, attributes, strict=True)]
        self._server.publish("bench", sent)


@contextmanager
def kafka(folder: Path) -> Iterator[Feed]:
    if shutil.which("java") is None or not maven.is_installed():
        raise MeasurementFailed("Java and Maven are needed for a Kafka broker")
    try:
        jars = maven.fetch(maven.pom(BROKER), cache())
    except JarsMissing as error:
        raise MeasurementFailed(str(error)) from error
    broker = Kafka(_made(folder / "kafka"), jars)
    try:
        yield KafkaFeed(broker)
    finally:
        broker.stop()


@contextmanager
def nats(folder: Path) -> Iterator[Feed]:
    with Nats(_made(folder / "nats")) as server:
        yield NatsFeed(server)


@contextmanager
def pubsub(folder: Path) -> Iterator[Feed]:
    try:
        with Pubsub(_made(folder / "pubsub")) as server:
            yield PubsubFeed(server)
    except NotBuilt as error:
        raise MeasurementFailed(str(error)) from error


FEEDS: dict[str, Callable[[Path], Any]] = {"kafka": kafka, "nats": nats, "pubsub": pubsub}


def _made(folder: Path) -> Path:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return folder
