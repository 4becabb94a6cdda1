"""Lanes and open transactions: nobody waits, nothing is stranded, and the order holds."""

import random
from collections import defaultdict
from dataclasses import dataclass
from itertools import pairwise
from threading import Lock
from time import monotonic

import pytest

from penstock.kernel import jobs
from penstock.kernel.connection import Connection
from penstock.model import Claim
from tests.concurrency.sessions import DEADLINE_S, never_waits, together, wait_until
from tests.conftest import Connect
from tests.sql.support import (
    enqueue,
    enqueue_later,
    fall_due,
    finish,
    refused,
    rows,
    statuses,
    take,
    take_one,
    taken,
    tick,
    value,
)


@pytest.fixture
def other(session: Connect) -> Connection:
    """A session in an open transaction."""
    opened = session()
    opened.execute("begin")
    return opened


def _drain(db: Connection) -> list[int]:
    ran: list[int] = []
    while claims := take(db):
        ran += [claim.job_id for claim in claims]
        finish(db, *claims)
    return ran


@pytest.mark.parametrize("end", ["commit", "rollback"])
def test_an_enqueue_waits_for_no_open_enqueue_of_its_lane(end: str, db: Connection, other: Connection) -> None:
    first = enqueue(other, lane="l")
    never_waits(db)
    second = enqueue(db, lane="l")
    third = jobs.enqueue_many(db, [{"kind": "work", "lane": lane} for lane in ("l", "m", "l")])[0].job_id
    assert statuses(db, [second, third]) == ["blocked", "blocked"]
    other.execute(end.encode())
    mine = [job_id for job_id in _drain(db) if job_id in (first, second, third)]
    assert mine == ([first, second, third] if end == "commit" else [second, third])


def test_the_jobs_behind_a_head_that_was_rolled_back_are_taken_by_the_next_short_claim(
    db: Connection, other: Connection
) -> None:
    enqueue(other, lane="l")
    second = enqueue(db, lane="l")
    assert taken(db) == []
    other.execute("rollback")
    assert taken(db) == [second]


def test_the_jobs_behind_a_head_whose_session_died_are_swept_up(db: Connection, other: Connection) -> None:
    enqueue(other, lane="l")
    second = enqueue(db, lane="l")
    other.close()
    wait_until(lambda: tick(db)["lanes"] == {"ok": True, "did": 1}, "the lane of a dead session is swept")
    assert taken(db) == [second]


def test_a_head_of_a_savepoint_that_is_rolled_back_frees_its_lane_at_once(db: Connection, other: Connection) -> None:
    other.execute("savepoint here")
    enqueue(other, lane="l")
    second = enqueue(db, lane="l")
    other.execute("rollback to savepoint here")
    # the transaction goes on, and holds nothing of the lane
    assert taken(db) == [second]
    third = enqueue(other, lane="l")
    other.execute("commit")
    assert statuses(db, [second, third]) == ["leased", "blocked"]


def test_an_enqueue_held_open_while_the_head_finishes_is_not_stranded(db: Connection, other: Connection) -> None:
    enqueue(db, lane="l")
    head = take_one(db)
    late = enqueue(other, lane="l")
    finish(never_waits(db), head)
    assert taken(db) == []
    other.execute("commit")
    assert taken(db) == [late]


def test_two_enqueues_held_open_while_the_head_finishes_are_not_stranded(
    db: Connection, other: Connection, session: Connect
) -> None:
    enqueue(db, lane="l")
    head = take_one(db)
    third = session()
    third.execute("begin")
    late = [enqueue(other, lane="l"), enqueue(third, lane="l")]
    finish(db, head)
    other.execute("commit")
    third.execute("commit")
    assert _drain(db) == late


def test_an_enqueue_waits_for_no_open_finish_that_leaves_the_lane_empty(db: Connection, other: Connection) -> None:
    head = enqueue(db, lane="l")
    claim = take_one(db)
    finish(other, claim)
    late = enqueue(never_waits(db), lane="l")
    assert statuses(db, [head, late]) == ["leased", "blocked"]
    assert taken(db) == []
    other.execute("commit")
    assert taken(db) == [late]


def test_an_open_finish_that_is_rolled_back_leaves_the_lane_as_it_was(db: Connection, other: Connection) -> None:
    head, behind = enqueue(db, lane="l"), enqueue(db, lane="l")
    claim = take_one(db)
    finish(other, claim)
    late = enqueue(never_waits(db), lane="l")
    assert taken(db) == []
    other.execute("rollback")
    assert statuses(db, [head, behind, late]) == ["leased", "blocked", "blocked"]
    finish(db, claim)
    assert _drain(db) == [behind, late]


def test_nobody_waits_for_an_open_finish_that_hands_the_lane_on(db: Connection, other: Connection) -> None:
    enqueue(db, lane="l")
    behind = enqueue(db, lane="l")
    finish(other, take_one(db))
    never_waits(db)
    late = enqueue(db, lane="l")
    assert taken(db) == []
    tick(db)
    other.execute("commit")
    assert _drain(db) == [behind, late]


@pytest.mark.parametrize("end", ["commit", "rollback"])
def test_a_finish_waits_for_no_open_cancel_of_the_next_job(end: str, db: Connection, other: Connection) -> None:
    enqueue(db, lane="l")
    following, last = enqueue(db, lane="l"), enqueue(db, lane="l")
    claim = take_one(db)
    assert jobs.cancel(other, following) == "cancelled"
    finish(never_waits(db), claim)
    assert taken(db) == []
    other.execute(end.encode())
    assert _drain(db) == ([last] if end == "commit" else [following, last])


