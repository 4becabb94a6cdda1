"""The statements sessions run: their SQL, what they wait for, and what they do to the model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from psycopg.types.json import Jsonb

from tests.concurrency.model_queue import HELD, Difference, Job, Key, Tag
from tests.concurrency.model_view import View

Rows = Sequence[tuple[Any, ...]]
NOTHING: frozenset[Tag] = frozenset()


@dataclass(frozen=True)
class Call:
    """One statement. `apply` is told the answer and raises Difference when the model does not allow it."""

    @property
    def name(self) -> str:
        return type(self).__name__.lower()

    def sql(self) -> tuple[str, list[Any]]:
        raise NotImplementedError

    def waits(self, view: View) -> frozenset[Tag]:
        """What it locks, waiting for whoever holds it."""
        return NOTHING

    def may_wait(self, view: View) -> frozenset[Tag]:
        """What it may have to lock, depending on what it finds."""
        return NOTHING

    def holds(self, view: View) -> frozenset[Tag]:
        """What it may hold, or stand in line for, while it waits."""
        return self.waits(view)

    def remember(self, view: View) -> Any:
        """What it has read before it first waits."""
        return None

    def refusal(self, view: View) -> str | None:
        """The SQLSTATE it must end with; None: it succeeds."""
        return None

    def apply(self, view: View, rows: Rows) -> None:
        raise NotImplementedError


@dataclass(frozen=True)
class Request:
    """One job asked for."""

    kind: str
    key: str | None = None
    executor: str = "PG_worker"
    pool: str = "shared"
    lane: str | None = None
    event_domain: str | None = None
    priority: int = 0
    max_attempts: int | None = None
    when: str = "now"

    def fields(self) -> dict[str, Any]:
        times = {"now": None, "past": "2020-01-01T00:00:00Z", "future": "2190-01-01T00:00:00Z"}
        return {
            "kind": self.kind,
            "idempotency_key": self.key,
            "executor": self.executor,
            "pool": self.pool,
            "lane": self.lane,
            "event_domain": self.event_domain,
            "priority": self.priority,
            "max_attempts": self.max_attempts,
            "process_after": times[self.when],
        }

    def job(self, job_id: int, status: str) -> Job:
        return Job(
            job_id,
            self.kind,
            self.executor,
            self.pool,
            self.lane,
            self.event_domain,
            self.priority,
            self.max_attempts,
            status,
        )


def insert(view: View, requests: Sequence[tuple[int, Request]]) -> None:
    """New jobs: ready, unless they are for later, or their lane is taken."""
    free: dict[str, bool] = {}
    for _, request in requests:
        if request.lane is not None and request.when != "future" and request.lane not in free:
            free[request.lane] = view.headless(request.lane) and not view.waiting(request.lane)
    for job_id, request in requests:
        if view.job(job_id) is not None:
            raise Difference(f"job id {job_id} was given out twice")
        if request.when == "future":
            view.put(request.job(job_id, "scheduled"))
        elif request.lane is None:
            view.put(request.job(job_id, "ready"))
        elif not free[request.lane]:
            view.put(request.job(job_id, "blocked"))
        else:
            free[request.lane] = False
            if view.contested(request.lane):
                view.put(request.job(job_id, "blocked"))
                view.put_perhaps(request.job(job_id, "ready"))
            else:
                view.put(request.job(job_id, "ready"))
        if request.lane is not None and request.when != "future":
            view.lock(("lane", request.lane))


@dataclass(frozen=True)
class Enqueue(Call):
    """fn_job_enqueue for one request, fn_job_enqueue_many for several."""

    requests: tuple[Request, ...]

    def sql(self) -> tuple[str, list[Any]]:
        if len(self.requests) > 1:
            listed = Jsonb([request.fields() for request in self.requests])
            return "select ordinal, job_id, created from penstock.fn_job_enqueue_many(%s) order by ordinal", [listed]
        fields = self.requests[0].fields()
        names = ", ".join(f"p_{name} => %s" for name in fields)
        return f"select 1, penstock.fn_job_enqueue({names}), null::boolean", list(fields.values())

    def waits(self, view: View) -> frozenset[Tag]:
        return frozenset(("key", (request.kind, request.key)) for request in self.requests if request.key is not None)

    def apply(self, view: View, rows: Rows) -> None:
        if [row[0] for row in rows] != list(range(1, len(self.requests) + 1)):
            raise Difference(f"{self}: answered {rows}")
        new: list[tuple[int, Request]] = []
        for request, (_, job_id, created) in zip(self.requests, rows, strict=True):
            known = view.key(request.kind, request.key) if request.key is not None else None
            if created is not None and created != (known is None):
                raise Difference(f"{request}: created is {created}, its key stands for {known}")
            if known is None:
                new.append((job_id, request))
                if request.key is not None:
                    view.put(Key(request.kind, request.key, job_id))
            elif known.job_id != job_id:
                raise Difference(f"{request}: got job {job_id}, its key stands for {known.job_id}")
            else:
                view.lock(known.tag)
        insert(view, new)


@dataclass(frozen=True)
class Fenced(Call):
    """A holder's report on several jobs; each item is accepted or refused for itself."""

    pairs: tuple[tuple[int, int], ...]
    function = ""
    answer = "reason"
    extra = ""

    def sql(self) -> tuple[str, list[Any]]:
        arguments = f"%s::bigint[], %s::bigint[]{self.extra}"
        text = f"select job_id, accepted, {self.answer} from penstock.{self.function}({arguments})"
        return text, [[job_id for job_id, _ in self.pairs], [token for _, token in self.pairs], *self.items()]

    def items(self) -> list[Any]:
        return []

    def accepts(self, nth: int, job: Job | None, token: int) -> bool:
        return job is not None and job.held_under(token) and not job.cancel_requested

    def reason(self, nth: int, job: Job | None, token: int) -> str:
        """Why an item is refused."""
        if job is None:
            return "unknown_job"
        if not job.live:
            return "finished"
        if job.status not in HELD:
            return "not_leased"
        if job.token != token:
            return "stale_token"
        return "cancelled" if job.cancel_requested else self.otherwise()

    def otherwise(self) -> str:
        return "bad_result"

    def move(self, view: View, nth: int, job: Job) -> str | None:
        """The job's move once accepted; returns what the answer says beside it."""
        raise NotImplementedError

    def waits(self, view: View) -> frozenset[Tag]:
        tags = set()
        for nth, (job_id, token) in enumerate(self.pairs):
            job = view.job(job_id)
            if job is not None and job.held_under(token) and (job.cancel_requested or self.accepts(nth, job, token)):
                tags.add(job.tag)
        return frozenset(tags)

    def holds(self, view: View) -> frozenset[Tag]:
        jobs = {job_id for job_id, _ in self.pairs}
        lanes = {job.lane for job in view.jobs() if job.job_id in jobs and job.lane is not None}
        return frozenset(
            {job.tag for job in view.jobs() if job.job_id in jobs or job.lane in lanes}
            | {("lane", one) for one in lanes}
        )

    def remember(self, view: View) -> list[str]:
        return [self.reason(nth, view.job(job_id), token) for nth, (job_id, token) in enumerate(self.pairs)]

    def apply(self, view: View, rows: Rows) -> None:
        if [row[0] for row in rows] != [job_id for job_id, _ in self.pairs]:
            raise Difference(f"{self}: answered {rows}")
        before = {job_id: view.job(job_id) for job_id, _ in self.pairs}
        done: set[int] = set()
        for nth in self._in_order_of_acceptance(rows):
            job_id, token = self.pairs[nth]
            job = before[job_id]
            if job_id not in done and job is not None and self.accepts(nth, job, token):
                done.add(job_id)
                self._accepted(view, nth, job, rows[nth])
            else:
                self._refused(nth, job, token, job_id in done, view.memory, rows[nth])
        for job_id in sorted(done):
            ended = before[job_id]
            view.advance(ended.lane if ended is not None else None)
        jobs = [(view.job(job_id), token) for job_id, token in dict.fromkeys(self.pairs)]
        view.settle_cancelled(
            [job for job, token in jobs if job is not None and job.held_under(token) and job.cancel_requested]
        )

    def _in_order_of_acceptance(self, rows: Rows) -> list[int]:
        """A pair given twice is accepted once; which of the two is the database's choice."""
        return sorted(range(len(rows)), key=lambda nth: not rows[nth][1])

    def _accepted(self, view: View, nth: int, job: Job, row: tuple[Any, ...]) -> None:
        said = self.move(view, nth, job)
        if row[1:] != (True, said):
            raise Difference(f"{self}: item {nth} should be accepted with {said}, the answer is {row}; the job: {job}")

    def _refused(
        self, nth: int, job: Job | None, token: int, twice: bool, memory: list[str] | None, row: tuple[Any, ...]
    ) -> None:
        if row[1] or (row[2] is None):
            raise Difference(f"{self}: item {nth} should be refused, the answer is {row}; the job: {job}")
        reasons = {self.reason(nth, job, token)} | ({memory[nth]} if memory is not None else set())
        if not twice and row[2] not in reasons:
            raise Difference(
                f"{self}: item {nth} should be refused with {reasons}, the answer is {row}; the job: {job}"
            )


