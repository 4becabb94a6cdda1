"""A NATS server with JetStream for a test run, and what tests do to it from outside."""

import asyncio
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import nats
import pytest
from nats.js import JetStreamContext
from nats.js.api import AckPolicy, ConsumerConfig, RetentionPolicy, StreamConfig

from penstock.embedded.nats_server import program
from penstock.errors import EmbeddedNatsError
from tests.parts.certificates import Certificates
from tests.parts.missing import missing
from tests.parts.processes import Part, free_ports, listens

USER, PASSWORD = "reader", "open-sesame-1001"
LOGIN = f'user: "{USER}", password: "{PASSWORD}"'
_START_S = 60

Sent = tuple[bytes, Sequence[tuple[str, bytes]]]


class Nats:
    """The server and, in ordinary calls, the little administration that tests need."""

    def __init__(
        self, folder: Path, *, jetstream: bool = True, certificates: Certificates | None = None, login: str = LOGIN
    ) -> None:
        self._folder = folder
        (self._port,) = free_ports(1)
        settings = ["max_payload: 8MB", f"authorization {{ {login} }}"]
        if jetstream:
            settings.append(f'jetstream {{ store_dir: "{folder / "data"}" }}')
        if certificates is not None:
            settings.append(f'tls {{ cert_file: "{certificates.certificate}", key_file: "{certificates.key}" }}')
        (folder / "nats.conf").write_text("\n".join(settings))
        self.start()

    @property
    def credential(self) -> dict[str, str]:
        return {"servers": f"nats://127.0.0.1:{self._port}", "user": USER, "password": PASSWORD}

    def add_stream(self, name: str, retention: str = "limits") -> None:
        """A stream of that name with subjects of the same name."""
        config = StreamConfig(name=name, subjects=[f"{name}.>"], retention=RetentionPolicy(retention))
        self._do(lambda js: js.add_stream(config))

    def trim_stream(self, name: str, messages: int) -> None:
        """Keep no more than so many from now on: the oldest go first."""
        config = StreamConfig(name=name, subjects=[f"{name}.>"], max_msgs=messages)
        self._do(lambda js: js.update_stream(config))

    def delete_stream(self, name: str) -> None:
        self._do(lambda js: js.delete_stream(name))

    def add_consumer(self, stream: str, consumer: str, **options: Any) -> None:
        """One that suits Penstock, but for these options."""
        suitable: dict[str, Any] = {
            "ack_policy": AckPolicy.EXPLICIT,
            "ack_wait": 60,
            "max_ack_pending": 100_000,
            "max_deliver": -1,
        }
        config = ConsumerConfig(durable_name=consumer, **(suitable | options))
        self._do(lambda js: js.add_consumer(stream, config))

    def delete_consumer(self, stream: str, consumer: str) -> None:
        self._do(lambda js: js.delete_consumer(stream, consumer))

    def publish(self, subject: str, messages: Sequence[Sent]) -> None:
        """Bodies with header lines as bytes, which nats-py's own publish would refuse or change."""
        asyncio.run(_publish(self.credential, subject, messages))

    def publish_block(self, subject: str, block: bytes, body: bytes) -> None:
        """One message with this block of headers, as it stands."""
        asyncio.run(_send(self.credential, [_with_block(subject, "answer", block, body)]))

    def start(self) -> None:
        command = [str(program()), "-c", str(self._folder / "nats.conf"), "-a", "127.0.0.1", "-p", str(self._port)]
        self._part = Part(command, self._folder / "nats.log")
        self._part.until(lambda: listens(self._port), "NATS listens", _START_S)

    def stop(self) -> None:
        self._part.stop()

    def kill(self) -> None:
        self._part.kill()

    def restart(self) -> None:
        self.kill()
        self.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def _do(self, work: Any) -> None:
        asyncio.run(_with_jetstream(self.credential, work))


@pytest.fixture(scope="session")
def nats_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Nats]:
    """One server for the run; each test takes streams of its own."""
    try:
        program()
    except EmbeddedNatsError as error:
        missing(str(error))
    with Nats(tmp_path_factory.mktemp("nats")) as server:
        yield server


async def _with_jetstream(credential: dict[str, str], work: Any) -> None:
    client = await nats.connect(**credential)
    try:
        js: JetStreamContext = client.jetstream()
        await work(js)
    finally:
        await client.close()


async def _send(credential: dict[str, str], commands: Sequence[bytes]) -> None:
    client = await nats.connect(**credential)
    try:
        for command in commands:
            await client._send_command(command)
        await client.flush()
    finally:
        await client.close()


async def _publish(credential: dict[str, str], subject: str, messages: Sequence[Sent]) -> None:
    client = await nats.connect(**credential)
    try:
        inbox = client.new_inbox()
        answers = await client.subscribe(inbox)
        for body, headers in messages:
            await client._send_command(_published(subject, inbox, body, headers))
            await client._flush_pending()
        for _ in messages:
            answer = await answers.next_msg(timeout=30)
            assert b'"seq"' in answer.data, answer.data
    finally:
        await client.close()


def _published(subject: str, reply: str, body: bytes, headers: Sequence[tuple[str, bytes]]) -> bytes:
    if not headers:
        return f"PUB {subject} {reply} {len(body)}\r\n".encode() + body + b"\r\n"
    lines = b"".join(key.encode() + b": " + value + b"\r\n" for key, value in headers)
    return _with_block(subject, reply, b"NATS/1.0\r\n" + lines + b"\r\n", body)


def _with_block(subject: str, reply: str, block: bytes, body: bytes) -> bytes:
    return f"HPUB {subject} {reply} {len(block)} {len(block) + len(body)}\r\n".encode() + block + body + b"\r\n"
