"""Nobody asked: nothing is looked at, nothing is built."""

from datetime import UTC, datetime
from typing import cast

import pytest
from pyspark.sql.streaming.query import StreamingQuery

from penstock.kernel.runtimes import Counts, Lease
from penstock.pipeline.telemetry import Telemetry, opened
from tests.parts.processes import free_ports, listens

COUNTS = Counts(0, 0, 0, 0, 0, [], None, None)
LEASE = Lease(1, datetime.now(UTC), "ACTIVE", 1, {}, COUNTS)


@pytest.fixture(autouse=True)
def _no_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OTEL_TRACES_EXPORTER", "OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"):
        monkeypatch.delenv(name, raising=False)


def test_without_a_port_and_a_variable_there_is_neither_a_counter_nor_a_tracer() -> None:
    with opened(None) as telemetry:
        assert telemetry == Telemetry()


def test_where_nobody_asked_neither_spark_nor_the_database_is_asked() -> None:
    def latest() -> Lease:
        raise AssertionError("the database was asked")

    sight = Telemetry().sight("orders", LEASE)
    # an object that knows nothing a query knows
    with sight.reading(cast(StreamingQuery, object()), "nats", COUNTS, latest):
        sight.look(LEASE)
    assert not sight.is_on


def test_the_port_is_open_for_as_long_as_it_is_asked_for() -> None:
    (port,) = free_ports(1)
    with opened(port) as telemetry:
        assert telemetry.metrics is not None
        assert listens(port)
    assert not listens(port)
