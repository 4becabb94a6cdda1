"""What is enqueued by the clock."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from psycopg import errors as pg
from psycopg.rows import class_row
from psycopg.types.json import Jsonb

from penstock.errors import BadSchedule
from penstock.kernel.connection import Connection, translated
from penstock.model import Json


@dataclass(frozen=True)
class Schedule:
    schedule_id: str
    cron: str | None
    every: timedelta | None
    timezone: str
    job: Json
    enabled: bool
    next_run_at: datetime
    last_run_at: datetime | None
    last_job_id: int | None
    last_error: str | None
    set_by: str


def schedule_list(connection: Connection) -> list[Schedule]:
    with translated(connection), connection.cursor(row_factory=class_row(Schedule)) as cursor:
        return cursor.execute(
            "select schedule_id, cron, every, timezone, job, enabled, next_run_at, last_run_at, last_job_id,"
            " last_error, set_by from penstock.schedule order by schedule_id"
        ).fetchall()


def schedule_set(
    connection: Connection,
    schedule_id: str,
    job: Json,
    *,
    cron: str | None = None,
    every: str | None = None,
    timezone: str = "UTC",
    enabled: bool = True,
    actor: str | None = None,
) -> datetime:
    """fn_schedule_set: the next run. `every` is an interval as PostgreSQL reads it."""
    with translated(connection):
        try:
            row = connection.execute(
                "select penstock.fn_schedule_set(%s, %s, %s, %s::interval, %s, %s, %s)",
                [schedule_id, Jsonb(job), cron, every, timezone, enabled, actor],
            ).fetchone()
        except (pg.InvalidDatetimeFormat, pg.DatetimeFieldOverflow, pg.IntervalFieldOverflow) as error:
            raise BadSchedule(
                f"schedule {schedule_id}: {every!r} is no interval", "Write it as 90 seconds, 15 minutes or 1 day."
            ) from error
    assert row is not None
    next_run: datetime = row[0]
    return next_run


def schedule_drop(connection: Connection, schedule_id: str, actor: str | None = None) -> bool:
    """fn_schedule_drop: False when there was none."""
    with translated(connection):
        row = connection.execute("select penstock.fn_schedule_drop(%s, %s)", [schedule_id, actor]).fetchone()
    assert row is not None
    return bool(row[0])
