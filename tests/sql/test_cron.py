"""Cron lines: what they mean (against croniter), what clock changes do to them, and what is refused."""

from datetime import UTC, datetime, timedelta
from itertools import product

import psycopg
import pytest
from croniter import CroniterBadDateError, croniter
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from penstock.kernel.connection import Connection

MONTHS = ["JAN", "feb", "Mar", "APR", "may", "Jun", "JUL", "aug", "Sep", "OCT", "nov", "Dec"]
WEEKDAYS = ["SUN", "mon", "Tue", "WED", "thu", "Fri", "SAT"]


def field(
    low: int, high: int, names: list[str] | None = None, aliases: list[str] | None = None
) -> st.SearchStrategy[str]:
    """A field both readers agree on: croniter takes a-a, and a/n at the last a, for the whole range."""

    def written(value: int) -> st.SearchStrategy[str]:
        return st.sampled_from([str(value)] + ([names[value - low]] if names else []))

    def span(first: int) -> st.SearchStrategy[str]:
        return st.tuples(written(first), st.integers(first + 1, high).flatmap(written)).map("-".join)

    step = st.integers(1, high - low + 1).map(lambda n: f"/{n}")
    one = st.integers(low, high).flatmap(written) | st.sampled_from(aliases or [str(high)])
    several = st.integers(low, high - 1).flatmap(span)
    onwards = st.integers(low, high - 1).flatmap(written)
    stepped = st.tuples(several | onwards, step).map("".join)
    starred = step.map("*{}".format)
    listed = st.lists(st.one_of(one, several, stepped, starred), min_size=1, max_size=4).map(",".join)
    return st.one_of(st.just("*"), one, starred, listed)


LINES = st.tuples(
    field(0, 59),
    field(0, 23),
    field(1, 31),
    field(1, 12, MONTHS),
    field(0, 6, WEEKDAYS, aliases=["7", "5-7", "0-7", "1-7/2"]),
).map(" ".join)
STARTS = st.datetimes(datetime(2000, 1, 1), datetime(2090, 12, 31)).map(lambda at: at.replace(tzinfo=UTC))


def by_croniter(line: str, after: datetime) -> datetime | None:
    """croniter's answer; None when the line does not come within five years."""
    minute, hour, day, month, weekday = line.split()
    lines = [line]
    if not (day.startswith("*") or weekday.startswith("*")):
        # croniter gives up on the whole line when one of the two never comes
        lines = [f"{minute} {hour} {day} {month} *", f"{minute} {hour} * {month} {weekday}"]
    return min(filter(None, (_one_by_croniter(line, after) for line in lines)), default=None)


def _one_by_croniter(line: str, after: datetime) -> datetime | None:
    try:
        found = croniter(line, after, implement_cron_bug=True, max_years_between_matches=6).get_next(datetime)
    except CroniterBadDateError:
        return None
    assert isinstance(found, datetime)
    start = after.replace(second=0, microsecond=0)
    day = 28 if (start.month, start.day) == (2, 29) else start.day
    return found if found <= start.replace(year=start.year + 5, day=day) else None


def cron_next(db: Connection, line: str | None, after: datetime | None, zone: str | None = "UTC") -> datetime:
    row = db.execute("select penstock.cron_next(%s, %s, %s)", [line, after, zone]).fetchone()
    assert row is not None
    found: datetime = row[0]
    return found


def refused(
    db: Connection, line: str | None, after: datetime | None, zone: str | None = "UTC"
) -> tuple[str | None, str]:
    with pytest.raises(psycopg.Error) as caught:
        cron_next(db, line, after, zone)
    return caught.value.sqlstate, str(caught.value)


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(LINES, min_size=5, max_size=12), st.lists(STARTS, min_size=5, max_size=10))
def test_a_line_means_what_croniter_says(db: Connection, lines: list[str], starts: list[datetime]) -> None:
    answers = {pair: by_croniter(*pair) for pair in product(lines, starts)}
    coming = [pair for pair, answer in answers.items() if answer is not None]
    found = db.execute(
        """select penstock.cron_next(p.line, p.after, 'UTC')
             from unnest(%s::text[], %s::timestamptz[]) with ordinality p(line, after, nth) order by p.nth""",
        [[line for line, _ in coming], [after for _, after in coming]],
    ).fetchall()
    for pair, row in zip(coming, found, strict=True):
        assert row[0] == answers[pair], pair
    for line, after in answers.keys() - set(coming):
        assert refused(db, line, after)[0] == "PS008"


NEW_YORK, BERLIN, LORD_HOWE, APIA = "America/New_York", "Europe/Berlin", "Australia/Lord_Howe", "Pacific/Apia"

