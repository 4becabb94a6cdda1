"""The demo's second half: messages from NATS through Spark to executions."""

import asyncio
import json
import os
import time
from collections import Counter as Tally
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import Thread

import nats
from nats.js.api import AckPolicy, ConsumerConfig, StreamConfig

from penstock.catalog.entry import read
from penstock.cli.demo.messages import CATALOG, CONSUMER, PATH, STREAM, Fate, Message, expected, messages
from penstock.cli.demo.workers import Workers
from penstock.cli.output import Counter, waiting
from penstock.credentials import read_credentials
from penstock.embedded import EmbeddedNats
from penstock.errors import PenstockError
from penstock.kernel import executions, subscriptions
from penstock.kernel.connection import Connection
from penstock.kernel.registration import register
from penstock.kernel.subscriptions import SubscriptionView
from penstock.pipeline.runtime import Runtime
from penstock.pipeline.session import spark_session

_STALL_S = 120.0
_LOOK_S = 0.3
_IN_FLIGHT = 500


@dataclass(frozen=True)
class Ingested:
    """What became of the messages."""

    subscription: SubscriptionView
    executions: list[tuple[str, str, str, int]]
    seconds: float
    problems: list[str]
    routed: int


def ingest(connection: Connection, url: str, count: int, folder: Path, workers: Workers) -> Ingested:
    """Publish, read, and wait until every execution has ended."""
    with _nats(folder) as credential, _environment(url, folder, credential):
        register(connection, read(CATALOG, "the demo"), read_credentials(folder / "credentials.yaml"))
        subscriptions.move(connection, PATH, "activate")
        with waiting(f"starting Spark, and publishing {count:,} messages to NATS"), ThreadPoolExecutor(1) as thread:
            published = thread.submit(asyncio.run, _publish(credential, count))
            spark = spark_session("local[2]", folder)
            published.result()
        try:
            return _drained(connection, url, count, workers, Runtime(spark, url, PATH, once=True))
        finally:
            spark.stop()


def _drained(connection: Connection, url: str, count: int, workers: Workers, runtime: Runtime) -> Ingested:
    failed: list[BaseException] = []

    def run() -> None:
        try:
            runtime.run()
        except BaseException as error:
            failed.append(error)

    began = time.monotonic()
    reading = Thread(target=run)
    reading.start()
    try:
        with Counter("messages done", count) as counter:
            _watch(connection, count, workers, counter, failed)
    finally:
        runtime.stop.set()
        reading.join()
    seconds = time.monotonic() - began
    found = subscriptions.show(connection, PATH)
    made = executions.tally(connection, PATH)
    routed = executions.newest_of(connection, PATH, "demo/check_fraud")
    return Ingested(found, made, seconds, _problems(found, made, count), routed)


def _watch(connection: Connection, count: int, workers: Workers, counter: Counter, failed: list[BaseException]) -> None:
    done, moved_at = 0, time.monotonic()
    while done < count:
        workers.check()
        if failed:
            raise failed[0]
        one = subscriptions.show(connection, PATH)
        now = one.deduplicated + one.dead_lettered + executions.ended(connection, PATH)
        if now != done:
            done, moved_at = now, time.monotonic()
            counter.at(done)
        elif time.monotonic() - moved_at > _STALL_S:
            raise workers.failure(f"{done:,} of {count:,} messages are done, and nothing moves any more")
        time.sleep(_LOOK_S)


def _problems(found: SubscriptionView, made: list[tuple[str, str, str, int]], count: int) -> list[str]:
    """What differs from what must be, in words."""
    wanted = expected(count)
    said = []
    for ending, number in (("duplicate", found.deduplicated), ("dead letter", found.dead_lettered)):
        must = wanted[Fate(ending=ending)]
        if number != must:
            said.append(f"{ending}s: {number} are there, and {must} must be")
    there: Tally[Fate] = Tally()
    for playbook, pool, status, number in made:
        there[Fate(playbook.partition("@")[0], pool)] += number
        if status != "succeeded":
            said.append(f"{number} executions of {playbook} are {status}")
    for fate, must in wanted.items():
        if fate.playbook is not None and there[fate] != must:
            said.append(f"{fate.playbook} in {fate.pool}: {there[fate]} executions, and {must} must be")
    return said


@contextmanager
def _nats(folder: Path) -> Iterator[dict[str, str]]:
    server = EmbeddedNats(folder / "nats")
    with waiting("starting NATS"):
        server.start()
        asyncio.run(_fresh_stream(server.credential()))
    try:
        yield server.credential()
    finally:
        server.leave()


@contextmanager
def _environment(url: str, folder: Path, credential: dict[str, str]) -> Iterator[None]:
    """Where Spark's processes find the database and the credential; as it was afterwards."""
    file = folder / "credentials.yaml"
    file.touch(0o600)
    file.chmod(0o600)
    file.write_text(json.dumps({"demo_nats": credential}))
    before = dict(os.environ)
    os.environ |= {"PENSTOCK_DATABASE_URL": url, "PENSTOCK_CREDENTIALS": str(file)}
    os.environ.pop("PENSTOCK_DATABASE", None)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


async def _fresh_stream(credential: dict[str, str]) -> None:
    client = await nats.connect(**credential)
    try:
        stream = client.jetstream()
        for info in await stream.streams_info():
            if info.config.name == STREAM:
                await stream.delete_stream(STREAM)
        await stream.add_stream(StreamConfig(name=STREAM, subjects=[f"{STREAM}.>"]))
        consumer = ConsumerConfig(
            durable_name=CONSUMER, ack_policy=AckPolicy.EXPLICIT, ack_wait=300, max_ack_pending=100_000
        )
        await stream.add_consumer(STREAM, consumer)
    finally:
        await client.close()


async def _publish(credential: dict[str, str], count: int) -> None:
    """Each confirmed by the server; some hundred on the way at a time."""
    client = await nats.connect(**credential)
    places = asyncio.Semaphore(_IN_FLIGHT)
    stream = client.jetstream()

    async def send(message: Message) -> None:
        async with places:
            await stream.publish(f"{STREAM}.orders", message[0], headers=message[1], timeout=60)

    try:
        await asyncio.gather(*(send(message) for message, _ in messages(count)))
    except Exception as error:
        raise PenstockError(f"the demo's messages could not be published: {error}") from error
    finally:
        await client.close()
