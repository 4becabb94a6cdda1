"""`subscription explain --captured`: the messages a source holds, tried on a subscription's rules, and left there."""

import json
from pathlib import Path
from typing import Any
from uuid import uuid4

from penstock.sources.nats import NatsSource
from tests.acceptance.conftest import Penstock
from tests.parts.kafka import Kafka
from tests.parts.nats import Nats

DIRECTIVES = [{"header": "X-Pool", "controls": "dispatch.execution_pool", "allowed": ["priority"]}]


def _asked(place: Path, credential: dict[str, Any], **source: Any) -> tuple[Penstock, Path]:
    """The command without a database, and a file it knows the credential of."""
    dispatch = {"playbook": "shop/orders", "payload_from": "message.json"}
    spec = {"mode": "pull", "auth": "main", "dispatch": dispatch, "headers": {"directives": DIRECTIVES}, **source}
    head = {"apiVersion": "penstock/v1", "kind": "Subscription", "metadata": {"path": "subscriptions/orders"}}
    file, credentials = place / "orders.yaml", place / "credentials.yaml"
    file.write_text(json.dumps({**head, "spec": spec}))
    credentials.write_text(json.dumps({"main": credential}))
    credentials.chmod(0o600)
    nowhere = "postgresql://127.0.0.1:1/nothing"
    return Penstock(PENSTOCK_DATABASE_URL=nowhere, PENSTOCK_CREDENTIALS=str(credentials)), file


def test_messages_of_a_stream_are_explained_and_stay_there(nats_server: Nats, tmp_path: Path) -> None:
    stream = f"S{uuid4().hex[:10]}"
    nats_server.add_stream(stream)
    nats_server.add_consumer(stream, "penstock")
    bodies = [(b'{"order": 1}', [("X-Pool", b"priority")]), (b'{"order": 2}', [("X-Pool", b"other")]), (b"{", [])]
    nats_server.publish(f"{stream}.a", bodies)
    alone, file = _asked(tmp_path, nats_server.credential, source="nats", stream=stream, consumer="penstock")
    two = alone.json("subscription", "explain", file, "--captured", "2")
    assert [(one["message_id"], one["pool"], one["payload"]["order"]) for one in two] == [
        ("1", "priority", 1),
        ("2", "subscription", 2),
    ]
    ran = alone.run("subscription", "explain", file, "--captured", "10")
    assert (ran.code, "would be a dead letter, bad_json" in ran.out) == (1, True)
    with NatsSource(nats_server.credential, stream=stream, consumer="penstock") as source:
        assert [one.deliveries for one in source.fetch(10, 5)] == [1, 1, 1]


def test_records_of_a_topic_are_explained(kafka_broker: Kafka, tmp_path: Path) -> None:
    topic = f"t-{uuid4().hex[:10]}"
    kafka_broker.add_topic(topic)
    alone, file = _asked(tmp_path, kafka_broker.credential, source="kafka", topic=topic)
    assert "holds no message" in alone.ok("subscription", "explain", file, "--captured", "5")
    kafka_broker.publish(topic, [(b"k", b'{"order": 7}', [("X-Pool", b"priority")]), (b"k", None, [])])
    first, second = alone.json("subscription", "explain", file, "--captured", "5")
    assert (first["message_id"], first["pool"]) == (f"{topic}:0:0", "priority")
    assert (second["payload"]["message"]["data"], second["payload"]["message"]["metadata"]["key"]) == (None, "k")
