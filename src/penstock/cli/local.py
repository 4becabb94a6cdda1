"""One subscription file, run here: registered, activated, read and worked on, and nothing left running."""

import os
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from threading import Event

import structlog

from penstock.catalog.entry import Entry, read_file
from penstock.catalog.subscription import SubscriptionSpec
from penstock.cli.beside import playbooks_beside
from penstock.cli.driver import Driver, need_spark
from penstock.cli.line import Line
from penstock.cli.logs import log_to_stderr
from penstock.cli.modules import find_modules_beside
from penstock.cli.nats import nats_beside
from penstock.cli.runtime import refuse_held
from penstock.cli.signals import stopped_by_signals
from penstock.cli.stack import opened_database
from penstock.cli.tally import NOTHING_YET, Tally, is_busy, tally
from penstock.cli.tended import Tended
from penstock.cli.trail import Trail
from penstock.credentials import read_credentials
from penstock.embedded.logfile import LogFile
from penstock.errors import DatabaseUnavailable, IllegalMove, SettingsError
from penstock.kernel import local, subscriptions
from penstock.kernel.connection import Connection, connect
from penstock.kernel.registration import register
from penstock.kernel.subscriptions import SubscriptionView
from penstock.settings import read_settings

log = structlog.get_logger("penstock.subscribe")

_APPLICATION = "penstock subscribe"
_LOOK_S = 0.5
# the looks take this share of the time at most
_SHARE = 0.2
_CONCURRENCY = 10


@dataclass(frozen=True)
class LocalRun:
    """What was asked for."""

    file: Path
    once: bool
    most: int | None
    events: Path | None
    with_nats: bool
    concurrency: int | None
    master: str


def run_local(asked: LocalRun) -> Tally:
    """Until it has done what was asked, or a signal ends it; what became of the messages."""
    entries, spec = _read(asked)
    need_spark()
    from penstock.pipeline.telemetry import opened

    settings = read_settings()
    home = settings.home.expanduser().absolute()
    find_modules_beside(asked.file)
    # left in the opposite order: worker, the subscription's state, Spark, servers, and the line at last
    with ExitStack() as stack:
        line = stack.enter_context(live_line(home))
        # as it is now: the worker finds the server as we do, and is one of its users. What functions print is not ours
        worker = Tended(["--concurrency", str(asked.concurrency or _CONCURRENCY)], dict(os.environ), on_stderr=True)
        line.says("PostgreSQL is starting")
        url = opened_database(settings)
        if asked.with_nats:
            line.says("NATS is starting")
            stack.enter_context(nats_beside(home, settings))
        telemetry = stack.enter_context(opened(settings.metrics_port, settings.metrics_host))
        driver = Driver(url, asked.master, home, telemetry, only=spec.path, told=line.says)
        run = _Run(url, spec.path, line, stack.enter_context(connect(url, application=_APPLICATION)))
        if asked.events is not None:
            run.trail = stack.enter_context(Trail(asked.events, spec.path, run.since))
            run.trail.follow(local.live(run.connection, spec.path))
        stack.enter_context(run.registered(entries))
        stack.callback(driver.end)
        line.says("Spark is starting")
        driver.session()
        # after the session: it takes Ctrl-C for itself
        stop = stopped_by_signals(hurry=worker.ask_to_stop)
        line.says(NOTHING_YET)
        with worker:
            run.until_done(lambda: driver.run(spec.path, stop, once=asked.once, most=asked.most), stop, worker.look)
    return run.now


@contextmanager
def live_line(home: Path) -> Iterator[Line]:
    """How far a run is, while it goes on. What is logged from here on stays out of it."""
    with Line(LogFile(home / "subscribe.log")) as line:
        log_to_stderr()
        yield line


def _read(asked: LocalRun) -> tuple[list[Entry], SubscriptionSpec]:
    """The subscription of the file, and the playbooks it may start, of the file and of those beside it."""
    entry, spec = subscription_in(asked)
    return [*playbooks_beside(asked.file, spec.playbooks(), read_file(asked.file)).values(), entry], spec


