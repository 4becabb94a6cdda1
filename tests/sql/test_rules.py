"""Job subscriptions: which rule decides over a job, and how many jobs it lets an executor hold."""

from collections.abc import Callable

import pytest

from penstock.errors import BadRequest, ExecutorRefused, UnknownEventDomain, UnknownExecutor
from penstock.kernel import jobs, queue
from penstock.kernel.connection import Connection
from penstock.model import Claim
from tests.sql.support import (
    enqueue,
    fail,
    finish,
    reap,
    refused,
    register,
    row,
    rule,
    take,
    take_one,
    taken,
    tick,
    value,
)

MATCHING = [("mail", "kg"), ("mail", None), (None, "kg"), (None, None)]


def test_an_executor_without_an_enabled_rule_claims_nothing_and_is_told(db: Connection) -> None:
    enqueue(db)
    register(db, "idle")
    for enabled in (None, False):
        if enabled is not None:
            rule(db, "idle", enabled=enabled)
        notices: list[str] = []
        with queue.notices(db, notices):
            assert jobs.claim(db, "idle", 10) == []
        assert any("idle has no enabled job subscription" in notice for notice in notices)


def test_an_executor_with_a_rule_that_matches_nothing_gets_no_notice(db: Connection) -> None:
    enqueue(db)
    register(db, "other")
    rule(db, "other", job_kind="else")
    notices: list[str] = []
    with queue.notices(db, notices):
        assert jobs.claim(db, "other", 10) == []
    assert notices == []


@pytest.mark.parametrize("decides", range(4))
def test_the_most_specific_rule_decides(decides: int, db: Connection) -> None:
    register(db, "ann")
    rules = [rule(db, "ann", job_kind=kind, domain=domain) for kind, domain in MATCHING[decides:]]
    job_id = enqueue(db, "mail", event_domain="kg")
    jobs.claim(db, "ann", 1)
    assert row(db, job_id)["rule"] == rules[0]


@pytest.mark.parametrize("decides", range(4))
def test_a_disabled_rule_that_is_more_specific_excludes(decides: int, db: Connection) -> None:
    register(db, "ann")
    for position, (kind, domain) in enumerate(MATCHING[decides:]):
        rule(db, "ann", job_kind=kind, domain=domain, enabled=position > 0)
    enqueue(db, "mail", event_domain="kg")
    assert jobs.claim(db, "ann", 1) == []


def test_a_disabled_rule_excludes_what_it_matches_and_nothing_else(db: Connection) -> None:
    rule(db, job_kind="mail", domain="kg", enabled=False)
    enqueue(db, "mail", event_domain="kg")
    others = [enqueue(db, "mail"), enqueue(db, "mail", event_domain="tac"), enqueue(db, "post", event_domain="kg")]
    assert taken(db) == others


def test_a_rule_for_a_domain_takes_no_job_without_one(db: Connection) -> None:
    register(db, "ann")
    rule(db, "ann", domain="kg")
    enqueue(db)
    ours = enqueue(db, event_domain="kg")
    assert [claim.job_id for claim in jobs.claim(db, "ann", 10)] == [ours]


def test_a_priority_floor_leaves_lower_jobs_alone(db: Connection) -> None:
    rule(db, floor=5)
    kinds = ["a", "b"]
    for kind in kinds:
        enqueue(db, kind, priority=4)
    high = [enqueue(db, kind, priority=priority) for kind in kinds for priority in (5, 6)]
    assert sorted(taken(db)) == sorted(high)
    assert taken(db, kinds=["a"]) == []


def test_rules_set_again_replace_what_they_said(db: Connection) -> None:
    first = rule(db, job_kind="mail", most=1)
    assert rule(db, job_kind="mail", floor=3, enabled=False) == first
    enqueue(db, "mail", priority=9)
    assert taken(db) == []


