"""One statement's look at the model, and the moves that several statements share: lanes, due jobs, ended leases."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from tests.concurrency.model_queue import HEADS, HELD, Difference, Frame, Job, Key, Letter, Model, Tag


class View:
    """What a session sees, and what the statement it runs writes and locks."""

    def __init__(
        self,
        model: Model,
        session: int,
        locked: frozenset[int] | None = None,
        memory: Any = None,
        first_look_in_vain: bool = False,
    ) -> None:
        self.model = model
        self.session = session
        self.memory = memory
        # a claim that has waited first looks for what was ready before; it may all be gone
        self.first_look_in_vain = first_look_in_vain
        self.rows = model.rows(session)
        self.frame = Frame()
        # how jobs may as well stand: an open transaction may have had the lane
        self.either: dict[Tag, tuple[Job, ...]] = {}
        self._locked = locked

    @property
    def late(self) -> bool:
        """The statement has waited: what others held just then is not known."""
        return self._locked is None

    @property
    def alone(self) -> bool:
        return not self.late and self.model.alone(self.session)

    def job(self, job_id: int) -> Job | None:
        row = self.rows.get(("job", job_id))
        return row if isinstance(row, Job) else None

    def letter(self, job_id: int) -> Letter | None:
        row = self.rows.get(("letter", job_id))
        return row if isinstance(row, Letter) else None

    def key(self, kind: str, key: str) -> Key | None:
        row = self.rows.get(("key", (kind, key)))
        return row if isinstance(row, Key) and not row.expired else None

    def jobs(self) -> list[Job]:
        return sorted((row for row in self.rows.values() if isinstance(row, Job)), key=lambda job: job.job_id)

    def put(self, row: Job | Letter | Key) -> None:
        self.rows[row.tag] = row
        self.frame.rows[row.tag] = row
        self.frame.locks.add(row.tag)
        self.either.pop(row.tag, None)

    def put_perhaps(self, job: Job) -> None:
        """The job stands so now, or still as it did; only the database knows."""
        self.rows[job.tag] = job
        self.either[job.tag] = (*self.either.get(job.tag, ()), job)
        self.frame.leftovers.add(job.tag)

    def surely(self, job: Job) -> Job:
        """The job as it stands if nothing became of it that is not sure."""
        row = self.frame.rows.get(job.tag) or self.model.rows(self.session)[job.tag]
        assert isinstance(row, Job)
        return row if job.tag in self.either else job

    def lock(self, tag: Tag) -> None:
        self.frame.locks.add(tag)

    def skips(self, job: Job) -> bool:
        """Would SKIP LOCKED pass this row by?"""
        if self._locked is None:
            return bool(self.model.holders(job.tag, self.session))
        return job.job_id in self._locked and not self.model.own(job.tag, self.session)

    def token(self, job: Job, token: int) -> None:
        """Tokens of a job only ever grow, also over claims that were rolled back."""
        given = self.model.tokens.get(job.job_id, ())
        if given and token <= given[-1]:
            raise Difference(f"job {job.job_id} was given token {token} after {given}")
        self.model.tokens[job.job_id] = (*given, token)

    # lanes

    def lane(self, lane: str, *statuses: str) -> list[Job]:
        return [job for job in self.jobs() if job.lane == lane and job.status in statuses]

    def headless(self, lane: str) -> bool:
        return not self.lane(lane, *HEADS)

    def waiting(self, lane: str) -> list[Job]:
        """Those that wait for the lane, and those that have fallen due and will."""
        return [
            job for job in self.lane(lane, "blocked", "scheduled") if job.status == "blocked" or job.due is not None
        ]

    def contested(self, lane: str) -> bool:
        return self.late or bool(self.model.may_hold(("lane", lane), self.session))

    def advance(self, lane: str | None) -> None:
        """The lane has lost its head: its lowest waiting job is next, unless somebody holds that row."""
        if lane is None or not self.headless(lane):
            return
        waiting = self.waiting(lane)
        if waiting and not self.skips(waiting[0]):
            self._name_head(waiting[0], sure=not self.late)
        else:
            self.lock(("lane", lane))

    def settle(self, lane: str, sure: bool = True) -> int:
        """Give the lane a head if it lacks one. Returns how many jobs became ready."""
        sure = sure and not self.contested(lane)
        self.lock(("lane", lane))
        waiting = self.waiting(lane)
        if not waiting or not self.headless(lane) or self.skips(waiting[0]):
            return 0
        self._name_head(waiting[0], sure)
        return 1

    def sweep(self) -> int:
        """Every lane without a head was noted; an open transaction may have the note."""
        lanes = sorted({job.lane for job in self.jobs() if job.lane is not None})
        return sum(self.settle(lane, sure=self.alone) for lane in lanes)

    def _name_head(self, job: Job, sure: bool) -> None:
        ready = replace(job, status="ready")
        if sure:
            self.put(ready)
        else:
            self.put_perhaps(ready)

    # time

    def promote_due(self, limit: int) -> int:
        """Jobs whose time has come, the longest due first; a sweep may have had some of them before."""
        sure = [self.surely(job) for job in self.jobs()]
        due = [job for job in sure if job.status in ("scheduled", "retrying") and job.due is not None]
        free = sorted((job for job in due if not self.skips(job)), key=lambda job: job.due or 0)
        doubtful = [job for job in free if job.tag in self.either]
        self.promote([job for job in free[:limit] if job not in doubtful])
        for job in doubtful[:limit]:
            self.put_perhaps(replace(job, status="blocked"))
            self.put_perhaps(replace(job, status="ready"))
        for job in free[limit : limit + len(doubtful)]:
            self.put_perhaps(replace(job, status="blocked" if _joins(job) else "ready"))
            self.put_perhaps(replace(job, status="ready"))
        return len(free[:limit])

    def promote(self, jobs: list[Job]) -> None:
        joined = set()
        for job in jobs:
            self.put(replace(job, status="blocked" if _joins(job) else "ready"))
            if _joins(job) and job.lane is not None:
                joined.add(job.lane)
        for lane in sorted(joined):
            self.settle(lane)

    def reap(self) -> int:
        """Take back every job whose lease has ended and whose row is free."""
        ended = [job for job in self.jobs() if job.status in HELD and job.lease == "ended" and not self.skips(job)]
        self.settle_cancelled([job for job in ended if job.cancel_requested])
        for job in ended:
            if job.cancel_requested:
                continue
            if job.status == "leased":
                self.put(job.let_go("ready", attempt=job.attempt - 1))
            else:
                self.fail(job, "lease_expired")
        for job in ended:
            self.advance(job.lane)
        return len(ended)

    def settle_cancelled(self, jobs: list[Job]) -> None:
        for job in jobs:
            self.put(job.ended("cancelled", "cancelled"))
        for job in jobs:
            self.advance(job.lane)

    def fail(self, job: Job, reason: str, permanent: bool = False) -> str:
        """An attempt has ended badly. Returns what the job becomes; its lane is the caller's to advance."""
        if permanent or job.attempt >= job.last_attempt:
            self.put(job.ended("dead_lettered", reason))
            self.put(Letter(job.job_id, "permanent" if permanent else reason))
            return "dead_lettered"
        outcome = (job.token or 0, job.attempt, "retrying", reason)
        reaped = job.reaped + (reason == "lease_expired")
        self.put(job.let_go("retrying", due=None, reaped=reaped, outcomes=(*job.outcomes, outcome)))
        return "retrying"


def _joins(job: Job) -> bool:
    """Does it wait for its lane once it is due? One that is tried again has the lane already."""
    return job.status == "scheduled" and job.lane is not None
