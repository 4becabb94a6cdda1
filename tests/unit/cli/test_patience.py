"""A runtime that may wait for its place: for what passes, and no longer than it was told to."""

from threading import Event

import pytest

from penstock.cli.runtime import patient
from penstock.errors import Busy, DataLoss, PenstockError, ServerUnavailable, SubscriptionHeld

PASSING = [SubscriptionHeld("by another"), Busy("a commit has its row"), ServerUnavailable("no answer")]


@pytest.mark.parametrize("error", PASSING)
def test_it_is_tried_again_until_the_place_is_free(error: PenstockError) -> None:
    tries: list[PenstockError] = []

    def run() -> str:
        if not tries:
            tries.append(error)
            raise error
        return "ACTIVE"

    assert patient(run, 600, Event()) == "ACTIVE"
    assert tries == [error]


@pytest.mark.parametrize("error", PASSING)
def test_who_is_not_told_to_wait_does_not(error: PenstockError) -> None:
    with pytest.raises(type(error)):
        patient(lambda: _raised(error), 0, Event())


@pytest.mark.parametrize("error", PASSING)
def test_who_is_to_stop_does_not_wait(error: PenstockError) -> None:
    stop = Event()
    stop.set()
    with pytest.raises(type(error)):
        patient(lambda: _raised(error), 600, stop)


def test_what_does_not_pass_is_not_waited_for() -> None:
    with pytest.raises(DataLoss):
        patient(lambda: _raised(DataLoss("the ledger is empty")), 600, Event())


def _raised(error: PenstockError) -> str:
    raise error
