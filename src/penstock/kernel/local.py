"""What a local run of a subscription reads: how its executions stand, and every event of them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from psycopg.rows import class_row

from penstock.kernel.connection import Connection, translated
from penstock.model import Json

# of the statement's own snapshot
_HORIZON = "pg_snapshot_xmin(s.snapshot)::text::bigint, pg_snapshot_xmax(s.snapshot)::text::bigint"

# of a child that has ended: the step that waits for it does not know yet
UNTOLD = "untold"

# every execution that a step has started and that has not ended, or whose end that step is still to be told, with all
# that came before it
_FAMILY = (
    "with recursive family as ("
    "  select w.execution_id, w.parent_execution from penstock.job_workflow w"
    "   where w.parent_execution is not null and w.finished_at is null"
    "  union all select w.execution_id, w.parent_execution from penstock.job_workflow w"
    "   where w.parent_execution is not null and w.answer_job is not null and w.finished_at is not null"
    "  union all select f.execution_id, w.parent_execution from family f"
    "   join penstock.job_workflow w on w.execution_id = f.parent_execution where w.parent_execution is not null)"
)


@dataclass(frozen=True)
class TrailEvent:
    """One row of v_execution_event, and the subscription it belongs to."""

    execution_id: int | None
    job_id: int | None
    happened_at: datetime
    happening: str
    actor: str | None
    attempt: int | None
    detail: Json | None
    subscription: str


@dataclass(frozen=True)
class Horizon:
    """What one look can have missed: transactions from `oldest` on. None of `next` or later had begun then."""

    oldest: int
    next: int


@dataclass(frozen=True)
class Standing:
    """How many executions stand where: those that messages have started, and of those their steps have started the ones
    that have not ended, or whose end is untold."""

    own: Mapping[str, int]
    children: Mapping[str, int]


def clock(connection: Connection) -> datetime:
    """The server's time."""
    with translated(connection):
        row = connection.execute("select clock_timestamp()").fetchone()
    assert row is not None
    found: datetime = row[0]
    return found


def standing(connection: Connection, subscription: str, since: datetime) -> Standing:
    """Of what has started since then. In one look: between two, an execution could pass from the one to the other."""
    with translated(connection):
        rows = connection.execute(
            f"{_FAMILY} select true, status, count(*) from penstock.v_execution"
            " where subscription = %(path)s and started_at >= %(since)s group by 2"
            " union all select false, case when c.finished_at is null then c.status else %(untold)s end, count(*)"
            "  from family f"
            "  join penstock.v_execution e on e.execution_id = f.parent_execution and e.subscription = %(path)s"
            "  join penstock.v_execution c on c.execution_id = f.execution_id and c.started_at >= %(since)s"
            "  group by 2".encode(),
            {"path": subscription, "since": since, "untold": UNTOLD},
        ).fetchall()
    counts = [(bool(is_own), str(status), int(count)) for is_own, status, count in rows]
    return Standing(
        {status: count for is_own, status, count in counts if is_own},
        {status: count for is_own, status, count in counts if not is_own},
    )


def begun(connection: Connection, subscription: str, above: int, since: datetime) -> tuple[Horizon, list[int]]:
    """The executions of a higher number that its messages have started since then."""
    with translated(connection):
        rows = connection.execute(
            f"select {_HORIZON}, m.execution_id from (select pg_current_snapshot() as snapshot) s"
            " left join penstock.ingest_message m"
            " on m.subscription = %s and m.execution_id > %s and m.ingested_at >= %s order by m.execution_id",
            [subscription, above, since],
        ).fetchall()
    return Horizon(*rows[0][:2]), [int(row[2]) for row in rows if row[2] is not None]


def live(connection: Connection, subscription: str) -> list[int]:
    """Its executions that have not ended, and those they have started, though they have ended themselves."""
    with translated(connection):
        rows = connection.execute(
            f"{_FAMILY} select execution_id from penstock.v_execution"
            " where subscription = %(path)s and finished_at is null"
            " union select f.execution_id from family f"
            "  join penstock.v_execution e on e.execution_id = f.parent_execution"
            "  where e.subscription = %(path)s".encode(),
            {"path": subscription},
        ).fetchall()
    return [int(row[0]) for row in rows]


def children(connection: Connection, executions: Sequence[int]) -> list[tuple[int, int]]:
    """Those that steps of these have started: each after the one whose step it was."""
    with translated(connection):
        rows = connection.execute(
            "select parent_execution, execution_id from penstock.job_workflow"
            " where parent_execution = any(%s::bigint[])",
            [list(executions)],
        ).fetchall()
    return [(int(parent), int(child)) for parent, child in rows]


def ended(connection: Connection, executions: Sequence[int]) -> set[int]:
    """Those of these that have ended."""
    with translated(connection):
        rows = connection.execute(
            "select execution_id from penstock.v_execution where execution_id = any(%s::bigint[])"
            " and finished_at is not null",
            [list(executions)],
        ).fetchall()
    return {int(row[0]) for row in rows}


def events(connection: Connection, subscription: str, executions: Sequence[int], since: datetime) -> list[TrailEvent]:
    """What happened to these and their steps since then, in order; what a subscription itself records is left out."""
    with translated(connection), connection.cursor(row_factory=class_row(TrailEvent)) as cursor:
        return cursor.execute(
            "select e.execution_id, e.job_id, e.happened_at, e.happening, e.actor, e.attempt, e.detail,"
            " %(path)s::text as subscription from ("
            "  select unnest(%(ids)s::bigint[]) as job_id union"
            "  select t.job_id from penstock.job_step t where t.execution_id = any(%(ids)s::bigint[])) t"
            " join penstock.v_execution_event e on e.job_id = t.job_id where e.happened_at >= %(since)s"
            " and (e.happening not like 'subscription.%%' or e.happening in"
            "  ('subscription.message.dispatched', 'subscription.message.directives_applied'))"
            " order by e.happened_at, e.happening like 'execution\\_%%', e.job_id, e.attempt nulls first",
            {"path": subscription, "ids": list(executions), "since": since},
        ).fetchall()


def own_events(
    connection: Connection, subscription: str, above: int, since: datetime
) -> tuple[Horizon, dict[int, TrailEvent]]:
    """What the subscription itself records: its life, its duplicates, its dead letters; those of a higher number."""
    with translated(connection):
        rows = connection.execute(
            f"select {_HORIZON}, e.execution_event_id, e.execution_id, e.execution_id, e.happened_at, e.happening,"
            " e.actor, null::smallint, e.detail, e.subscription from (select pg_current_snapshot() as snapshot) s"
            " left join penstock.v_subscription_event e"
            " on e.subscription = %s and e.execution_event_id > %s and e.happened_at >= %s"
            " order by e.execution_event_id",
            [subscription, above, since],
        ).fetchall()
    return Horizon(*rows[0][:2]), {int(row[2]): TrailEvent(*row[3:]) for row in rows if row[2] is not None}
