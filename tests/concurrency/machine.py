"""Runs statements on idle sessions, leaves the blocked ones waiting, and holds every answer against the model."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import permutations, product
from typing import Any

from hypothesis import note

from tests.concurrency.driver import Answer, Driver, Failure
from tests.concurrency.model_calls import Call, Finish
from tests.concurrency.model_queue import Difference, Job, Key, Model, Observed, Tag
from tests.concurrency.model_view import View

DEADLOCK = "40P01"


@dataclass
class Tally:
    """What a run came to."""

    examples: int = 0
    steps: int = 0
    alone: int = 0
    deadlocks: int = 0
    most_waiting: int = 0
    blocked: Counter[str] = field(default_factory=Counter)

    def __str__(self) -> str:
        kinds = ", ".join(f"{name} {count:,}" for name, count in self.blocked.most_common())
        return (
            f"{self.examples:,} examples: {self.steps:,} steps, {self.alone:,} of them beside no other transaction; "
            f"{self.blocked.total():,} statements blocked ({kinds or 'none'}), up to {self.most_waiting} at a time; "
            f"{self.deadlocks:,} deadlocks between open transactions"
        )


@dataclass(frozen=True)
class Entry:
    """A statement under way: what it would lock, what it had read before it first waited, what was locked then."""

    session: int
    call: Call
    waits: frozenset[Tag]
    memory: Any
    locked: frozenset[int] | None


class Machine:
    """The sessions and the model, step by step."""

    def __init__(self, driver: Driver, tally: Tally) -> None:
        driver.reset()
        self.driver = driver
        self.tally = tally
        self.model = Model(driver.executors)
        self.waiting: dict[int, Entry] = {}
        self.broken = False
        self._clock = 0

    def idle(self) -> list[int]:
        return [n for n in range(len(self.driver.sessions)) if n not in self.waiting]

    @contextmanager
    def _step(self) -> Iterator[None]:
        self.tally.steps += 1
        try:
            yield
        except BaseException:
            self.broken = True
            raise

    def perform(self, session: int, call: Call) -> None:
        """Run one statement; it ends, or it waits for a reason the model knows."""
        with self._step():
            alone = self.model.alone(session)
            self.tally.alone += alone
            locked = frozenset[int]() if alone else self.driver.locked()
            before = View(self.model, session, locked)
            entry = Entry(session, call, call.waits(before), call.remember(before), locked)
            self.driver.submit(session, *call.sql())
            blockers = self.driver.settle()
            answers = self.driver.answers()
            note(f"session {session}: {call} -> {answers or 'waits'}, waiting: {blockers}")
            if session in blockers:
                self._blocked(entry, before, blockers[session])
            elif len(answers) == 1 and not _deadlocked(answers):
                self._must_not_have_waited(entry, answers[session])
                self._explain([entry], answers)
                return
            else:
                # its error has let others go on, or it was part of a ring the server has broken
                if _deadlocked(answers):
                    self.tally.blocked[call.name] += 1
                self.waiting[session] = entry
            self._collect(answers)

    def control(self, session: int, text: str, depth: int = 0) -> None:
        """begin, commit, rollback, savepoint; whatever waited for this session goes on."""
        with self._step():
            self.driver.submit(session, text, [])
            self.driver.settle()
            answers = self.driver.answers()
            note(f"session {session}: {text} -> {answers}")
            own = answers.pop(session)
            if isinstance(own, Failure):
                raise Difference(f"{text} of session {session} failed: {own}")
            if text.startswith("rollback to"):
                self.model.rollback_to(session, depth)
            else:
                getattr(self.model, text.split()[0])(session)
            self._collect(answers)

    def pass_time(self, what: str, job_id: int) -> None:
        """A job falls due, or its lease runs short, ends, or outlives its kind's timeout."""
        with self._step():
            self._clock += 1
            job = self.model.committed[("job", job_id)]
            assert isinstance(job, Job)
            note(f"clock: job {job_id} {what}")
            if self.driver.move_clock(what, job_id, self._clock):
                change: dict[str, Any] = {"lease": what}
                if what == "due":
                    change = {"due": self._clock}
                elif what == "overdue":
                    change = {"lease": "ended", "overdue": True}
                self.model.committed[job.tag] = replace(job, **change)
            self.model.adopt(None, self.driver.observe(None), {})

    def expire(self, key: Key) -> None:
        """A key's time is over."""
        with self._step():
            if self.driver.expire_key(key.kind, key.key):
                self.model.committed[key.tag] = replace(key, expired=True)
            self.model.adopt(None, self.driver.observe(None), {})

    def finale(self) -> None:
        """End every transaction, then work until nothing is left: nothing is lost, and no move was illegal."""
        while self.model.open or self.waiting:
            session = next(n for n in self.model.open if n not in self.waiting)
            self.control(session, "commit" if session % 2 else "rollback")
        with self._step():
            stuck = self.driver.drain()
            unaccounted, illegal = self.driver.unaccounted(), self.driver.illegal_moves()
            if stuck or unaccounted or illegal:
                raise Difference(f"{stuck} jobs are stuck; not accounted for: {unaccounted}; illegal moves: {illegal}")

    def _blocked(self, entry: Entry, before: View, blockers: set[int]) -> None:
        self.tally.blocked[entry.call.name] += 1
        wanted = entry.waits | entry.call.may_wait(before)
        may = {holder for tag in wanted for holder in self.model.may_hold(tag, entry.session)}
        if not blockers <= may:
            raise Difference(f"{entry} waits for sessions {blockers}; the model lets it wait for {may}")
        self.model.waiting[entry.session] = entry.call.holds(before)
        self.waiting[entry.session] = entry
        self.tally.most_waiting = max(self.tally.most_waiting, len(self.waiting))

    def _must_not_have_waited(self, entry: Entry, answer: Answer) -> None:
        holders = {holder for tag in entry.waits for holder in self.model.holders(tag, entry.session)}
        if holders:
            raise Difference(f"{entry} did not wait for sessions {holders}, it answered {answer}")

    def _must_be_a_ring_of_transactions(self, entries: list[Entry]) -> None:
        """Statements that are transactions of their own lock by job_id; a finish does so as far as its plan allows."""
        self.tally.deadlocks += 1
        involved = [*entries, *self.waiting.values()]
        own = not any(entry.session in self.model.open for entry in involved)
        if own and not any(isinstance(entry.call, Finish) for entry in involved):
            raise Difference(f"statements that are transactions of their own have deadlocked: {involved}")

    def _collect(self, answers: dict[int, Answer]) -> None:
        """Statements that have waited and now ended; in which order they went on is not known."""
        entries = [replace(self.waiting.pop(session), locked=None) for session in sorted(answers)]
        self._explain(entries, answers)

    def _explain(self, entries: list[Entry], answers: dict[int, Answer]) -> None:
        """Some order of these statements must lead to what the database holds now."""
        if _deadlocked(answers):
            self._must_be_a_ring_of_transactions(entries)
        observed: dict[int | None, Observed] = {None: self.driver.observe(None)}
        for entry in entries:
            if self.driver.in_transaction(entry.session):
                observed[entry.session] = self.driver.observe(entry.session)
        first: Difference | None = None
        for order, in_vain in product(permutations(entries), (False, True)):
            twin = self.model.copy()
            try:
                _replay(twin, order, answers, observed, in_vain)
            except Difference as difference:
                first = first or difference
                continue
            self.model = twin
            return
        raise first or Difference("no order explains what happened")


