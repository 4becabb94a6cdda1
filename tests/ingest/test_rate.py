"""How fast messages come in: over the last half minute to minute, and nothing when nothing came."""

from datetime import timedelta

import pytest

from penstock.kernel import runtimes, subscriptions
from penstock.kernel.connection import Connection
from tests.ingest.support import PATH, Runtime, offsets, playbook, subscription

_TIMES = ("rate_since", "rate_next", "last_commit_at")


@pytest.fixture
def runtime(db: Connection) -> Runtime:
    playbook(db)
    subscription(db)
    return Runtime(db)


def _received(runtime: Runtime, first: int, count: int) -> None:
    runtime.put(*offsets(*range(first, first + count)))
    runtime.commit()


def _pass(db: Connection, seconds: float) -> None:
    """As if so much time had gone by."""
    moved = ", ".join(f"{name} = {name} - %(by)s" for name in _TIMES)
    db.execute(f"update penstock.subscription_runtime set {moved}".encode(), {"by": timedelta(seconds=seconds)})


def _renew(runtime: Runtime) -> None:
    runtimes.lease(runtime.db, PATH, runtime.incarnation, runtime.lease.token)


def _rate(db: Connection) -> float | None:
    return subscriptions.show(db, PATH).rate


def test_a_subscription_that_received_nothing_has_no_rate(db: Connection, runtime: Runtime) -> None:
    assert _rate(db) is None


def test_the_rate_is_what_came_since_the_runtime_began(db: Connection, runtime: Runtime) -> None:
    _pass(db, 20)
    _received(runtime, 0, 100)
    assert _rate(db) == pytest.approx(5, rel=0.2)


def test_a_first_batch_of_a_moment_ago_is_not_taken_for_a_flood(db: Connection, runtime: Runtime) -> None:
    _received(runtime, 0, 50)
    rate = _rate(db)
    assert rate is not None
    assert rate <= 50


def test_what_came_more_than_a_minute_ago_does_not_count(db: Connection, runtime: Runtime) -> None:
    _received(runtime, 0, 500)
    for _ in range(2):
        _pass(db, 31)
        _renew(runtime)
    _received(runtime, 500, 31)
    assert _rate(db) == pytest.approx(1, rel=0.2)


def test_renewals_within_half_a_minute_leave_the_window_as_it_is(db: Connection, runtime: Runtime) -> None:
    _received(runtime, 0, 100)
    for _ in range(5):
        _pass(db, 4)
        _renew(runtime)
    assert _rate(db) == pytest.approx(5, rel=0.2)


def test_a_minute_without_messages_has_no_rate_whether_a_runtime_lives_or_not(db: Connection, runtime: Runtime) -> None:
    _received(runtime, 0, 100)
    _pass(db, 61)
    assert _rate(db) is None
    _renew(runtime)
    assert _rate(db) is None


def test_a_new_runtime_does_not_count_what_came_before_it(db: Connection, runtime: Runtime) -> None:
    _received(runtime, 0, 100)
    runtimes.release(db, PATH, runtime.lease.token)
    Runtime(db)
    assert _rate(db) is None
