"""What the command line shows of jobs: bounded reads, whatever the size of the history."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from psycopg.rows import class_row, scalar_row

from penstock.kernel.connection import Connection, translated
from penstock.model import JobView, Json


@dataclass(frozen=True)
class JobPage:
    """Jobs, newest first, and the id before which to go on; None when nothing is left."""

    jobs: list[JobView]
    next_before: int | None


@dataclass(frozen=True)
class Happening:
    """One line of a job's trail (v_execution_event)."""

    happened_at: datetime
    happening: str
    actor: str | None
    attempt: int | None
    detail: Json | None


@dataclass(frozen=True)
class Backlog:
    """Ready jobs that wait, and why nobody takes them (v_job_queue_backlog)."""

    executor: str
    pool: str
    job_kind: str
    event_domain: str | None
    ready: int
    more: bool
    oldest_age: timedelta
    reason: str | None


@dataclass(frozen=True)
class KindTally:
    """What became of all jobs of one kind."""

    job_kind: str
    jobs: int
    succeeded: int
    retried: int
    dead_lettered: int
    attempts: int


@dataclass(frozen=True)
class LaneResult:
    """What a job of a lane returned."""

    lane: str
    job_id: int
    result: Any


def job_list(
    connection: Connection,
    *,
    status: str | None = None,
    kind: str | None = None,
    pool: str | None = None,
    before: int | None = None,
    limit: int = 50,
) -> JobPage:
    """fn_job_list, and the jobs it names from v_job."""
    with translated(connection):
        row = connection.execute(
            "select job_ids, next_before from penstock.fn_job_list(%s, %s, %s, %s, %s)",
            [status, kind, pool, before, limit],
        ).fetchone()
        assert row is not None
        return JobPage(_views(connection, row[0], status), row[1])


def trail(connection: Connection, job_id: int) -> list[Happening]:
    """What happened to a job, in order."""
    with translated(connection), connection.cursor(row_factory=class_row(Happening)) as cursor:
        return cursor.execute(
            "select happened_at, happening, actor, attempt, detail from penstock.v_execution_event"
            " where job_id = %s order by happened_at, attempt nulls first",
            [job_id],
        ).fetchall()


@dataclass(frozen=True)
class StepHappening(Happening):
    """One line of an execution's trail, with the step it is about."""

    step: str | None


_OF_EXECUTION = (
    "select e.*, j.step from ("
    "  select distinct t.job_id from penstock.job_step t where t.execution_id = %(id)s union select %(id)s) t"
    " join penstock.v_execution_event e on e.job_id = t.job_id left join penstock.job j on j.job_id = e.job_id"
)


@dataclass(frozen=True)
class ExecutionTrail:
    """An execution's trail; of a long one both ends, and how many lines lie between them."""

    first: list[StepHappening]
    left_out: int
    last: list[StepHappening]

    @property
    def lines(self) -> list[StepHappening]:
        return self.first + self.last


def trail_of_execution(connection: Connection, execution_id: int, limit: int = 1000) -> ExecutionTrail:
    """What happened to an execution and its steps, in order; of one transaction a step's end, then what it led to."""
    half = limit // 2
    with translated(connection):
        rows = connection.execute(
            "select * from (select happened_at, happening, actor, attempt, detail,"
            " case when happening not like 'execution\\_%%' then step end as step,"
            " row_number() over (order by happened_at, happening like 'execution\\_%%', job_id,"
            "  happening like 'step\\_%%', attempt nulls first) as nth, count(*) over () as lines from ("
            f" {_OF_EXECUTION}) e) n where nth <= %(half)s or nth > lines - %(half)s order by nth".encode(),
            {"id": execution_id, "half": half},
        ).fetchall()
    shown = [StepHappening(*row[:6]) for row in rows]
    return ExecutionTrail(shown[:half], rows[0][-1] - len(rows) if rows else 0, shown[half:])


@dataclass(frozen=True)
class Decision:
    """Where a step went on, or why it did not run, and how often so."""

    step: str
    happening: str
    next: list[str] | None
    times: int


