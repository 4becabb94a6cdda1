"""A subscription that nobody reads, or that does not move, is seen."""

import pytest

from penstock.kernel import runtimes, subscriptions
from penstock.kernel.connection import Connection
from tests.ingest.support import PATH, Runtime, playbook, subscription
from tests.sql.support import rows, tick, value

EVENTS = "select count(*) from penstock.event_outbox where event_type = 'subscription.unattended'"
HEALTH = "select state, split_part(detail, ':', 1) from penstock.v_queue_health where part = 'subscription:' || %s"


@pytest.fixture
def active(db: Connection) -> str:
    playbook(db)
    return subscription(db)


@pytest.fixture
def scheduled(db: Connection) -> str:
    playbook(db)
    return subscription(db, activation="scheduled", cadence="*/5 * * * *")


def _pass(db: Connection) -> None:
    """Five minutes go by."""
    db.execute("update penstock.subscription set moved_at = moved_at - interval '5 minutes'")
    db.execute(
        "update penstock.subscription_runtime set lease_until = lease_until - interval '5 minutes',"
        " released_at = released_at - interval '5 minutes', unattended_at = unattended_at - interval '5 minutes',"
        " backlog_since = backlog_since - interval '5 minutes'"
    )


def test_an_active_subscription_that_no_runtime_ever_held_becomes_an_event_once(db: Connection, active: str) -> None:
    tick(db)
    assert (value(db, EVENTS), rows(db, HEALTH, PATH)) == (0, [])
    _pass(db)
    tick(db)
    tick(db)
    _pass(db)
    tick(db)
    assert (value(db, EVENTS), rows(db, HEALTH, PATH)) == (1, [("alert", "unattended")])


@pytest.mark.parametrize("is_released", [True, False])
def test_a_subscription_whose_runtime_is_gone_becomes_an_event(is_released: bool, db: Connection, active: str) -> None:
    _pass(db)
    runtime = Runtime(db)
    if is_released:
        runtimes.release(db, PATH, runtime.lease.token)
    tick(db)
    assert value(db, EVENTS) == 0
    _pass(db)
    tick(db)
    assert value(db, EVENTS) == 1


def test_a_runtime_that_takes_it_ends_that_and_its_end_is_another_event(db: Connection, active: str) -> None:
    _pass(db)
    tick(db)
    Runtime(db)
    tick(db)
    assert rows(db, HEALTH, PATH) == []
    _pass(db)
    tick(db)
    assert (value(db, EVENTS), rows(db, HEALTH, PATH)) == (2, [("alert", "unattended")])


def test_a_paused_subscription_is_not_unattended(db: Connection, active: str) -> None:
    _pass(db)
    tick(db)
    subscriptions.move(db, PATH, "pause")
    _pass(db)
    tick(db)
    assert (value(db, EVENTS), rows(db, HEALTH, PATH)) == (1, [])
    subscriptions.move(db, PATH, "resume")
    tick(db)
    assert (value(db, EVENTS), rows(db, HEALTH, PATH)) == (1, [])


def test_a_scheduled_subscription_is_not_unattended(db: Connection, scheduled: str) -> None:
    _pass(db)
    tick(db)
    assert (value(db, EVENTS), rows(db, HEALTH, PATH)) == (0, [])


def test_a_stalled_subscription_shows_in_the_health_until_its_backlog_is_gone(db: Connection, active: str) -> None:
    runtime = Runtime(db)
    runtimes.lease(db, PATH, runtime.incarnation, runtime.lease.token, backlog=5)
    db.execute("update penstock.subscription_runtime set backlog_since = now() - interval '5 minutes'")
    tick(db)
    assert rows(db, HEALTH, PATH) == [("alert", "stalled")]
    runtimes.lease(db, PATH, runtime.incarnation, runtime.lease.token, backlog=0)
    assert rows(db, HEALTH, PATH) == []


def test_a_released_subscription_is_not_stalled(db: Connection, active: str) -> None:
    runtime = Runtime(db)
    db.execute("update penstock.subscription_runtime set is_stalled = true")
    runtimes.release(db, PATH, runtime.lease.token)
    assert rows(db, HEALTH, PATH) == []


def test_open_dead_letters_of_messages_are_counted_in_the_health(db: Connection, active: str) -> None:
    dead = "select state, value from penstock.v_queue_health where part = 'dead_letters:ingest'"
    assert rows(db, dead) == [("ok", 0)]
    runtime = Runtime(db)
    runtime.put({"source_offset": 0, "fault": "bad_key"}, {"source_offset": 1, "fault": "bad_key"})
    runtime.commit()
    value(db, "select penstock.fn_dead_letter_resolve('ingest-1', null, 'seen')::text")
    assert rows(db, dead) == [("warn", 1)]
