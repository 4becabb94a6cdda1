"""A Pub/Sub server for tests."""

import json
import signal
from base64 import b64decode
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from types import TracebackType
from typing import Any, Self
from urllib.parse import urlencode
from urllib.request import urlopen

import grpc
import pytest
from google.api_core.exceptions import AlreadyExists
from google.pubsub_v1 import PublisherClient, SubscriberClient, types
from google.pubsub_v1.services.publisher.transports import PublisherGrpcTransport
from google.pubsub_v1.services.subscriber.transports import SubscriberGrpcTransport

from tests.parts.certificates import Certificates
from tests.parts.processes import Part, free_ports, listens
from tests.parts.pstest_build import NotBuilt, pstest_program

PROJECT = "penstock"
_START_S = 30
_AT_ONCE = 1000
Sent = tuple[bytes, Mapping[str, str], str]


@dataclass(frozen=True)
class Known:
    """What the server knows of a message: also how often it handed it out, and which deadlines it was told."""

    id: str
    body: bytes
    attributes: Mapping[str, str]
    deliveries: int
    acks: int
    deadlines_s: tuple[int, ...]

    @property
    def handle(self) -> str:
        """By which whoever has it now answers."""
        return f"{self.id}:{self.deliveries}"


class Pubsub:
    """pstest behind a door. With a token and certificates it lets in whoever shows that token, over TLS."""

    def __init__(self, folder: Path, *, token: str | None = None, certificates: Certificates | None = None) -> None:
        self._port = free_ports(1)[0]
        self._token = token
        self._certificates = certificates
        command = [str(pstest_program()), "-port", str(self._port)]
        if token is not None:
            command += ["-token", token]
        if certificates is not None:
            command += ["-cert", str(certificates.certificate), "-key", str(certificates.key)]
        self._part = Part(command, folder / "pstest.log")
        self._part.until(lambda: listens(self._port), "Pub/Sub listens", _START_S)
        self._connect()

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self._port}"

    @property
    def credential(self) -> dict[str, Any]:
        if self._certificates is None:
            return {"emulator": self.address}
        return {"endpoint": self.address, "ca_file": str(self._certificates.ca), "token": self._token}

    def add(self, name: str, topic: str | None = None, **options: Any) -> str:
        """A topic, unless it is there, and a subscription to it; the subscription's whole name."""
        whole = self.add_topic(topic or name)
        made = f"projects/{PROJECT}/subscriptions/{name}"
        suitable: dict[str, Any] = {"ack_deadline_seconds": 60, "message_retention_duration": timedelta(days=1)}
        self.subscriber.create_subscription(types.Subscription(name=made, topic=whole, **(suitable | options)))
        return made

    def add_topic(self, name: str) -> str:
        """Its whole name; one that is there stays."""
        with suppress(AlreadyExists):
            self.publisher.create_topic(name=self.topic(name))
        return self.topic(name)

    def delete(self, subscription: str) -> None:
        self.subscriber.delete_subscription(subscription=subscription)

    def delete_topic(self, name: str) -> None:
        self.publisher.delete_topic(topic=self.topic(name))

    def topic(self, name: str) -> str:
        return f"projects/{PROJECT}/topics/{name}"

    def publish(self, topic: str, messages: Sequence[Sent]) -> list[str]:
        """Bodies, attributes and ordering keys; the ids they got."""
        ids: list[str] = []
        for first in range(0, len(messages), _AT_ONCE):
            some = [
                types.PubsubMessage(data=body, attributes=dict(attributes), ordering_key=key)
                for body, attributes, key in messages[first : first + _AT_ONCE]
            ]
            ids += self.publisher.publish(topic=self.topic(topic), messages=some).message_ids
        return ids

    def messages(self, topic: str) -> list[Known]:
        """All that the topic has ever had, with what became of each, as the server itself knows it."""
        where = f"http://{self.address}/messages?{urlencode({'topic': self.topic(topic)})}"
        with urlopen(where, timeout=_START_S) as answer:
            return [_known(one) for one in json.load(answer)]

    def labels(self, subscription: str) -> dict[str, str]:
        return dict(self.subscriber.get_subscription(subscription=subscription).labels)

    def unsettled(self, topic: str) -> list[Known]:
        """Those that nobody has acknowledged."""
        return [one for one in self.messages(topic) if not one.acks]

    def expire(self, subscription: str, handles: Sequence[str]) -> None:
        """Let the time of these be over."""
        request = types.ModifyAckDeadlineRequest(subscription=subscription, ack_ids=handles, ack_deadline_seconds=0)
        self.subscriber.modify_ack_deadline(request)

    def shut(self) -> None:
        """Nobody is let in, and those inside are thrown out; the messages stay."""
        self._part.send(signal.SIGUSR1)
        self._part.until(lambda: not listens(self._port), "Pub/Sub is shut", _START_S)

    def open(self) -> None:
        self._part.send(signal.SIGUSR2)
        self._part.until(lambda: listens(self._port), "Pub/Sub listens again", _START_S)
        self._connect()

    def stop(self) -> None:
        self._channel.close()
        self._part.stop()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def _connect(self) -> None:
        options = [("grpc.use_local_subchannel_pool", 1), ("grpc.max_send_message_length", -1)]
        if self._certificates is None:
            self._channel = grpc.insecure_channel(self.address, options)
        else:
            tls = grpc.ssl_channel_credentials(self._certificates.ca.read_bytes())
            login = grpc.access_token_call_credentials(self._token)
            both = grpc.composite_channel_credentials(tls, login)
            self._channel = grpc.secure_channel(self.address, both, options)
        self.publisher = PublisherClient(transport=PublisherGrpcTransport(channel=self._channel))
        self.subscriber = SubscriberClient(transport=SubscriberGrpcTransport(channel=self._channel))


def _known(said: dict[str, Any]) -> Known:
    deadlines = tuple(one["AckDeadline"] for one in said["Modacks"] or ())
    body = b64decode(said["Data"] or "")
    return Known(said["ID"], body, said["Attributes"] or {}, said["Deliveries"], said["Acks"], deadlines)


@pytest.fixture(scope="session")
def pubsub_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pubsub]:
    """One server for the run; each test takes subscriptions of its own."""
    try:
        pstest_program()
    except NotBuilt as error:
        pytest.fail(str(error), pytrace=False)
    with Pubsub(tmp_path_factory.mktemp("pubsub")) as server:
        yield server
