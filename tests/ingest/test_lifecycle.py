"""A subscription's life: every legal move, no other, and what each leaves behind."""

from itertools import product
from typing import Any

import pytest

from penstock.errors import IllegalMove, NotAllowed, NotInThisVersion, UnknownSubscription
from penstock.kernel import runtimes, subscriptions
from penstock.kernel.connection import Connection, connect
from tests.ingest.support import PATH, PLAYBOOK, Runtime, playbook, subscription
from tests.logins import Logins
from tests.sql.support import rows, tick, value

STATES = ("REGISTERED", "ACTIVE", "PAUSED", "DRAINING", "DEACTIVATED")
ACTIONS = ("activate", "pause", "resume", "drain", "deactivate")
LEGAL = {
    **{("activate", state): "ACTIVE" for state in STATES},
    **{("deactivate", state): "DEACTIVATED" for state in STATES},
    ("pause", "ACTIVE"): "PAUSED",
    ("pause", "PAUSED"): "PAUSED",
    ("resume", "PAUSED"): "ACTIVE",
    ("resume", "ACTIVE"): "ACTIVE",
    ("drain", "ACTIVE"): "DRAINING",
    ("drain", "PAUSED"): "DRAINING",
    ("drain", "DRAINING"): "DRAINING",
}
DERIVED = {
    "registered": "REGISTERED",
    "activated": "ACTIVE",
    "paused": "PAUSED",
    "resumed": "ACTIVE",
    "draining": "DRAINING",
    "deactivated": "DEACTIVATED",
}
NOT_BUILT: list[tuple[dict[str, Any], str]] = [
    ({"spool": {"mode": "hybrid"}}, "has spool.mode hybrid: this version has no spool"),
    ({"mode": "push"}, "is push: this version pulls only"),
    ({"source": "webhook"}, "this version reads kafka, nats, pubsub and sources of your own"),
]


@pytest.fixture
def registered(db: Connection) -> str:
    playbook(db)
    return subscription(db, active=False)


def _events(db: Connection) -> list[str]:
    found = rows(db, "select happening from penstock.v_subscription_event order by execution_event_id")
    return [row[0].removeprefix("subscription.") for row in found]


@pytest.mark.parametrize(("action", "state"), list(product(ACTIONS, STATES)))
def test_every_move_is_legal_a_no_op_or_refused(action: str, state: str, db: Connection, registered: str) -> None:
    db.execute("update penstock.subscription set state = %s", [state])
    before = _events(db)
    wanted = LEGAL.get((action, state))
    if wanted is None:
        with pytest.raises(IllegalMove, match=f"is {state}: it cannot {action}"):
            subscriptions.move(db, PATH, action)
        wanted = state
    else:
        assert subscriptions.move(db, PATH, action) == wanted
    assert subscriptions.show(db, PATH).state == wanted
    new = _events(db)[len(before) :]
    assert [DERIVED[one] for one in new] == ([] if wanted == state else [wanted])


def test_the_state_derives_from_the_lifecycle_events_alone(db: Connection, registered: str) -> None:
    for action in ("activate", "pause", "resume", "drain", "activate", "deactivate", "activate", "pause"):
        subscriptions.move(db, PATH, action)
    assert DERIVED[_events(db)[-1]] == subscriptions.show(db, PATH).state
    outbox = rows(db, "select event_type from penstock.event_outbox where event_domain = 'system' order by seq")
    assert [row[0].removeprefix("subscription.") for row in outbox] == _events(db)


def test_an_unknown_subscription_and_an_unknown_action_are_refused(db: Connection, registered: str) -> None:
    with pytest.raises(UnknownSubscription):
        subscriptions.move(db, "subscriptions/nowhere", "activate")
    with pytest.raises(IllegalMove):
        subscriptions.move(db, PATH, "explode")


def test_moving_is_for_operators(db: Connection, database: str, registered: str) -> None:
    users = Logins(db, database)
    try:
        with pytest.raises(NotAllowed):
            subscriptions.move(users.member("penstock_pipeline"), PATH, "activate")
    finally:
        users.drop()


