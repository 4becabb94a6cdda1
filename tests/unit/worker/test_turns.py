"""The turns of deliveries, by a clock that the test turns."""

from contextlib import ExitStack

import pytest

from penstock.jobs import Snooze
from penstock.worker.maintenance.turns import Turns


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


def _most(turns: Turns, stack: ExitStack, route: str) -> int:
    """How many of a route go at once; they stay."""
    for count in range(100):
        try:
            stack.enter_context(turns.taken(route))
        except Snooze:
            return count
    return 100


def _took(turns: Turns, clock: Clock, route: str, seconds: float) -> None:
    with turns.taken(route):
        clock.now += seconds


@pytest.mark.parametrize(
    ("runners", "taken"),
    [(1, [1, 0, 0]), (2, [1, 0, 0]), (4, [1, 1, 1, 0]), (10, [2, 1, 1, 1, 1, 1, 1, 1, 0]), (20, [5, 2, 1, 1, 1])],
)
def test_routes_that_are_not_known_to_be_quick_leave_room_to_the_next(
    clock: Clock, runners: int, taken: list[int]
) -> None:
    turns = Turns(runners, clock)
    with ExitStack() as stack:
        assert [_most(turns, stack, route) for route in "abcdefghi"[: len(taken)]] == taken


def test_a_quick_receiver_may_have_every_runner_until_it_hangs(clock: Clock) -> None:
    turns = Turns(8, clock)
    _took(turns, clock, "a", 0.01)
    with ExitStack() as stack:
        for _ in range(8):
            stack.enter_context(turns.taken("a"))
        clock.now += 1
        with pytest.raises(Snooze):
            stack.enter_context(turns.taken("a"))


def test_those_that_wait_come_back_one_after_the_other(clock: Clock) -> None:
    turns = Turns(8, clock)
    _took(turns, clock, "a", 10)
    with ExitStack() as stack:
        assert _most(turns, stack, "a") == 2
        waits = []
        for _ in range(300):
            with pytest.raises(Snooze) as put_off, turns.taken("a"):
                pass
            waits.append(put_off.value.seconds)
    # one was asked while the room was counted
    assert waits[:3] == [10.0, 15.0, 20.0]
    assert 150 <= min(waits[100:]) < max(waits) <= 300


def test_many_at_once_for_one_that_was_never_tried_come_back_soon_unless_it_hangs(clock: Clock) -> None:
    turns = Turns(8, clock)

    def waits() -> list[float]:
        found = []
        for _ in range(100):
            with pytest.raises(Snooze) as put_off, turns.taken("a"):
                pass
            found.append(put_off.value.seconds)
        return found

    with ExitStack() as stack:
        assert _most(turns, stack, "a") == 2
        clock.now += 0.002
        assert max(waits()) == pytest.approx(0.1)
        clock.now += 20
        assert max(waits()) > 100


def test_a_failed_delivery_gives_its_turn_back(clock: Clock) -> None:
    turns = Turns(2, clock)
    for _ in range(3):
        with pytest.raises(ValueError, match="500"), turns.taken("a"):
            raise ValueError("500")
    with ExitStack() as stack:
        assert _most(turns, stack, "a") == 100
