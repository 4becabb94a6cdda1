"""The sources of a flood, as somebody outside sees them: published to, restarted, and read whole at the end."""

import asyncio
import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import nats
import pytest
from confluent_kafka import OFFSET_BEGINNING, Consumer, TopicPartition
from nats.js.api import AckPolicy, ConsumerConfig, DeliverPolicy

from penstock.model import Json
from tests.parts.kafka import Kafka
from tests.parts.nats import Nats
from tests.parts.pubsub import Pubsub

KEY = "X-Key"
_PARTITIONS = 3
_READ_S = 60


@dataclass(frozen=True)
class Letter:
    """One message to publish: its number, the key it shares with others if any, and whether it is JSON."""

    number: int
    key: str | None
    is_json: bool

    @property
    def body(self) -> bytes:
        whole = json.dumps({"n": self.number, "pad": "x" * 80}).encode()
        return whole if self.is_json else whole[:-1]

    @property
    def headers(self) -> list[tuple[str, bytes]]:
        return [("X-Number", b"%d" % self.number), *([(KEY, self.key.encode())] if self.key else [])]


@dataclass(frozen=True)
class Seen:
    """A message that the source holds, under the id Penstock should know it by."""

    id: str
    key: str | None
    is_json: bool


class Outlet(Protocol):
    """A place of its own on a server of its own."""

    name: str

    @property
    def credential(self) -> dict[str, Any]: ...

    def spec(self) -> Json:
        """What a subscription says of it."""

    def publish(self, letters: Sequence[Letter]) -> None: ...

    def restart(self) -> None:
        """Kill the server, and start it again."""

    def everything(self) -> list[Seen]:
        """All that it holds, read by a client that has nothing to do with Penstock."""

    def redeliveries(self) -> int:
        """How often it handed out what it had handed out before; 0 where it does not count."""


class NatsOutlet:
    name = "nats"

    def __init__(self, server: Nats) -> None:
        self._server = server
        self._stream = "FLOOD"
        server.add_stream(self._stream)
        server.add_consumer(self._stream, "penstock", ack_wait=30)

    @property
    def credential(self) -> dict[str, Any]:
        return dict(self._server.credential)

    def spec(self) -> Json:
        return {"source": "nats", "stream": self._stream, "consumer": "penstock"}

    def publish(self, letters: Sequence[Letter]) -> None:
        self._server.publish(f"{self._stream}.a", [(one.body, one.headers) for one in letters])

    def restart(self) -> None:
        self._server.restart()

    def everything(self) -> list[Seen]:
        return asyncio.run(self._read())

    def redeliveries(self) -> int:
        return asyncio.run(self._delivered()) - len(self.everything())

    async def _delivered(self) -> int:
        client = await nats.connect(**self._server.credential)
        try:
            info = await client.jetstream().consumer_info(self._stream, "penstock")
            assert info.delivered is not None
            return int(info.delivered.consumer_seq)
        finally:
            await client.close()

    async def _read(self) -> list[Seen]:
        client = await nats.connect(**self._server.credential)
        try:
            js = client.jetstream()
            state = (await js.stream_info(self._stream)).state
            config = ConsumerConfig(ack_policy=AckPolicy.NONE, deliver_policy=DeliverPolicy.ALL)
            subscription = await js.pull_subscribe(f"{self._stream}.a", stream=self._stream, config=config)
            seen: list[Seen] = []
            while len(seen) < state.messages:
                for one in await subscription.fetch(500, timeout=_READ_S):
                    key = (one.headers or {}).get(KEY)
                    seen.append(Seen(str(one.metadata.sequence.stream), key, one.data.endswith(b"}")))
            return seen
        finally:
            await client.close()


class PubsubOutlet:
    """Its server keeps all in memory: it is shut and opened again rather than killed."""

    name = "pubsub"

    def __init__(self, server: Pubsub) -> None:
        self._server = server
        self._topic = "flood"
        self._subscription = server.add(self._topic, ack_deadline_seconds=30, retain_acked_messages=True)

    @property
    def credential(self) -> dict[str, Any]:
        return self._server.credential

    def spec(self) -> Json:
        return {"source": "pubsub", "subscription": self._subscription, "ack_deadline_s": 30, "restore_mark": True}

    def publish(self, letters: Sequence[Letter]) -> None:
        sent = [(one.body, {key: value.decode() for key, value in one.headers}, "") for one in letters]
        self._server.publish(self._topic, sent)

    def restart(self) -> None:
        self._server.shut()
        self._server.open()

    def everything(self) -> list[Seen]:
        known = self._server.messages(self._topic)
        return [Seen(one.id, one.attributes.get(KEY), one.body.endswith(b"}")) for one in known]

    def redeliveries(self) -> int:
        return sum(one.deliveries - 1 for one in self._server.messages(self._topic))


class KafkaOutlet:
    name = "kafka"

    def __init__(self, broker: Kafka) -> None:
        self._broker = broker
        self._topic = "flood"
        broker.add_topic(self._topic, _PARTITIONS)

    @property
    def credential(self) -> dict[str, Any]:
        return self._broker.credential

    def spec(self) -> Json:
        return {"source": "kafka", "topic": self._topic, "group": "penstock"}

    def publish(self, letters: Sequence[Letter]) -> None:
        for part in range(_PARTITIONS):
            share = [one for one in letters if one.number % _PARTITIONS == part]
            self._broker.publish(self._topic, [(None, one.body, one.headers) for one in share], part)

    def restart(self) -> None:
        self._broker.restart()

    def everything(self) -> list[Seen]:
        options = {"bootstrap.servers": self.credential["bootstrap_servers"], "group.id": "outside"}
        consumer = Consumer(options | {"enable.auto.commit": False, "log_level": 0})
        parts = [TopicPartition(self._topic, part, OFFSET_BEGINNING) for part in range(_PARTITIONS)]
        try:
            left = sum(high - low for low, high in (consumer.get_watermark_offsets(part, _READ_S) for part in parts))
            consumer.assign(parts)
            seen: list[Seen] = []
            while left > len(seen):
                got = consumer.consume(5000, timeout=_READ_S)
                assert got, f"Kafka gave {len(seen)} of {left} records"
                seen += [_seen(one) for one in got]
            return seen
        finally:
            consumer.close()

    def redeliveries(self) -> int:
        return 0


def _seen(record: Any) -> Seen:
    assert record.error() is None, record.error()
    key = dict(record.headers() or ()).get(KEY)
    place = f"{record.topic()}:{record.partition()}:{record.offset()}"
    return Seen(place, key.decode() if key else None, record.value().endswith(b"}"))


@contextmanager
def an_outlet(request: pytest.FixtureRequest, folder: Path) -> Iterator[Outlet]:
    """One on a server of its own, of the kind the request's parameter names."""
    folder = folder / request.param
    folder.mkdir()
    if request.param == "nats":
        with Nats(folder) as server:
            yield NatsOutlet(server)
    elif request.param == "pubsub":
        with Pubsub(folder) as fake:
            yield PubsubOutlet(fake)
    else:
        broker = Kafka(folder, request.getfixturevalue("broker_jars"))
        try:
            yield KafkaOutlet(broker)
        finally:
            broker.stop()
