"""A standalone cluster of two workers: the same messages, the same counts, nothing of the driver's host needed."""

import json
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from penstock.kernel import subscriptions
from penstock.kernel.connection import Connection
from penstock.kernel.subscriptions import SubscriptionView
from tests.ingest.support import PATH
from tests.parts.jars import cache
from tests.parts.kafka import Kafka
from tests.parts.nats import Nats
from tests.parts.other_host import OtherHost
from tests.parts.spark_cluster import SparkCluster, spark_home
from tests.pipeline import subscribing
from tests.pipeline.processes import RuntimeProcess
from tests.pipeline.subscribing import Subscribe
from tests.sql.support import value

subscribe = subscribing.subscribe
_RUN_S = 300
SPEC: dict[str, Any] = {
    "dispatch": {"playbook": "domain/process_order", "payload_from": "message.json"},
    "headers": {"directives": [{"header": "X-Key", "controls": "idempotency_key"}]},
    "dedup": {"window_s": 3600},
    "runtime": {"batch": 400},
}
# of 1,000 messages every tenth shares its key with its neighbour, and every fiftieth is no JSON
BODIES = [b"{" if number % 50 == 49 else b'{"n": %d}' % number for number in range(1000)]
HEADERS = [[("X-Key", b"k%d" % (number // 10))] if number % 10 in (3, 4) else [] for number in range(1000)]
COUNTED = {"received": 1000, "executions": 880, "deduplicated": 100, "dead_lettered": 20}


def _counts(one: SubscriptionView) -> dict[str, int]:
    return {name: getattr(one, name) for name in COUNTED}


@pytest.mark.long
@pytest.mark.parametrize("source", ["nats", "kafka"])
def test_two_workers_count_what_one_machine_does(
    db: Connection, database: str, source: str, subscribe: Subscribe, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    place = uuid4().hex[:8]
    spec: dict[str, Any]
    if source == "nats":
        nats: Nats = request.getfixturevalue("nats_server")
        nats.add_stream(place)
        nats.add_consumer(place, "penstock")
        nats.publish(f"{place}.a", list(zip(BODIES, HEADERS, strict=True)))
        credential, spec = nats.credential, {"source": "nats", "stream": place, "consumer": "penstock"}
    else:
        kafka: Kafka = request.getfixturevalue("kafka_broker")
        kafka.add_topic(place, 2)
        for part in range(2):
            share = zip(BODIES[part::2], HEADERS[part::2], strict=True)
            kafka.publish(place, [(None, body, headers) for body, headers in share], part)
        credential, spec = kafka.credential, {"source": "kafka", "topic": place}
    subscribe(credential, **SPEC, **spec)
    host = OtherHost(tmp_path, {"main": credential, "penstock_database": {"url": database}})
    cluster = SparkCluster(tmp_path, spark_home(), host.environment)
    try:
        _run_once(cluster, host, database, credential, tmp_path)
    finally:
        cluster.stop()
    assert _counts(subscriptions.show(db, PATH)) == COUNTED
    assert value(db, "select count(distinct source_ref) from penstock.job") == COUNTED["executions"]


def _run_once(cluster: SparkCluster, host: OtherHost, database: str, credential: dict[str, Any], folder: Path) -> None:
    """A driver with a home and a file of credentials of its own."""
    own = folder / "driver"
    own.mkdir()
    (own / "cache").symlink_to(cache())
    credentials = own / "driver.yaml"
    credentials.write_text(json.dumps({"main": credential}))
    credentials.chmod(0o600)
    environment = {
        "PENSTOCK_DATABASE_URL": database,
        "PENSTOCK_CREDENTIALS": str(credentials),
        "PENSTOCK_HOME": str(own),
        "PYSPARK_PYTHON": str(host.python),
        "SPARK_LOCAL_IP": "127.0.0.1",
    }
    with RuntimeProcess(PATH, environment, folder / "driver.log", "--once", "--master", cluster.url) as runtime:
        assert runtime.wait(_RUN_S) == 0, runtime.log()
