"""Two examples of the subscription document, run: the scheduled one as it stands, the other without its spool."""

import json
from collections.abc import Iterator
from pathlib import Path
from threading import Event, Thread
from typing import Any

import pytest
from pyspark.sql import SparkSession

from penstock.catalog.entry import read
from penstock.cli.driver import Driver
from penstock.credentials import read_credentials
from penstock.kernel import subscriptions
from penstock.kernel.connection import Connection
from penstock.kernel.registration import register
from penstock.pipeline.runtime import Runtime
from penstock.pipeline.telemetry import Telemetry
from tests.concurrency.sessions import wait_until
from tests.ingest.support import playbook
from tests.parts.kafka import Kafka
from tests.parts.nats import Nats
from tests.sql.support import value
from tests.unit.catalog.files import EXAMPLES, GONE, changed, example


@pytest.fixture
def orders(nats_server: Nats) -> Iterator[Nats]:
    nats_server.add_stream("ORDERS")
    nats_server.add_consumer("ORDERS", "orders-drain")
    yield nats_server
    nats_server.delete_stream("ORDERS")


@pytest.fixture
def clicks(kafka_broker: Kafka) -> Iterator[Kafka]:
    kafka_broker.add_topic("edge.clicks")
    yield kafka_broker
    kafka_broker.delete_topic("edge.clicks")


def _registered(db: Connection, text: str, file: Path, credentials: dict[str, Any]) -> str:
    file.write_text(json.dumps(credentials))
    (entry,) = read(text, "example.yaml")
    register(db, [entry], read_credentials(file))
    subscriptions.move(db, entry.path, "activate")
    return entry.path


def test_the_scheduled_drain_runs_as_it_stands(
    spark: SparkSession, db: Connection, database: str, orders: Nats, credentials_file: Path, tmp_path: Path
) -> None:
    playbook(db, "domain/process_order")
    credentials = {"nats_main": orders.credential, "penstock_database": {"url": database}}
    path = _registered(db, EXAMPLES["orders-drain"], credentials_file, credentials)
    orders.publish("ORDERS.new", [(b'{"order": %d}' % number, []) for number in range(120)])
    # the clock's next minute has come
    db.execute("update penstock.schedule set next_run_at = now() - interval '1 second'")
    db.execute("select penstock.fn_queue_tick()")
    stop = Event()
    driver = Driver(database, "local[2]", tmp_path, Telemetry(), only=path, _session=spark)
    thread = Thread(target=lambda: driver.run(path, stop))
    thread.start()
    try:
        wait_until(lambda: subscriptions.show(db, path).executions == 120, "all orders are executions", 240)
    finally:
        stop.set()
        thread.join(120)
    assert subscriptions.show(db, path).state == "ACTIVE"
    assert value(db, "select max(n) from (select count(*) n from penstock.ingest_message group by ingested_at) b") <= 50


def test_the_edge_clickstream_runs_without_its_spool(
    spark: SparkSession, db: Connection, database: str, clicks: Kafka, credentials_file: Path
) -> None:
    playbook(db, "domain/ingest_click")
    credentials = {"kafka_edge": clicks.credential, "penstock_database": {"url": database}}
    text = changed(example("edge-clickstream"), {"spec/spool": GONE})
    path = _registered(db, text, credentials_file, credentials)
    clicks.publish("edge.clicks", [(None, b'{"click": %d}' % number, []) for number in range(300)])
    Runtime(spark, database, path, once=True).run()
    assert subscriptions.show(db, path).executions == 300
    assert value(db, "select count(*) from penstock.job where pool = 'shared'") == 300
