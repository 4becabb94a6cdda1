"""Claiming: which jobs, in which order, under which lease."""

import random
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest

from penstock.errors import BadRequest, UnknownExecutor, UnknownPool
from penstock.kernel import jobs
from penstock.kernel.connection import Connection
from tests.sql.support import (
    configure,
    contents,
    enqueue,
    enqueue_later,
    fail,
    fall_due,
    finish,
    reap,
    register,
    retry_at_once,
    row,
    rows,
    rule,
    status,
    take,
    take_one,
    taken,
    value,
)


def _in_claim_order(db: Connection) -> list[int]:
    found = rows(db, "select job_id from penstock.job_queue order by priority desc, job_id")
    return [job_id for (job_id,) in found]


def test_a_claim_takes_higher_priorities_first_and_then_older_jobs(db: Connection) -> None:
    jobs.enqueue_many(db, [{"kind": "work", "priority": priority} for priority in (0, 5, -5, 5, 0, 32767, -32768)])
    expected = _in_claim_order(db)
    assert taken(db, 3) == expected[:3]
    assert taken(db) == expected[3:]


@pytest.mark.parametrize("kinds", [3, 64, 65, 66, 90])
def test_the_order_is_exact_across_kinds_pools_and_domains(kinds: int, db: Connection) -> None:
    dice = random.Random(kinds)
    requests: list[dict[str, Any]] = [
        {
            "kind": f"k{dice.randrange(kinds)}",
            "pool": dice.choice(["shared", "priority", "subscription"]) if kinds == 3 else "shared",
            "event_domain": dice.choice([None, "kg", "tac"]) if kinds == 3 else None,
            "priority": dice.randrange(4),
        }
        for _ in range(400)
    ]
    requests += [{"kind": f"k{n}"} for n in range(kinds)]
    jobs.enqueue_many(db, requests)
    expected = _in_claim_order(db)
    got: list[int] = []
    while claimed := taken(db, 37):
        got += claimed
    assert got == expected


def test_no_claim_overtakes_the_head_of_a_run_it_had_no_time_for(db: Connection) -> None:
    jobs.enqueue_many(db, [{"kind": f"k{n}", "priority": 1} for n in range(70)])
    jobs.enqueue_many(db, [{"kind": "k0"} for _ in range(100)])
    expected = _in_claim_order(db)
    got = taken(db, 100)
    assert got == expected[: len(got)]


def test_rules_that_are_full_hide_no_other_kind(db: Connection) -> None:
    for n in range(66):
        rule(db, job_kind=f"full{n}", most=1)
    jobs.enqueue_many(db, [{"kind": f"full{n}", "priority": 9} for n in range(66)] * 2)
    assert len(taken(db, 200)) == 64
    assert len(taken(db, 200)) == 2
    free = [enqueue(db, "free"), enqueue(db, "free")]
    assert taken(db, 200) == free


def test_what_a_short_claim_promotes_is_returned_in_order_too(db: Connection) -> None:
    low = enqueue(db)
    high = enqueue_later(db, priority=5)
    fall_due(db, high)
    assert taken(db) == [high, low]


def test_a_claim_takes_1_to_1000_jobs(db: Connection) -> None:
    enqueue(db)
    before = contents(db)
    limits: list[Any] = [0, -1, 1001, None]
    for limit in limits:
        with pytest.raises(BadRequest, match="1,000"):
            take(db, limit)
    assert contents(db) == before


def test_a_claim_takes_no_more_than_its_limit(db: Connection) -> None:
    jobs.enqueue_many(db, [{"kind": "work"} for _ in range(2500)])
    assert len(take(db, 1)) == 1
    assert len(take(db, 1000)) == 1000
    assert len(take(db, 1000)) == 1000
    assert len(take(db, 1000)) == 499
    assert take(db, 1000) == []


def test_a_limit_holds_across_kinds_and_what_is_promoted_on_the_way(db: Connection) -> None:
    for kind in ("a", "b"):
        enqueue(db, kind)
        fall_due(db, enqueue_later(db, kind), enqueue_later(db, kind))
    assert [len(take(db, 4)), len(take(db, 4)), len(take(db, 4))] == [4, 2, 0]


def test_a_claim_is_narrowed_by_kinds_and_pools(db: Connection) -> None:
    a, b = enqueue(db, "a"), enqueue(db, "b")
    c = enqueue(db, "c", pool="priority")
    assert taken(db, kinds=[]) == []
    assert taken(db, pools=["subscription"]) == []
    assert taken(db, kinds=["a", "c"], pools=["shared"]) == [a]
    assert taken(db, pools=["priority"]) == [c]
    assert taken(db, kinds=["b"]) == [b]


def test_a_claim_sees_only_jobs_of_its_executors_kind(db: Connection) -> None:
    register(db, "messenger", "Hermes")
    rule(db, "messenger", kind="Hermes")
    ours, theirs = enqueue(db), enqueue(db, executor="Hermes")
    assert taken(db) == [ours]
    assert [claim.job_id for claim in jobs.claim(db, "messenger", 10)] == [theirs]


def test_an_executor_that_is_not_registered_claims_nothing(db: Connection) -> None:
    enqueue(db)
    for executor in ("nobody", "", "default'; --"):
        with pytest.raises(UnknownExecutor):
            jobs.claim(db, executor, 1)


def test_a_deregistered_executor_claims_no_more_but_may_report_what_it_holds(db: Connection) -> None:
    enqueue(db), enqueue(db)
    claim = take_one(db)
    value(db, "select penstock.fn_executor_deregister('default')::text")
    with pytest.raises(UnknownExecutor):
        take(db)
    finish(db, claim)