def test_an_enqueue_waits_for_no_open_promotion_of_its_lane(db: Connection, other: Connection) -> None:
    scheduled = enqueue_later(db, lane="l")
    fall_due(db, scheduled)
    assert tick(other)["promote"]["did"] == 1
    late = enqueue(never_waits(db), lane="l")
    assert taken(db) == []
    other.execute("commit")
    assert _drain(db) == [scheduled, late]


def test_an_enqueue_that_comes_while_a_stranded_lane_is_swept_waits_for_nobody(
    db: Connection, other: Connection
) -> None:
    with db.transaction():
        db.execute("set transaction isolation level repeatable read")
        stranded = enqueue(db, lane="l")
    assert tick(other)["lanes"]["did"] == 1
    late = enqueue(never_waits(db), lane="l")
    other.execute("commit")
    assert _drain(db) == [stranded, late]


def test_nobody_overtakes_while_a_stranded_lane_waits_for_its_sweep(db: Connection, other: Connection) -> None:
    enqueue(other, lane="l")
    first = enqueue(db, lane="l")
    other.execute("rollback")
    second = enqueue(db, lane="l")
    assert statuses(db, [first, second]) == ["blocked", "blocked"]
    assert _drain(db) == [first, second]


@dataclass(frozen=True)
class Asked:
    """An enqueue that was committed: between which moments."""

    job_id: int
    lane: str
    began: float
    committed: float


@dataclass(frozen=True)
class Ran:
    """A job that was held: from the answer of its claim to the call of its finish."""

    job_id: int
    token: int
    since: float
    until: float


LANES, PRODUCERS, WORKERS, EACH = 4, 3, 3, 120


class Storm:
    """Producers and workers on a few lanes, with transactions that stay open, roll back and finish late."""

    def __init__(self, session: Connect) -> None:
        self._connections = [session() for _ in range(PRODUCERS + WORKERS)]
        self._lock = Lock()
        self._producing = PRODUCERS
        self.asked: list[Asked] = []
        self.ran: list[Ran] = []

    def work(self, number: int) -> None:
        mine, dice = self._connections[number], random.Random(number)
        if number < PRODUCERS:
            self._produce(mine, dice)
        else:
            self._run(mine, dice)

    def _produce(self, mine: Connection, dice: random.Random) -> None:
        try:
            for _ in range(EACH):
                made: list[tuple[int, str, float]] = []
                level = "repeatable read" if dice.random() < 0.1 else "read committed"
                mine.execute(f"begin isolation level {level}".encode())
                for _ in range(dice.choice([1, 1, 3])):
                    lane, began = f"l{dice.randrange(LANES)}", monotonic()
                    made.append((enqueue(mine, lane=lane), lane, began))
                kept = dice.random() < 0.8
                mine.execute("commit" if kept else "rollback")
                if kept:
                    now = monotonic()
                    with self._lock:
                        self.asked += [Asked(job_id, lane, began, now) for job_id, lane, began in made]
        finally:
            with self._lock:
                self._producing -= 1

    def _run(self, mine: Connection, dice: random.Random) -> None:
        deadline = monotonic() + DEADLINE_S
        while monotonic() < deadline:
            with self._lock:
                last = self._producing == 0
            claims = take(mine, dice.choice([1, 5]))
            if claims:
                self._hold(mine, dice, claims, monotonic())
            elif last and value(mine, "select count(*) from penstock.job_queue") == 0:
                return
        raise AssertionError("jobs are left that nobody gets")

    def _hold(self, mine: Connection, dice: random.Random, claims: list[Claim], since: float) -> None:
        ids, tokens = [one.job_id for one in claims], [one.lease_token for one in claims]
        if dice.random() < 0.2:
            jobs.release(mine, ids, tokens)
            return
        until = monotonic()
        mine.execute("begin")
        assert refused(mine, ids, tokens) == []
        kept = dice.random() < 0.9
        mine.execute("commit" if kept else "rollback")
        if not kept:
            until = monotonic()
            assert refused(mine, ids, tokens) == []
        with self._lock:
            self.ran += [Ran(one.job_id, one.lease_token, since, until) for one in claims]


def test_lanes_keep_their_order_and_never_overlap_in_a_storm(db: Connection, session: Connect) -> None:
    storm = Storm(session)
    together(PRODUCERS + WORKERS, storm.work)
    ran = {one.job_id: one for one in storm.ran}
    assert sorted(ran) == sorted(one.job_id for one in storm.asked)
    assert len(ran) == len(storm.ran)
    lanes = defaultdict(list)
    for one in storm.asked:
        lanes[one.lane].append(one)
    for lane in lanes.values():
        lane.sort(key=lambda one: ran[one.job_id].token)
        for before, after in pairwise(lane):
            assert ran[before.job_id].until <= ran[after.job_id].since, "two jobs of a lane ran at the same time"
        for place, early in enumerate(lane):
            overtaken = [one for one in lane[place + 1 :] if one.committed < early.began]
            assert overtaken == [], "a job ran before one that was committed before it was asked for"
    assert rows(db, "select * from penstock.job_queue") == []
