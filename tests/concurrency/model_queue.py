"""What the queue should hold: its rows, the open transactions over them, and what each session sees."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any

HEADS = frozenset({"ready", "leased", "running", "awaiting", "retrying"})
HELD = frozenset({"leased", "running"})
TERMINAL = frozenset({"succeeded", "dead_lettered", "cancelled"})
MAX_ATTEMPTS = {"pack": 2}
MAX_ATTEMPTS_DEFAULT = 3

# A claim without an incarnation gets one that only the database knows.
FRESH = "fresh incarnation"

# What a statement may lock: ("job", id), ("letter", job id), ("key", (kind, key)), ("rule", id), ("beat", incarnation),
# ("lane", lane), ("tick", "").
Tag = tuple[str, Any]
Outcome = tuple[int, int, str, str | None]


class Difference(AssertionError):
    """The database did what the model does not allow."""


@dataclass(frozen=True)
class Rule:
    """A row of job_subscription."""

    rule: int
    executor_id: str
    job_kind: str | None
    event_domain: str | None
    priority_floor: int
    max_parallel: int | None
    enabled: bool


@dataclass(frozen=True)
class Executor:
    """A registered executor and its rules."""

    executor_id: str
    executor_kind: str
    rules: tuple[Rule, ...]

    def decides(self, job: Job) -> Rule | None:
        """The most specific rule that matches, enabled or not."""
        matching = [
            rule
            for rule in self.rules
            if rule.job_kind in (None, job.kind) and rule.event_domain in (None, job.event_domain)
        ]
        return min(matching, key=lambda rule: (rule.job_kind is None, rule.event_domain is None), default=None)


@dataclass(frozen=True)
class Job:
    """A job whole: its queue row while it lives, and every outcome written so far."""

    job_id: int
    kind: str
    executor: str
    pool: str
    lane: str | None
    event_domain: str | None
    priority: int
    max_attempts: int | None
    status: str
    due: int | None = None  # None: not yet; else its place among those due
    attempt: int = 0
    token: int | None = None
    lease: str | None = None  # long, short (less than half left) or ended
    overdue: bool = False  # started longer ago than the kind's timeout
    incarnation: str | None = None
    rule: int | None = None
    reaped: int = 0
    cancel_requested: bool = False
    outcomes: tuple[Outcome, ...] = ()
    result: bool = False

    @property
    def tag(self) -> Tag:
        return ("job", self.job_id)

    @property
    def last_attempt(self) -> int:
        return self.max_attempts or MAX_ATTEMPTS.get(self.kind, MAX_ATTEMPTS_DEFAULT)

    @property
    def live(self) -> bool:
        return self.status not in TERMINAL

    def held_under(self, token: int) -> bool:
        return self.status in HELD and self.token == token

    def facts(self) -> tuple[Any, ...]:
        return (self.kind, self.executor, self.pool, self.lane, self.event_domain, self.priority, self.max_attempts)

    def queue_row(self) -> tuple[Any, ...] | None:
        if not self.live:
            return None
        due = self.due is not None if self.status in ("scheduled", "retrying") else None
        return (
            self.status,
            self.attempt,
            self.token,
            self.rule,
            self.incarnation,
            self.cancel_requested,
            self.reaped,
            self.lease,
            due,
        )

    def let_go(self, status: str, **changes: Any) -> Job:
        """Nobody holds it any more."""
        return replace(
            self, status=status, token=None, lease=None, overdue=False, incarnation=None, rule=None, **changes
        )

    def ended(self, status: str, reason: str | None = None, token: int | None = None) -> Job:
        outcome = (self.token or 0 if token is None else token, self.attempt, status, reason)
        return self.let_go(status, outcomes=(*self.outcomes, outcome))


@dataclass(frozen=True)
class Letter:
    """A dead letter; a job dies once, so the job names it."""

    job_id: int
    reason: str
    resolution: str | None = None
    replay_job_id: int | None = None

    @property
    def tag(self) -> Tag:
        return ("letter", self.job_id)


@dataclass(frozen=True)
class Key:
    """An idempotency key and the job it stands for."""

    kind: str
    key: str
    job_id: int
    expired: bool = False
    swept: bool = False

    @property
    def tag(self) -> Tag:
        return ("key", (self.kind, self.key))


Row = Job | Letter | Key
Rows = dict[Tag, Row]


@dataclass
class Frame:
    """What one statement, or all since a savepoint, has written and locked."""

    rows: Rows = field(default_factory=dict)
    locks: set[Tag] = field(default_factory=set)
    # a row it has waited for, and then did not want any more, may have stayed locked
    leftovers: set[Tag] = field(default_factory=set)

    def copy(self) -> Frame:
        return Frame(dict(self.rows), set(self.locks), set(self.leftovers))

    def add(self, later: Frame) -> None:
        self.rows.update(later.rows)
        self.locks |= later.locks
        self.leftovers |= later.leftovers


@dataclass
class Transaction:
    """Frames of an open transaction, one more than it has savepoints."""

    frames: list[Frame] = field(default_factory=lambda: [Frame()])
    failed: bool = False

    def copy(self) -> Transaction:
        return Transaction([frame.copy() for frame in self.frames], self.failed)

    def abort(self) -> None:
        """An error undoes the innermost savepoint's work, and lets go of its locks, at once."""
        self.frames[-1] = Frame()
        self.failed = True


