"""Claims at the same time: no job twice, none lost, nobody waits."""

from uuid import uuid4

import pytest

from penstock.kernel import jobs
from penstock.kernel.connection import Connection
from penstock.model import Claim, Facts
from tests.concurrency.sessions import answer, aside, never_waits, together, wait_until
from tests.conftest import Connect
from tests.sql.support import enqueue, enqueue_later, fall_due, rows, rule, status, take, taken, tick, value

SESSIONS = 6


def test_no_job_goes_to_two_claimers_and_none_is_left(db: Connection, session: Connect) -> None:
    kinds = ["a", "b", "c"]
    made = jobs.enqueue_many(db, [{"kind": kinds[n % 3], "priority": n % 5} for n in range(3000)])
    connections = [session() for _ in range(SESSIONS)]

    def drain(number: int) -> list[int]:
        mine: list[int] = []
        while claimed := taken(connections[number], 37):
            mine += claimed
        return mine

    got = [job_id for mine in together(SESSIONS, drain) for job_id in mine]
    assert len(got) == len(set(got))
    # what a claim found locked for a moment is left to the next one
    got += taken(db, 1000)
    assert sorted(got) == [one.job_id for one in made]


def test_a_claim_goes_around_jobs_that_an_open_claim_holds(db: Connection, session: Connect) -> None:
    first, second = enqueue(db), enqueue(db)
    other = session()
    other.execute("begin")
    assert taken(other, 1) == [first]
    assert taken(never_waits(db)) == [second]
    other.execute("rollback")
    assert taken(db) == [first]


def test_a_claim_goes_around_held_jobs_of_several_kinds(db: Connection, session: Connect) -> None:
    held = [enqueue(db, kind, priority=1) for kind in ("a", "b", "c")]
    free = [enqueue(db, kind) for kind in ("a", "b", "c")]
    other = session()
    other.execute("begin")
    assert taken(other, 3) == held
    assert taken(never_waits(db)) == free


def test_an_open_claim_of_a_lanes_head_does_not_let_the_second_through(db: Connection, session: Connect) -> None:
    enqueue(db, lane="l"), enqueue(db, lane="l")
    other = session()
    other.execute("begin")
    assert len(take(other)) == 1
    assert take(never_waits(db)) == []


def test_a_claim_waits_for_no_open_promotion(db: Connection, session: Connect) -> None:
    due = enqueue_later(db)
    fall_due(db, due)
    other = session()
    other.execute("begin")
    assert tick(other)["promote"]["did"] == 1
    assert take(never_waits(db)) == []
    other.execute("commit")
    assert taken(db) == [due]


def test_a_claim_whose_session_dies_leaves_its_jobs_to_others(db: Connection, session: Connect) -> None:
    job_id = enqueue(db)
    other = session()
    other.execute("begin")
    assert taken(other) == [job_id]
    value(db, "select pg_terminate_backend(%s)", other.info.backend_pid)
    wait_until(lambda: taken(db) == [job_id], "the job of a dead session is claimed")


def test_a_later_claim_of_a_job_always_has_the_higher_token(db: Connection, session: Connect) -> None:
    jobs.enqueue_many(db, [{"kind": f"k{n % 2}"} for n in range(6)])
    db.execute("create table penstock.trail (n bigint generated always as identity, job_id bigint, token bigint)")
    db.execute(
        "create function note() returns trigger language plpgsql as $$ begin"
        " insert into penstock.trail (job_id, token) values (new.job_id, new.lease_token); return new; end $$"
    )
    db.execute(
        "create trigger note after update on penstock.job_queue for each row"
        " when (new.status = 'leased') execute function note()"
    )
    connections = [session() for _ in range(SESSIONS)]

    def claim_and_release(number: int) -> None:
        mine = connections[number]
        for _ in range(40):
            claims = take(mine, 2)
            jobs.release(mine, [one.job_id for one in claims], [one.lease_token for one in claims])

    together(SESSIONS, claim_and_release)
    trail = rows(
        db, "select token, lag(token) over (partition by job_id order by n) as before from penstock.trail order by n"
    )
    assert len(trail) > 100
    assert all(before is None or token > before for token, before in trail)


def test_a_cancel_waits_for_the_claim_and_then_asks_the_holder(db: Connection, session: Connect) -> None:
    job_id = enqueue(db)
    claimer, canceller = session(), session()
    claimer.execute("begin")
    assert taken(claimer) == [job_id]
    with aside(db) as others:
        cancelled = others.run_until_it_waits(canceller, lambda mine: jobs.cancel(mine, job_id))
        claimer.execute("commit")
        assert answer(cancelled) == "cancel_requested"
    assert status(db, job_id) == "leased"


def test_a_job_that_came_while_a_claim_waited_is_claimed_with_all_its_facts(db: Connection, session: Connect) -> None:
    """The rest of the claim's statement does not see it: it has begun before the job was there."""
    rule(db, most=2)
    enqueue(db)
    first, second = session(), session()
    first.execute("begin")
    assert len(take(first)) == 1
    with aside(db) as others:
        waiting = others.run_until_it_waits(second, _claim_whole)
        later = enqueue(db, safe_payload={"name": "Ada"})
        first.execute("commit")
        ((claim, facts),) = answer(waiting)
    assert (claim.job_id, facts.job_id, facts.safe_payload) == (later, later, '{"name": "Ada"}')


def _claim_whole(connection: Connection) -> list[tuple[Claim, Facts]]:
    return jobs.claim_whole(
        connection, "default", 5, kinds=["work"], pools=None, incarnation=uuid4(), start=True, suspects=True
    )


@pytest.mark.parametrize("limit", [jobs.FEW, jobs.FEW + 1])
def test_a_claim_brings_the_facts_of_few_jobs_and_of_many(db: Connection, limit: int) -> None:
    ids = [one.job_id for one in jobs.enqueue_many(db, [{"kind": "work", "trace": str(n)} for n in range(30)])]
    found = jobs.claim_whole(
        db, "default", limit, kinds=["work"], pools=None, incarnation=uuid4(), start=True, suspects=True
    )
    assert [(claim.job_id, facts.job_id, facts.trace) for claim, facts in found] == [
        (job_id, job_id, str(n)) for n, job_id in enumerate(ids[:limit])
    ]


def test_a_client_that_stops_reading_keeps_no_lock_of_its_claim(db: Connection, session: Connect) -> None:
    jobs.enqueue_many(db, [{"kind": "k" * 100} for _ in range(1000)])
    stopped = session()
    # the worker's own statement at its largest, sent and never read
    stopped.pgconn.send_query_params(
        b"select job_id, lease_token, job_kind, attempt, started, suspect, enqueued_at"
        b" from penstock.fn_job_claim('default', 1000)",
        None,
        result_format=1,
    )
    while stopped.pgconn.flush():
        pass
    held = "select count(*) from penstock.job_queue where status = 'leased'"
    wait_until(lambda: bool(value(db, held) == 1000), "the claim is committed")
