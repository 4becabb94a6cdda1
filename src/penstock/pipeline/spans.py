"""A span per batch, for whoever the environment's OTEL_ variables name."""

import os
import re
from datetime import UTC, datetime
from importlib.metadata import entry_points

from opentelemetry.environment_variables import OTEL_TRACES_EXPORTER
from opentelemetry.sdk.environment_variables import (
    OTEL_EXPORTER_OTLP_ENDPOINT,
    OTEL_EXPORTER_OTLP_PROTOCOL,
    OTEL_EXPORTER_OTLP_TRACES_ENDPOINT,
    OTEL_EXPORTER_OTLP_TRACES_PROTOCOL,
    OTEL_SDK_DISABLED,
)
from opentelemetry.sdk.resources import SERVICE_NAME, Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter
from opentelemetry.trace import SpanKind, Status, StatusCode, Tracer

from penstock.errors import SettingsError
from penstock.pipeline.batches import Batch

NAME = "penstock.ingest.batch"
_EXPORTERS = "opentelemetry_traces_exporter"
_OUTCOMES = ("executions", "deduplicated", "dead_lettered", "replays", "commit_ms")
_OURS = re.compile(r"^\s*penstock\.errors\.(\w+): (.*)$", re.MULTILINE)
_THEIRS = re.compile(r"^\s*(?:Caused by: )?[\w.$]*?(\w+(?:Exception|Error))(?=:|$)", re.MULTILINE)
# their texts repeat what PostgreSQL says of a value, which may be a message's
_QUOTES_VALUES = ("BadRequest", "PenstockError")
_IN_THE_LOG = "the runtime's log has the text"


def batch_span(tracer: Tracer, path: str, source: str, batch: Batch) -> None:
    """One batch that was committed, from its true beginning to its true end."""
    began_ns = _ns(batch.began)
    attributes: dict[str, str | int] = {
        "penstock.subscription": path,
        "penstock.source": source,
        "penstock.batch.rows": batch.rows,
        "spark.batch_id": batch.number,
        **{f"penstock.batch.{name}": batch.committed[name] for name in _OUTCOMES if name in batch.committed},
        **{f"spark.duration_ms.{name}": ms for name, ms in batch.parts_ms.items()},
    }
    span = tracer.start_span(NAME, kind=SpanKind.CONSUMER, start_time=began_ns, attributes=attributes)
    span.end(began_ns + batch.duration_ms * 1_000_000)


def failed_span(tracer: Tracer, path: str, source: str, began: datetime, error: str) -> None:
    """The batch that ended its query; `began` is when last none was under way."""
    named, said = described(error)
    attributes = {"penstock.subscription": path, "penstock.source": source, "error.type": named}
    span = tracer.start_span(NAME, kind=SpanKind.CONSUMER, start_time=_ns(began), attributes=attributes)
    span.set_status(Status(StatusCode.ERROR, said))
    span.end(_ns(datetime.now(UTC)))


def described(error: str) -> tuple[str, str]:
    """An error's class, and its first line where that is ours: what others say may repeat a message."""
    ours, theirs = _OURS.findall(error), _THEIRS.findall(error)
    named, said = ours[-1] if ours else (theirs[-1] if theirs else "QueryFailed", "")
    is_safe = ours and named not in _QUOTES_VALUES
    return named, f"{named}: {said.strip() if is_safe else _IN_THE_LOG}"[:500]


def tracer_provider() -> TracerProvider | None:
    """As the standard OTEL_ variables ask for; None when they ask for nothing."""
    names = _exporter_names()
    if not names:
        return None
    resource = Resource.create()
    if str(resource.attributes.get(SERVICE_NAME, "unknown_service")).startswith("unknown_service"):
        resource = resource.merge(Resource({SERVICE_NAME: "penstock"}))
    provider = TracerProvider(resource=resource, shutdown_on_exit=False)
    for name in names:
        provider.add_span_processor(BatchSpanProcessor(_exporter(name)))
    return provider


def _exporter_names() -> list[str]:
    if os.environ.get(OTEL_SDK_DISABLED, "").strip().lower() == "true":
        return []
    is_sent = any(os.environ.get(one) for one in (OTEL_EXPORTER_OTLP_ENDPOINT, OTEL_EXPORTER_OTLP_TRACES_ENDPOINT))
    asked = os.environ.get(OTEL_TRACES_EXPORTER) or ("otlp" if is_sent else "none")
    return [name for one in asked.split(",") if (name := one.strip()) not in ("", "none")]


def _exporter(name: str) -> SpanExporter:
    wanted = f"otlp_proto_{_protocol()}" if name == "otlp" else name
    found = list(entry_points(group=_EXPORTERS, name=wanted))
    if not found:
        package = "'penstock[otlp]'" if wanted == "otlp_proto_http" else "the package that has it"
        raise SettingsError(
            f"spans are to be sent by the exporter {wanted} (OTEL_TRACES_EXPORTER, OTEL_EXPORTER_OTLP_ENDPOINT), and "
            f"it is not installed\nRun: pip install {package}; or set OTEL_TRACES_EXPORTER=none"
        )
    exporter: SpanExporter = found[0].load()()
    return exporter


def _protocol() -> str:
    protocols = (os.environ.get(one) for one in (OTEL_EXPORTER_OTLP_TRACES_PROTOCOL, OTEL_EXPORTER_OTLP_PROTOCOL))
    return "grpc" if next(filter(None, protocols), "") == "grpc" else "http"


def _ns(moment: datetime) -> int:
    return round(moment.timestamp() * 1_000) * 1_000_000
