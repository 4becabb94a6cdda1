"""The measurements that are alike for every party: enqueue, drain, latency."""

import json
import time
from dataclasses import dataclass
from pathlib import Path

from bench.party import Party
from bench.processes import MeasurementFailed, Process
from bench.server import BenchServer, wal_bytes
from penstock.kernel.connection import Connection, connect

START_S = 60
ENQUEUE_S = 900
DRAIN_S = 900
DONE_S = 60
SETTLE_S = 3
WARM_UP_JOBS = 5


@dataclass(frozen=True)
class Drained:
    """One drain of n jobs by one worker."""

    per_s: float
    seconds: float
    wal_bytes_per_job: float
    postgres_us_per_job: float
    worker_us_per_job: float


@dataclass(frozen=True)
class Round:
    """One party's enqueue of n jobs and their drain, in a fresh database."""

    enqueue_per_s: float
    drained: Drained


def log_of(server: BenchServer, party: Party) -> Path:
    return server.folder / f"{party.name}.log"


def enqueue(server: BenchServer, party: Party, url: str, n: int, batch: int, command: str = "enqueue") -> float:
    """Jobs per second, timed in the producer once it is connected."""
    with Process(party.producer(url, command, n, batch), log_of(server, party)) as producer:
        seconds = float(producer.await_line("ENQUEUED", ENQUEUE_S)[1])
        producer.await_end(START_S)
    return n / seconds


def drain(server: BenchServer, party: Party, url: str, n: int) -> Drained:
    """From just before the worker's loop to the start of the first query that sees every job durably complete."""
    with connect(url) as connection:
        connection.execute("analyze")
        wal, cpu = wal_bytes(connection), server.cpu_s()
        with Process(party.worker(url, "work", n), log_of(server, party)) as worker:
            began = int(worker.await_line("START", START_S)[1])
            worker_cpu = worker.cpu_s()
            worker.await_line("HANDLED", DRAIN_S)
            ended = _await_done(connection, party, n)
            return Drained(
                per_s=n / ((ended - began) / 1e9),
                seconds=(ended - began) / 1e9,
                wal_bytes_per_job=(wal_bytes(connection) - wal) / n,
                postgres_us_per_job=(server.cpu_s() - cpu) * 1e6 / n,
                worker_us_per_job=(worker.cpu_s() - worker_cpu) * 1e6 / n,
            )


def latencies_ms(server: BenchServer, party: Party, url: str, n: int, ms: int, jitter_ms: int = 0) -> list[float]:
    """From just before the enqueue call to the handler, sorted; the first jobs, which set up connections, left out."""
    jobs = n + WARM_UP_JOBS
    with Process(party.worker(url, "latency", jobs), log_of(server, party)) as worker:
        worker.await_line("START", START_S)
        time.sleep(SETTLE_S)
        with Process(party.producer(url, "produce", jobs, ms, jitter_ms), log_of(server, party)):
            handled = worker.await_line("HANDLED", START_S + jobs * (ms + jitter_ms) / 1000)
    measured: list[float] = json.loads(handled[2])
    return sorted(measured[WARM_UP_JOBS:])


def percentile(ordered: list[float], percent: int) -> float:
    """The smallest value that this share of all values does not exceed."""
    return ordered[-(-len(ordered) * percent // 100) - 1]


def _await_done(connection: Connection, party: Party, n: int) -> int:
    deadline = time.monotonic() + DONE_S
    while time.monotonic() < deadline:
        asked = time.monotonic_ns()
        row = connection.execute(party.done.encode(), {"n": n}).fetchone()
        if row == (True,):
            return asked
        time.sleep(0.003)
    raise MeasurementFailed(f"{party.name}: every handler ran, but the jobs are not complete after {DONE_S} s")
