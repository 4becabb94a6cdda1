"""The worker, put together: claim, run, report, beat, until told to stop."""

import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from queue import Empty, SimpleQueue
from uuid import UUID, uuid4

import structlog

from penstock.credentials import Credentials, read_credentials
from penstock.errors import DatabaseUnavailable, SettingsError, WorkerBroken
from penstock.jobs import JobFunction
from penstock.kernel import migrate, queue
from penstock.kernel.connection import Connection
from penstock.worker import afterwards
from penstock.worker.beat import Beater, Ticker
from penstock.worker.dispatch import Dispatcher
from penstock.worker.fetch import Fetcher, Scope
from penstock.worker.held import Shelf
from penstock.worker.link import Link, LinkPool
from penstock.worker.listen import Listener
from penstock.worker.maintenance import services
from penstock.worker.outage import Outage
from penstock.worker.report import Reporter, Tally, as_error
from penstock.worker.run import Runners
from penstock.worker.tools import tools
from penstock.worker.tools.contract import Services

log = structlog.get_logger("penstock.worker")

_MOST_STUCK = 100
# what the last reports get in any case
_REPORT_S = 1.0


@dataclass(frozen=True)
class WorkerOptions:
    """How a worker runs; every field is an option of `penstock worker`."""

    database_url: str
    executor_id: str = "default"
    pools: tuple[str, ...] | None = None
    concurrency: int = 10
    poll_ms: int = 500
    grace_s: float = 30.0
    # read anew for each delivery that needs one: a secret may have been changed
    credentials: Path | None = None
    # what the tool spark runs on, and where it may keep files
    spark_master: str = "local[*]"
    home: Path | None = None

    def validate(self) -> None:
        if not 1 <= self.concurrency <= 1000:
            raise SettingsError(f"concurrency is {self.concurrency}: it must be 1 to 1000")
        if not 1 <= self.poll_ms <= 60_000:
            raise SettingsError(f"poll_ms is {self.poll_ms}: it must be 1 to 60000")
        if self.grace_s < 0:
            raise SettingsError(f"grace_s is {self.grace_s}: it cannot be negative")


