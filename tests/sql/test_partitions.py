"""Partitions hold the months of UTC, whatever the session that makes them thinks of time."""

import itertools

import pytest

from penstock.kernel.connection import Connection

MONTHS = """
select pg_get_expr(c.relpartbound, c.oid) from pg_class c
 where c.relname ~ '^job_y[0-9]{4}m[0-9]{2}$' order by c.relname
"""


@pytest.mark.parametrize(
    ("timezone", "datestyle"),
    [
        ("UTC", "ISO, MDY"),
        ("America/New_York", "ISO, DMY"),
        ("Asia/Kolkata", "SQL, DMY"),
        ("Pacific/Kiritimati", "German"),
        ("America/New_York", "Postgres, MDY"),
    ],
)
def test_a_partition_is_a_month_of_utc_in_any_session(timezone: str, datestyle: str, db: Connection) -> None:
    existing = len(db.execute(MONTHS.encode()).fetchall())
    db.execute("select set_config('timezone', %s, false), set_config('datestyle', %s, false)", [timezone, datestyle])
    for month in range(1, 13):
        # the first instant and the last: both belong to the month
        db.execute("select penstock.partition_ensure('job', %s)", [f"2031-{month:02}-01 00:00:00+00"])
        db.execute("select penstock.partition_ensure('job', %s)", [f"2031-{month:02}-28 23:59:59+00"])
    db.execute("set timezone = 'UTC'; set datestyle = 'ISO'")
    edges = [f"'2031-{month:02}-01 00:00:00+00'" for month in range(1, 13)] + ["'2032-01-01 00:00:00+00'"]
    assert [bound for (bound,) in db.execute(MONTHS.encode()).fetchall()][existing:] == [
        f"FOR VALUES FROM ({begin}) TO ({end})" for begin, end in itertools.pairwise(edges)
    ]


@pytest.mark.parametrize("timezone", ["America/New_York", "Pacific/Kiritimati"])
def test_partitions_are_made_ahead_without_a_gap_in_any_time_zone(timezone: str, db: Connection) -> None:
    db.execute("select set_config('timezone', %s, false)", [timezone])
    with db.transaction():
        db.execute("select penstock.partitions_ahead(24)")
        db.execute("set timezone = 'UTC'")
        (month,) = db.execute("select date_trunc('month', now())::text").fetchone() or ("",)
    made = [bound.split("'")[1::2] for (bound,) in db.execute(MONTHS.encode()).fetchall()]
    # a new database may be older than this month
    bounds = [(begin, end) for begin, end in made if begin >= month]
    assert len(bounds) == 25
    assert [begin for begin, _ in bounds[1:]] == [end for _, end in bounds[:-1]]


def test_making_a_partition_leaves_the_callers_lock_timeout_alone(db: Connection) -> None:
    db.execute("set lock_timeout = '7s'")
    with db.transaction():
        db.execute("select penstock.partition_ensure('job', '2031-01-01')")
        db.execute("select penstock.fn_queue_tick()")
        assert db.execute("show lock_timeout").fetchone() == ("7s",)


def test_a_write_that_finds_no_partition_makes_it(db: Connection) -> None:
    db.execute(
        "do $$ declare t text; begin for t in select inhrelid::regclass from pg_inherits"
        " where inhparent = 'penstock.job'::regclass loop execute 'drop table ' || t; end loop; end $$"
    )
    row = db.execute("select penstock.fn_job_enqueue('greet')").fetchone()
    assert row is not None
    assert len(db.execute(MONTHS.encode()).fetchall()) == 1