@pytest.mark.parametrize(("spec", "words"), NOT_BUILT)
def test_what_is_not_built_yet_is_refused_at_activation_in_words(
    spec: dict[str, Any], words: str, db: Connection
) -> None:
    playbook(db)
    subscription(db, active=False, **spec)
    with pytest.raises(NotInThisVersion, match=words):
        subscriptions.move(db, PATH, "activate")
    assert subscriptions.show(db, PATH).state == "REGISTERED"


def test_a_drain_that_nobody_runs_ends_with_the_next_tick(db: Connection, registered: str) -> None:
    subscriptions.move(db, PATH, "activate")
    subscriptions.move(db, PATH, "drain")
    tick(db)
    assert subscriptions.show(db, PATH).state == "DEACTIVATED"


def test_a_drain_waits_for_the_runtime_that_holds_the_subscription(db: Connection, registered: str) -> None:
    subscriptions.move(db, PATH, "activate")
    runtime = Runtime(db)
    subscriptions.move(db, PATH, "drain")
    tick(db)
    assert subscriptions.show(db, PATH).state == "DRAINING"
    assert runtimes.release(db, PATH, runtime.lease.token) == "DEACTIVATED"


def test_a_drain_waits_for_a_commit_that_has_outlived_its_lease(db: Connection, database: str, registered: str) -> None:
    subscriptions.move(db, PATH, "activate")
    Runtime(db)
    subscriptions.move(db, PATH, "drain")
    db.execute("update penstock.subscription_runtime set lease_until = now() - interval '1 second'")
    with connect(database) as commit, commit.transaction():
        commit.execute("select from penstock.subscription_runtime where path = %s for update", [PATH])
        tick(db)
        assert subscriptions.show(db, PATH).state == "DRAINING"
    tick(db)
    assert subscriptions.show(db, PATH).state == "DEACTIVATED"


def test_the_clock_asks_for_drains_of_a_scheduled_one_while_it_is_active(db: Connection) -> None:
    playbook(db)
    subscription(db, activation="scheduled", cadence="*/5 * * * *")
    schedules = "select cron, job ->> 'kind', job ->> 'target_ref' from penstock.schedule"
    kind = f"drain:{subscriptions.show(db, PATH).subscription_id}"
    assert rows(db, schedules) == [("*/5 * * * *", kind, PATH)]
    db.execute("update penstock.schedule set next_run_at = now()")
    tick(db)
    assert value(db, "select job_kind from penstock.job") == kind
    subscriptions.move(db, PATH, "pause")
    assert rows(db, schedules) == []


def test_a_new_version_keeps_the_state_and_is_no_lifecycle_event(db: Connection, registered: str) -> None:
    subscriptions.move(db, PATH, "activate")
    subscription(db, active=False, dispatch={"playbook": PLAYBOOK, "payload_from": "message.json"})
    one = subscriptions.show(db, PATH)
    assert (one.state, one.version) == ("ACTIVE", 2)
    assert _events(db) == ["registered", "activated"]


@pytest.mark.parametrize("action", ["activate", "pause"])
@pytest.mark.parametrize(("spec", "words"), NOT_BUILT)
def test_a_version_that_could_not_be_activated_is_refused_over_a_live_one(
    spec: dict[str, Any], words: str, action: str, db: Connection, registered: str
) -> None:
    subscriptions.move(db, PATH, "activate")
    subscriptions.move(db, PATH, action)
    with pytest.raises(NotInThisVersion, match=words):
        subscription(db, active=False, **spec)
    assert subscriptions.show(db, PATH).version == 1
    assert value(db, "select max(version) from penstock.catalog where path = %s", PATH) == 1


def test_a_version_that_cannot_be_activated_yet_is_registered_over_one_at_rest(db: Connection, registered: str) -> None:
    subscriptions.move(db, PATH, "deactivate")
    subscription(db, active=False, mode="push")
    assert subscriptions.show(db, PATH).version == 2
