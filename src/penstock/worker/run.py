"""Runs handlers: sync ones in threads, async ones in one loop. Whatever a handler does, its job is reported."""

import asyncio
import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import Future

import structlog

from penstock.errors import DatabaseUnavailable
from penstock.jobs import JobFunction, PermanentError
from penstock.kernel import jobs
from penstock.worker.held import Held, Shelf
from penstock.worker.link import Link
from penstock.worker.report import Reporter, as_error, as_json

log = structlog.get_logger("penstock.worker")

_IDLE_S = 1.0
# how long a runner's share of jobs started together should last
_START_AHEAD_S = 0.05


class Pace:
    """How long a handler takes, as a moving average: what prefetching is measured by."""

    def __init__(self) -> None:
        self.seconds: float | None = None

    def took(self, seconds: float) -> None:
        before = self.seconds
        # rises at once, falls slowly: holding too many jobs of slow handlers is the costly mistake
        if before is None or seconds > before:
            self.seconds = seconds if before is None else before + 0.3 * (seconds - before)
        else:
            self.seconds = before + 0.02 * (seconds - before)


class Runners:
    """`concurrency` threads that take jobs from the shelf and run them."""

    def __init__(
        self,
        handlers: Mapping[str, JobFunction],
        shelf: Shelf,
        reporter: Reporter,
        open_link: Callable[[str], Link],
        concurrency: int,
    ) -> None:
        self.pace = Pace()
        self.running: dict[int, tuple[Held, float]] = {}
        self._handlers = handlers
        self._shelf = shelf
        self._reporter = reporter
        self._open_link = open_link
        self._concurrency = concurrency
        self._stop = threading.Event()
        self._timed_out: set[int] = set()
        self._threads = 0
        self._busy: dict[int, bool] = {}
        self._loop: asyncio.AbstractEventLoop | None = None
        self._tasks: dict[int, Future[None]] = {}

    def start(self) -> None:
        if any(function.is_async for function in self._handlers.values()):
            self._loop = asyncio.new_event_loop()
            threading.Thread(target=self._loop.run_forever, name="penstock-async", daemon=True).start()
        for _ in range(self._concurrency):
            self._start_thread()

    def stop(self) -> None:
        """Take no more jobs; what runs goes on."""
        self._stop.set()

    @property
    def is_busy(self) -> bool:
        """Whether a thread still has a job in its hands."""
        return any(self._busy.values())

    def overdue(self) -> list[Held]:
        """Jobs that have run past their kind's timeout: they fail now, whatever their handler still does."""
        now = time.monotonic()
        late = [held for held, since in list(self.running.values()) if now > since + held.timeout_s]
        for held in late:
            self._abandon(held)
        return late

    def abandon(self, job_id: int, reason: str) -> None:
        """A running job is cancelled or lost: tell its handler."""
        entry = self.running.get(job_id)
        if entry is None:
            return
        entry[0].job.cancelled = True
        task = self._tasks.get(job_id)
        if task is not None:
            task.cancel()
        log.info("abandoned", job=job_id, reason=reason)

    def _abandon(self, held: Held) -> None:
        job_id = held.claim.job_id
        self._timed_out.add(job_id)
        self.running.pop(job_id, None)
        self._reporter.failed(
            held, {"type": "Timeout", "message": f"the handler ran longer than {held.timeout_s:g} s (queue.timeout_ms)"}
        )
        held.job.cancelled = True
        task = self._tasks.get(job_id)
        if task is not None:
            task.cancel()
        else:
            # a thread cannot be stopped: another one takes its place
            self._start_thread()

    def _start_thread(self) -> None:
        self._threads += 1
        number = self._threads
        threading.Thread(target=self._run, args=[number], name=f"penstock-run-{number}", daemon=True).start()

    def _run(self, number: int) -> None:
        link = self._open_link("run")
        busy = self._busy
        try:
            while not self._stop.is_set():
                busy[number] = False
                self._shelf.await_work(_IDLE_S)
                busy[number] = True
                held = self._shelf.take()
                if held is not None and not self._run_one(held, link):
                    return
        finally:
            busy.pop(number, None)
            link.close()

    def _run_one(self, held: Held, link: Link) -> bool:
        """Run one job; False when the job was given up meanwhile, and this thread was replaced."""
        try:
            if not self._is_started(held, link):
                return True
            return self._handle(held)
        finally:
            if held.claim.suspect:
                self._shelf.suspect_ended()

    def _is_started(self, held: Held, link: Link) -> bool:
        if not held.is_ours(time.monotonic()):
            log.warning("lease ended before the job began", job=held.claim.job_id)
            self._shelf.forget([held.claim.job_id])
            return False
        if held.started:
            return True
        batch = [held] if held.claim.suspect else [held, *self._shelf.take_unstarted(self._start_ahead())]
        ids = [one.claim.job_id for one in batch]
        tokens = [one.claim.lease_token for one in batch]
        try:
            answers = link.call(lambda c: jobs.start(c, ids, tokens))
        except DatabaseUnavailable:
            self._reporter.released(batch)
            return False
        begun: list[Held] = []
        for one, answer in zip(batch, answers, strict=True):
            if answer.accepted:
                one.started = True
                begun.append(one)
            else:
                log.warning("start refused", job=answer.job_id, reason=answer.reason)
                self._shelf.forget([answer.job_id])
        others = [one for one in begun if one is not held]
        if others:
            self._shelf.put_back(others)
        return held.started

    def _start_ahead(self) -> int:
        return 0 if not self.pace.seconds else min(100, int(_START_AHEAD_S / self.pace.seconds))

    def _handle(self, held: Held) -> bool:
        job_id = held.claim.job_id
        began = time.monotonic()
        self.running[job_id] = (held, began)
        try:
            result = as_json(self._call(held))
        except BaseException as error:
            self._ended(job_id, began)
            if self._was_given_up(job_id):
                return False
            self._report_error(held, error)
            return True
        self._ended(job_id, began)
        if self._was_given_up(job_id):
            return False
        self._reporter.succeeded(held, result)
        return True

    def _call(self, held: Held) -> object:
        function = self._handlers[held.claim.job_kind]
        if not function.is_async:
            return function.handler(held.job)
        assert self._loop is not None
        outcome: list[object] = []
        future = asyncio.run_coroutine_threadsafe(_contained(function, held, outcome), self._loop)
        self._tasks[held.claim.job_id] = future
        try:
            future.result()
        finally:
            self._tasks.pop(held.claim.job_id, None)
        if isinstance(outcome[0], _Raised):
            raise outcome[0].error
        return outcome[0]

    def _ended(self, job_id: int, began: float) -> None:
        self.running.pop(job_id, None)
        self.pace.took(time.monotonic() - began)

    def _was_given_up(self, job_id: int) -> bool:
        if job_id not in self._timed_out:
            return False
        self._timed_out.discard(job_id)
        return True

    def _report_error(self, held: Held, error: BaseException) -> None:
        described = as_error(error, permanent=isinstance(error, PermanentError))
        log.info("failed", job=held.claim.job_id, kind=held.claim.job_kind, attempt=held.claim.attempt, **described)
        self._reporter.failed(held, described)


class _Raised:
    def __init__(self, error: BaseException) -> None:
        self.error = error


async def _contained(function: JobFunction, held: Held, outcome: list[object]) -> None:
    # SystemExit in a task would end the whole loop
    try:
        outcome.append(await function.handler(held.job))
    except BaseException as error:
        outcome.append(_Raised(error))
