"""Runs handlers: sync ones in threads, async ones in one loop. Whatever a handler does, its job is reported."""

import asyncio
import threading
import time
from collections.abc import Callable, Mapping
from queue import LifoQueue

import structlog

from penstock.errors import DatabaseUnavailable, PenstockError
from penstock.jobs import Awaiting, JobFunction, Outcome, PermanentError, Snooze
from penstock.kernel import jobs
from penstock.worker.held import Held, Shelf
from penstock.worker.link import Link
from penstock.worker.report import Reporter, as_error, as_json

log = structlog.get_logger("penstock.worker")

_IDLE_S = 1.0
# how long a runner's share of jobs started together should last
_START_AHEAD_S = 0.05
_START_LINKS = 4

Spawn = Callable[[str, Callable[[], None]], threading.Thread]


class Pace:
    """How long a handler takes, as a moving average: what prefetching is measured by."""

    def __init__(self) -> None:
        self.seconds: float | None = None
        self.ended_at = 0.0

    def took(self, began: float) -> None:
        self.ended_at = now = time.monotonic()
        seconds = now - began
        before = self.seconds
        # one long wait for the interpreter's lock is no slow handler: twenty slow jobs in a row are
        self.seconds = seconds if before is None else before + 0.05 * (seconds - before)


class Runners:
    """`concurrency` threads that take jobs from the shelf and run them."""

    def __init__(
        self,
        handlers: Mapping[str, JobFunction],
        shelf: Shelf,
        reporter: Reporter,
        open_link: Callable[[str], Link],
        spawn: Spawn,
        concurrency: int,
    ) -> None:
        self.pace = Pace()
        # whoever takes a job out of `running` decides how it ended: its thread, or the watch over timeouts
        self.running: dict[Held, tuple[float, int]] = {}
        self.stuck: set[int] = set()
        self._handlers = handlers
        self._async_kinds = frozenset(kind for kind, function in handlers.items() if function.is_async)
        self._shelf = shelf
        self._reporter = reporter
        self._spawn = spawn
        self._concurrency = concurrency
        self._stop = threading.Event()
        self._threads = 0
        self._busy: dict[int, bool] = {}
        self._links: LifoQueue[Link] = LifoQueue()
        for _ in range(min(concurrency, _START_LINKS)):
            self._links.put(open_link("start"))
        self._loop: asyncio.AbstractEventLoop | None = None
        self._tasks: dict[Held, asyncio.Task[object]] = {}

    def start(self) -> None:
        if self._async_kinds:
            self._loop = asyncio.new_event_loop()
            self._spawn("async", self._run_loop)
        for _ in range(self._concurrency):
            self._start_thread()

    def stop(self) -> None:
        """Take no more jobs; what runs goes on."""
        self._stop.set()

    @property
    def is_busy(self) -> bool:
        """Whether a thread still has a job in its hands."""
        return any(self._busy.copy().values())

    @property
    def idle(self) -> int:
        return self._concurrency - len(self.running)

    def overdue(self) -> float:
        """Fail the jobs that have run past their timeout, whatever their handlers still do.

        Returns when the next one will have.
        """
        now = time.monotonic()
        nearest = now + _IDLE_S
        for held, (began, number) in self.running.copy().items():
            deadline = held.deadline(began)
            if now < deadline:
                nearest = min(nearest, deadline)
            else:
                self._give_up(held, number, "Timeout", f"the handler ran longer than {held.timeout_s:g} s")
        return nearest

    def interrupt(self) -> None:
        """The grace time is over: fail what still runs."""
        for held, (_, number) in self.running.copy().items():
            self._give_up(held, number, "Interrupted", "the worker stopped before the handler ended")
            log.warning("handler did not end within the grace time", job=held.claim.job_id)

    def abandon(self, held: Held, reason: str) -> None:
        """A held job is cancelled or lost: tell its handler, if it runs."""
        held.lost()
        if held in self.running and not held.job.cancelled:
            held.job.cancelled = True
            self._cancel(held)
            log.info("abandoned", job=held.claim.job_id, reason=reason)

    def _give_up(self, held: Held, number: int, kind: str, message: str) -> None:
        entry = self.running.pop(held, None)
        if entry is None:
            return
        self.pace.took(entry[0])
        self.stuck.add(number)
        self._busy.pop(number, None)
        held.job.cancelled = True
        self._reporter.failed(held, {"type": kind, "message": message})
        self._cancel(held)
        # a thread cannot be stopped: another one takes its place
        self._start_thread()

    def _cancel(self, held: Held) -> None:
        task = self._tasks.get(held)
        if task is not None and self._loop is not None:
            self._loop.call_soon_threadsafe(task.cancel)

    def _start_thread(self) -> None:
        self._threads += 1
        number = self._threads
        self._spawn(f"run-{number}", lambda: self._run(number))

    def _run(self, number: int) -> None:
        busy = self._busy
        try:
            while True:
                busy[number] = False
                self._shelf.await_work(_IDLE_S)
                busy[number] = True
                if self._stop.is_set():
                    return
                held = self._shelf.take()
                if held is not None and not self._run_one(held, number):
                    return
        finally:
            busy.pop(number, None)
            self.stuck.discard(number)

    def _run_one(self, held: Held, number: int) -> bool:
        """Run one job; False when the job was given up meanwhile, and this thread was replaced."""
        return self._handle(held, number) if self._is_started(held) else True

    def _is_started(self, held: Held) -> bool:
        if not held.is_ours(time.monotonic()):
            self._reporter.released([held])
            log.warning("not begun: its lease has ended, or it is being cancelled", job=held.claim.job_id)
            return False
        return held.started or self._start(held)

    def _start(self, held: Held) -> bool:
        # a later attempt may be the last: it is begun alone, so that no neighbour takes it into the dead letter
        alone = held.claim.attempt > 1
        batch = [held] if alone else [held, *self._shelf.take_unstarted(self._start_ahead())]
        ids = [one.claim.job_id for one in batch]
        tokens = [one.claim.lease_token for one in batch]
        asked_at = time.monotonic()
        link = self._links.get()
        try:
            answers = link.call(lambda c: jobs.start(c, ids, tokens))
        except PenstockError as error:
            self._reporter.released(batch)
            if not isinstance(error, DatabaseUnavailable):
                log.warning("start failed", jobs=len(batch), error=str(error))
            return False
        finally:
            self._links.put(link)
        for one, answer in zip(batch, answers, strict=True):
            one.started = answer.accepted
            one.asked_at = asked_at
        self._shelf.forget([one for one in batch if not one.started])
        others = [one for one in batch if one.started and one is not held]
        if others:
            self._shelf.put_back(others)
        for answer in answers:
            if not answer.accepted:
                log.warning("start refused", job=answer.job_id, reason=answer.reason)
        return held.started

    def _start_ahead(self) -> int:
        return 0 if not self.pace.seconds else min(100, int(_START_AHEAD_S / self.pace.seconds))

    def _handle(self, held: Held, number: int) -> bool:
        self.running[held] = (time.monotonic(), number)
        following: str | None = None
        try:
            returned = self._call(held)
            if isinstance(returned, Outcome):
                held.pledges = returned.pledges
                following = as_json(returned.following, "where the step goes on")
                returned = returned.result
            result = None if isinstance(returned, Awaiting) else as_json(returned)
        except BaseException as error:
            # one that is put off says nothing about how long the others take
            if not self._ended(held, is_sample=not isinstance(error, Snooze)):
                self._reporter.afterwards.lost(held)
                return False
            if isinstance(error, Snooze):
                self._reporter.released([held], error.seconds)
            else:
                self._report_error(held, error)
            return True
        if not self._ended(held):
            self._reporter.afterwards.lost(held)
            return False
        if isinstance(returned, Awaiting):
            self._reporter.awaiting(held, returned)
        else:
            self._reporter.succeeded(held, result, following)
        return True

    def _call(self, held: Held) -> object:
        function = self._handlers[held.claim.job_kind]
        if held.claim.job_kind not in self._async_kinds:
            return function.handler(held.job)
        assert self._loop is not None
        outcome = asyncio.run_coroutine_threadsafe(self._contained(function, held), self._loop).result()
        if isinstance(outcome, _Raised):
            raise outcome.error
        return outcome

    def _ended(self, held: Held, *, is_sample: bool = True) -> bool:
        """Whether the job was still this thread's when its handler ended."""
        entry = self.running.pop(held, None)
        if entry is None:
            return False
        if is_sample:
            self.pace.took(entry[0])
        return True

    def _report_error(self, held: Held, error: BaseException) -> None:
        described = as_error(error, permanent=isinstance(error, PermanentError))
        self._reporter.failed(held, described)
        log.info("failed", job=held.claim.job_id, kind=held.claim.job_kind, attempt=held.claim.attempt, **described)

    def _run_loop(self) -> None:
        assert self._loop is not None
        while True:
            try:
                self._loop.run_forever()
            except (SystemExit, KeyboardInterrupt) as error:
                # raised by a task that a handler left behind: the others' handlers go on
                log.warning("a background task tried to end the process", error=repr(error))

    async def _contained(self, function: JobFunction, held: Held) -> object:
        """Run an async handler to its very end, cancelled or not; SystemExit in a task would end the whole loop."""
        task = asyncio.current_task()
        assert task is not None
        self._tasks[held] = task
        try:
            if held.job.cancelled:
                raise asyncio.CancelledError
            return await function.handler(held.job)
        except BaseException as error:
            return _Raised(error)
        finally:
            del self._tasks[held]


class _Raised:
    def __init__(self, error: BaseException) -> None:
        self.error = error