class Worker:
    """One life of one executor process. `revive` starts a crashed server again, when that is ours to do.

    Beside the handlers it serves maintenance and the tools of playbooks, unless it is to do `only` what it was given.
    """

    def __init__(
        self,
        options: WorkerOptions,
        handlers: Mapping[str, JobFunction],
        incarnation: UUID | None = None,
        *,
        only: bool = False,
        revive: Callable[[], None] | None = None,
    ) -> None:
        options.validate()
        self.options = options
        self._outage = Outage()
        self._revive = revive
        self._links: list[Link] = []
        if not only:
            shared = Services(LinkPool(self._link, "inputs"), self._credentials, options.spark_master, options.home)
            handlers = services(self._link, self._credentials, options.concurrency) | tools(shared) | dict(handlers)
        self.incarnation = incarnation or uuid4()
        scope = Scope(options.executor_id, self.incarnation, tuple(sorted(handlers)), options.pools)
        self._scope = scope
        # what ends the work: None when asked to stop, else what broke. Its put() is safe in a signal handler
        self._ends: SimpleQueue[str | None] = SimpleQueue()
        self.is_stopping = False
        self._hurried = False
        self.shelf = Shelf()
        self.reporter = Reporter(self._link("report", queue.wait_briefly), self.shelf)
        self.runners = Runners(handlers, self.shelf, self.reporter, self._link, self._spawn, options.concurrency)
        self.fetcher = Fetcher(
            self._link("fetch"),
            scope,
            self.shelf,
            self.runners,
            self.reporter,
            options.concurrency,
            options.poll_ms / 1000,
        )
        self.shelf.on_suspects_done = self.fetcher.wake.set
        self.beater = Beater(self._link("beat", self._say_hello), scope, self.shelf, self.runners, self.fetcher)
        self.ticker = Ticker(self._link("tick"))
        self.dispatcher = Dispatcher(self._link("dispatch"))
        self.listener = Listener(self._link("listen", queue.listen), self.fetcher.wake.set, self.dispatcher.wake.set)
        self._only = only

    def stop(self) -> None:
        """Finish what has started, give the rest back, and end. Safe to call from a signal handler."""
        self.is_stopping = True
        self._ends.put(None)

    def hurry(self) -> None:
        """End the grace time now. Safe to call from a signal handler."""
        self._hurried = True

    def run(self) -> Tally:
        """Work until stopped."""
        self._introduce()
        log.info(
            "working", executor=self.options.executor_id, incarnation=str(self.incarnation), kinds=self._scope.kinds
        )
        self.runners.start()
        reporting = self._spawn("report", self.reporter.run)
        settling = [self._spawn(f"after-{nth}", self.reporter.afterwards.run) for nth in range(afterwards.THREADS)]
        others = [
            self._spawn("beat", self.beater.run),
            self._spawn("tick", self.ticker.run),
            self._spawn("listen", self.listener.run),
        ]
        if not self._only:
            others.append(self._spawn("dispatch", self.dispatcher.run))
        fetching = self._spawn("fetch", self.fetcher.run)
        broken = self._watch()
        log.info(
            f"stopping: running handlers may go on for {self.options.grace_s:g} s; a second signal ends that",
            running=len(self.runners.running),
            waiting=len(self.shelf),
        )
        self._wind_down(fetching, reporting, settling)
        for part in (self.beater, self.ticker, self.listener, self.dispatcher):
            part.stop()
        for thread in others:
            thread.join(5)
        self._part()
        # this process may go on without the worker
        for link in self._links:
            link.close()
        if broken is not None:
            raise WorkerBroken(broken)
        return self.reporter.tally

    def _introduce(self) -> None:
        link = Link(self.options.database_url, "penstock worker hello", revive=self._revive)

        def introduce(connection: Connection) -> None:
            migrate.check(connection)
            self._say_hello(connection)
            self.fetcher.times = queue.kind_times(connection, self._scope.kinds)

        link.call(introduce)
        link.close()

    def _say_hello(self, connection: Connection) -> None:
        """Said again with every new connection: a crash of the server has emptied the table of beats."""
        scope = self._scope
        kind = queue.executor_kind(connection, scope.executor_id)
        queue.queue_heartbeat(
            connection, scope.executor_id, kind, scope.incarnation, kinds=scope.kinds, pools=scope.pools
        )

    def _watch(self) -> str | None:
        """Until the end is near: fail what runs past its timeout. Returns what broke, None when asked to stop."""
        while True:
            look_at = self.runners.overdue()
            stuck = len(self.runners.stuck)
            if stuck > max(_MOST_STUCK, self.options.concurrency):
                return f"{stuck} handlers have not ended after their timeout: a thread cannot be stopped, a process can"
            try:
                return self._ends.get(timeout=max(0.02, look_at - time.monotonic()))
            except Empty:
                continue

    def _wind_down(
        self, fetching: threading.Thread, reporting: threading.Thread, settling: list[threading.Thread]
    ) -> None:
        deadline = time.monotonic() + self.options.grace_s
        self.fetcher.stop()
        self.runners.stop()
        while (fetching.is_alive() or self.runners.is_busy) and self._is_patient(deadline):
            self.reporter.released(self.shelf.take_last(0))
            self.runners.overdue()
            time.sleep(0.02)
        self.runners.interrupt()
        self.reporter.released(self.shelf.take_last(0))
        self.reporter.close()
        reporting.join(_REPORT_S)
        while reporting.is_alive() and self._is_patient(deadline):
            reporting.join(0.02)
        self.reporter.abandon.set()
        reporting.join(_REPORT_S)
        self.reporter.afterwards.close()
        until = max(deadline, time.monotonic() + _REPORT_S)
        while any(thread.is_alive() for thread in settling) and self._is_patient(until):
            time.sleep(0.02)
        self.reporter.afterwards.give_up()
        # what they have in their hands they still tell to the log
        last_at = time.monotonic() + _REPORT_S
        for thread in settling:
            thread.join(max(0.0, last_at - time.monotonic()))

    def _is_patient(self, deadline: float) -> bool:
        return not self._hurried and time.monotonic() < deadline

    def _part(self) -> None:
        link = Link(self.options.database_url, "penstock worker goodbye")
        try:
            link.call(lambda c: queue.farewell(c, self.options.executor_id, self.incarnation))
        except DatabaseUnavailable:
            log.warning("PostgreSQL is away: this worker will be reported as silent")
        finally:
            link.close()

    def _credentials(self) -> Credentials:
        return read_credentials(self.options.credentials)

    def _spawn(self, part: str, target: Callable[[], None]) -> threading.Thread:
        """Start a thread; should it break, so does the worker: half a worker would hold jobs and not run them."""

        def guarded() -> None:
            try:
                target()
            except BaseException as error:
                self._ends.put(
                    f"the worker's part {part!r} broke: {type(error).__name__}: {as_error(error)['message']}"
                )
                log.exception("broken", part=part)

        thread = threading.Thread(target=guarded, name=f"penstock-{part}", daemon=True)
        thread.start()
        return thread

    def _link(self, part: str, prepare: Callable[[Connection], None] | None = None) -> Link:
        self._links.append(
            Link(
                self.options.database_url, f"penstock worker {part}", prepare, outage=self._outage, revive=self._revive
            )
        )
        return self._links[-1]
