"""Who is measured: Penstock and its peers, each with its producer, its worker and its way to tell that all is done."""

import sys
from abc import ABC, abstractmethod
from pathlib import Path

from bench.processes import Command
from bench.server import BenchServer


class Party(ABC):
    """A queue. Producers and workers take the same arguments whoever it is:

    enqueue N BATCH · produce N MS JITTER_MS · pour RATE SECONDS, and work N · latency N · soak
    """

    name: str
    setting: str
    # true once %(n)s jobs are durably complete
    done: str
    # where dead rows would gather
    live_tables: str

    @abstractmethod
    def create(self, server: BenchServer) -> str:
        """A fresh database with this party's schema; returns its URL."""

    @abstractmethod
    def producer(self, url: str, *arguments: object) -> Command: ...

    @abstractmethod
    def worker(self, url: str, mode: str, n: int) -> Command: ...


class Penstock(Party):
    """Ours: the client in a process of its own, and one real `penstock worker`."""

    name = "penstock"
    done = "select count(*) = %(n)s from penstock.job_outcome where status = 'succeeded'"
    live_tables = "penstock.job_queue"

    def __init__(self, concurrency: int = 10, poll_ms: int = 500) -> None:
        self._concurrency = concurrency
        self._poll_ms = poll_ms
        self.setting = f"concurrency {concurrency}"

    def create(self, server: BenchServer) -> str:
        return server.fresh("bench_penstock", migrated=True)

    def producer(self, url: str, *arguments: object) -> Command:
        words = [sys.executable, "-m", "bench.producer", *map(str, arguments)]
        return Command(words, {"PENSTOCK_DATABASE_URL": url})

    def worker(self, url: str, mode: str, n: int) -> Command:
        words = [str(Path(sys.executable).with_name("penstock")), "worker", "--app", "bench.app"]
        words += ["--concurrency", str(self._concurrency), "--poll-ms", str(self._poll_ms)]
        return Command(words, {"PENSTOCK_DATABASE_URL": url, "BENCH_MODE": mode, "BENCH_JOBS": str(n)})