def decisions_of_execution(connection: Connection, execution_id: int) -> list[Decision]:
    """What the steps of an execution decided, in the order they first did."""
    with translated(connection), connection.cursor(row_factory=class_row(Decision)) as cursor:
        return cursor.execute(
            "select e.detail ->> 'step' as step, e.happening, e.detail -> 'next' as next, count(*) as times"
            " from penstock.job_step t join penstock.execution_event e on e.job_id = t.job_id"
            " where t.execution_id = %s::bigint and e.happening like 'step\\_%%'"
            " group by 1, 2, 3 order by min(e.happened_at), 1, 2",
            [execution_id],
        ).fetchall()


def is_live(connection: Connection, job_id: int) -> bool:
    """Whether it has not ended."""
    with translated(connection), connection.cursor(row_factory=scalar_row) as cursor:
        found = cursor.execute(
            "select exists (select from penstock.v_job where job_id = %s and finished_at is null)", [job_id]
        ).fetchone()
    return bool(found)


def result(connection: Connection, job_id: int) -> Any:
    """What the job's handler returned, None when it returned nothing."""
    with translated(connection), connection.cursor(row_factory=scalar_row) as cursor:
        return cursor.execute("select result from penstock.job_result where job_id = %s", [job_id]).fetchone()


def backlog(connection: Connection) -> list[Backlog]:
    """v_job_queue_backlog."""
    with translated(connection), connection.cursor(row_factory=class_row(Backlog)) as cursor:
        return cursor.execute(
            "select executor, pool, job_kind, event_domain, ready, more, oldest_age, reason"
            " from penstock.v_job_queue_backlog order by executor, pool, job_kind, event_domain"
        ).fetchall()


def why_unserved(connection: Connection, job: JobView) -> str | None:
    """Why nobody takes a ready job; None when somebody does, or when it is not ready."""
    if job.status != "ready":
        return None
    alike = (job.executor, job.pool, job.job_kind, job.event_domain)
    found = [
        waits
        for waits in backlog(connection)
        if (waits.executor, waits.pool, waits.job_kind, waits.event_domain) == alike
    ]
    return found[0].reason if found else None


def live_jobs(connection: Connection) -> int:
    """How many jobs have not ended. Counts them all: for a queue whose size is known, such as the demo's."""
    with translated(connection):
        row = connection.execute("select count(*) from penstock.job_queue").fetchone()
    assert row is not None
    return int(row[0])


def tally(connection: Connection) -> list[KindTally]:
    """What became of the jobs, kind by kind. Reads every job: for a small history, such as the demo's."""
    with translated(connection), connection.cursor(row_factory=class_row(KindTally)) as cursor:
        return cursor.execute(
            "select job_kind, count(*) as jobs, count(*) filter (where status = 'succeeded') as succeeded,"
            " count(*) filter (where attempt > 1) as retried,"
            " count(*) filter (where status = 'dead_lettered') as dead_lettered, sum(attempt)::bigint as attempts"
            " from penstock.v_job group by job_kind order by count(*) desc, job_kind"
        ).fetchall()


def lane_results(connection: Connection) -> list[LaneResult]:
    """The results of all jobs that ran in lanes, by lane and in enqueue order. Reads every job, as tally does."""
    with translated(connection), connection.cursor(row_factory=class_row(LaneResult)) as cursor:
        return cursor.execute(
            "select j.lane, j.job_id, r.result from penstock.job j join penstock.job_result r on r.job_id = j.job_id"
            " where j.lane is not null order by j.lane, j.job_id"
        ).fetchall()


def _views(connection: Connection, job_ids: list[int], status: str | None) -> list[JobView]:
    with connection.cursor(row_factory=class_row(JobView)) as cursor:
        return cursor.execute(
            "select * from penstock.v_job where job_id = any(%s) and (%s::text is null or status = %s)"
            " order by job_id desc",
            [job_ids, status, status],
        ).fetchall()
