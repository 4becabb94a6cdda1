"""The state machine: what penstock.job_move does not hold is refused, and changes nothing."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import psycopg
import pytest

from penstock.errors import IllegalMove, UnknownJob
from penstock.kernel import jobs
from penstock.kernel.connection import Connection
from penstock.model import Answer
from tests.sql.support import (
    contents,
    enqueue,
    enqueue_later,
    expire,
    fail,
    fall_due,
    finish,
    refused,
    rows,
    status,
    take,
    take_one,
    taken,
    tick,
    value,
)


@dataclass(frozen=True)
class Subject:
    """A job in a known state, and the last token it was held under."""

    kind: str
    job_id: int
    token: int


def _held(db: Connection, kind: str, *, start: bool) -> Subject:
    job_id = enqueue(db, kind)
    claim = take_one(db, kinds=[kind], start=start)
    return Subject(kind, job_id, claim.lease_token)


def _blocked(db: Connection) -> Subject:
    enqueue(db, "head", lane="lane")
    return Subject("blocked", enqueue(db, "blocked", lane="lane"), 1)


def _awaiting(db: Connection) -> Subject:
    subject = _held(db, "awaiting", start=True)
    assert jobs.wait(db, subject.job_id, subject.token).accepted
    return subject


def _retrying(db: Connection) -> Subject:
    subject = _held(db, "retrying", start=True)
    jobs.fail(db, [subject.job_id], [subject.token], [{}])
    return subject


def _succeeded(db: Connection) -> Subject:
    subject = _held(db, "succeeded", start=True)
    refused(db, [subject.job_id], [subject.token])
    return subject


def _dead_lettered(db: Connection) -> Subject:
    subject = _held(db, "dead_lettered", start=True)
    jobs.fail(db, [subject.job_id], [subject.token], [{"permanent": True}])
    return subject


def _cancelled(db: Connection) -> Subject:
    subject = Subject("cancelled", enqueue(db, "cancelled"), 1)
    jobs.cancel(db, subject.job_id)
    return subject


STATES: dict[str, Callable[[Connection], Subject]] = {
    "blocked": _blocked,
    "scheduled": lambda db: Subject("scheduled", enqueue_later(db, "scheduled"), 1),
    "ready": lambda db: Subject("ready", enqueue(db, "ready"), 1),
    "leased": lambda db: _held(db, "leased", start=False),
    "running": lambda db: _held(db, "running", start=True),
    "awaiting": _awaiting,
    "retrying": _retrying,
    "succeeded": _succeeded,
    "dead_lettered": _dead_lettered,
    "cancelled": _cancelled,
}


def _accepted(answers: list[Answer]) -> bool:
    (answer,) = answers
    assert answer.accepted == (answer.reason is None or answer.reason in ("retrying", "dead_lettered"))
    return answer.accepted


def _cancel(db: Connection, job: Subject) -> bool:
    try:
        jobs.cancel(db, job.job_id)
    except IllegalMove:
        return False
    # the holder lets go
    refused(db, [job.job_id], [job.token])
    return True


def _retry(db: Connection, job: Subject) -> bool:
    try:
        jobs.retry(db, job.job_id)
    except IllegalMove:
        return False
    return True


def _resume(db: Connection, job: Subject) -> bool:
    try:
        jobs.resume(db, job.job_id)
    except IllegalMove:
        return False
    return True


def _time_passes(db: Connection) -> None:
    """Every lease has ended, and every time has come."""
    db.execute(
        "update penstock.job_queue set process_after = now() - interval '1 second',"
        " lease_until = case when lease_until is not null then now() - interval '1 second' end"
    )


def _lose_heads(db: Connection) -> None:
    db.execute("delete from penstock.job_queue where job_kind = 'head'")


# what must be so for a move that is not asked for, but happens
BEFORE: dict[str, Callable[[Connection], None]] = {
    "reap": _time_passes,
    "promote": _time_passes,
    "expire": _time_passes,
    "advance": _lose_heads,
}


MOVES: dict[str, Callable[[Connection, Subject], bool]] = {
    "claim": lambda db, job: bool(take(db, kinds=[job.kind])),
    "start": lambda db, job: _accepted(jobs.start(db, [job.job_id], [job.token])),
    "release": lambda db, job: _accepted(jobs.release(db, [job.job_id], [job.token])),
    "finish": lambda db, job: refused(db, [job.job_id], [job.token], ["done"]) == [],
    "fail": lambda db, job: _accepted(jobs.fail(db, [job.job_id], [job.token], [{}])),
    "cancel": _cancel,
    "retry": _retry,
    "reap": lambda db, _: bool(value(db, "select penstock.leases_reap()")),
    "advance": lambda db, _: bool(value(db, "select penstock.lanes_settle(array['lane'])")),
    "promote": lambda db, _: bool(value(db, "select penstock.promote_due(100)")),
    "await": lambda db, job: jobs.wait(db, job.job_id, job.token).accepted,
    "resume": _resume,
    "expire": lambda db, _: bool(value(db, "select penstock.awaiting_due(100)")),
}

# moves of whole executions: tests/playbooks/test_moves.py
OF_EXECUTIONS = {"pause", "unpause"}


def _legal(db: Connection, move: str) -> dict[str, set[str]]:
    """From which states a move is legal, and where it leads."""
    found: dict[str, set[str]] = {}
    for begin, end in rows(
        db, "select from_status::text, to_status::text from penstock.job_move where move = %s", move
    ):
        found.setdefault(begin, set()).add(end)
    return found


@pytest.mark.parametrize("move", MOVES)
def test_a_move_does_what_the_table_of_moves_says_and_nothing_else(move: str, db: Connection) -> None:
    legal = _legal(db, move)
    assert legal
    for state, bring in STATES.items():
        job = bring(db)
        assert status(db, job.job_id) == state
        if (move, state) == ("retry", "dead_lettered"):
            continue  # a replay: another job begins, this one stays
        if move in BEFORE:
            BEFORE[move](db)
        before = contents(db)
        moved = MOVES[move](db, job)
        if state in legal:
            assert moved, f"{move} of a {state} job was refused"
            assert status(db, job.job_id) in legal[state]
        else:
            assert not moved, f"{move} of a {state} job was accepted"
            assert contents(db) == before, f"{move} of a {state} job changed something"
        db.execute("delete from penstock.job_queue")


def test_every_move_of_the_table_is_tried_here(db: Connection) -> None:
    known = {move for (move,) in rows(db, "select distinct move from penstock.job_move")}
    assert known == set(MOVES) | OF_EXECUTIONS | {"enqueue"}


def test_every_state_is_tried_here(db: Connection) -> None:
    known = {state for (state,) in rows(db, "select unnest(enum_range(null::penstock.job_status))::text")}
    assert known == set(STATES)


def test_nothing_leads_out_of_a_terminal_state(db: Connection) -> None:
    ends = "('succeeded', 'dead_lettered', 'cancelled')"
    assert rows(db, f"select * from penstock.job_move where from_status in {ends}") == []


def test_an_unknown_job_is_moved_by_nobody(db: Connection) -> None:
    before = contents(db)
    job = Subject("none", 987654321, 1)
    for move in ("start", "release", "finish", "fail"):
        assert MOVES[move](db, job) is False
    for move in ("cancel", "retry"):
        with pytest.raises(UnknownJob):
            MOVES[move](db, job)
    assert contents(db) == before


@pytest.mark.parametrize("end", ["succeeded", "dead_lettered", "cancelled"])
def test_a_live_row_cannot_hold_a_terminal_state(end: str, db: Connection) -> None:
    enqueue(db)
    with pytest.raises(psycopg.errors.CheckViolation):
        db.execute("update penstock.job_queue set status = %s", [end])


def test_a_leased_row_has_a_lease_and_no_other_has_one(db: Connection) -> None:
    enqueue(db)
    with pytest.raises(psycopg.errors.CheckViolation):
        db.execute("update penstock.job_queue set status = 'running'")
    with pytest.raises(psycopg.errors.CheckViolation):
        db.execute("update penstock.job_queue set lease_until = now()")


def test_no_state_has_room_for_two_heads_of_a_lane(db: Connection) -> None:
    first, second = enqueue(db, lane="l"), enqueue(db, lane="l")
    assert taken(db) == [first]
    for state in ("ready", "awaiting", "retrying"):
        with pytest.raises(psycopg.errors.UniqueViolation):
            db.execute("update penstock.job_queue set status = %s where job_id = %s", [state, second])


def test_a_whole_life_goes_through_legal_moves_only(db: Connection) -> None:
    """Every change of status the queue makes on its own is written down by a trigger and looked up."""
    db.execute("create table penstock.trail (was text, became text)")
    db.execute(
        "create function note() returns trigger language plpgsql as $$ begin"
        " if old.status <> new.status then insert into penstock.trail values (old.status, new.status); end if;"
        " return new; end $$"
    )
    db.execute("create trigger note after update on penstock.job_queue for each row execute function note()")
    _live_a_life(db)
    seen = set(rows(db, "select distinct was, became from penstock.trail"))
    legal = set(rows(db, "select from_status::text, to_status::text from penstock.job_move"))
    assert seen - legal == set()
    assert len(seen) >= 9


def _live_a_life(db: Connection) -> None:
    value(db, "select penstock.fn_config_set('queue.retry.backoff.base_ms', '0')")
    laned = enqueue_later(db, lane="l")
    enqueue(db, lane="l")
    later = enqueue_later(db)
    fall_due(db, laned, later)
    tick(db)
    for start in (False, True):
        for claim in take(db, start=start):
            jobs.release(db, [claim.job_id], [claim.lease_token])
    claims = take(db)
    jobs.start(db, [claims[0].job_id], [claims[0].lease_token])
    expire(db, *(claim.job_id for claim in claims))
    tick(db)
    for _ in range(12):
        for claim in take(db, start=True):
            fail(db, claim)
    work: dict[str, Any] = {"lane": "m"}
    enqueue(db, **work), enqueue(db, **work)
    while claims := take(db):
        finish(db, *claims)
