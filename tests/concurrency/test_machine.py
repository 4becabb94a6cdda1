"""Every job operation, from four sessions with transactions left open, against a model of the queue."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, NamedTuple, TypeVar

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule, run_state_machine_as_test

from tests.concurrency.driver import Driver
from tests.concurrency.machine import Machine, Tally
from tests.concurrency.model_calls import Call, Enqueue, Fail, Finish, Release, Request, Start
from tests.concurrency.model_claims import Beat, Claim, Promote, Reap, Sweep, Tick
from tests.concurrency.model_operators import Cancel, Replay, Resolve, Retry
from tests.concurrency.model_queue import HELD, Job, Key, Letter

AnyRow = TypeVar("AnyRow", Job, Letter)

SESSIONS = 4
STEPS = 40
# the suite runs the same examples every time; the long form tries others with every run
EXAMPLES = 160
LONG_EXAMPLES = int(os.environ.get("PENSTOCK_MACHINE_EXAMPLES", "1000"))

# stands for what another session's open transaction has in hand
THEIRS = "theirs"

EXECUTORS = ("default", "narrow", "wide", "agent", "idle")
INCARNATIONS = {
    name: [f"00000000-0000-0000-0000-{n:09}{twin:03}" for twin in (1, 2)] for n, name in enumerate(EXECUTORS, 1)
}


class Wish(NamedTuple):
    """What a claim asks for."""

    name: str = "default"
    limit: int = 2
    kinds: tuple[str, ...] | None = None
    pools: tuple[str, ...] | None = None
    twin: int | None = 0
    start: bool = True
    suspects: bool = True


Reports = list[tuple[int, str]]

sessions = st.integers(0, SESSIONS - 1)
places = st.integers(0, 23)
requests = st.builds(
    Request,
    kind=st.sampled_from(["mail", "pack", "send"]),
    key=st.sampled_from([None, None, "one", "two", THEIRS]),
    executor=st.sampled_from(["PG_worker", "PG_worker", "PG_worker", "Agent"]),
    pool=st.sampled_from(["shared", "shared", "priority"]),
    lane=st.sampled_from([None, None, None, "north", "south", THEIRS]),
    event_domain=st.sampled_from([None, None, "iu"]),
    priority=st.sampled_from([0, 0, 1, -1]),
    max_attempts=st.sampled_from([None, None, 1, 4]),
    when=st.sampled_from(["now", "now", "past", "future"]),
)
wishes = st.builds(
    Wish,
    name=st.sampled_from(["default", "narrow", "wide", "agent", "idle", THEIRS, THEIRS, THEIRS]),
    limit=st.sampled_from([1, 1, 2, 50]),
    kinds=st.sampled_from([None, None, ("mail",), ("pack", "send")]),
    pools=st.sampled_from([None, None, ("shared",), ("priority",)]),
    twin=st.sampled_from([0, 1]),
    start=st.booleans(),
    suspects=st.booleans(),
)
# which job, and under which token: the one it is held under, one that was given out before, or nonsense
reports = st.lists(
    st.tuples(places, st.sampled_from(["held"] * 6 + ["given", "given", "wrong", "unknown"])), min_size=1, max_size=4
)


class QueueMachine(RuleBasedStateMachine):
    """Each rule is one statement of one idle session; what blocks is left waiting until its blocker ends."""

    def __init__(self, driver: Driver, tally: Tally) -> None:
        super().__init__()
        self.machine = Machine(driver, tally)
        tally.examples += 1

    def teardown(self) -> None:
        if not self.machine.broken:
            self.machine.finale()

    @initialize(
        wanted=st.lists(requests, min_size=4, max_size=9),
        claimed=st.integers(0, 3),
        opened=st.sets(sessions, max_size=SESSIONS - 1),
    )
    def begin_with_jobs(self, wanted: list[Request], claimed: int, opened: set[int]) -> None:
        self.enqueue_many(0, wanted)
        if claimed:
            self.claim_wished(0, Wish(limit=claimed))
        for number in sorted(opened):
            self.machine.control(number, "begin")

    # choosing

    def session(self, number: int) -> int:
        idle = self.machine.idle()
        return idle[number % len(idle)]

    def opened(self, number: int) -> int:
        """The number of an idle session that has a transaction open."""
        session = self.session(number)
        if session not in self.machine.model.open:
            self.machine.control(session, "begin")
        return self.machine.idle().index(session)

    def run(self, number: int, call: Call) -> None:
        """A session whose transaction has failed rolls it back instead."""
        session = self.session(number)
        transaction = self.machine.model.open.get(session)
        if transaction is not None and transaction.failed:
            self.machine.control(session, "rollback")
        else:
            self.machine.perform(session, call)

    def jobs(self, number: int | None, *statuses: str) -> list[Job]:
        """The jobs this session sees; None: those everybody does."""
        rows = self.machine.model.rows(None if number is None else self.session(number)).values()
        return [row for row in rows if isinstance(row, Job) and (not statuses or row.status in statuses)]

    def pick(self, number: int, rows: list[AnyRow], place: int) -> AnyRow:
        """One of these; at odd places rather one that another session has in hand."""
        theirs = [row for row in rows if self.machine.model.holders(row.tag, self.session(number))]
        chosen = theirs if theirs and place % 2 else rows
        return chosen[place // 2 % len(chosen)]

    def theirs(self, number: int, what: str) -> Any:
        """The first lane, key or rule that another session's open transaction has locked."""
        model, session = self.machine.model, self.session(number)
        frames = [frame for other in model.open if other != session for frame in model.open[other].frames]
        return min((tag[1] for frame in frames for tag in frame.locks if tag[0] == what), default=None)

    def job_id(self, number: int, place: int, *preferred: str) -> int:
        """Some job this session sees; sometimes one that does not exist."""
        jobs = (place % 3 and self.jobs(number, *preferred)) or self.jobs(number)
        return self.pick(number, jobs, place).job_id if jobs and place > 0 else 10**12

    def pairs(self, number: int, wanted: Reports) -> tuple[tuple[int, int], ...]:
        held, given = self.jobs(number, *HELD), self.given(number)
        return tuple(self.pair(number, place, how, held, given) for place, how in wanted)

    def pair(self, number: int, place: int, how: str, held: list[Job], given: list[tuple[int, int]]) -> tuple[int, int]:
        if how == "given" and given:
            return given[place % len(given)]
        if how in ("held", "wrong") and held:
            job = self.pick(number, held, place)
            return job.job_id, (job.token or 0) + (10**6 if how == "wrong" else 0)
        return 10**12 + place, 1

    def given(self, number: int) -> list[tuple[int, int]]:
        """Tokens of earlier claims; but one that is not committed yet is nobody else's to know."""
        model, session = self.machine.model, self.session(number)
        others = [model.rows(other) for other in model.open if other != session]
        unknown = {(row.job_id, row.token) for rows in others for row in rows.values() if isinstance(row, Job)}
        unknown -= {(job.job_id, job.token) for job in self.jobs(number)}
        pairs = [(job.job_id, token) for job in self.jobs(number) for token in model.tokens.get(job.job_id, ())]
        return [pair for pair in pairs if pair not in unknown]

    # asking for jobs

    @rule(number=sessions, request=requests)
    def enqueue(self, number: int, request: Request) -> None:
        self.enqueue_many(number, [request])

    @rule(number=sessions, wanted=st.lists(requests, min_size=2, max_size=3))
    def enqueue_many(self, number: int, wanted: list[Request]) -> None:
        self.run(number, Enqueue(tuple(self.resolved(number, request) for request in wanted)))

    def resolved(self, number: int, request: Request) -> Request:
        if request.lane == THEIRS:
            request = replace(request, lane=self.theirs(number, "lane") or "north")
        if request.key == THEIRS:
            kind, key = self.theirs(number, "key") or (request.kind, "one")
            request = replace(request, kind=kind, key=key)
        return request

    @rule(
        first=sessions,
        second=sessions,
        request=requests,
        lane=st.sampled_from(["west", "east"]),
        how=st.sampled_from(["commit", "rollback", None]),
    )
    def enqueue_side_by_side(self, first: int, second: int, request: Request, lane: str, how: str | None) -> None:
        """Two enqueues of one lane, the first not committed when the second comes."""
        session = self.session(self.opened(first))
        self.enqueue_many(first, [replace(request, lane=lane, when="now")])
        self.enqueue_many(second, [replace(request, lane=lane, key=None)])
        if how is not None and session not in self.machine.waiting:
            self.end(self.machine.idle().index(session), how)

    # working

    @rule(number=sessions, limit=st.integers(1, 3), start=st.booleans(), twin=st.sampled_from([0, 1, None]))
    def claim(self, number: int, limit: int, start: bool, twin: int | None) -> None:
        self.claim_wished(number, Wish(limit=limit, twin=twin, start=start))

    @rule(number=sessions, wish=wishes)
    def claim_wished(self, number: int, wish: Wish) -> None:
        if wish.name == THEIRS:
            rule = self.machine.model.rules.get(self.theirs(number, "rule"))
            wish = wish._replace(name=rule.executor_id if rule is not None else "wide")
        incarnation = None if wish.twin is None else INCARNATIONS[wish.name][wish.twin]
        executor = self.machine.model.executors[wish.name]
        self.run(number, Claim(executor, wish.limit, wish.kinds, wish.pools, incarnation, wish.start, wish.suspects))

    @rule(first=sessions, second=sessions, wish=wishes, name=st.sampled_from(["narrow", "wide", "wide", "agent"]))
    def claim_side_by_side(self, first: int, second: int, wish: Wish, name: str) -> None:
        """Two claims of one executor, the first not committed when the second comes."""
        self.claim_wished(self.opened(first), wish._replace(name=name))
        self.claim_wished(second, wish._replace(name=name))

    def report(self, number: int, call: Call) -> None:
        """Who has nothing to report on claims first."""
        if self.jobs(number, *HELD):
            self.run(number, call)
        else:
            self.claim_wished(number, Wish())

    @rule(number=sessions, wanted=reports)
    def start(self, number: int, wanted: Reports) -> None:
        self.report(number, Start(self.pairs(number, wanted)))

    @rule(number=sessions, wanted=reports, later=st.lists(st.booleans(), min_size=4, max_size=4))
    def release(self, number: int, wanted: Reports, later: list[bool]) -> None:
        self.report(number, Release(self.pairs(number, wanted), tuple(later[: len(wanted)])))

    @rule(
        number=sessions,
        wanted=reports,
        results=st.lists(st.sampled_from(["none", "small", "large"]), min_size=4, max_size=4),
    )
    def finish(self, number: int, wanted: Reports, results: list[str]) -> None:
        self.report(number, Finish(self.pairs(number, wanted), tuple(results[: len(wanted)])))

    @rule(number=sessions, wanted=reports, permanent=st.lists(st.booleans(), min_size=4, max_size=4))
    def fail(self, number: int, wanted: Reports, permanent: list[bool]) -> None:
        self.report(number, Fail(self.pairs(number, wanted), tuple(permanent[: len(wanted)])))

    @rule(
        number=sessions, name=st.sampled_from(EXECUTORS[:4]), twin=st.sampled_from([0, 1]), wanted=st.none() | reports
    )
    def beat(self, number: int, name: str, twin: int, wanted: Reports | None) -> None:
        pairs = None if wanted is None else self.pairs(number, wanted)
        self.run(number, Beat(self.machine.model.executors[name], INCARNATIONS[name][twin], pairs))

    # operating

    @rule(number=sessions, place=places)
    def cancel(self, number: int, place: int) -> None:
        self.run(number, Cancel(self.job_id(number, place)))

    @rule(number=sessions, place=places)
    def retry(self, number: int, place: int) -> None:
        self.run(number, Retry(self.job_id(number, place, "scheduled", "retrying", "dead_lettered")))

    @rule(number=sessions, place=places, how=st.sampled_from(["replay", "replay_prefixed", "resolve"]))
    def dead_letter(self, number: int, place: int, how: str) -> None:
        rows = self.machine.model.rows(self.session(number)).values()
        letters = [row for row in rows if isinstance(row, Letter)]
        if not letters:
            self.fail(number, [(place, "held")], [True])
        elif how == "resolve":
            self.run(number, Resolve(self.pick(number, letters, place).job_id))
        else:
            self.run(number, Replay(self.pick(number, letters, place).job_id, how == "replay_prefixed"))

    # time

    @rule(number=sessions, place=places, then=st.sampled_from([None, Promote(1), Promote(50), Tick(), Wish()]))
    def jobs_fall_due(self, number: int, place: int, then: Call | Wish | None) -> None:
        later = self.jobs(None, "scheduled", "retrying")
        for job in later[place % (len(later) or 1) :][:3]:
            self.machine.pass_time("due", job.job_id)
        if isinstance(then, Wish):
            self.claim_wished(number, then)
        elif then is not None:
            self.run(number, then)

    @rule(
        number=sessions,
        place=places,
        what=st.sampled_from(["short", "ended", "ended", "overdue"]),
        then=st.sampled_from([None, Reap(), Reap(), Tick()]),
    )
    def leases_run_out(self, number: int, place: int, what: str, then: Call | None) -> None:
        held = [job for job in self.jobs(None, *HELD) if not job.overdue]
        for job in held[place % (len(held) or 1) :][:2]:
            self.machine.pass_time(what, job.job_id)
        if then is not None:
            self.run(number, then)

    @rule(place=places)
    def key_expires(self, place: int) -> None:
        keys = [row for row in self.machine.model.rows(None).values() if isinstance(row, Key) and not row.swept]
        if keys:
            self.machine.expire(keys[place % len(keys)])

    @rule(number=sessions, call=st.sampled_from([Reap(), Promote(50), Sweep(), Sweep(), Tick()]))
    def maintain(self, number: int, call: Call) -> None:
        self.run(number, call)

    # transactions

    @rule(number=sessions)
    def begin(self, number: int) -> None:
        session = self.session(number)
        transaction = self.machine.model.open.get(session)
        if transaction is None:
            self.machine.control(session, "begin")
        elif transaction.failed:
            self.machine.control(session, "rollback")
        elif len(transaction.frames) < 4:
            self.machine.control(session, f"savepoint s{len(transaction.frames)}")

    @rule(number=sessions, place=places)
    def rollback_to(self, number: int, place: int) -> None:
        session = self.session(number)
        transaction = self.machine.model.open.get(session)
        if transaction is not None and len(transaction.frames) > 1:
            depth = 1 + place % (len(transaction.frames) - 1)
            self.machine.control(session, f"rollback to s{depth}", depth)

    @rule(number=sessions, how=st.sampled_from(["commit", "rollback"]))
    def end(self, number: int, how: str) -> None:
        session = self.session(number)
        self.machine.control(session, how if session in self.machine.model.open else "begin")


