"""A runtime seen from outside: its counters and its spans, kept only where somebody has asked for them."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import structlog
from opentelemetry.trace import Tracer
from py4j.protocol import Py4JError
from pyspark.sql.streaming.query import StreamingQuery

from penstock.errors import PenstockError, QueryFailed
from penstock.kernel.runtimes import Counts, Lease
from penstock.pipeline.batches import Batch, Batches
from penstock.pipeline.metrics import Metrics, State, Tally, served
from penstock.pipeline.spans import batch_span, failed_span, tracer_provider

log = structlog.get_logger("penstock.runtime")


@dataclass(frozen=True)
class Telemetry:
    """What a process tells, all its runtimes together; nothing by default."""

    metrics: Metrics | None = None
    tracer: Tracer | None = None

    def sight(self, path: str, lease: Lease) -> "Sight":
        return Sight(self, path, lease)


@contextmanager
def opened(port: int | None, host: str = "127.0.0.1") -> Iterator[Telemetry]:
    """Counters at http://host:port/metrics if there is a port, spans if the OTEL_ variables ask for them."""
    with ExitStack() as stack:
        provider = tracer_provider()
        if provider is not None:
            stack.callback(provider.shutdown)
        metrics = Metrics() if port is not None else None
        if metrics is not None and port is not None:
            at = stack.enter_context(served(metrics, host, port))
            log.info("serves metrics", url=f"http://{host}:{at}/metrics")
        yield Telemetry(metrics, provider.get_tracer("penstock") if provider else None)


class Sight:
    """One life of one runtime. Its thread alone looks; what the others have heard is in the lease."""

    def __init__(self, telemetry: Telemetry, path: str, lease: Lease) -> None:
        self._metrics = telemetry.metrics
        self._tracer = telemetry.tracer
        self._path = path
        self._source = ""
        self._tally = Tally(lease.counts)
        self._batches: Batches | None = None
        self._query: StreamingQuery | None = None
        self._idle_at = datetime.now(UTC)
        self.says("starting")

    @property
    def is_on(self) -> bool:
        return self._metrics is not None or self._tracer is not None

    def says(self, state: State) -> None:
        if self._metrics is not None:
            self._metrics.says(self._path, state)

    @contextmanager
    def reading(
        self, query: StreamingQuery, source: str, before: Counts, latest: Callable[[], Lease]
    ) -> Iterator[None]:
        """While a query runs: the counts before it began, and how to have the newest once it has ended."""
        if not self.is_on:
            yield
            return
        self._source, self._query, self._batches = source, query, Batches(query, before)
        self._idle_at = datetime.now(UTC)
        if self._metrics is not None:
            self._metrics.begins(self._path, source)
        self.says("reading")
        failure: PenstockError | None = None
        try:
            yield
        except PenstockError as error:
            failure = error
            raise
        finally:
            # a JVM that is gone has told its last
            with suppress(Py4JError, OSError):
                self._ended(latest(), failure)
            self._query = self._batches = None
            self.says("starting")

    def look(self, lease: Lease, *, is_over: bool = False) -> None:
        """Every now and then: count what was committed, and tell of the batches that ended."""
        if not self.is_on:
            return
        if self._metrics is not None:
            self._metrics.stands(self._path, lease.counts)
        if self._batches is None or self._query is None:
            return
        if self._metrics is not None:
            self._metrics.grew(self._path, self._source, self._tally.more(lease.counts))
        if self._tracer is not None and self._query.isActive and not self._query.status["isTriggerActive"]:
            self._idle_at = datetime.now(UTC)
        for batch in self._batches.ended():
            self._told(batch)
        for batch in self._batches.judged(lease.counts, is_over=is_over):
            if self._tracer is not None:
                batch_span(self._tracer, self._path, self._source, batch)

    def _told(self, batch: Batch) -> None:
        self._idle_at = max(self._idle_at, batch.began + timedelta(milliseconds=batch.duration_ms))
        if self._metrics is not None:
            self._metrics.took(self._path, self._source, batch.duration_ms / 1000)

    def _ended(self, lease: Lease, failure: PenstockError | None) -> None:
        # a batch that was read and not committed has no span of its own
        self.look(lease, is_over=failure is None)
        if failure is not None and self._tracer is not None:
            is_whole = isinstance(failure, QueryFailed)
            said = str(failure) if is_whole else f"{PenstockError.__module__}.{type(failure).__name__}: {failure}"
            failed_span(self._tracer, self._path, self._source, self._idle_at, said)
