"""An executor is named by the roles it is bound to, and by nobody else."""

from collections.abc import Callable
from dataclasses import dataclass
from uuid import UUID, uuid4

import pytest

from penstock.errors import ActorRefused
from penstock.kernel import jobs
from penstock.kernel.connection import Connection, translated
from penstock.model import Answer, Claim
from tests.logins import Logins, contents

Report = Callable[[Connection, Claim], list[Answer]]

REPORTS: dict[str, Report] = {
    "start": lambda connection, claim: jobs.start(connection, [claim.job_id], [claim.lease_token]),
    "release": lambda connection, claim: jobs.release(connection, [claim.job_id], [claim.lease_token]),
    "finish": lambda connection, claim: jobs.finish(connection, [claim.job_id], [claim.lease_token], ['{"a": 1}']),
    "fail": lambda connection, claim: jobs.fail(connection, [claim.job_id], [claim.lease_token], [{"message": "no"}]),
}


@dataclass(frozen=True)
class Pair:
    """Two executors of one kind, each bound to a login of its own; Bo holds a job."""

    ann: Connection
    bo: Connection
    incarnation: UUID
    claim: Claim


@pytest.fixture
def pair(db: Connection, logins: Logins) -> Pair:
    connections = {name: logins.member("dot_executor") for name in ("ann", "bo")}
    for name, connection in connections.items():
        db.execute(
            "select penstock.fn_executor_register(%s, 'PG_worker', p_db_role => %s)", [name, connection.info.user]
        )
        db.execute("select penstock.fn_job_subscription_set(%s, 'PG_worker', p_enabled => true)", [name])
    incarnation = uuid4()
    _beat(connections["bo"], "bo", incarnation)
    jobs.enqueue(db, {"kind": "greet"})
    (claim,) = jobs.claim(connections["bo"], "bo", 1, incarnation=incarnation)
    jobs.enqueue(db, {"kind": "greet"})
    return Pair(connections["ann"], connections["bo"], incarnation, claim)


def _beat(connection: Connection, executor_id: str, incarnation: UUID) -> None:
    with translated():
        connection.execute("select penstock.fn_queue_heartbeat(%s, 'PG_worker', %s)", [executor_id, incarnation])


def _farewell(connection: Connection, executor_id: str, incarnation: UUID) -> None:
    with translated():
        connection.execute("select penstock.fn_queue_farewell(%s, %s)", [executor_id, incarnation])


def test_nobody_claims_as_another(db: Connection, pair: Pair) -> None:
    before = contents(db)
    with pytest.raises(ActorRefused, match="may not speak for agent:bo"):
        jobs.claim(pair.ann, "bo", 1, incarnation=pair.incarnation)
    assert contents(db) == before


def test_nobody_beats_as_another(db: Connection, pair: Pair) -> None:
    before = contents(db)
    with pytest.raises(ActorRefused, match="may not speak for agent:bo"):
        jobs.heartbeat(pair.ann, "bo", pair.incarnation, [pair.claim.job_id], [pair.claim.lease_token])
    with pytest.raises(ActorRefused, match="may not speak for agent:bo"):
        _beat(pair.ann, "bo", pair.incarnation)
    with pytest.raises(ActorRefused, match="may not speak for agent:bo"):
        _farewell(pair.ann, "bo", pair.incarnation)
    assert contents(db) == before


def test_nobody_keeps_anothers_incarnation_alive(db: Connection, pair: Pair) -> None:
    db.execute("update penstock.job_queue set lease_until = now() + interval '1 second' where leased_by is not null")
    before = contents(db)
    jobs.heartbeat(pair.ann, "ann", pair.incarnation, [pair.claim.job_id], [pair.claim.lease_token])
    _beat(pair.ann, "ann", pair.incarnation)
    _farewell(pair.ann, "ann", pair.incarnation)
    assert contents(db) == before


def test_nobody_is_first_to_beat_for_anothers_incarnation(db: Connection, pair: Pair) -> None:
    db.execute("delete from penstock.queue_heartbeat")
    _beat(pair.ann, "ann", pair.incarnation)
    assert jobs.heartbeat(pair.bo, "bo", pair.incarnation, [pair.claim.job_id], [pair.claim.lease_token]) == []


def test_a_beat_of_ones_own_leaves_anothers_leases_alone(db: Connection, pair: Pair) -> None:
    db.execute("update penstock.job_queue set lease_until = now() + interval '1 second' where leased_by is not null")
    before = contents(db)
    jobs.heartbeat(pair.ann, "ann", uuid4(), [pair.claim.job_id], [pair.claim.lease_token])
    after = contents(db)
    assert {name for name in before if before[name] != after[name]} == {"penstock.queue_heartbeat"}


@pytest.mark.parametrize("report", REPORTS)
def test_nobody_reports_anothers_job_even_with_its_token(report: str, db: Connection, pair: Pair) -> None:
    before = contents(db)
    (answer,) = REPORTS[report](pair.ann, pair.claim)
    assert answer == (pair.claim.job_id, False, "not_yours")
    assert contents(db) == before


@pytest.mark.parametrize("report", REPORTS)
def test_nobody_settles_the_cancel_of_anothers_job(report: str, db: Connection, pair: Pair) -> None:
    assert jobs.cancel(db, pair.claim.job_id) == "cancel_requested"
    before = contents(db)
    (answer,) = REPORTS[report](pair.ann, pair.claim)
    assert answer == (pair.claim.job_id, False, "not_yours")
    assert contents(db) == before


@pytest.mark.parametrize("report", REPORTS)
def test_the_holder_itself_is_believed(report: str, pair: Pair) -> None:
    assert [one for one in REPORTS[report](pair.bo, pair.claim) if not one.accepted] == []


@pytest.mark.parametrize("report", REPORTS)
def test_an_operator_may_report_for_anybody(report: str, pair: Pair, logins: Logins) -> None:
    operator = logins.member("workflow_admin")
    assert [one for one in REPORTS[report](operator, pair.claim) if not one.accepted] == []


def test_an_executor_bound_to_the_group_is_shared_by_its_members(db: Connection, pair: Pair) -> None:
    (claim,) = jobs.claim(pair.ann, "default", 1)
    assert jobs.finish(pair.bo, [claim.job_id], [claim.lease_token]) == []


def test_an_executor_whose_binding_was_taken_away_may_not_be_named(db: Connection, pair: Pair) -> None:
    db.execute("select penstock.fn_actor_binding_set('agent:bo', %s, p_bound => false)", [pair.bo.info.user])
    with pytest.raises(ActorRefused):
        jobs.claim(pair.bo, "bo", 1)
    (answer,) = jobs.finish(pair.bo, [pair.claim.job_id], [pair.claim.lease_token])
    assert answer.reason == "not_yours"
