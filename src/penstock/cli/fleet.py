"""The subscriptions one process runs, each in a thread: begun, ended and tried again by what the list of them says."""

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import datetime
from threading import Event, Thread

import structlog

from penstock.errors import DatabaseUnavailable, PenstockError, RuntimeReplaced, SubscriptionHeld
from penstock.kernel.subscriptions import SubscriptionView

log = structlog.get_logger("penstock.up")

Hold = Callable[[str, Event], str]

_FIRST_WAIT_S = 1.0
_LONGEST_WAIT_S = 30.0


@dataclass
class Run:
    """One life of one subscription in this process."""

    path: str
    version: int
    moved_at: datetime
    activation: str
    stop: Event = field(default_factory=Event)
    began: float = field(default_factory=time.monotonic)
    state: str | None = None
    error: BaseException | None = None
    thread: Thread | None = None

    @property
    def is_over(self) -> bool:
        return self.thread is not None and not self.thread.is_alive()


@dataclass(frozen=True)
class Aside:
    """A subscription that ended with an error: what it was like then, and what it waits for."""

    version: int
    moved_at: datetime
    is_held: bool
    again_at: float | None
    wait_s: float

    def may_run(self, one: SubscriptionView) -> bool:
        """Never only because time has gone by, but where the database was away."""
        if (one.version, one.moved_at) != (self.version, self.moved_at):
            return True
        if self.is_held:
            return not one.is_running
        return self.again_at is not None and time.monotonic() >= self.again_at


class Fleet:
    """`hold` runs one subscription until it is over, or its event is set."""

    def __init__(self, hold: Hold) -> None:
        self._hold = hold
        self._runs: dict[str, Run] = {}
        self._asides: dict[str, Aside] = {}

    @property
    def running(self) -> list[str]:
        return sorted(self._runs)

    def look(self, listed: Callable[[], Iterable[SubscriptionView]]) -> None:
        """Bring what runs here into line with the list."""
        # first: what has ended must not be begun again by a list from before it did
        self._settle()
        pulled = {one.path: one for one in listed() if one.mode == "pull"}
        for path, run in self._runs.items():
            if not _goes_on(run, pulled.get(path)):
                run.stop.set()
        for one in pulled.values():
            if one.state == "ACTIVE" and one.path not in self._runs and self._may_run(one):
                self._begin(one)

    def stop(self, deadline_s: float) -> list[str]:
        """End all of them in order; the paths of those that have not ended in time."""
        deadline = time.monotonic() + deadline_s
        for run in self._runs.values():
            run.stop.set()
        for run in self._runs.values():
            assert run.thread is not None
            run.thread.join(max(0.0, deadline - time.monotonic()))
        self._settle()
        return self.running

    def _may_run(self, one: SubscriptionView) -> bool:
        aside = self._asides.get(one.path)
        return aside is None or aside.may_run(one)

    def _begin(self, one: SubscriptionView) -> None:
        run = Run(one.path, one.version, one.moved_at, one.activation)
        run.thread = Thread(target=self._run, args=[run], name=f"runtime {one.path}", daemon=True)
        self._runs[one.path] = run
        log.info("begins", subscription=one.path, source=one.source, activation=one.activation)
        run.thread.start()

    def _run(self, run: Run) -> None:
        try:
            run.state = self._hold(run.path, run.stop)
        except BaseException as error:
            run.error = error

    def _settle(self) -> None:
        """Say how those that are over ended, and what the others that failed wait for."""
        for run in [run for run in self._runs.values() if run.is_over]:
            del self._runs[run.path]
            if run.error is None:
                self._asides.pop(run.path, None)
                log.info("has ended", subscription=run.path, state=run.state)
            else:
                self._set_aside(run, run.error)

    def _set_aside(self, run: Run, error: BaseException) -> None:
        is_held = isinstance(error, SubscriptionHeld | RuntimeReplaced)
        wait_s, again_at = _FIRST_WAIT_S, None
        if isinstance(error, DatabaseUnavailable):
            before = self._asides.get(run.path)
            if before is not None and time.monotonic() - run.began < _LONGEST_WAIT_S:
                wait_s = min(2 * before.wait_s, _LONGEST_WAIT_S)
            again_at = time.monotonic() + wait_s
        self._asides[run.path] = Aside(run.version, run.moved_at, is_held, again_at, wait_s)
        if is_held:
            log.warning("waits until its place is free", subscription=run.path, error=str(error))
        elif again_at is not None:
            log.warning("is tried again", subscription=run.path, wait_s=wait_s, error=str(error))
        else:
            log.error(
                "has ended with an error: it is tried again when it is registered anew, or deactivated and activated",
                subscription=run.path,
                error=str(error),
                # of our own errors the words say it all
                exc_info=None if isinstance(error, PenstockError) else error,
            )


def _goes_on(run: Run, one: SubscriptionView | None) -> bool:
    """Whether what runs is still wanted as it is: a pause keeps its place."""
    return one is not None and one.state in ("ACTIVE", "PAUSED") and one.activation == run.activation
