"""The same key at the same time: one job, and nobody waits for anybody with another key."""

import random
from uuid import UUID

from penstock.kernel import jobs
from penstock.kernel.connection import Connection
from penstock.model import Enqueued
from tests.concurrency.sessions import answer, aside, never_waits, together
from tests.conftest import Connect
from tests.sql.support import enqueue, rows, tick, value

SESSIONS = 6


def _keyed(key: str) -> dict[str, str]:
    return {"kind": "work", "idempotency_key": key}


def test_the_second_waits_and_gets_the_job_of_the_first(db: Connection, session: Connect) -> None:
    first, second, many = session(), session(), session()
    first.execute("begin")
    job_id = enqueue(first, idempotency_key="k")
    with aside(db) as others:
        waiting = others.run_until_it_waits(second, lambda mine: enqueue(mine, idempotency_key="k"))
        batch = others.run_until_it_waits(many, lambda mine: jobs.enqueue_many(mine, [_keyed("j"), _keyed("k")]))
        first.execute("commit")
        assert answer(waiting) == job_id
        assert answer(batch)[1] == Enqueued(job_id, False)
    assert value(db, "select count(*) from penstock.job where idempotency_key = 'k'") == 1


def test_the_second_makes_the_job_when_the_first_is_rolled_back(db: Connection, session: Connect) -> None:
    first, second = session(), session()
    first.execute("begin")
    gone = enqueue(first, idempotency_key="k")
    with aside(db) as others:
        waiting = others.run_until_it_waits(second, lambda mine: enqueue(mine, idempotency_key="k"))
        first.execute("rollback")
        made = answer(waiting)
    assert made != gone
    assert rows(db, "select job_id from penstock.job") == [(made,)]
    assert enqueue(db, idempotency_key="k") == made


def test_the_second_makes_the_job_when_the_first_dies(db: Connection, session: Connect) -> None:
    first, second = session(), session()
    first.execute("begin")
    enqueue(first, idempotency_key="k")
    with aside(db) as others:
        waiting = others.run_until_it_waits(second, lambda mine: enqueue(mine, idempotency_key="k"))
        value(db, "select pg_terminate_backend(%s)", first.info.backend_pid)
        made = answer(waiting)
    assert rows(db, "select job_id from penstock.job") == [(made,)]


def test_other_keys_and_kinds_wait_for_nobody(db: Connection, session: Connect) -> None:
    first = session()
    first.execute("begin")
    enqueue(first, idempotency_key="k")
    second = never_waits(db)
    enqueue(second, idempotency_key="other")
    enqueue(second, "other", idempotency_key="k")
    enqueue(second)
    assert len(jobs.enqueue_many(second, [_keyed(f"x{n}") for n in range(100)])) == 100


def test_a_known_key_waits_for_nobody_who_only_asked_for_it(db: Connection, session: Connect) -> None:
    job_id = enqueue(db, idempotency_key="k")
    assert rows(db, "select job_id from penstock.job") == [(job_id,)]
    first, second = session(), session()
    first.execute("begin")
    assert enqueue(first, idempotency_key="k") == job_id
    with aside(db) as others:
        # the same key: it may wait, and must get the same answer
        asking = others.run(second, lambda mine: enqueue(mine, idempotency_key="k"))
        first.execute("commit")
        assert answer(asking) == job_id


def test_batches_with_the_same_keys_in_any_order_do_not_deadlock(db: Connection, session: Connect) -> None:
    connections = [session() for _ in range(SESSIONS)]

    def enqueue_shuffled(number: int) -> dict[str, int]:
        dice, got = random.Random(number), dict[str, int]()
        for turn in range(6):
            keys = [f"{turn}/{n}" for n in range(150)]
            dice.shuffle(keys)
            made = jobs.enqueue_many(connections[number], [_keyed(key) for key in keys])
            got.update(zip(keys, (one.job_id for one in made), strict=True))
        return got

    answers = together(SESSIONS, enqueue_shuffled)
    assert all(one == answers[0] for one in answers)
    assert value(db, "select count(*) from penstock.job") == 900


def test_an_expired_key_is_taken_over_by_one_of_many(db: Connection, session: Connect) -> None:
    old = enqueue(db, idempotency_key="k")
    db.execute("update penstock.once_key set expires_at = now() - interval '1 second'")
    connections = [session() for _ in range(SESSIONS)]
    made = set(together(SESSIONS, lambda number: enqueue(connections[number], idempotency_key="k")))
    assert len(made) == 1
    assert old not in made
    assert value(db, "select count(*) from penstock.job") == 2


def test_the_sweeper_waits_for_nobody_and_forgets_no_key_that_is_being_taken(db: Connection, session: Connect) -> None:
    enqueue(db, idempotency_key="k")
    db.execute("update penstock.once_key set expires_at = now() - interval '1 second'")
    other = session()
    other.execute("begin")
    taken_over = enqueue(other, idempotency_key="k")
    assert tick(never_waits(db))["once_keys"] == {"ok": True, "did": 0}
    other.execute("commit")
    assert enqueue(db, idempotency_key="k") == taken_over


def test_an_event_with_the_same_key_is_recorded_once(db: Connection, session: Connect) -> None:
    connections = [session() for _ in range(SESSIONS)]

    def emit(number: int) -> UUID:
        event: UUID = value(
            connections[number],
            "select penstock.fn_iu_emit_event('system', 'queue_worker_silent', null, null, null, null, null,"
            " p_idempotency_key => 'k')",
        )
        return event

    assert len(set(together(SESSIONS, emit))) == 1
    assert value(db, "select count(*) from penstock.event_outbox") == 1


def test_two_writers_who_find_no_partition_make_it_once(db: Connection, session: Connect) -> None:
    db.execute(
        "do $$ declare t text; begin for t in select inhrelid::regclass from pg_inherits"
        " where inhparent = 'penstock.job'::regclass loop execute 'drop table ' || t; end loop; end $$"
    )
    connections = [session() for _ in range(SESSIONS)]
    made = together(SESSIONS, lambda number: enqueue(connections[number]))
    assert len(set(made)) == SESSIONS
