"""The statements of operators: cancel, retry, and what becomes of dead letters."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from tests.concurrency.model_calls import NOTHING, Call, Request, Rows, insert
from tests.concurrency.model_queue import HELD, Difference, Tag
from tests.concurrency.model_view import View


@dataclass(frozen=True)
class Cancel(Call):
    job_id: int

    def sql(self) -> tuple[str, list[Any]]:
        return "select penstock.fn_job_cancel(%s, null, 'no longer wanted')", [self.job_id]

    def waits(self, view: View) -> frozenset[Tag]:
        return _live(view, self.job_id)

    def refusal(self, view: View) -> str | None:
        job = view.job(self.job_id)
        if job is None:
            return "PS010"
        return None if job.live else "PS009"

    def apply(self, view: View, rows: Rows) -> None:
        job = view.job(self.job_id)
        assert job is not None
        held = job.status in HELD
        if [row[0] for row in rows] != ["cancel_requested" if held else "cancelled"]:
            raise Difference(f"{self}: answered {rows}; the job: {job}")
        if held:
            view.put(replace(job, cancel_requested=True))
            return
        view.put(job.ended("cancelled", "cancelled", token=0))
        if job.status in ("ready", "awaiting", "retrying"):
            view.advance(job.lane)


@dataclass(frozen=True)
class Replay(Call):
    """A dead letter run again: by its own function, or by its prefixed id."""

    job_id: int
    prefixed: bool = False

    def sql(self) -> tuple[str, list[Any]]:
        letter = "(select d.dead_letter_id from penstock.job_dead_letter d where d.job_id = %s)"
        if self.prefixed:
            return f"select substr(penstock.fn_dead_letter_replay('job-' || {letter}), 5)::bigint", [self.job_id]
        return f"select penstock.fn_job_dead_letter_replay({letter})", [self.job_id]

    def waits(self, view: View) -> frozenset[Tag]:
        letter = view.letter(self.job_id)
        return NOTHING if letter is None else frozenset({letter.tag})

    def refusal(self, view: View) -> str | None:
        letter = view.letter(self.job_id)
        return "PS014" if letter is None or letter.resolution is not None else None

    def apply(self, view: View, rows: Rows) -> None:
        was, letter = view.job(self.job_id), view.letter(self.job_id)
        assert was is not None
        assert letter is not None
        new = int(rows[0][0])
        again = Request(
            was.kind, None, was.executor, was.pool, was.lane, was.event_domain, was.priority, was.max_attempts
        )
        insert(view, [(new, again)])
        view.put(replace(letter, resolution="replayed", replay_job_id=new))


@dataclass(frozen=True)
class Resolve(Replay):
    """A dead letter closed without running it again."""

    def sql(self) -> tuple[str, list[Any]]:
        letter = "(select d.dead_letter_id from penstock.job_dead_letter d where d.job_id = %s)"
        return f"select penstock.fn_dead_letter_resolve('job-' || {letter}, null, 'not needed')", [self.job_id]

    def apply(self, view: View, rows: Rows) -> None:
        letter = view.letter(self.job_id)
        assert letter is not None
        view.put(replace(letter, resolution="discarded: not needed"))


@dataclass(frozen=True)
class Retry(Call):
    """Do not wait; or, of a dead-lettered job, replay it. Which of the two is decided before it waits."""

    job_id: int

    def sql(self) -> tuple[str, list[Any]]:
        return "select penstock.fn_job_retry(%s)", [self.job_id]

    def remember(self, view: View) -> Replay | None:
        letter = view.letter(self.job_id)
        return Replay(self.job_id) if letter is not None and letter.resolution is None else None

    def _replay(self, view: View) -> Replay | None:
        return view.memory if view.late else self.remember(view)

    def waits(self, view: View) -> frozenset[Tag]:
        replay = self._replay(view)
        return _live(view, self.job_id) if replay is None else replay.waits(view)

    def refusal(self, view: View) -> str | None:
        replay = self._replay(view)
        if replay is not None:
            return replay.refusal(view)
        job = view.job(self.job_id)
        if job is None:
            return "PS010"
        return None if job.status in ("scheduled", "retrying") else "PS009"

    def apply(self, view: View, rows: Rows) -> None:
        replay = self._replay(view)
        if replay is not None:
            replay.apply(view, rows)
            return
        job = view.job(self.job_id)
        assert job is not None
        if [row[0] for row in rows] != [self.job_id]:
            raise Difference(f"{self}: answered {rows}; the job: {job}")
        view.promote([job])


def _live(view: View, job_id: int) -> frozenset[Tag]:
    job = view.job(job_id)
    return frozenset({job.tag}) if job is not None and job.live else NOTHING
