"""A snapshot held open for minutes under a steady load: dead rows cannot be removed, and must not slow the queue."""

import json
import time
from dataclasses import dataclass

from bench.measure import START_S, log_of, percentile
from bench.party import Party
from bench.processes import MeasurementFailed, Process
from bench.server import BenchServer
from penstock.kernel.connection import Connection, connect

RATE_PER_S = 1000
SAMPLE_S = 5
# before the snapshot is taken, and after it is let go
AROUND_S = 20
HOLD = ("set idle_in_transaction_session_timeout = 0", "begin isolation level repeatable read", "select from pg_class")
DEAD_ROWS = (
    "select coalesce(sum(n_dead_tup), 0), coalesce(sum(pg_total_relation_size(relid)), 0) from pg_stat_user_tables"
    " where starts_with(schemaname || '.' || relname, %s)"
)


@dataclass(frozen=True)
class Sample:
    """A few seconds of the run."""

    at_s: float
    held: bool
    handled: int
    p50_ms: float | None
    p99_ms: float | None
    dead_rows: int
    table_mb: float


@dataclass(frozen=True)
class Soaked:
    """One party's run; the summary is of the time the snapshot was held."""

    rate_per_s: float
    p99_ms: float
    p99_last_minute_ms: float
    dead_rows: int
    samples: list[Sample]


@dataclass
class _Watch:
    """The worker's reports, gathered."""

    worker: Process
    latencies: list[tuple[float, list[float]]]

    def gather(self) -> list[float]:
        """The latencies reported since the last call."""
        new: list[float] = []
        for line in self.worker.said():
            if line.startswith("SECOND"):
                found: list[float] = json.loads(line.split(maxsplit=2)[2])
                self.latencies.append((time.monotonic(), found))
                new += found
        if not self.worker.lives():
            raise MeasurementFailed("the worker ended under load")
        return new

    def between(self, began: float, ended: float) -> list[float]:
        return sorted(ms for at, found in self.latencies if began <= at < ended for ms in found)


def soak(server: BenchServer, party: Party, seconds: int) -> Soaked:
    """Pour jobs in, hold a snapshot for `seconds`, and watch."""
    url = party.create(server)
    log = log_of(server, party)
    with Process(party.worker(url, "soak", 0), log) as worker, connect(url) as connection:
        worker.await_line("START", START_S)
        watch = _Watch(worker, [])
        with Process(party.producer(url, "pour", RATE_PER_S, seconds + 3 * AROUND_S), log):
            return _watch_phases(party, url, watch, connection, seconds)


def _watch_phases(party: Party, url: str, watch: _Watch, connection: Connection, seconds: int) -> Soaked:
    samples: list[Sample] = []
    began = time.monotonic()

    def watch_for(duration_s: float, held: bool) -> None:
        end = time.monotonic() + duration_s
        while time.monotonic() < end:
            time.sleep(min(SAMPLE_S, max(0.0, end - time.monotonic())))
            samples.append(_sample(connection, party, watch, time.monotonic() - began, held))

    watch_for(AROUND_S, held=False)
    with connect(url) as holder:
        for statement in HOLD:
            holder.execute(statement)
        held_from = time.monotonic()
        watch_for(seconds, held=True)
        held_to = time.monotonic()
        holder.execute("rollback")
    dead_rows = samples[-1].dead_rows
    watch_for(AROUND_S, held=False)
    found = watch.between(held_from, held_to)
    return Soaked(
        rate_per_s=len(found) / (held_to - held_from),
        p99_ms=percentile(found, 99),
        p99_last_minute_ms=percentile(watch.between(max(held_from, held_to - 60), held_to), 99),
        dead_rows=dead_rows,
        samples=samples,
    )


def _sample(connection: Connection, party: Party, watch: _Watch, at_s: float, held: bool) -> Sample:
    found = sorted(watch.gather())
    row = connection.execute(DEAD_ROWS.encode(), [party.live_tables]).fetchone()
    assert row is not None
    return Sample(
        at_s=round(at_s, 1),
        held=held,
        handled=len(found),
        p50_ms=percentile(found, 50) if found else None,
        p99_ms=percentile(found, 99) if found else None,
        dead_rows=int(row[0]),
        table_mb=round(int(row[1]) / 2**20, 1),
    )
