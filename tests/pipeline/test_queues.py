"""What a batch of a source that does not say how much waits is made of."""

import json
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from pyspark.sql.streaming.datasource import ReadMaxRows

from penstock.catalog.entry import spec_of
from penstock.catalog.subscription import SubscriptionSpec
from penstock.errors import SourceUnfit
from penstock.pipeline.readers.queues import QueueReader, Share
from penstock.pipeline.stream import tasks_of
from penstock.sources.opening import open_queue
from penstock.sources.pubsub import PubsubSource
from tests.concurrency.sessions import wait_until
from tests.parts.pubsub import Pubsub

START = {"asked": 0}


@pytest.fixture
def name(pubsub_server: Pubsub, credentials_file: Path) -> str:
    credentials_file.write_text(json.dumps({"main": pubsub_server.credential}))
    made = f"s-{uuid4().hex[:8]}"
    pubsub_server.add(made)
    return made


def _content(name: str, **spec: Any) -> dict[str, Any]:
    subscription = f"projects/penstock/subscriptions/{name}"
    return {
        "apiVersion": "penstock/v1",
        "kind": "Subscription",
        "metadata": {"path": "subscriptions/orders"},
        "spec": {
            "mode": "pull",
            "source": "pubsub",
            "auth": "main",
            "subscription": subscription,
            "dispatch": {"playbook": "a/b"},
            **spec,
        },
    }


def _spec(content: dict[str, Any]) -> SubscriptionSpec:
    spec = spec_of("Subscription", content)
    assert isinstance(spec, SubscriptionSpec)
    return spec


def _reader(content: dict[str, Any], batch: int) -> QueueReader:
    tasks = str(tasks_of(_spec(content)))
    return QueueReader({"content": json.dumps(content), "batch": str(batch), "tasks": tasks, "handover": "-"})


def _planned(reader: QueueReader, batch: int) -> list[Share]:
    ends: list[dict[str, int]] = []

    def is_there() -> bool:
        ends.append(reader.latestOffset(START, ReadMaxRows(batch)))
        return ends[-1] != START

    wait_until(is_there, "there is something to read")
    return reader.partitions(START, ends[-1])


@pytest.mark.parametrize(("spec", "tasks"), [({}, 2), ({"lanes": "ordering_key"}, 1)])
def test_what_has_an_order_is_fetched_by_one_task(
    pubsub_server: Pubsub, name: str, spec: dict[str, Any], tasks: int
) -> None:
    pubsub_server.publish(name, [(b"x", {}, "k")] * 10)
    reader = _reader(_content(name, **spec), 50_000)
    assert len(_planned(reader, 50_000)) == tasks
    reader.stop()


def test_lanes_of_a_subscription_without_message_ordering_are_refused(pubsub_server: Pubsub, name: str) -> None:
    spec = _spec(_content(name, lanes="ordering_key"))
    source = open_queue(spec, pubsub_server.credential)
    with pytest.raises(SourceUnfit, match="--enable-message-ordering"):
        source.check()
    source.close()


def test_what_was_fetched_ahead_is_part_of_the_batch_and_not_beyond_it(pubsub_server: Pubsub, name: str) -> None:
    pubsub_server.publish(name, [(b"x", {}, "")] * 2600)
    reader = _reader(_content(name), 2400)
    shares = _planned(reader, 2400)
    read = [batch.num_rows for share in shares for batch in reader.read(share)]
    assert (len(shares), sum(read)) == (2, 2400)
    reader.stop()
    assert sum(one.deliveries for one in pubsub_server.messages(name)) == 2400


def test_what_was_fetched_ahead_and_not_read_is_handed_out_again(pubsub_server: Pubsub, name: str) -> None:
    pubsub_server.publish(name, [(b"x", {}, "")] * 30)
    reader = _reader(_content(name), 100)
    (share,) = _planned(reader, 100)
    assert len(share.found) == 30
    reader.stop()
    whole = f"projects/penstock/subscriptions/{name}"
    with PubsubSource(pubsub_server.credential, subscription=whole) as source:
        assert len(list(source.fetch(100, 10))) == 30


def test_large_messages_fetched_ahead_stay_few(pubsub_server: Pubsub, name: str) -> None:
    for _ in range(12):
        pubsub_server.publish(name, [(b"x" * 2 * 2**20, {}, "")])
    reader = _reader(_content(name), 100)
    (share,) = _planned(reader, 100)
    assert len(share.found) == 8
    assert sum(batch.num_rows for batch in reader.read(share)) == 12
    reader.stop()