# line, zone, after, the runs that follow; all in UTC
CLOCK_CHANGES = [
    pytest.param(
        "30 2 * * *", NEW_YORK, "2024-03-09T07:30", ["03-10T07:00", "03-11T06:30"], id="skipped: at the end of the gap"
    ),
    pytest.param(
        "0 2 * * *", NEW_YORK, "2024-03-10T06:59", ["03-10T07:00", "03-11T06:00"], id="skipped: gap's first minute"
    ),
    pytest.param(
        "*/20 2 * * *", NEW_YORK, "2024-03-10T00:00", ["03-10T07:00", "03-11T06:00"], id="three skipped: one run"
    ),
    pytest.param(
        "0,30 2,3 * * *", NEW_YORK, "2024-03-10T00:00", ["03-10T07:00", "03-10T07:30"], id="skipped meets real: once"
    ),
    pytest.param(
        "0 * * * *", NEW_YORK, "2024-03-10T05:30", ["03-10T06:00", "03-10T07:00", "03-10T08:00"], id="hourly in March"
    ),
    pytest.param("30 1 * * *", NEW_YORK, "2024-11-02T05:30", ["11-03T05:30", "11-04T06:30"], id="twice: at the first"),
    pytest.param("30 1 * * *", NEW_YORK, "2024-11-03T06:10", ["11-04T06:30"], id="twice: not from inside the second"),
    pytest.param(
        "*/30 * * * *", NEW_YORK, "2024-11-03T05:00", ["11-03T05:30", "11-03T07:00"], id="the second hour is silent"
    ),
    pytest.param("0 2 * * *", NEW_YORK, "2024-11-03T05:59", ["11-03T07:00"], id="the hour after the repeated one"),
    pytest.param("30 2 * * *", BERLIN, "2024-03-30T12:00", ["03-31T01:00", "04-01T00:30"], id="Berlin: skipped"),
    pytest.param("30 2 * * *", BERLIN, "2024-10-26T12:00", ["10-27T00:30", "10-28T01:30"], id="Berlin: twice"),
    pytest.param(
        "15 3 * * SUN", BERLIN, "2024-10-26T12:00", ["10-27T02:15", "11-03T02:15"], id="Berlin: after the change"
    ),
    pytest.param("0 9 * * *", BERLIN, "2024-03-30T00:00", ["03-30T08:00", "03-31T07:00"], id="Berlin: nine stays nine"),
    pytest.param(
        "15 2 * * *", LORD_HOWE, "2024-10-05T00:00", ["10-05T15:30", "10-06T15:15"], id="a gap of half an hour"
    ),
    pytest.param("45 1 * * *", LORD_HOWE, "2024-04-06T00:00", ["04-06T14:45", "04-07T15:15"], id="half an hour twice"),
    pytest.param("0 12 * * *", APIA, "2011-12-30T00:00", ["12-30T10:00", "12-30T22:00"], id="a day that was left out"),
]


@pytest.mark.parametrize(("line", "zone", "after", "runs"), CLOCK_CHANGES)
def test_clock_changes(db: Connection, line: str, zone: str, after: str, runs: list[str]) -> None:
    at = datetime.fromisoformat(f"{after}+00:00")
    for run in runs:
        at = cron_next(db, line, at, zone)
        assert at == datetime.fromisoformat(f"{after[:4]}-{run}+00:00")


@pytest.mark.parametrize("session_zone", ["UTC", "America/New_York", "Pacific/Apia"])
def test_the_sessions_time_zone_changes_nothing(db: Connection, session_zone: str) -> None:
    db.execute("select set_config('TimeZone', %s, false)", [session_zone])
    assert cron_next(db, "0 12 * * *", datetime(2011, 12, 30, tzinfo=UTC), APIA) == datetime(
        2011, 12, 30, 10, tzinfo=UTC
    )
    assert cron_next(db, "30 2 * * *", datetime(2024, 3, 10, tzinfo=UTC), NEW_YORK) == datetime(
        2024, 3, 10, 7, tzinfo=UTC
    )


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("@hourly", "0 * * * *"),
        ("@daily", "0 0 * * *"),
        ("@midnight", "0 0 * * *"),
        ("@weekly", "0 0 * * 0"),
        ("@monthly", "0 0 1 * *"),
        ("@yearly", "0 0 1 1 *"),
        (" @Annually ", "0 0 1 1 *"),
    ],
)
def test_names_of_lines(db: Connection, name: str, line: str) -> None:
    after = datetime(2024, 5, 17, 13, 45, tzinfo=UTC)
    assert cron_next(db, name, after) == cron_next(db, line, after)