def subscription_in(asked: LocalRun) -> tuple[Entry, SubscriptionSpec]:
    """The one subscription of the file."""
    found = read_file(asked.file)
    specs = [one for one in found if isinstance(one.spec, SubscriptionSpec)]
    if len(specs) != 1:
        paths = ", ".join(one.path for one in specs) or "none"
        raise SettingsError(f"{asked.file}: expected one subscription in it, found {paths}\nGive a file with one.")
    spec = specs[0].spec
    assert isinstance(spec, SubscriptionSpec)
    if spec.activation == "scheduled" and asked.most is not None and not asked.once:
        raise SettingsError(f"{asked.file}: {spec.path} is drained by its cadence\nUse --max-messages with --once.")
    return specs[0], spec


class _Run:
    """One run of one subscription, seen from its side."""

    def __init__(self, url: str, path: str, line: Line, connection: Connection) -> None:
        self.connection = connection
        self.trail: Trail | None = None
        self.since: datetime = local.clock(connection)
        self.now = Tally(0, 0, 0, 0, 0, 0, 0)
        self._url = url
        self._path = path
        self._line = line
        self._before: SubscriptionView | None = None
        self._busy = False
        self._next_look = 0.0

    @contextmanager
    def registered(self, entries: list[Entry]) -> Iterator[None]:
        """Registered and active for as long as the block lasts; one that was not active is not active afterwards."""
        was_active = self._check_free()
        for one in register(self.connection, entries, read_credentials(read_settings().credentials)):
            log.info("is registered", path=one.path, version=one.version)
        self._before = subscriptions.show(self.connection, self._path)
        subscriptions.move(self.connection, self._path, "activate")
        try:
            yield
        finally:
            # a subscription that is active, and that nobody reads, would be reported
            if not was_active:
                with suppress(DatabaseUnavailable), connect(self._url, application=_APPLICATION) as connection:
                    subscriptions.move(connection, self._path, "deactivate")
            self.look()

    def _check_free(self) -> bool:
        """Refuse one that another runtime holds, or that is paused; else whether it is active."""
        found = subscriptions.listed(self.connection, self._path)
        for one in found:
            refuse_held(one)
            if one.state == "PAUSED":
                raise IllegalMove(
                    f"subscription {one.path} is paused: somebody wants nobody to read it for now",
                    f"When it may go on: penstock subscription resume {one.path}",
                )
        return any(one.state == "ACTIVE" for one in found)

    def until_done(self, hold: Callable[[], str], stop: Event, tend: Callable[[], None]) -> None:
        """Read until `hold` is over, then let the worker run what is left, unless somebody wants it to stop."""
        with ThreadPoolExecutor(1, "runtime") as thread:
            running: Future[str] = thread.submit(hold)
            try:
                while not running.done():
                    self._wait(stop, tend)
            except BaseException:
                # else the thread would never end
                stop.set()
                raise
            log.info("has been read", subscription=self._path, state=running.result())
        self.look()
        while self._busy and not stop.is_set():
            self._wait(stop, tend)

    def _wait(self, stop: Event, tend: Callable[[], None]) -> None:
        stop.wait(_LOOK_S)
        tend()
        if time.monotonic() >= self._next_look:
            self.look()

    def look(self) -> None:
        """See how far it is, and write down what has happened."""
        began = time.monotonic()
        with suppress(DatabaseUnavailable):
            if self.connection.closed:
                self.connection = connect(self._url, application=_APPLICATION)
            standing = local.standing(self.connection, self._path, self.since)
            assert self._before is not None
            self.now = tally(self._before, subscriptions.show(self.connection, self._path), standing.own)
            self._busy = is_busy(standing)
            if self.trail is not None:
                self.trail.look(self.connection)
        self._line.says(self.now.in_words())
        self._next_look = time.monotonic() + (time.monotonic() - began) / _SHARE
