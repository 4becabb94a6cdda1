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

__all__ = ["broker_jars", "connector_jars", "kafka_broker", "nats_server"]


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
def spark(
    connector_jars: list[Path], credentials_file: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[SparkSession]:
    session = spark_session("local[2]", tmp_path_factory.mktemp("spark"), spark_options(connector_jars))
    yield session
    session.stop()
