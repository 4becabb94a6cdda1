"""What Prometheus reads: every number by subscription, none by anything a message says."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Literal, get_args

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, start_http_server

from penstock.errors import SettingsError
from penstock.kernel.runtimes import Counts

State = Literal["starting", "reading", "paused", "retrying", "stopped", "failed"]
STATES: tuple[State, ...] = get_args(State)
# the label's value, and what the database calls it
OUTCOMES = {
    "executed": "executions",
    "deduplicated": "deduplicated",
    "dead_lettered": "dead_lettered",
    "replayed": "replays",
}
# a batch costs half a second at least, and max_in_flight may hold it for long
_SECONDS = (0.25, 0.5, 1, 2, 5, 10, 30, 60, 120, 300)


class Metrics:
    """The numbers of one process."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        by_source = ("subscription", "source")
        self._messages = Counter(
            "penstock_ingest_messages",
            "Messages this process has committed, by what became of them.",
            (*by_source, "outcome"),
            registry=self.registry,
        )
        self._batches = Counter(
            "penstock_ingest_batches",
            "Batches with messages this process has committed.",
            by_source,
            registry=self.registry,
        )
        self._seconds = Histogram(
            "penstock_ingest_batch_seconds",
            "How long a batch took from the question for new messages until the next could be asked for.",
            by_source,
            registry=self.registry,
            buckets=_SECONDS,
        )
        self._lag = Gauge(
            "penstock_ingest_lag_messages",
            "Messages that wait at the source, as it said last.",
            ("subscription",),
            registry=self.registry,
        )
        self._committed_at = Gauge(
            "penstock_ingest_last_commit_timestamp_seconds",
            "When messages were last committed, by whichever process.",
            ("subscription",),
            registry=self.registry,
        )
        self._state = Gauge(
            "penstock_runtime_state",
            "What the runtime does: 1 for the state it is in, 0 for the others.",
            ("subscription", "state"),
            registry=self.registry,
        )

    def says(self, path: str, state: State) -> None:
        for one in STATES:
            self._state.labels(path, one).set(one == state)

    def begins(self, path: str, source: str) -> None:
        """Every counter stands at 0 before it grows: a rate has a beginning."""
        self.grew(path, source, dict.fromkeys((*OUTCOMES, "batches"), 0))

    def grew(self, path: str, source: str, more: dict[str, int]) -> None:
        """By what tally.more() says."""
        for outcome in OUTCOMES:
            self._messages.labels(path, source, outcome).inc(more[outcome])
        self._batches.labels(path, source).inc(more["batches"])

    def stands(self, path: str, counts: Counts) -> None:
        if counts.backlog is not None:
            self._lag.labels(path).set(counts.backlog)
        if counts.last_commit_s is not None:
            self._committed_at.labels(path).set(counts.last_commit_s)

    def took(self, path: str, source: str, seconds: float) -> None:
        self._seconds.labels(path, source).observe(seconds)


class Tally:
    """How much further a subscription's counts are than at the last look: what its holder has added to them."""

    def __init__(self, base: Counts) -> None:
        self._last = base

    def more(self, now: Counts) -> dict[str, int]:
        """By outcome, and `batches`. Counts that went back are a restored database's: counting starts anew there."""
        last, self._last = self._last, now
        names = {**OUTCOMES, "batches": "batches"}
        grown = {name: getattr(now, column) - getattr(last, column) for name, column in names.items()}
        return grown if all(n >= 0 for n in grown.values()) else dict.fromkeys(grown, 0)


@contextmanager
def served(metrics: Metrics, host: str, port: int) -> Iterator[int]:
    """Answer at http://host:port/metrics; gives the port, which 0 lets the system choose."""
    try:
        server, thread = start_http_server(port, host, metrics.registry)
    except (OSError, OverflowError) as error:
        raise SettingsError(
            f"metrics cannot be served at {host}:{port}: {error}\n"
            "Choose another port with --metrics-port or PENSTOCK_METRICS_PORT, another address with "
            "PENSTOCK_METRICS_HOST."
        ) from error
    try:
        yield int(server.server_port)
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
