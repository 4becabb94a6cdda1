"""An outage is told, not counted."""

from structlog.testing import capture_logs

from penstock.errors import DatabaseUnavailable
from penstock.worker.outage import Outage

AWAY = DatabaseUnavailable("cannot connect\nCheck the settings.")


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def test_many_failures_at_once_are_one_line_and_the_end_of_the_outage_another() -> None:
    clock = Clock()
    outage = Outage(clock)
    with capture_logs() as said:
        for _ in range(100):
            outage.noticed(AWAY)
        clock.now = 1.5
        for _ in range(10):
            outage.over()
    assert said == [
        {"event": "no answer from PostgreSQL: trying again", "log_level": "warning", "error": "cannot connect"},
        {"event": "PostgreSQL answers again", "log_level": "info", "away_s": 1.5},
    ]


def test_a_long_outage_is_told_at_growing_pauses() -> None:
    clock = Clock()
    outage = Outage(clock)
    told = []
    for now in range(200):
        clock.now = float(now)
        with capture_logs() as said:
            outage.noticed(AWAY)
        told += [now] * len(said)
    assert told == [0, 2, 6, 14, 30, 62, 122, 182]


def test_a_server_that_comes_and_goes_is_told_of_no_more_often() -> None:
    clock = Clock()
    outage = Outage(clock)
    with capture_logs() as said:
        for now in range(200):
            clock.now = float(now)
            outage.noticed(AWAY)
            outage.over()
    assert len(said) == 16


def test_after_a_calm_the_next_outage_is_told_as_the_first_was() -> None:
    clock = Clock()
    outage = Outage(clock)
    for now in range(200):
        clock.now = float(now)
        outage.noticed(AWAY)
    outage.over()
    clock.now = 1000.0
    with capture_logs() as said:
        outage.noticed(AWAY)
        clock.now = 1002.0
        outage.noticed(AWAY)
    assert len(said) == 2


def test_no_outage_is_no_line() -> None:
    with capture_logs() as said:
        Outage().over()
    assert said == []