@pytest.fixture
def driver(database: str) -> Iterator[Driver]:
    driver = Driver(database, SESSIONS)
    yield driver
    driver.close()


def _run(driver: Driver, record: Callable[[str, str], None], examples: int, *, derandomize: bool) -> None:
    tally = Tally()

    class OnThisDatabase(QueueMachine):
        def __init__(self) -> None:
            super().__init__(driver, tally)

    try:
        run_state_machine_as_test(
            OnThisDatabase,
            settings=settings(
                max_examples=examples,
                stateful_step_count=STEPS,
                deadline=None,
                derandomize=derandomize,
                report_multiple_bugs=False,
                suppress_health_check=list(HealthCheck),
            ),
        )
    finally:
        record("summary", f"the queue's state machine: {tally}")
    assert tally.blocked.total() > 0, "nothing has blocked: the sessions never met"


def test_every_operation_agrees_with_the_model_whatever_is_left_open(
    driver: Driver, record_property: Callable[[str, str], None]
) -> None:
    _run(driver, record_property, EXAMPLES, derandomize=True)


@pytest.mark.long
def test_every_operation_agrees_with_the_model_at_length(
    driver: Driver, record_property: Callable[[str, str], None]
) -> None:
    _run(driver, record_property, LONG_EXAMPLES, derandomize=False)