def _replay(
    model: Model,
    order: tuple[Entry, ...],
    answers: dict[int, Answer],
    observed: dict[int | None, Observed],
    in_vain: bool,
) -> None:
    either: dict[int | None, dict[Tag, tuple[Job, ...]]] = {session: {} for session in observed}
    for entry in order:
        view = View(model, entry.session, entry.locked, entry.memory, in_vain and entry.locked is None)
        model.waiting.pop(entry.session, None)
        if view.late:
            view.frame.leftovers |= entry.waits
        _apply(view, entry.call, answers[entry.session])
        if entry.session in model.open:
            either.setdefault(entry.session, {}).update(view.either)
        else:
            either[None].update(view.either)
    for session, seen in observed.items():
        model.adopt(session, seen, either[session])


def _apply(view: View, call: Call, answer: Answer) -> None:
    if isinstance(answer, Failure):
        if answer.sqlstate not in (DEADLOCK, call.refusal(view)):
            raise Difference(f"{call}: should be refused with {call.refusal(view)}, ended with {answer}")
        view.model.refuse(view.session)
        return
    if call.refusal(view) is not None:
        raise Difference(f"{call}: should be refused with {call.refusal(view)}, answered {answer}")
    call.apply(view, answer)
    view.model.merge(view.session, view.frame)


def _deadlocked(answers: dict[int, Answer]) -> bool:
    return any(isinstance(answer, Failure) and answer.sqlstate == DEADLOCK for answer in answers.values())
