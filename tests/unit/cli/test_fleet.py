"""Which subscriptions a process runs: none is tried in a loop, and none stops another."""

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from threading import Event
from time import monotonic
from typing import Any

import pytest

from penstock.cli.fleet import Fleet
from penstock.errors import DatabaseUnavailable, DataLoss, RuntimeReplaced, SubscriptionHeld
from penstock.kernel.subscriptions import SubscriptionView
from tests.concurrency.sessions import wait_until

MOVED = datetime(2026, 1, 1, tzinfo=UTC)
_ORDERS = SubscriptionView(
    path="orders",
    state="ACTIVE",
    version=1,
    source="nats",
    mode="pull",
    activation="continuous",
    moved_at=MOVED,
    incarnation=None,
    lease_until=None,
    is_running=False,
    started_at=None,
    backlog=None,
    backlog_at=None,
    is_stalled=False,
    last_commit_at=None,
    received=0,
    executions=0,
    deduplicated=0,
    dead_lettered=0,
    replays=0,
    batches=0,
    rate=None,
    subscription_id=1,
    dead_letters_open=0,
)


def one(**facts: Any) -> SubscriptionView:
    return replace(_ORDERS, **facts)


class Holder:
    """Holds subscriptions until told to stop, or ends each with what it was given for it."""

    def __init__(self) -> None:
        self.begun: list[str] = []
        self.begun_at: list[float] = []
        self.told: dict[str, Event] = {}
        self.ends: dict[str, str | BaseException] = {}

    def __call__(self, path: str, stop: Event) -> str:
        self.begun_at.append(monotonic())
        self.begun.append(path)
        self.told[path] = stop
        if path not in self.ends:
            stop.wait(60)
            return "ACTIVE"
        end = self.ends[path]
        if isinstance(end, BaseException):
            raise end
        return end


@pytest.fixture
def holder() -> Holder:
    return Holder()


@pytest.fixture
def fleet(holder: Holder) -> Fleet:
    return Fleet(holder)


def _look(fleet: Fleet, *listed: SubscriptionView) -> None:
    fleet.look(lambda: listed)


def _look_until(fleet: Fleet, condition: Callable[[], bool], what: str, *listed: SubscriptionView) -> None:
    def looked() -> bool:
        _look(fleet, *listed)
        return condition()

    wait_until(looked, what, 10)


def _ended(fleet: Fleet, *listed: SubscriptionView) -> None:
    """Look until nothing runs, then a few times more."""
    _look_until(fleet, lambda: not fleet.running, "it has ended", *listed)
    for _ in range(5):
        _look(fleet, *listed)


def test_an_active_one_is_begun_once(fleet: Fleet, holder: Holder) -> None:
    for _ in range(3):
        _look(fleet, one())
    wait_until(lambda: holder.begun == ["orders"], "it has begun", 10)
    assert fleet.running == ["orders"]
    assert fleet.stop(10) == []


@pytest.mark.parametrize("facts", [{"state": state} for state in ("REGISTERED", "PAUSED", "DRAINING", "DEACTIVATED")])
def test_what_is_not_active_is_not_begun(facts: dict[str, Any], fleet: Fleet, holder: Holder) -> None:
    _look(fleet, one(**facts))
    assert holder.begun == []


def test_what_is_pushed_is_not_begun(fleet: Fleet, holder: Holder) -> None:
    _look(fleet, one(mode="push"))
    assert holder.begun == []


def test_one_that_becomes_active_later_is_begun_then(fleet: Fleet, holder: Holder) -> None:
    _look(fleet, one(state="REGISTERED"))
    _look(fleet, one(), one(path="bills"))
    assert fleet.running == ["bills", "orders"]
    fleet.stop(10)


@pytest.mark.parametrize("state", ["DRAINING", "DEACTIVATED"])
def test_what_is_not_wanted_any_more_is_told_to_end(state: str, fleet: Fleet) -> None:
    _look(fleet, one())
    _look_until(fleet, lambda: not fleet.running, "it ends", one(state=state))


def test_one_that_is_read_by_the_clock_from_now_on_is_begun_anew(fleet: Fleet, holder: Holder) -> None:
    _look(fleet, one())
    _look_until(fleet, lambda: len(holder.begun) == 2, "it begins anew", one(activation="scheduled", version=2))
    fleet.stop(10)


def test_a_pause_keeps_its_place(fleet: Fleet, holder: Holder) -> None:
    _look(fleet, one())
    wait_until(lambda: "orders" in holder.told, "it has begun", 10)
    for _ in range(3):
        _look(fleet, one(state="PAUSED"))
    assert (fleet.running, holder.told["orders"].is_set()) == (["orders"], False)
    fleet.stop(10)


@pytest.mark.parametrize("error", [DataLoss("gone"), ValueError("a bug"), SystemExit(3)])
def test_an_error_is_not_tried_again_by_itself_and_stops_no_other(
    error: BaseException, fleet: Fleet, holder: Holder
) -> None:
    holder.ends["orders"] = error
    both = one(), one(path="bills")
    _look_until(fleet, lambda: fleet.running == ["bills"], "orders has ended", *both)
    for _ in range(5):
        _look(fleet, *both)
    assert sorted(holder.begun) == ["bills", "orders"]
    fleet.stop(10)


@pytest.mark.parametrize("facts", [{"version": 2}, {"moved_at": MOVED + timedelta(seconds=1)}])
def test_an_error_is_tried_again_once_it_was_registered_or_activated_anew(
    facts: dict[str, Any], fleet: Fleet, holder: Holder
) -> None:
    holder.ends["orders"] = DataLoss("gone")
    _ended(fleet, one())
    _ended(fleet, one(**facts))
    assert holder.begun == ["orders", "orders"]


@pytest.mark.parametrize("error", [SubscriptionHeld("by another"), RuntimeReplaced("by another")])
def test_one_that_another_holds_waits_until_its_place_is_free(error: Exception, fleet: Fleet, holder: Holder) -> None:
    holder.ends["orders"] = error
    _ended(fleet, one(is_running=True))
    assert holder.begun == ["orders"]
    del holder.ends["orders"]
    _look(fleet, one(is_running=False))
    assert fleet.running == ["orders"]
    fleet.stop(10)


def test_while_the_database_is_away_it_is_tried_again_at_growing_pauses(
    fleet: Fleet, holder: Holder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("penstock.cli.fleet._FIRST_WAIT_S", 0.1)
    holder.ends["orders"] = DatabaseUnavailable("away")
    _look_until(fleet, lambda: len(holder.begun) >= 4, "it is tried again and again", one())
    pauses = [after - before for before, after in pairwise(holder.begun_at)]
    assert [pause >= least for pause, least in zip(pauses, (0.1, 0.2, 0.4), strict=False)] == [True] * 3


def test_one_that_was_drained_and_activated_again_begins_again(fleet: Fleet, holder: Holder) -> None:
    holder.ends["orders"] = "DEACTIVATED"
    _look(fleet, one())
    _look_until(fleet, lambda: not fleet.running, "it has ended", one(state="DEACTIVATED"))
    del holder.ends["orders"]
    _look(fleet, one(moved_at=MOVED + timedelta(seconds=1)))
    assert fleet.running == ["orders"]
    fleet.stop(10)


def test_those_that_do_not_end_in_time_are_named(fleet: Fleet) -> None:
    release = Event()

    def stubborn(_: str, __: Event) -> str:
        release.wait(60)
        return "ACTIVE"

    slow = Fleet(stubborn)
    _look(slow, one())
    assert slow.stop(0.05) == ["orders"]
    release.set()
    assert slow.stop(10) == []
