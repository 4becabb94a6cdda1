"""Ended jobs on their way to PostgreSQL: collected while the last batch is under way, so a lone job never waits."""

import json
import re
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from threading import Event
from typing import Any, TypeVar

import structlog

from penstock.errors import Busy, DatabaseUnavailable, PenstockError
from penstock.jobs import Awaiting
from penstock.kernel import jobs, results
from penstock.model import Answer, Json
from penstock.worker.afterwards import Afterwards
from penstock.worker.held import Held, Shelf
from penstock.worker.link import Link

log = structlog.get_logger("penstock.worker")

_BATCH = 1000
# a statement's parameters are held in memory several times over; PostgreSQL takes no more than 1 GB of them
_BATCH_CHARS = 16_000_000
_RESULT_CHARS = 64_000_000
_AGAIN_S = 1.0

Done = tuple[Held, str | None, str | None]
Item = TypeVar("Item", Done, tuple[Held, Json], tuple[Held, float], tuple[Held, Awaiting])
_NUL = re.compile(r"(?<!\\)(?:\\\\)*\\u0000")


@dataclass
class Tally:
    """What became of the jobs this worker ended."""

    succeeded: int = 0
    failed: int = 0
    released: int = 0
    refused: dict[str, int] = field(default_factory=dict)


class Reporter:
    """Finishes, fails and releases jobs in batches; its thread is the only one that reports."""

    def __init__(self, link: Link, shelf: Shelf, afterwards: Afterwards | None = None) -> None:
        self.tally = Tally()
        self.afterwards = afterwards or Afterwards()
        self.abandon = Event()
        self._link = link
        self._shelf = shelf
        self._done: deque[Done] = deque()
        self._awaiting: deque[tuple[Held, Awaiting]] = deque()
        self._failed: deque[tuple[Held, Json]] = deque()
        self._released: deque[tuple[Held, float]] = deque()
        # what somebody else's open transaction holds: a cancel that is not committed yet
        self._aside: list[Callable[[], None]] = []
        self._work = Event()
        self._closing = False

    def succeeded(self, held: Held, result: str | None, following: str | None = None) -> None:
        """The handler returned; `result` is JSON text, or None. So is what a step says about where it goes on."""
        self._done.append((held, result, following))
        if not self._work.is_set():
            self._work.set()

    def awaiting(self, held: Held, awaited: Awaiting) -> None:
        """The step goes on when there is an answer."""
        self._awaiting.append((held, awaited))
        self._work.set()

    def failed(self, held: Held, error: Json) -> None:
        self.afterwards.lost(held)
        self._failed.append((held, error))
        self._work.set()

    def released(self, batch: list[Held], delay_s: float = 0) -> None:
        if batch:
            self._released.extend((held, delay_s) for held in batch)
            self._work.set()

    def close(self) -> None:
        """Report what is left, then end the thread."""
        self._closing = True
        self._work.set()

    def run(self) -> None:
        """The thread: report whatever has gathered, until closed and empty."""
        try:
            while True:
                self._work.wait(_AGAIN_S if self._aside else None)
                self._work.clear()
                self._report_aside()
                while self._done or self._failed or self._released or self._awaiting:
                    self._report(drained(self._done), self._finish)
                    self._report(drained(self._awaiting), self._await)
                    self._report(drained(self._failed), self._fail)
                    self._report(drained(self._released), self._release)
                if self._closing and not self._work.is_set() and (not self._aside or self.abandon.is_set()):
                    return
        except DatabaseUnavailable:
            log.error("gave up reporting: the leases will end by themselves", left=len(self._shelf.held))
        finally:
            self._link.close()

    def _report_aside(self) -> None:
        again, self._aside = self._aside, []
        for report in again:
            report()

    def _report(self, batch: list[Item], report: Callable[[list[Item]], None]) -> None:
        """Report a batch; one that is refused whole is divided until the item at fault stands alone."""
        if not batch:
            return
        try:
            report(batch)
        except DatabaseUnavailable:
            raise
        except PenstockError as error:
            if len(batch) > 1:
                middle = len(batch) // 2
                self._report(batch[:middle], report)
                self._report(batch[middle:], report)
                return
            if isinstance(error, Busy):
                self._aside.append(lambda: self._report(batch, report))
                return
            held = batch[0][0]
            if report == self._finish or report == self._await:
                # what cannot be kept now cannot be kept after another try, which might do half of it again
                self.failed(held, as_error(error, permanent=report == self._await))
            else:
                self._shelf.forget([held])
            log.error("cannot be reported", job=held.claim.job_id, error=str(error))

    def _finish(self, batch: list[Done]) -> None:
        ids = [held.claim.job_id for held, _, _ in batch]
        tokens = [held.claim.lease_token for held, _, _ in batch]
        results = [result for _, result, _ in batch]
        given = results if any(result is not None for result in results) else None
        is_stepwise = any(held.job.step is not None for held, _, _ in batch)
        following = [one for _, _, one in batch] if is_stepwise else None
        refused = self._link.insist(lambda c: jobs.finish(c, ids, tokens, given, following), self.abandon)
        self.tally.succeeded += len(batch) - len(refused)
        unfit = {answer.job_id: answer.reason for answer in refused if answer.reason in _UNFIT}
        for held, result, _ in batch if unfit else ():
            if held.claim.job_id in unfit:
                self.failed(held, self._unfit(unfit[held.claim.job_id], result))
        self._shelf.forget([held for held, _, _ in batch if held.claim.job_id not in unfit])
        self._settle(batch, {answer.job_id for answer in refused})
        for answer in refused:
            self._refused("finish", answer)

    def _unfit(self, reason: str | None, result: str | None) -> Json:
        if reason != "bad_result" or result is None:
            return _unfit(reason)
        # PostgreSQL writes some numbers longer than Python does: the size is the one it was refused for
        return _unfit(reason, *self._link.insist(lambda c: results.measured(c, result), self.abandon))

    def _settle(self, batch: list[Done], refused: set[int]) -> None:
        """Only now is it known whose results are kept."""
        owing = {(held.claim.job_id, held.claim.lease_token): held for held, _, _ in batch if held.pledges}
        kept = {pair for pair in owing if pair[0] not in refused}
        if len(kept) < len(owing):
            # one whose first answer was lost is refused as finished, by itself
            ids, tokens = zip(*owing, strict=True)
            kept |= self._link.insist(lambda c: jobs.kept(c, ids, tokens), self.abandon)
        for pair, held in owing.items():
            (self.afterwards.kept if pair in kept else self.afterwards.lost)(held)

    def _await(self, batch: list[tuple[Held, Awaiting]]) -> None:
        for held, awaited in batch:
            job_id, token = held.claim.job_id, held.claim.lease_token
            answer = self._link.insist(
                lambda c, j=job_id, t=token, a=awaited: jobs.wait(c, j, t, **vars(a)),  # type: ignore[misc]
                self.abandon,
            )
            self._shelf.forget([held])
            if not answer.accepted:
                self._refused("await", answer)

    def _fail(self, batch: list[tuple[Held, Json]]) -> None:
        ids = [held.claim.job_id for held, _ in batch]
        tokens = [held.claim.lease_token for held, _ in batch]
        errors = [error for _, error in batch]
        answers = self._link.insist(lambda c: jobs.fail(c, ids, tokens, errors), self.abandon)
        self._shelf.forget([held for held, _ in batch])
        for answer in answers:
            if answer.accepted:
                self.tally.failed += 1
            else:
                self._refused("fail", answer)

    def _release(self, batch: list[tuple[Held, float]]) -> None:
        ids = [held.claim.job_id for held, _ in batch]
        tokens = [held.claim.lease_token for held, _ in batch]
        delays_ms = [round(delay_s * 1000) for _, delay_s in batch]
        answers = self._link.insist(lambda c: jobs.release(c, ids, tokens, delays_ms), self.abandon)
        self._shelf.forget([held for held, _ in batch])
        for answer in answers:
            if answer.accepted:
                self.tally.released += 1
            else:
                self._refused("release", answer)

    def _refused(self, what: str, answer: Answer) -> None:
        reason = answer.reason or "unknown"
        self.tally.refused[reason] = self.tally.refused.get(reason, 0) + 1
        log.warning(f"{what} refused", job=answer.job_id, reason=reason)


