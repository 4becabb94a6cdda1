"""Places of their own on real servers, as the tool subscription is told of them."""

import json
from collections.abc import Sequence
from contextlib import closing
from time import monotonic
from typing import Any, Protocol
from uuid import uuid4

from penstock.catalog.entry import spec_of
from penstock.catalog.playbook import PlaybookSpec
from penstock.jobs import Job
from penstock.model import Json
from penstock.sources.kafka import KafkaSource
from penstock.sources.kafka_drain import KafkaDrain
from penstock.sources.nats import NatsSource
from penstock.worker.tools import subscription
from penstock.worker.tools.contract import Call
from tests.concurrency.sessions import wait_until
from tests.parts.kafka import Kafka
from tests.parts.nats import Nats
from tests.parts.pubsub import Pubsub
from tests.tools.calling import Caller


class Rig(Protocol):
    def settings(self) -> dict[str, Any]:
        """The keys that name the place, under the alias `feed`."""

    def credential(self) -> Json: ...

    def publish(self, bodies: Sequence[bytes]) -> None: ...

    def left(self) -> int:
        """How many messages are not acknowledged."""

    def expire(self) -> None:
        """What is handed out comes again soon, unless it is acknowledged."""


class NatsRig:
    def __init__(self, server: Nats, ack_wait: float = 60) -> None:
        self.server = server
        self.stream = f"S{uuid4().hex[:8]}"
        self._ack_wait = ack_wait
        server.add_stream(self.stream)
        server.add_consumer(self.stream, "drain", ack_wait=ack_wait)

    def settings(self) -> dict[str, Any]:
        return {"source": "nats", "auth": "feed", "stream": self.stream, "consumer": "drain"}

    def credential(self) -> Json:
        return dict(self.server.credential)

    def publish(self, bodies: Sequence[bytes]) -> None:
        self.server.publish(f"{self.stream}.x", [(body, ()) for body in bodies])

    def left(self) -> int:
        with NatsSource(self.server.credential, stream=self.stream, consumer="drain") as source:
            return source.backlog()

    def expire(self) -> None:
        """When its consumer has waited for long enough: whoever polls earlier may get some of them only."""
        since = monotonic()
        wait_until(lambda: monotonic() - since > self._ack_wait, "the consumer has waited", self._ack_wait + 60)


class KafkaRig:
    def __init__(self, broker: Kafka, partitions: int = 1) -> None:
        self.broker = broker
        self.topic = f"t-{uuid4().hex[:8]}"
        self.group = f"g-{uuid4().hex[:8]}"
        broker.add_topic(self.topic, partitions)

    def settings(self) -> dict[str, Any]:
        return {"source": "kafka", "auth": "feed", "topics": [self.topic], "group": self.group}

    def credential(self) -> Json:
        return dict(self.broker.credential)

    def publish(self, bodies: Sequence[bytes], partition: int = 0) -> None:
        self.broker.publish(self.topic, [(None, body, ()) for body in bodies], partition)

    def offsets(self) -> dict[int, int]:
        """Where the group stands."""
        with KafkaSource(self.broker.credential, topic=self.topic) as source:
            parts = [(topic.name, part) for topic in source.topics() for part in topic.partitions]
        with closing(KafkaDrain(self.broker.credential, topics=[self.topic], pattern=None, group=self.group)) as drain:
            return {part: offset for (_, part), offset in drain.group_offsets(parts).items()}

    def left(self) -> int:
        known = self.offsets()
        with KafkaSource(self.broker.credential, topic=self.topic) as source:
            ends = {part: offset for (_, part), offset in source.offsets("latest").items()}
        return sum(end - known.get(part, 0) for part, end in ends.items())

    def expire(self) -> None:
        # Kafka waits for nobody
        pass


class PubsubRig:
    def __init__(self, server: Pubsub, **options: Any) -> None:
        self.server = server
        self.name = f"s-{uuid4().hex[:10]}"
        self.subscription = server.add(self.name, **options)

    def settings(self) -> dict[str, Any]:
        return {"source": "pubsub", "auth": "feed", "subscription": self.subscription}

    def credential(self) -> Json:
        return dict(self.server.credential)

    def publish(self, bodies: Sequence[bytes]) -> None:
        self.server.publish(self.name, [(body, {}, "") for body in bodies])

    def left(self) -> int:
        return len(self.server.unsettled(self.name))

    def expire(self) -> None:
        self.server.expire(self.subscription, [one.handle for one in self.server.unsettled(self.name)])


def registered(place: dict[str, Any]) -> dict[str, Any]:
    """The keys as a worker finds them in a playbook that names no others."""
    step = {"step": "drain", "tool": {"kind": "subscription", "operation": "poll", **place}}
    told = {"apiVersion": "penstock/v1", "kind": "Playbook", "metadata": {"path": "flow"}, "workflow": [step]}
    spec = spec_of("Playbook", told)
    assert isinstance(spec, PlaybookSpec)
    return {key: value for key, value in spec.workflow[0].tool.settings.items() if key != "operation"}


class Steps:
    """Steps of one worker that use a rig."""

    def __init__(self, caller: Caller, rig: Rig) -> None:
        self._caller = caller
        self._place = registered(rig.settings())
        caller.credentials(json.dumps({"feed": rig.credential()}))

    def call(self, operation: str, job: Job | None = None, **settings: Any) -> Call:
        return self._caller({"operation": operation, **self._place, **settings}, job=job or self._caller.held())

    def poll(self, **settings: Any) -> Json:
        return subscription.run(self.call("poll", **{"timeout_ms": 3000, **settings}))

    def answer(self, operation: str, handles: Any) -> Json:
        return subscription.run(self.call(operation, handles=handles))