def test_an_executor_that_comes_back_has_its_rules_disabled(db: Connection) -> None:
    enqueue(db)
    value(db, "select penstock.fn_executor_deregister('default')::text")
    register(db, "default")
    assert take(db) == []
    rule(db)
    assert len(take(db)) == 1


def test_an_attempt_counts_at_the_claim_and_a_release_gives_it_back(db: Connection) -> None:
    job_id = enqueue(db)
    for start in (False, True):
        claim = take_one(db, start=start)
        assert (claim.attempt, row(db, job_id)["attempt"]) == (1, 1)
        jobs.release(db, [job_id], [claim.lease_token])
        assert row(db, job_id)["attempt"] == 0


def test_every_claim_has_a_higher_token_than_the_ones_before(db: Connection) -> None:
    jobs.enqueue_many(db, [{"kind": "work"} for _ in range(6)])
    tokens = [{claim.lease_token for claim in take(db, 2)} for _ in range(3)]
    assert [len(one) for one in tokens] == [1, 1, 1]
    assert sorted(tokens, key=min) == tokens
    again = enqueue(db)
    first = take_one(db)
    jobs.release(db, [again], [first.lease_token])
    assert take_one(db).lease_token > first.lease_token


def test_a_lease_belongs_to_the_incarnation_that_claims(db: Connection) -> None:
    incarnation = uuid4()
    ours, loose, loose_too = enqueue(db), enqueue(db), enqueue(db)
    take_one(db, incarnation=incarnation)
    assert row(db, ours)["leased_by"] == incarnation
    take_one(db), take_one(db)
    holders = {row(db, job_id)["leased_by"] for job_id in (ours, loose, loose_too)}
    assert len(holders) == 3
    assert None not in holders


def test_a_lease_lasts_as_long_as_its_kind_says(db: Connection) -> None:
    configure(db, "queue.lease_ms.slow", "3600000")
    for kind, lease in (("work", timedelta(minutes=1)), ("slow", timedelta(hours=1))):
        job_id = enqueue(db, kind)
        before = value(db, "select clock_timestamp()")
        take_one(db)
        after = value(db, "select clock_timestamp()")
        assert before + lease <= row(db, job_id)["lease_until"] <= after + lease


def test_a_claim_starts_jobs_only_when_asked_to(db: Connection) -> None:
    waiting, running = enqueue(db), enqueue(db)
    assert take_one(db).started is False
    assert (status(db, waiting), row(db, waiting)["started_at"]) == ("leased", None)
    assert take_one(db, start=True).started is True
    assert status(db, running) == "running"
    assert row(db, running)["started_at"] is not None


def test_a_job_on_its_last_attempt_is_not_started_by_its_claim(db: Connection) -> None:
    retry_at_once(db)
    only = enqueue(db, max_attempts=1)
    assert take_one(db, start=True).started is False
    jobs.cancel(db, only)
    enqueue(db, "twice", max_attempts=2)
    claim = take_one(db, start=True)
    assert claim.started is True
    fail(db, claim)
    assert take_one(db, start=True, kinds=["twice"]).started is False


def test_the_attempts_of_a_kind_decide_what_is_its_last(db: Connection) -> None:
    configure(db, "queue.retry.max_attempts.once", "1")
    enqueue(db, "once"), enqueue(db, "more")
    assert [(claim.job_kind, claim.started) for claim in take(db, start=True)] == [("once", False), ("more", True)]


def test_a_job_that_was_reaped_while_it_ran_is_not_started_by_its_claim(db: Connection) -> None:
    retry_at_once(db)
    job_id = enqueue(db)
    take_one(db, start=True)
    reap(db, job_id)
    claim = take_one(db, start=True)
    assert (claim.job_id, claim.started, claim.attempt) == (job_id, False, 2)


def test_a_claim_may_leave_jobs_that_were_reaped_while_they_ran_to_others(db: Connection) -> None:
    retry_at_once(db)
    suspect, fresh, fresh_too = enqueue(db, "a"), enqueue(db, "a"), enqueue(db, "b")
    take_one(db, start=True)
    reap(db, suspect)
    assert taken(db, suspects=False) == [fresh, fresh_too]
    assert taken(db, suspects=True) == [suspect]


def test_facts_are_read_apart_from_the_claim(db: Connection) -> None:
    enqueue(db, target_ref="order/1", safe_payload={"n": 1}, lane="l", correlation_id="c", trace="t")
    (claim,) = take(db)
    facts = jobs.facts(db, [claim])[claim.job_id]
    assert (facts.target_ref, facts.safe_payload, facts.lane) == ("order/1", '{"n": 1}', "l")
    assert (facts.correlation_id, facts.trace) == ("c", "t")


@pytest.mark.parametrize("kinds", [None, ["a"], ["b", "d"], ["d", "zz"], ["aa"], ["a", "b", "c", "d"]])
@pytest.mark.parametrize("pools", [None, ["priority"], ["shared"], ["subscription", "priority"]])
def test_a_claim_finds_every_job_of_the_kinds_and_pools_it_wants(
    kinds: list[str] | None, pools: list[str] | None, db: Connection
) -> None:
    made = {
        enqueue(db, kind, pool=pool, event_domain=domain): (kind, pool)
        for kind in ("a", "b", "c", "d")
        for pool in ("priority", "shared", "subscription")
        for domain in (None, "iu", "kg")
    }
    wanted = [
        job_id
        for job_id, (kind, pool) in made.items()
        if (kinds is None or kind in kinds) and (pools is None or pool in pools)
    ]
    assert taken(db, 100, kinds=kinds, pools=pools) == wanted


def test_a_claim_of_a_pool_nobody_has_made_is_refused(db: Connection) -> None:
    with pytest.raises(UnknownPool, match="'nope' does not exist"):
        take(db, pools=["shared", "nope"])