_UNFIT = {
    "bad_result": (
        "ResultTooLarge",
        "the result is {size:,} bytes of JSON, and {most:,} are kept (queue.result.max_bytes): keep it elsewhere and"
        " return its address",
    ),
    "bad_next": (
        "BadNext",
        "the step cannot go on where it wanted to: its playbook has no such arc, or it was taken too often, or"
        " a loop has too many items, or too large ones (execution.loop.max_items, execution.loop.max_bytes)",
    ),
}


def _unfit(reason: str | None, size: int = 0, most: int = 0) -> Json:
    """What cannot be kept, as the error of a step that is not tried again."""
    kind, message = _UNFIT[reason or ""]
    return {"type": kind, "message": message.format(size=size, most=most), "permanent": True}


class UnserialisableResult(PenstockError):
    """A handler returned something that cannot be kept as JSON."""


def as_json(result: Any, what: str = "the handler's result") -> str | None:
    """A handler's result as JSON text that PostgreSQL can keep; `what` is its name if it cannot."""
    if result is None:
        return None
    try:
        text = json.dumps(result, ensure_ascii=False, allow_nan=False)
        text.encode()
    except (TypeError, ValueError, RecursionError) as error:
        raise UnserialisableResult(f"{what} cannot be kept as JSON: {error}") from error
    if len(text) > _RESULT_CHARS:
        raise UnserialisableResult(f"{what} is {len(text)} characters of JSON: keep it elsewhere")
    if _NUL.search(text):
        raise UnserialisableResult(f"{what} holds U+0000, which PostgreSQL cannot keep")
    return text


def as_error(error: BaseException, *, permanent: bool = False) -> Json:
    """An exception as the error of a failed attempt."""
    try:
        message = str(error)
    except BaseException as second:
        message = f"its message cannot be read: {type(second).__name__}"
    message = message[:4000].encode("utf-8", "replace").decode().replace("\0", "\N{REPLACEMENT CHARACTER}")
    described: Json = {"type": type(error).__name__, "message": message}
    if permanent:
        described["permanent"] = True
    return described


def drained(queue: deque[Item]) -> list[Item]:
    """Its first items, as many as one statement may bring."""
    taken: list[Item] = []
    chars = 0
    try:
        while len(taken) < _BATCH and chars < _BATCH_CHARS:
            taken.append(queue.popleft())
            for part in taken[-1][1:]:
                if isinstance(part, str):
                    chars += len(part)
    except IndexError:
        pass
    return taken
