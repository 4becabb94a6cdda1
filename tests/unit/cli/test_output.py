"""What people and programs get to read."""

import json
from datetime import UTC, datetime, timedelta, timezone
from uuid import UUID

import pytest

from penstock.cli.output import cell, duration, error_line, printable, show_facts, show_json, show_table
from penstock.kernel.admin import Pool

NOON = datetime(2026, 7, 1, 12, 0, 0, tzinfo=UTC)


def test_json_knows_rows_times_durations_and_ids(capsys: pytest.CaptureFixture[str]) -> None:
    one = UUID(int=1)
    show_json([Pool("shared", None, "user:ann", NOON), {"for": timedelta(minutes=2), "by": one}])
    assert json.loads(capsys.readouterr().out) == [
        {"pool": "shared", "note": None, "set_by": "user:ann", "set_at": "2026-07-01T12:00:00+00:00"},
        {"for": 120.0, "by": str(one)},
    ]


def test_json_is_plain_ascii(capsys: pytest.CaptureFixture[str]) -> None:
    show_json({"name": "Ünal \x9b"})
    assert capsys.readouterr().out.isascii()


def test_a_table_in_a_pipe_is_aligned_text_with_numbers_to_the_right(capsys: pytest.CaptureFixture[str]) -> None:
    show_table(("kind", "jobs"), [("send", "1,000"), ("x", 7)])
    assert capsys.readouterr().out.splitlines() == ["kind   jobs", "send  1,000", "x         7"]


def test_an_empty_table_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    show_table(("kind",), [], empty="no jobs")
    assert capsys.readouterr().out == "no jobs\n"


def test_facts_that_are_unknown_are_left_out(capsys: pytest.CaptureFixture[str]) -> None:
    show_facts({"lane": None, "pool": "[bold]shared[/bold]"})
    assert capsys.readouterr().out == "pool  [bold]shared[/bold]\n"


def test_times_are_shown_in_utc() -> None:
    assert cell(NOON.astimezone(timezone(timedelta(hours=2)))) == "2026-07-01 12:00:00Z"


@pytest.mark.parametrize(
    ("seconds", "shown"), [(0.25, "0.2s"), (59, "59s"), (3600, "1h"), (90061, "1d 1h"), (125, "2m 5s")]
)
def test_a_duration_is_shown_in_its_largest_units(seconds: float, shown: str) -> None:
    assert duration(seconds) == shown


def test_control_characters_cannot_steer_a_terminal() -> None:
    assert printable("a\x1b[2J\x9b1mb\n\u202ec") == r"a\x1b[2J\x9b1mb\n\u202ec"
    assert printable("Ünal 北京 🚰") == "Ünal 北京 🚰"


def test_an_error_is_one_short_line() -> None:
    assert error_line({"type": "Boom", "message": "first\nsecond"}) == "Boom: first second"
    assert len(error_line({"message": "x" * 500})) == 100
    assert error_line({"code": 7}) == '{"code": 7}'
    assert error_line(None) == ""
