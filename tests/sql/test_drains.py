"""Messages that steps poll: in one result at most, and acknowledged only if they are in one."""

import pytest

from penstock.errors import Refused
from penstock.kernel import drains, jobs
from penstock.kernel.connection import Connection
from penstock.model import Claim
from tests.concurrency.sessions import answer, aside
from tests.conftest import Connect
from tests.sql.support import enqueue, finish, take, take_one, value

PLACE = "feed ORDERS drain"


def _polled(db: Connection, held: Claim, *messages: str, place: str = PLACE) -> dict[str, str]:
    return drains.take(db, held.job_id, held.lease_token, place, messages)


def _held(db: Connection) -> Claim:
    enqueue(db)
    return take_one(db, start=True)


def test_what_is_in_a_kept_result_is_known_until_it_is_acknowledged(db: Connection) -> None:
    first, second = _held(db), _held(db)
    assert _polled(db, first, "a", "b", "b") == {}
    finish(db, first)
    assert _polled(db, second, "b", "c", "a") == {"a": "kept", "b": "kept"}
    assert _polled(db, second, "a", place="feed ORDERS other") == {}
    # of one that may still fail nothing is forgotten
    drains.done(db, PLACE, ["a", "c"])
    assert _polled(db, _held(db), "a", "b", "c") == {"b": "kept", "c": "held"}


def test_a_step_that_is_asked_twice_has_its_own_messages(db: Connection) -> None:
    held = _held(db)
    assert _polled(db, held, "a") == _polled(db, held, "a", "b") == {}


def test_what_an_attempt_has_lost_is_in_no_result_though_the_next_one_succeeds(db: Connection) -> None:
    first = _held(db)
    assert _polled(db, first, "lost", "again") == {}
    jobs.fail(db, [first.job_id], [first.lease_token], [{"message": "no"}])
    db.execute("update penstock.job_queue set process_after = now(), status = 'ready'")
    second = take_one(db, start=True)
    assert (second.job_id, _polled(db, second, "again")) == (first.job_id, {})
    finish(db, second)
    assert _polled(db, _held(db), "lost", "again") == {"again": "kept"}


def test_what_is_held_is_free_when_its_holder_has_lost_its_job(db: Connection) -> None:
    first, second = _held(db), _held(db)
    assert _polled(db, first, "a") == {}
    assert _polled(db, second, "a") == {"a": "held"}
    jobs.release(db, [first.job_id], [first.lease_token])
    assert _polled(db, second, "a") == {}


def test_who_does_not_hold_the_job_takes_nothing(db: Connection) -> None:
    enqueue(db)
    (leased,) = take(db)
    for token in (leased.lease_token, leased.lease_token + 1):
        with pytest.raises(Refused, match="is not held under this token"):
            drains.take(db, leased.job_id, token, PLACE, ["a"])
    held = _held(db)
    for place, messages in [("p" * 1001, ["a"]), (PLACE, ["m" * 1001]), (PLACE, [str(nth) for nth in range(1001)])]:
        with pytest.raises(Refused, match="1,000"):
            drains.take(db, held.job_id, held.lease_token, place, messages)
    assert value(db, "select count(*) from penstock.once_key") == 0


def test_of_two_that_polled_the_same_message_at_once_one_has_it(db: Connection, session: Connect) -> None:
    """Who has to wait in the middle asks only then whose the others are."""
    dead = _held(db)
    assert _polled(db, dead, "a", "b") == {}
    jobs.release(db, [dead.job_id], [dead.lease_token])
    first, second = take(db, start=True)[0], _held(db)
    with aside(db) as others:
        with session() as blocker, blocker.transaction():
            blocker.execute("select from penstock.once_key where key = 'a' for update")
            waiting = others.run_until_it_waits(session(), lambda c: _polled(c, second, "a", "b"))
            assert _polled(db, first, "b") == {}
        assert answer(waiting) == {"b": "held"}


def test_a_finish_whose_answer_was_lost_is_known_by_its_token(db: Connection) -> None:
    first, other = _held(db), _held(db)
    jobs.release(db, [first.job_id], [first.lease_token])
    (second,) = take(db, start=True)
    finish(db, second)
    pairs = [(one.job_id, one.lease_token) for one in (first, second, other)]
    assert jobs.kept(db, *zip(*pairs, strict=True)) == {(second.job_id, second.lease_token)}
