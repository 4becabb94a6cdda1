"""max_parallel: never exceeded by any number of claimers, and nothing leaks when one is gone."""

import random
from threading import Event

from penstock.kernel import jobs
from penstock.kernel.connection import Connection
from penstock.model import Claim
from tests.concurrency.sessions import answer, aside, never_waits, together, wait_until
from tests.conftest import Connect
from tests.sql.support import expire, refused, retry_at_once, rule, take, taken, tick, value

SESSIONS = 6
HELD = "select count(*) from penstock.job_queue where rule = %s and status in ('leased', 'running')"


def _let_go(mine: Connection, dice: random.Random, claims: list[Claim]) -> None:
    """Finish, fail, give back, or leave to the reaper."""
    ids, tokens = [one.job_id for one in claims], [one.lease_token for one in claims]
    choice = dice.randrange(4)
    if choice == 0:
        refused(mine, ids, tokens)
    elif choice == 1:
        jobs.fail(mine, ids, tokens, [{}] * len(ids))
    elif choice == 2:
        jobs.release(mine, ids, tokens)
    else:
        expire(mine, *ids)


def test_the_limit_holds_while_many_claim_and_let_go(db: Connection, session: Connect) -> None:
    retry_at_once(db)
    most = {rule(db, most=3): 3, rule(db, job_kind="mail", most=2): 2}
    jobs.enqueue_many(db, [{"kind": ("mail", "a", "b")[n % 3], "max_attempts": 1000} for n in range(900)])
    connections = [session() for _ in range(SESSIONS)]
    watcher, done = session(), Event()
    taken_in_all = [0] * SESSIONS

    def work(number: int) -> None:
        mine, dice = connections[number], random.Random(number)
        for _ in range(40):
            claims = take(mine, dice.choice([1, 2, 10]), start=dice.random() < 0.5)
            taken_in_all[number] += len(claims)
            if claims:
                _let_go(mine, dice, claims)
            elif dice.random() < 0.3:
                tick(mine)

    def watch() -> dict[int, int]:
        seen = dict.fromkeys(most, 0)
        while not done.is_set():
            for one in most:
                seen[one] = max(seen[one], value(watcher, HELD, one))
        return seen

    with aside(db) as others:
        watching = others.run(watcher, lambda _: watch())
        try:
            together(SESSIONS, work)
        finally:
            done.set()
        seen = answer(watching)
    assert sum(taken_in_all) > 20
    assert all(seen[one] <= most[one] for one in most)


def test_a_second_claim_waits_for_the_first_and_counts_what_it_took(db: Connection, session: Connect) -> None:
    rule(db, most=2)
    jobs.enqueue_many(db, [{"kind": "work"}] * 4)
    first, second = session(), session()
    first.execute("begin")
    assert len(take(first)) == 2
    with aside(db) as others:
        waiting = others.run_until_it_waits(second, take)
        first.execute("commit")
        assert answer(waiting) == []


def test_a_second_claim_takes_the_places_of_one_that_was_rolled_back(db: Connection, session: Connect) -> None:
    rule(db, most=2)
    jobs.enqueue_many(db, [{"kind": "work"}] * 4)
    first, second = session(), session()
    first.execute("begin")
    ours = taken(first)
    with aside(db) as others:
        waiting = others.run_until_it_waits(second, taken)
        first.execute("rollback")
        assert answer(waiting) == ours


def test_a_finish_waits_for_no_open_claim_of_its_rule(db: Connection, session: Connect) -> None:
    rule(db, most=2)
    jobs.enqueue_many(db, [{"kind": "work"}] * 3)
    (held,) = take(db, 1)
    other = session()
    other.execute("begin")
    assert len(take(other)) == 1
    assert refused(never_waits(db), [held.job_id], [held.lease_token]) == []


def test_claims_without_a_limit_wait_for_nobody(db: Connection, session: Connect) -> None:
    jobs.enqueue_many(db, [{"kind": "work"}] * 4)
    other = session()
    other.execute("begin")
    assert len(take(other, 2)) == 2
    assert len(take(never_waits(db), 2)) == 2


def test_a_limited_rule_holds_up_no_claim_of_another_executor(db: Connection, session: Connect) -> None:
    rule(db, most=1)
    value(db, "select penstock.fn_executor_register('other', 'PG_worker')::text")
    rule(db, "other", most=1)
    jobs.enqueue_many(db, [{"kind": "work"}] * 4)
    first = session()
    first.execute("begin")
    assert len(take(first)) == 1
    assert len(jobs.claim(never_waits(db), "other", 10)) == 1


def test_nothing_leaks_when_a_claimer_dies_in_the_middle(db: Connection, session: Connect) -> None:
    rule(db, most=2)
    jobs.enqueue_many(db, [{"kind": "work"}] * 4)
    victim = session()
    victim.execute("begin")
    assert len(take(victim)) == 2
    value(db, "select pg_terminate_backend(%s)", victim.info.backend_pid)
    wait_until(lambda: len(take(db)) == 2, "the places of a dead claimer are free")


def test_nothing_leaks_when_a_holder_vanishes(db: Connection, session: Connect) -> None:
    rule(db, most=2)
    jobs.enqueue_many(db, [{"kind": "work"}] * 4)
    holder = session()
    ids = taken(holder, start=True)
    holder.close()
    assert take(db) == []
    expire(db, *ids)
    tick(db)
    assert len(take(db)) == 2
