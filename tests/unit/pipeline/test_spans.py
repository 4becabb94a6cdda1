"""What a span says of a batch and of its failure, and who gets it."""

from datetime import UTC, datetime
from time import monotonic

import pytest
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import Tracer

from penstock.errors import SettingsError
from penstock.pipeline.batches import Batch
from penstock.pipeline.spans import batch_span, described, failed_span, tracer_provider
from tests.parts.collector import collector
from tests.parts.processes import free_ports

BEGAN = datetime(2026, 1, 1, 12, 0, 0, 123_000, UTC)
COMMITTED = {"received": 9, "executions": 5, "deduplicated": 2, "dead_lettered": 1, "replays": 1, "commit_ms": 40}
LOST = """\
[STREAM_FAILED] Query terminated with exception: Job aborted
Traceback (most recent call last):
  File "sink.py", line 1, in commit
penstock.errors.StagingLost: 3 of 5 rows are there
The runtime starts again.
"""
FOREIGN = """\
org.apache.spark.SparkException: Job aborted
Caused by: pyarrow.lib.ArrowInvalid: no
Caused by: java.lang.IllegalStateException: the body was "secret"
"""
QUOTING = "penstock.errors.BadRequest: a value cannot be read: invalid input syntax for type json: secret"


@pytest.fixture(autouse=True)
def _no_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OTEL_TRACES_EXPORTER", "OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.delenv("OTEL_SDK_DISABLED", raising=False)


@pytest.fixture
def exporter() -> InMemorySpanExporter:
    return InMemorySpanExporter()


@pytest.fixture
def tracer(exporter: InMemorySpanExporter) -> Tracer:
    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    return provider.get_tracer("test")


def _only(exporter: InMemorySpanExporter) -> ReadableSpan:
    (span,) = exporter.get_finished_spans()
    return span


def test_a_batchs_span_has_its_true_times(tracer: Tracer, exporter: InMemorySpanExporter) -> None:
    batch_span(tracer, "orders", "nats", Batch(3, 9, BEGAN, 800, {}, {}))
    span = _only(exporter)
    assert span.start_time == 1767268800_123_000_000
    assert span.end_time == 1767268800_923_000_000


def test_a_batchs_span_says_what_became_of_it(tracer: Tracer, exporter: InMemorySpanExporter) -> None:
    batch_span(tracer, "orders", "nats", Batch(3, 9, BEGAN, 800, {"addBatch": 700}, COMMITTED))
    assert _only(exporter).attributes == {
        "penstock.subscription": "orders",
        "penstock.source": "nats",
        "penstock.batch.rows": 9,
        "penstock.batch.executions": 5,
        "penstock.batch.deduplicated": 2,
        "penstock.batch.dead_lettered": 1,
        "penstock.batch.replays": 1,
        "penstock.batch.commit_ms": 40,
        "spark.batch_id": 3,
        "spark.duration_ms.addBatch": 700,
    }


def test_a_failed_batchs_span_names_our_error_and_its_first_line(
    tracer: Tracer, exporter: InMemorySpanExporter
) -> None:
    failed_span(tracer, "orders", "nats", BEGAN, LOST)
    span = _only(exporter)
    assert not span.status.is_ok
    assert span.status.description == "StagingLost: 3 of 5 rows are there"
    assert (span.attributes or {})["error.type"] == "StagingLost"


@pytest.mark.parametrize(("text", "named"), [(FOREIGN, "IllegalStateException"), (QUOTING, "BadRequest")])
def test_an_error_that_may_quote_a_message_is_named_and_not_repeated(text: str, named: str) -> None:
    assert described(text) == (named, f"{named}: the runtime's log has the text")


def test_an_error_without_any_class_still_has_a_name() -> None:
    assert described("it ended")[0] == "QueryFailed"


def test_nothing_is_built_where_nobody_asked() -> None:
    assert tracer_provider() is None


def test_a_disabled_sdk_is_nobody_asking(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OTEL_TRACES_EXPORTER", "console")
    monkeypatch.setenv("OTEL_SDK_DISABLED", "true")
    assert tracer_provider() is None


def test_none_is_nobody_asking_whatever_the_endpoint(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:4318")
    monkeypatch.setenv("OTEL_TRACES_EXPORTER", "none")
    assert tracer_provider() is None


@pytest.mark.parametrize(("given", "named"), [(None, "penstock"), ("orders-ingest", "orders-ingest")])
def test_the_service_is_named_as_the_environment_says_or_penstock(
    monkeypatch: pytest.MonkeyPatch, given: str | None, named: str
) -> None:
    monkeypatch.setenv("OTEL_TRACES_EXPORTER", "console")
    monkeypatch.delenv("OTEL_SERVICE_NAME", raising=False)
    if given:
        monkeypatch.setenv("OTEL_SERVICE_NAME", given)
    provider = tracer_provider()
    assert provider is not None
    assert provider.resource.attributes["service.name"] == named
    provider.shutdown()


def test_an_exporter_that_is_not_installed_is_refused_with_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OTEL_TRACES_EXPORTER", "carrier_pigeon")
    with pytest.raises(SettingsError, match=r"carrier_pigeon.*not installed\nRun: pip install"):
        tracer_provider()


def test_a_collector_is_sent_the_spans_as_the_standard_variables_say(monkeypatch: pytest.MonkeyPatch) -> None:
    with collector() as (url, received):
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", url)
        provider = tracer_provider()
        assert provider is not None
        batch_span(provider.get_tracer("test"), "orders", "nats", Batch(3, 9, BEGAN, 800, {}, COMMITTED))
        provider.shutdown()
    spans = [
        span for one in received for kept in one.resource_spans for scope in kept.scope_spans for span in scope.spans
    ]
    assert [(span.name, span.end_time_unix_nano) for span in spans] == [
        ("penstock.ingest.batch", 1767268800_923_000_000)
    ]


def test_a_collector_that_is_not_there_holds_up_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    (port,) = free_ports(1)
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", f"http://127.0.0.1:{port}")
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_TIMEOUT", "1")
    provider = tracer_provider()
    assert provider is not None
    began = monotonic()
    batch_span(provider.get_tracer("test"), "orders", "nats", Batch(3, 9, BEGAN, 800, {}, COMMITTED))
    assert monotonic() - began < 10
    provider.shutdown()
    assert monotonic() - began < 20