def test_either_day_matches_unless_one_begins_with_a_star(db: Connection) -> None:
    thursday = datetime(2024, 8, 1, tzinfo=UTC)
    assert cron_next(db, "0 0 13 * FRI", thursday) == datetime(2024, 8, 2, tzinfo=UTC)
    assert cron_next(db, "0 0 */12 * FRI", thursday) == datetime(2024, 9, 13, tzinfo=UTC)
    assert cron_next(db, "0 0 2-8 * */7", thursday) == datetime(2024, 8, 4, tzinfo=UTC)


def test_a_run_is_strictly_after_to_the_microsecond(db: Connection) -> None:
    noon = datetime(2024, 5, 17, 12, tzinfo=UTC)
    assert cron_next(db, "0 12 * * *", noon - timedelta(microseconds=1)) == noon
    assert cron_next(db, "0 12 * * *", noon) == noon + timedelta(days=1)
    assert cron_next(db, "* * * * *", noon + timedelta(seconds=30)) == noon + timedelta(minutes=1)


def test_rare_lines_are_found_without_stepping_through_the_years(db: Connection) -> None:
    db.execute("set statement_timeout = '30s'")
    found = db.execute(
        """select count(penstock.cron_next('59 23 29 2 *', timestamptz '2024-03-01' + g * interval '1 day', 'UTC'))
             from generate_series(1, 1000) g"""
    ).fetchone()
    assert found == (1000,)


BAD_FIELDS = [
    *("60", "-1", "1-60", "5-1", "*/0", "*/61", "1/0", "a", "1,", ",1", "1,,2", "*5", "*-5", "1-", "1-2-3", "1/2/3"),
    *("MON", "1.5", "L", "?", "1#2", "99999999999", "٣"),
]


@pytest.mark.parametrize("bad", BAD_FIELDS)
def test_a_bad_field_is_refused_by_its_text(db: Connection, bad: str) -> None:
    sqlstate, message = refused(db, f"{bad} * * * *", datetime(2024, 1, 1, tzinfo=UTC))
    assert sqlstate == "PS008"
    assert f"cron field '{bad}': expected numbers from 0 to 59" in message


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("* 24 * * *", "cron field '24': expected numbers from 0 to 23"),
        ("* * 0 * *", "cron field '0': expected numbers from 1 to 31"),
        ("* * 32 * *", "cron field '32': expected numbers from 1 to 31"),
        ("* * * 0 *", "cron field '0': expected numbers from 1 to 12 or names from JAN to DEC"),
        ("* * * SUN *", "cron field 'SUN': expected numbers from 1 to 12 or names from JAN to DEC"),
        ("* * * * 8", "cron field '8': expected numbers from 0 to 6 or names from SUN to SAT"),
        ("* * * * FRI-SUN", "cron field 'FRI-SUN': expected numbers from 0 to 6 or names from SUN to SAT"),
        ("* * * * */MON", "cron field '*/MON': expected numbers from 0 to 6 or names from SUN to SAT"),
        ("", "cron line '': expected five fields"),
        ("* * * *", "cron line '* * * *': expected five fields"),
        ("* * * * * *", "cron line '* * * * * *': expected five fields"),
        ("@reboot", "cron line '@reboot': expected five fields"),
        (None, "cron line NULL: expected five fields"),
        ("0," * 500 + "0 * * * *", "expected five fields"),
        ("0 0 30 2 *", "cron line '0 0 30 2 *' does not come within 5 years after 2024-01-01"),
        ("0 0 31 2,4,6,9,11 *", "does not come within 5 years"),
    ],
)
def test_a_bad_line_is_refused(db: Connection, line: str | None, expected: str) -> None:
    sqlstate, message = refused(db, line, datetime(2024, 1, 1, tzinfo=UTC))
    assert sqlstate == "PS008"
    assert expected in message


@pytest.mark.parametrize("zone", ["Mars/Olympus", "", None, "UTC+2", "+02:00", "<X>5", "../UTC"])
def test_an_unknown_time_zone_is_refused(db: Connection, zone: str | None) -> None:
    sqlstate, message = refused(db, "* * * * *", datetime(2024, 1, 1, tzinfo=UTC), zone)
    assert (sqlstate, "there is no time zone" in message) == ("PS008", True)


@pytest.mark.parametrize("zone", ["EST5EDT", "Etc/GMT+5", "europe/berlin"])
def test_a_time_zone_with_a_number_in_its_name_or_another_case_is_known(db: Connection, zone: str) -> None:
    assert cron_next(db, "* * * * *", datetime(2024, 1, 1, tzinfo=UTC), zone) == datetime(2024, 1, 1, 0, 1, tzinfo=UTC)


def test_no_run_comes_after_the_end_of_time(db: Connection) -> None:
    assert refused(db, "* * * * *", None)[0] == "PS008"
    with pytest.raises(psycopg.Error) as caught:
        db.execute("select penstock.cron_next('* * * * *', 'infinity', 'UTC')")
    assert caught.value.sqlstate == "PS008"