def test_bad_rules_are_refused_by_name(db: Connection) -> None:
    with pytest.raises(UnknownExecutor):
        rule(db, "nobody")
    with pytest.raises(ExecutorRefused):
        rule(db, kind="MOT")
    with pytest.raises(ExecutorRefused, match="registered as PG_worker"):
        rule(db, kind="Hermes")
    with pytest.raises(UnknownEventDomain):
        rule(db, domain="nowhere")
    for bad in ({"most": 0}, {"most": -1}, {"floor": 40000}):
        with pytest.raises(BadRequest):
            rule(db, **bad)  # type: ignore[arg-type]
    with pytest.raises(ExecutorRefused):
        register(db, "mother", "MOT")


def test_no_more_jobs_are_held_than_max_parallel(db: Connection) -> None:
    rule(db, most=3)
    ids = [enqueue(db, kind) for kind in ("a", "b") for _ in range(5)]
    assert taken(db, 2) == ids[:2]
    assert taken(db, 10) == ids[2:3]
    assert taken(db, 10) == []


def test_limits_are_counted_rule_by_rule(db: Connection) -> None:
    rule(db, most=2)
    rule(db, job_kind="mail", most=1)
    jobs.enqueue_many(db, [{"kind": kind} for kind in ("mail", "mail", "a", "a", "b", "b")])
    assert [claim.job_kind for claim in take(db)] == ["mail", "a", "a"]
    assert take(db) == []


def test_another_executor_has_limits_of_its_own(db: Connection) -> None:
    rule(db, most=1)
    register(db, "ann")
    rule(db, "ann", most=2)
    jobs.enqueue_many(db, [{"kind": "work"}] * 5)
    assert len(take(db)) == 1
    assert len(jobs.claim(db, "ann", 10)) == 2


def _finish(db: Connection, claim: Claim) -> None:
    finish(db, claim)


def _fail(db: Connection, claim: Claim) -> None:
    fail(db, claim)


def _fail_for_good(db: Connection, claim: Claim) -> None:
    fail(db, claim, {"permanent": True})


def _release(db: Connection, claim: Claim) -> None:
    jobs.release(db, [claim.job_id], [claim.lease_token])


def _vanish(db: Connection, claim: Claim) -> None:
    reap(db, claim.job_id)


def _cancel(db: Connection, claim: Claim) -> None:
    jobs.cancel(db, claim.job_id)
    assert take(db) == []
    refused(db, [claim.job_id], [claim.lease_token])


@pytest.mark.parametrize("letting_go", [_finish, _fail, _fail_for_good, _release, _vanish, _cancel])
@pytest.mark.parametrize("start", [False, True])
def test_a_place_is_free_again_however_its_job_is_let_go(
    start: bool, letting_go: Callable[[Connection, Claim], None], db: Connection
) -> None:
    rule(db, most=1)
    jobs.enqueue_many(db, [{"kind": "work"}] * 3)
    claim = take_one(db, start=start)
    assert take(db, start=start) == []
    letting_go(db, claim)
    assert len(take(db, start=start)) == 1


def test_a_limit_that_is_lowered_holds_for_the_next_claim(db: Connection) -> None:
    rule(db, most=3)
    jobs.enqueue_many(db, [{"kind": "work"}] * 6)
    held = take(db)
    rule(db, most=1)
    finish(db, held[0])
    assert take(db) == []
    finish(db, *held[1:])
    assert len(take(db)) == 1


def test_a_limited_rule_is_not_counted_under_an_old_snapshot(db: Connection) -> None:
    rule(db, most=1)
    jobs.enqueue_many(db, [{"kind": "work"}] * 2)
    db.execute("begin isolation level repeatable read")
    with pytest.raises(BadRequest, match="READ COMMITTED"):
        take(db)
    db.execute("rollback")
    assert len(take(db)) == 1


def test_waiting_to_retry_holds_no_place(db: Connection) -> None:
    rule(db, most=1)
    jobs.enqueue_many(db, [{"kind": "work"}] * 2)
    fail(db, take_one(db))
    tick(db)
    assert len(take(db)) == 1


def test_deregistering_disables_every_rule(db: Connection) -> None:
    rule(db, job_kind="mail")
    value(db, "select penstock.fn_executor_deregister('default')::text")
    assert value(db, "select bool_or(enabled) from penstock.job_subscription where executor_id = 'default'") is False
