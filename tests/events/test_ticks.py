"""Ticks: only when there is something to tick for, and as long as there may be."""

import psycopg
import pytest

from penstock.errors import BadRequest
from penstock.kernel import consumers, events, queue
from penstock.kernel.connection import Connection, connect
from tests.concurrency.sessions import wait_until
from tests.events.support import emit, jobs_of, known, live, newest_tick


@pytest.fixture(autouse=True)
def _live(db: Connection) -> None:
    known(db)
    live(db)


def _settle(db: Connection) -> int:
    """Tick until there is nothing to tick for; the last one."""
    # however soon after the last one: within a second of it there is none in any case
    wait_until(lambda: events.tick(db, within_s=0) is None, "all is quiet")
    return newest_tick(db)


def test_a_quiet_log_is_not_ticked(db: Connection) -> None:
    last = _settle(db)
    for _ in range(3):
        assert events.tick(db) is None
    assert newest_tick(db) == last
    emit(db)
    assert events.tick(db) == last + 1


def test_a_number_taken_before_the_tick_and_committed_after_it_is_ticked_for(db: Connection, database: str) -> None:
    """Nobody emits after it: the head alone would not tell."""
    _settle(db)
    with connect(database) as slow, slow.transaction():
        event = emit(slow)
        assert events.tick(db) is not None
        # at once there is no other, and then once in the time it is told
        assert events.tick(db, within_s=3600) is None
    wait_until(lambda: events.tick(db) is not None, "another tick, without another event")
    consumers.dispatch_run(db)
    assert jobs_of(db) == [event]


def test_it_goes_quiet_again_once_nobody_is_open(db: Connection, database: str) -> None:
    with connect(database) as open_one, open_one.transaction():
        open_one.execute("select pg_current_xact_id()")
        emit(db)
        first = events.tick(db)
        wait_until(lambda: (events.tick(db) or 0) > (first or 0), "it ticks on while somebody is open")
    _settle(db)


def test_the_queues_tick_does_it_all(db: Connection) -> None:
    event = emit(db)
    first, second = queue.tick(db), queue.tick(db)
    assert (first["outbox"]["ok"], second["dispatch"]["did"]["jobs"]) == (True, 1)
    assert jobs_of(db) == [event]
    wait_until(lambda: queue.tick(db)["outbox"]["did"] is None, "it goes quiet")


@pytest.mark.parametrize("level", ["repeatable read", "serializable"])
def test_a_tick_is_refused_where_its_snapshot_would_be_old(db: Connection, level: str) -> None:
    db.execute(f"begin isolation level {level}".encode())
    with pytest.raises(BadRequest, match=level):
        events.tick(db)
    db.execute("rollback")


def test_one_that_is_cut_off_leaves_no_lock(db: Connection, database: str) -> None:
    with connect(database) as holder, connect(database) as ticker:
        holder.execute("select pg_advisory_lock(hashtextextended('penstock.outbox_tick', 0))")
        ticker.execute("set statement_timeout = '200ms'")
        with pytest.raises(psycopg.errors.QueryCanceled):
            ticker.execute("select penstock.fn_outbox_tick(true)")
        holder.execute("select pg_advisory_unlock_all()")
        ticker.execute("set statement_timeout = 0")
        assert events.tick(db, force=True) is not None


def test_one_dispatcher_at_a_time(db: Connection, database: str) -> None:
    emit(db)
    events.tick(db)
    with connect(database) as other, other.transaction():
        assert consumers.dispatch_run(other)["jobs"] == 1
        assert consumers.dispatch_run(db) == {"skipped": "another run holds the cursor"}
    assert consumers.dispatch_run(db)["events"] == 0
