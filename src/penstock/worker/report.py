"""Ended jobs on their way to PostgreSQL: collected while the last batch is under way, so a lone job never waits."""

import json
import re
from collections import deque
from dataclasses import dataclass, field
from threading import Event
from typing import Any

import structlog

from penstock.errors import DatabaseUnavailable, PenstockError
from penstock.kernel import jobs
from penstock.model import Answer, Json
from penstock.worker.held import Held, Shelf
from penstock.worker.link import Link

log = structlog.get_logger("penstock.worker")

_BATCH = 1000
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

    def __init__(self, link: Link, shelf: Shelf) -> None:
        self.tally = Tally()
        self.abandon = Event()
        self._link = link
        self._shelf = shelf
        self._done: deque[tuple[Held, str | None]] = deque()
        self._failed: deque[tuple[Held, Json]] = deque()
        self._released: deque[Held] = deque()
        self._work = Event()
        self._closing = False

    def succeeded(self, held: Held, result: str | None) -> None:
        """The handler returned; `result` is JSON text, or None."""
        self._done.append((held, result))
        if not self._work.is_set():
            self._work.set()

    def failed(self, held: Held, error: Json) -> None:
        self._failed.append((held, error))
        self._work.set()

    def released(self, batch: list[Held]) -> None:
        self._released.extend(batch)
        self._work.set()

    def close(self) -> None:
        """Report what is left, then end the thread."""
        self._closing = True
        self._work.set()

    def run(self) -> None:
        """The thread: report whatever has gathered, until closed and empty."""
        try:
            while True:
                self._work.wait()
                self._work.clear()
                while self._done or self._failed or self._released:
                    self._report_done(_drain(self._done))
                    self._report_failed(_drain(self._failed))
                    self._report_released(_drain(self._released))
                if self._closing and not self._work.is_set():
                    return
        except DatabaseUnavailable:
            log.error("gave up reporting: the leases will end by themselves", left=len(self._shelf.held))
        finally:
            self._link.close()

    def _report_done(self, batch: list[tuple[Held, str | None]]) -> None:
        if not batch:
            return
        ids = [one.claim.job_id for one, _ in batch]
        tokens = [one.claim.lease_token for one, _ in batch]
        results = [result for _, result in batch]
        given = results if any(result is not None for result in results) else None
        refused = self._link.insist(lambda c: jobs.finish(c, ids, tokens, given), self.abandon)
        self.tally.succeeded += len(batch) - len(refused)
        if refused:
            held = {one.claim.job_id: one for one, _ in batch}
            for answer in refused:
                self._refused("finish", answer)
                if answer.reason == "bad_result":
                    self._failed.append((held[answer.job_id], _RESULT_TOO_LARGE))
            kept = {answer.job_id for answer in refused if answer.reason == "bad_result"}
            ids = [job_id for job_id in ids if job_id not in kept]
        self._shelf.forget(ids)

    def _report_failed(self, batch: list[tuple[Held, Json]]) -> None:
        if not batch:
            return
        ids = [one.claim.job_id for one, _ in batch]
        tokens = [one.claim.lease_token for one, _ in batch]
        errors = [error for _, error in batch]
        for answer in self._link.insist(lambda c: jobs.fail(c, ids, tokens, errors), self.abandon):
            if answer.accepted:
                self.tally.failed += 1
            else:
                self._refused("fail", answer)
        self._shelf.forget(ids)

    def _report_released(self, batch: list[Held]) -> None:
        if not batch:
            return
        ids = [one.claim.job_id for one in batch]
        tokens = [one.claim.lease_token for one in batch]
        for answer in self._link.insist(lambda c: jobs.release(c, ids, tokens), self.abandon):
            if answer.accepted:
                self.tally.released += 1
            else:
                self._refused("release", answer)
        self._shelf.forget(ids)

    def _refused(self, what: str, answer: Answer) -> None:
        reason = answer.reason or "unknown"
        self.tally.refused[reason] = self.tally.refused.get(reason, 0) + 1
        log.warning(f"{what} refused", job=answer.job_id, reason=reason)


_RESULT_TOO_LARGE: Json = {
    "type": "ResultTooLarge",
    "message": "the handler's result is larger than queue.result.max_bytes: keep it elsewhere and return its address",
    "permanent": True,
}


class UnserialisableResult(PenstockError):
    """A handler returned something that cannot be kept as JSON."""


def as_json(result: Any) -> str | None:
    """A handler's result as JSON text that PostgreSQL can keep."""
    if result is None:
        return None
    try:
        text = json.dumps(result, ensure_ascii=False, allow_nan=False)
        text.encode()
    except (TypeError, ValueError, RecursionError) as error:
        raise UnserialisableResult(f"the handler's result cannot be kept as JSON: {error}") from error
    if _NUL.search(text):
        raise UnserialisableResult("the handler's result holds U+0000, which PostgreSQL cannot keep")
    return text


def as_error(error: BaseException, *, permanent: bool = False) -> Json:
    """An exception as the error of a failed attempt."""
    message = str(error).encode("utf-8", "replace").decode().replace("\0", "�")
    described: Json = {"type": type(error).__name__, "message": message[:4000]}
    if permanent:
        described["permanent"] = True
    return described


def _drain(queue: deque[Any]) -> list[Any]:
    taken: list[Any] = []
    while len(taken) < _BATCH:
        try:
            taken.append(queue.popleft())
        except IndexError:
            break
    return taken
