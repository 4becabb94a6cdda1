"""A worker's memory over a million jobs: it must not grow with the jobs it has run."""

import time
from dataclasses import dataclass

from bench.measure import DRAIN_S, START_S, enqueue, log_of
from bench.party import Party
from bench.processes import MeasurementFailed, Process
from bench.server import BenchServer

BATCH = 5000
SAMPLE_S = 0.25


@dataclass(frozen=True)
class Memory:
    """Resident megabytes, from the first sample to the last."""

    seconds: float
    mb: list[float]

    @property
    def settled_mb(self) -> float:
        """After a tenth of the run: code is loaded, buffers have their size."""
        return self.mb[len(self.mb) // 10]

    @property
    def end_mb(self) -> float:
        return self.mb[-1]


def memory(server: BenchServer, party: Party, n: int) -> Memory:
    """One worker drains n jobs; its resident set, several times a second."""
    url = party.create(server)
    enqueue(server, party, url, n, BATCH)
    with Process(party.worker(url, "work", n), log_of(server, party)) as worker:
        worker.await_line("START", START_S)
        began = time.monotonic()
        found: list[float] = []
        while not any(line.startswith("HANDLED") for line in worker.said()):
            if not worker.lives() or time.monotonic() - began > DRAIN_S:
                raise MeasurementFailed(f"the worker did not drain {n:,} jobs")
            found.append(round(worker.rss_bytes() / 2**20, 1))
            time.sleep(SAMPLE_S)
        found.append(round(worker.rss_bytes() / 2**20, 1))
        return Memory(time.monotonic() - began, found)
