"""A runtime's memory over half an hour: its Python, its JVM and Spark's Python workers together must not grow."""

import time
from contextlib import suppress
from dataclasses import dataclass
from statistics import mean

import psutil

from bench.ingest import START_S, Ingest, fed
from bench.processes import Process
from bench.server import BenchServer

SAMPLE_S = 5.0
TICK_S = 0.25
PER_S = 500


@dataclass(frozen=True)
class Kept:
    """Resident megabytes of the whole process tree, one sample every few seconds."""

    per_s: int
    seconds: float
    messages: int
    mb: list[float]

    @property
    def settled_mb(self) -> float:
        """In the second third: the heap has its size, the code is compiled."""
        third = max(1, len(self.mb) // 3)
        return mean(self.mb[third : 2 * third] or self.mb)

    @property
    def end_mb(self) -> float:
        """In the last sixth."""
        return mean(self.mb[-max(1, len(self.mb) // 6) :])


def kept(server: BenchServer, minutes: float) -> Kept:
    """NATS at a steady rate, continuous mode, one batch after the other."""
    with fed(server, "nats", runtime={"trigger_ms": 500}) as ingest, ingest.running() as process:
        ingest.publish(1)
        ingest.until_received(START_S, process)
        found = _pour(ingest, process, minutes * 60)
        ingest.until_received(START_S, process)
    return Kept(PER_S, minutes * 60, ingest.published, found)


def _pour(ingest: Ingest, process: Process, seconds: float) -> list[float]:
    found: list[float] = []
    began, sent, next_sample = time.monotonic(), 0, 0.0
    while (elapsed := time.monotonic() - began) < seconds and process.lives():
        due = int(elapsed * PER_S) - sent
        ingest.publish(due)
        sent += due
        if elapsed >= next_sample:
            found.append(round(_resident_mb(process), 1))
            next_sample += SAMPLE_S
        time.sleep(TICK_S)
    return found


def _resident_mb(process: Process) -> float:
    """Shared pages of forked workers are counted once: by what is theirs alone."""
    total = 0
    for one in process.tree():
        with suppress(psutil.Error):
            total += one.memory_full_info().uss
    return total / 2**20
