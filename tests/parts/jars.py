"""Java archives for tests: the Kafka broker's, and those of Spark's connector."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from penstock.embedded import maven
from penstock.embedded.jars import kafka_jars
from penstock.errors import JarsMissing
from penstock.settings import read_settings
from tests.parts.missing import missing

_KAFKA = "4.1.0"
BROKER = [
    ("org.apache.kafka", "kafka_2.13", _KAFKA),
    ("org.apache.kafka", "kafka-tools", _KAFKA),
    ("org.apache.logging.log4j", "log4j-slf4j-impl", "2.25.1"),
]


def cache() -> Path:
    """Kept between runs, where a user's own are."""
    return read_settings().home.expanduser().absolute() / "cache"


@pytest.fixture(scope="session")
def broker_jars() -> list[Path]:
    return _fetched(lambda: maven.fetch(maven.pom(BROKER), cache()))


@pytest.fixture(scope="session")
def connector_jars() -> list[Path]:
    """Spark's connector for Kafka, for spark.jars."""
    return _fetched(lambda: kafka_jars(cache()))


def _fetched(fetch: Callable[[], list[Path] | str]) -> list[Path]:
    if shutil.which("java") is None:
        missing("Java is not installed")
    if not maven.is_installed():
        missing("Maven is not installed")
    try:
        jars = fetch()
    except JarsMissing as error:
        missing(str(error))
    assert isinstance(jars, list)
    return jars
