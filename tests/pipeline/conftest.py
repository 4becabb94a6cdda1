"""One Spark session for the whole run, as a runtime has it: it takes a while to start. And the real servers."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from penstock.embedded.jars import spark_options
from penstock.pipeline.session import spark_session
from tests.parts.jars import broker_jars, connector_jars
from tests.parts.kafka import kafka_broker
from tests.parts.nats import nats_server
from tests.parts.pubsub import pubsub_server
from tests.parts.shop import outbox, shop
from tests.tree import ROOT

__all__ = ["broker_jars", "connector_jars", "kafka_broker", "nats_server", "outbox", "pubsub_server", "shop"]


@pytest.fixture(scope="session")
def credentials_file(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """What every process of Spark's finds its credentials in; each test writes its own into it."""
    file = tmp_path_factory.mktemp("credentials") / "credentials.yaml"
    file.touch(0o600)
    before = os.environ.get("PENSTOCK_CREDENTIALS")
    os.environ["PENSTOCK_CREDENTIALS"] = str(file)
    yield file
    if before is None:
        del os.environ["PENSTOCK_CREDENTIALS"]
    else:
        os.environ["PENSTOCK_CREDENTIALS"] = before


@pytest.fixture(scope="session")
def event_log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where Spark writes down what it does, for tests that read it."""
    return tmp_path_factory.mktemp("event-log")


@pytest.fixture(scope="session")
def spark(
    connector_jars: list[Path], credentials_file: Path, event_log: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[SparkSession]:
    options = spark_options(connector_jars) | {
        "spark.eventLog.enabled": "true",
        "spark.eventLog.dir": event_log.as_uri(),
        "spark.eventLog.compress": "false",
    }
    with pytest.MonkeyPatch.context() as environment:
        # a user's own source must be importable in every process of Spark's
        environment.setenv("PYTHONPATH", str(ROOT / "examples" / "own_source"), prepend=os.pathsep)
        session = spark_session("local[2]", tmp_path_factory.mktemp("spark"), options)
    yield session
    session.stop()