@dataclass(frozen=True)
class Start(Fenced):
    function = "fn_job_start"

    def accepts(self, nth: int, job: Job | None, token: int) -> bool:
        return super().accepts(nth, job, token) and job is not None and job.status == "leased"

    def otherwise(self) -> str:
        return "already_running"

    def move(self, view: View, nth: int, job: Job) -> None:
        view.put(replace(job, status="running"))


@dataclass(frozen=True)
class Release(Fenced):
    later: tuple[bool, ...] = ()
    function = "fn_job_release"
    extra = ", %s::integer[]"

    def items(self) -> list[Any]:
        return [[3_600_000 if one else 0 for one in self.later]]

    def move(self, view: View, nth: int, job: Job) -> None:
        later = self.later[nth]
        outcome = (job.token or 0, job.attempt, "ready", "put_off" if later else "released")
        begun = (outcome,) if job.status == "running" else ()
        status = "retrying" if later else "ready"
        view.put(job.let_go(status, due=None, attempt=job.attempt - 1, outcomes=(*job.outcomes, *begun)))


@dataclass(frozen=True)
class Finish(Fenced):
    """Results: none, small, or larger than queue.result.max_bytes."""

    results: tuple[str, ...] = ()
    function = "fn_job_finish"
    extra = ", %s::jsonb[]"

    def items(self) -> list[Any]:
        values = {"none": None, "small": Jsonb({"ok": True}), "large": Jsonb({"ok": "x" * 1000})}
        return [[values[result] for result in self.results]]

    def accepts(self, nth: int, job: Job | None, token: int) -> bool:
        return super().accepts(nth, job, token) and self.results[nth] != "large"

    def move(self, view: View, nth: int, job: Job) -> None:
        view.put(replace(job.ended("succeeded"), result=self.results[nth] == "small"))


@dataclass(frozen=True)
class Fail(Fenced):
    permanent: tuple[bool, ...] = ()
    function = "fn_job_fail"
    answer = "next_status"
    extra = ", %s::jsonb[]"

    def items(self) -> list[Any]:
        return [[Jsonb({"type": "Broken", "permanent": one}) for one in self.permanent]]

    def move(self, view: View, nth: int, job: Job) -> str:
        return view.fail(job, "failed", self.permanent[nth])
