"""The worker, put together: claim, run, report, beat, until told to stop."""

import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from uuid import UUID, uuid4

import structlog

from penstock.errors import DatabaseUnavailable, SettingsError
from penstock.jobs import JobFunction
from penstock.kernel import migrate, queue
from penstock.kernel.connection import Connection
from penstock.worker.beat import Beater
from penstock.worker.fetch import Fetcher, Scope
from penstock.worker.held import Shelf
from penstock.worker.link import Link
from penstock.worker.listen import Listener
from penstock.worker.report import Reporter, Tally
from penstock.worker.run import Runners

log = structlog.get_logger("penstock.worker")


@dataclass(frozen=True)
class WorkerOptions:
    """How a worker runs; every field is an option of `penstock worker`."""

    database_url: str
    executor_id: str = "default"
    pools: tuple[str, ...] | None = None
    concurrency: int = 10
    poll_ms: int = 500
    grace_s: float = 30.0

    def validate(self) -> None:
        if not 1 <= self.concurrency <= 1000:
            raise SettingsError(f"concurrency is {self.concurrency}: it must be 1 to 1000")
        if not 1 <= self.poll_ms <= 60_000:
            raise SettingsError(f"poll_ms is {self.poll_ms}: it must be 1 to 60000")
        if self.grace_s < 0:
            raise SettingsError(f"grace_s is {self.grace_s}: it cannot be negative")


class Worker:
    """One life of one executor process."""

    def __init__(
        self, options: WorkerOptions, handlers: Mapping[str, JobFunction], incarnation: UUID | None = None
    ) -> None:
        options.validate()
        if not handlers:
            raise SettingsError(
                "there is no handler to run: decorate a function with @penstock.job(kind) in the app module"
            )
        self.options = options
        self.incarnation = incarnation or uuid4()
        scope = Scope(options.executor_id, self.incarnation, tuple(sorted(handlers)), options.pools)
        self._scope = scope
        self._stopping = threading.Event()
        self.shelf = Shelf()
        self.reporter = Reporter(self._link("report"), self.shelf)
        self.runners = Runners(handlers, self.shelf, self.reporter, self._link, options.concurrency)
        self.fetcher = Fetcher(
            self._link("fetch"),
            scope,
            self.shelf,
            self.runners,
            self.reporter,
            options.concurrency,
            options.poll_ms / 1000,
        )
        self.beater = Beater(self._link("beat"), scope, self.shelf, self.runners, self.reporter, self.fetcher)
        self.listener = Listener(self._link("listen", queue.listen), self.fetcher.wake.set)

    def stop(self) -> None:
        """Finish what has started, give the rest back, and end. Safe to call from a signal handler."""
        self._stopping.set()

    def run(self) -> Tally:
        """Work until stopped."""
        hello = self._link("hello")
        self._introduce(hello)
        log.info(
            "working", executor=self.options.executor_id, incarnation=str(self.incarnation), kinds=self._scope.kinds
        )
        self.runners.start()
        reporting = _thread("report", self.reporter.run)
        others = [
            _thread("beat", self.beater.run),
            _thread("listen", self.listener.run),
        ]
        fetching = _thread("fetch", self.fetcher.run)
        while not self._stopping.wait(0.5):
            pass
        log.info("stopping", running=len(self.runners.running), waiting=len(self.shelf))
        self.fetcher.stop()
        self.runners.stop()
        fetching.join()
        self._wind_down(reporting)
        self.beater.stop()
        self.listener.stop()
        for thread in others:
            thread.join(5)
        self._part(hello)
        return self.reporter.tally

    def _introduce(self, link: Link) -> None:
        def introduce(connection: Connection) -> None:
            migrate.check(connection)
            kind = queue.executor_kind(connection, self.options.executor_id)
            queue.queue_heartbeat(
                connection,
                self.options.executor_id,
                kind,
                self.incarnation,
                kinds=self._scope.kinds,
                pools=self._scope.pools,
            )
            self.fetcher.times = queue.kind_times(connection, self._scope.kinds)

        link.call(introduce)
        link.close()

    def _wind_down(self, reporting: threading.Thread) -> None:
        deadline = time.monotonic() + self.options.grace_s
        self.reporter.released(self.shelf.take_last(0))
        while self.runners.is_busy and time.monotonic() < deadline:
            self.reporter.released(self.shelf.take_last(0))
            time.sleep(0.02)
        for held, _ in list(self.runners.running.values()):
            log.warning("handler did not end within the grace time", job=held.claim.job_id)
            self.reporter.failed(
                held, {"type": "Interrupted", "message": "the worker stopped before the handler ended"}
            )
        self.reporter.released(self.shelf.take_last(0))
        self.reporter.close()
        reporting.join(max(1.0, deadline - time.monotonic()))
        self.reporter.abandon.set()
        reporting.join(1.0)

    def _part(self, link: Link) -> None:
        try:
            link.call(lambda c: queue.farewell(c, self.options.executor_id, self.incarnation))
        except DatabaseUnavailable:
            log.warning("PostgreSQL is away: this worker will be reported as silent")
        finally:
            link.close()

    def _link(self, part: str, prepare: Callable[[Connection], None] | None = None) -> Link:
        return Link(self.options.database_url, f"penstock worker {part}", prepare)


def _thread(name: str, target: Callable[[], None]) -> threading.Thread:
    thread = threading.Thread(target=target, name=f"penstock-{name}", daemon=True)
    thread.start()
    return thread