@dataclass(frozen=True)
class Observed:
    """What a session reads from the tables."""

    queue: dict[int, tuple[Any, ...]]
    outcomes: dict[int, tuple[Outcome, ...]]
    letters: dict[int, tuple[str, str | None, int | None]]
    results: frozenset[int]
    keys: dict[tuple[str, str], int]
    jobs: dict[int, tuple[Any, ...]]


class Model:
    """Committed rows, and the open transactions of the sessions."""

    def __init__(self, executors: dict[str, Executor]) -> None:
        self.executors = executors
        self.rules = {rule.rule: rule for executor in executors.values() for rule in executor.rules}
        self.committed: Rows = {}
        self.open: dict[int, Transaction] = {}
        # per session whose statement waits: what it may hold meanwhile
        self.waiting: dict[int, frozenset[Tag]] = {}
        # every token a job was ever given, also by claims that were rolled back
        self.tokens: dict[int, tuple[int, ...]] = {}

    def copy(self) -> Model:
        twin = Model(self.executors)
        twin.committed = dict(self.committed)
        twin.open = {session: transaction.copy() for session, transaction in self.open.items()}
        twin.waiting = dict(self.waiting)
        twin.tokens = dict(self.tokens)
        return twin

    def rows(self, session: int | None) -> Rows:
        """What this session sees; None: what everybody sees."""
        seen = dict(self.committed)
        if session in self.open:
            for frame in self.open[session].frames:
                seen.update(frame.rows)
        return seen

    def holders(self, tag: Tag, but: int | None) -> set[int]:
        """The other sessions whose open transaction holds this."""
        return {
            session
            for session, transaction in self.open.items()
            if session != but and any(tag in frame.locks for frame in transaction.frames)
        }

    def may_hold(self, tag: Tag, but: int) -> set[int]:
        """Those, those who may hold it still, and those who wait and may hold it meanwhile or stand in line for it."""
        left = {n for n, one in self.open.items() if any(tag in frame.leftovers for frame in one.frames)}
        waiting = {session for session, tags in self.waiting.items() if tag in tags or ("any", "") in tags}
        return (self.holders(tag, but) | left | waiting) - {but}

    def own(self, tag: Tag, session: int) -> bool:
        """Is it this session that holds it?"""
        frames = self.open[session].frames if session in self.open else []
        left = any(tag in frame.leftovers for frame in frames) and not self.holders(tag, session)
        return left or any(tag in frame.locks for frame in frames)

    def alone(self, session: int) -> bool:
        """No other transaction holds anything."""
        others = [transaction for other, transaction in self.open.items() if other != session]
        return not self.waiting and not any(
            frame.locks or frame.leftovers for other in others for frame in other.frames
        )

    def begin(self, session: int) -> None:
        self.open[session] = Transaction()

    def savepoint(self, session: int) -> None:
        self.open[session].frames.append(Frame())

    def rollback_to(self, session: int, depth: int) -> None:
        """Back to the savepoint that opened frame `depth`; the savepoint itself stays."""
        transaction = self.open[session]
        transaction.frames[depth:] = [Frame()]
        transaction.failed = False

    def rollback(self, session: int) -> None:
        del self.open[session]

    def commit(self, session: int) -> None:
        transaction = self.open.pop(session)
        if not transaction.failed:
            for frame in transaction.frames:
                self.committed.update(frame.rows)

    def merge(self, session: int, frame: Frame) -> None:
        """A statement has ended well."""
        if session in self.open:
            self.open[session].frames[-1].add(frame)
        else:
            self.committed.update(frame.rows)

    def refuse(self, session: int) -> None:
        """A statement has ended in an error."""
        if session in self.open:
            self.open[session].abort()

    def adopt(self, session: int | None, observed: Observed, either: dict[Tag, tuple[Job, ...]]) -> None:
        """Compare what the session sees with the database; where both were legal, believe the database."""
        rows = self.rows(session)
        believed = Frame()
        for row in rows.values():
            if isinstance(row, Job):
                job = _agreed(row, either.get(row.tag, ()), observed)
                if job != row:
                    believed.rows[row.tag] = job
        rows.update(believed.rows)
        if session in self.open:
            believed.locks |= believed.rows.keys()
            self.open[session].frames[-1].add(believed)
        else:
            self.committed.update(believed.rows)
        self._compare(rows, observed)

    def _compare(self, rows: Rows, observed: Observed) -> None:
        jobs = {row.job_id: row for row in rows.values() if isinstance(row, Job)}
        _same("jobs", {job.job_id: job.facts() for job in jobs.values()}, observed.jobs)
        _same("queue rows", {job.job_id for job in jobs.values() if job.live}, set(observed.queue))
        outcomes = {job.job_id: tuple(sorted(job.outcomes, key=str)) for job in jobs.values() if job.outcomes}
        _same("outcomes", outcomes, observed.outcomes)
        _same("results", {job.job_id for job in jobs.values() if job.result}, set(observed.results))
        letters = {
            row.job_id: (row.reason, row.resolution, row.replay_job_id)
            for row in rows.values()
            if isinstance(row, Letter)
        }
        _same("dead letters", letters, observed.letters)
        keys = {(row.kind, row.key): row.job_id for row in rows.values() if isinstance(row, Key) and not row.expired}
        _same("keys", keys, observed.keys)
        self._hold_laws(jobs.values())

    def _hold_laws(self, jobs: Iterable[Job]) -> None:
        lanes: dict[str, int] = {}
        held: dict[int, int] = {}
        for job in jobs:
            if job.lane is not None and job.status in HEADS:
                if job.lane in lanes:
                    raise Difference(f"lane {job.lane} has two heads: {lanes[job.lane]} and {job.job_id}")
                lanes[job.lane] = job.job_id
            if job.status in HELD and job.rule is not None:
                held[job.rule] = held.get(job.rule, 0) + 1
        for rule, count in held.items():
            limit = self.rules[rule].max_parallel
            if limit is not None and count > limit:
                raise Difference(f"rule {rule} holds {count} jobs; its max_parallel is {limit}")


def _agreed(job: Job, others: tuple[Job, ...], observed: Observed) -> Job:
    """The row as the database has it, if the model allows that."""
    found = observed.queue.get(job.job_id)
    for one in (job, *others):
        if one.incarnation == FRESH and found is not None and found[4] is not None:
            one = replace(one, incarnation=found[4])
        if one.queue_row() == found:
            return one
    wanted = " or ".join(str(one.queue_row()) for one in (job, *others))
    raise Difference(f"job {job.job_id} ({job.kind}, lane {job.lane}): the model has {wanted}, the database {found}")


def _same(what: str, wanted: Any, found: Any) -> None:
    if wanted != found:
        raise Difference(f"{what}: the model has {wanted}, the database {found}")
