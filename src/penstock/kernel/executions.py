"""Executions of playbooks: started, looked at, and what they were given."""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from datetime import datetime
from typing import Any

from psycopg.rows import class_row

from penstock.errors import BY_SQLSTATE, BadRequest, UnknownJob
from penstock.kernel.connection import Connection, translated
from penstock.kernel.jobs import json_text
from penstock.model import Json


@dataclass(frozen=True)
class Executed:
    """What became of one request: started, known by its key, or refused with an error."""

    ordinal: int
    execution_id: int | None
    status: str
    error: str | None


@dataclass(frozen=True)
class ExecutionView:
    """One row of v_execution."""

    execution_id: int
    playbook_ref: str
    subscription: str | None
    status: str
    pool: str | None
    source_ref: str | None
    trace: str | None
    actor: str
    attempt: int | None
    max_attempts: int | None
    started_at: datetime
    finished_at: datetime | None


@dataclass(frozen=True)
class IngestMessage:
    """A message as it came, and what its headers decided."""

    execution_id: int
    ingested_at: datetime
    subscription: str
    version: int
    message_id: str
    part: str
    source_offset: int
    published_at: datetime | None
    message_key: bytes | None
    body: bytes | None
    attributes: list[list[object]]
    directives: Json | None
    delivery_attempt: int | None = None


def execute_batch(connection: Connection, requests: Sequence[Json]) -> list[Executed]:
    """fn_execute_batch."""
    with translated(connection):
        rows = connection.execute(
            "select ordinal, execution_id, status, error from penstock.fn_execute_batch(%s::jsonb) order by ordinal",
            [json_text(requests)],
        ).fetchall()
    return [Executed(*row) for row in rows]


def execute(connection: Connection, request: Json) -> tuple[int, bool]:
    """Start one execution, or raise why not: its id, and whether it was started now or known by its key."""
    (done,) = execute_batch(connection, [request])
    if done.execution_id is None:
        state, _, message = (done.error or "").partition(": ")
        raise BY_SQLSTATE.get(state, BadRequest)(message)
    return done.execution_id, done.status == "started"


def show(connection: Connection, execution_id: int) -> ExecutionView:
    """One execution of v_execution."""
    with translated(connection), connection.cursor(row_factory=class_row(ExecutionView)) as cursor:
        found = cursor.execute(
            "select * from penstock.v_execution where execution_id = %s::bigint", [execution_id]
        ).fetchone()
        if found is None:
            raise _unknown(connection, execution_id)
    return found


def _unknown(connection: Connection, execution_id: int) -> UnknownJob:
    """A job of an execution is easily taken for it: every step shows its own."""
    row = connection.execute(
        "select execution_id, step from penstock.job where job_id = %s::bigint and step is not null", [execution_id]
    ).fetchone()
    if row is not None and row[0] != execution_id:
        return UnknownJob(
            f"{execution_id} is no execution: it is a job of execution {row[0]}, of the step {row[1]}",
            f"penstock execution show {row[0]}, or penstock job show {execution_id}",
        )
    return UnknownJob(
        f"execution {execution_id} does not exist",
        "penstock execution list shows the newest ones. One that ended long ago goes with the month of its jobs.",
    )


def first_pool(connection: Connection, execution_id: int) -> str:
    """Where the first job of an execution was, or is, served."""
    with translated(connection):
        row = connection.execute("select pool from penstock.job where job_id = %s::bigint", [execution_id]).fetchone()
    assert row is not None
    return str(row[0])


def newest(connection: Connection, limit: int) -> list[ExecutionView]:
    """The newest executions, by bounded reads of the ids first."""
    with translated(connection), connection.cursor(row_factory=class_row(ExecutionView)) as cursor:
        return cursor.execute(
            "select v.* from (select job_id from penstock.job where playbook_ref is not null"
            " and coalesce(execution_id, job_id) = job_id order by job_id desc"
            " limit %s) j cross join lateral (select * from penstock.v_execution e where e.execution_id = j.job_id"
            " offset 0) v order by v.execution_id desc",
            [limit],
        ).fetchall()


def message(connection: Connection, execution_id: int) -> IngestMessage | None:
    """The message an execution was made of."""
    return _message(connection, "execution_id = %s::bigint", execution_id)


def message_by_id(connection: Connection, subscription: str, message_id: str) -> IngestMessage | None:
    """A message by the id its source gave it."""
    return _message(connection, "subscription = %s and message_id = %s", subscription, message_id)


def why_none(connection: Connection, subscription: str, message_id: str) -> str | None:
    """What became of a message that made no execution of its own."""
    with translated(connection):
        letter = connection.execute(
            "select dead_letter_id, reason from penstock.ingest_dead_letter where subscription = %s and message_id = %s"
            " order by 1 desc limit 1",
            [subscription, message_id],
        ).fetchone()
        if letter is not None:
            return f"It is the dead letter ingest-{letter[0]}: {letter[1]}. See: penstock dlq show ingest-{letter[0]}"
        first = connection.execute(
            "select execution_id, detail ->> 'key' from penstock.v_subscription_event where subscription = %s"
            " and happening = 'subscription.message.deduplicated' and detail ->> 'message_id' = %s limit 1",
            [subscription, message_id],
        ).fetchone()
    if first is None:
        return None
    return f"It is a duplicate ({first[1]}) of what execution {first[0]} was made of."


def execution_input(connection: Connection, execution_id: int) -> Json:
    """What an execution was started with."""
    with translated(connection):
        row = connection.execute(
            "select input from penstock.execution_input where execution_id = %s::bigint", [execution_id]
        ).fetchone()
    return {} if row is None else dict(row[0])


def item(connection: Connection, job_id: int) -> Any:
    """What a job of a loop works on."""
    with translated(connection):
        row = connection.execute("select item from penstock.job_item where job_id = %s::bigint", [job_id]).fetchone()
    return None if row is None else row[0]


def came_from(connection: Connection, execution_id: int, step: str, visit: int) -> list[str]:
    """The steps whose arcs led to a step, in the order of the playbook."""
    with translated(connection):
        row = connection.execute(
            "select array(select f.step from penstock.playbook_step f where f.step_id = any(t.via) order by f.ordinal)"
            " from penstock.job_step t join penstock.playbook_step s on s.step_id = t.step_id"
            " where t.execution_id = %s::bigint and s.step = %s and t.visit = %s and t.item = 0",
            [execution_id, step, visit],
        ).fetchone()
    return [] if row is None else list(row[0])


def times_taken(connection: Connection, execution_id: int, source: str, target: str) -> int:
    """How often an execution has gone from one step to another."""
    with translated(connection):
        row = connection.execute(
            "select count(*) from penstock.job_step t join penstock.playbook_step s on s.step_id = t.step_id"
            " join penstock.playbook_step f on f.step_id = any(t.via)"
            " where t.execution_id = %s::bigint and t.item = 0 and s.step = %s and f.step = %s",
            [execution_id, target, source],
        ).fetchone()
    return 0 if row is None else int(row[0])


def move(connection: Connection, execution_id: int, action: str, actor: str | None = None) -> str:
    """fn_execution_move."""
    with translated(connection):
        row = connection.execute(
            "select penstock.fn_execution_move(%s::bigint, %s, %s)", [execution_id, action, actor]
        ).fetchone()
    assert row is not None
    return str(row[0])


def _message(connection: Connection, where: str, *arguments: object) -> IngestMessage | None:
    with translated(connection), connection.cursor(row_factory=class_row(IngestMessage)) as cursor:
        return cursor.execute(
            f"select * from penstock.ingest_message where {where} order by ingested_at desc limit 1".encode(),
            list(arguments),
        ).fetchone()


def tally(connection: Connection, subscription: str) -> list[tuple[str, str, str, int]]:
    """How many executions of each playbook and pool stand where. Reads them all: for a demo, not for a dashboard."""
    with translated(connection):
        return connection.execute(
            "select playbook_ref, pool, status, count(*) from penstock.v_execution where subscription = %s"
            " group by 1, 2, 3 order by 1, 2, 3",
            [subscription],
        ).fetchall()


def ended(connection: Connection, subscription: str) -> int:
    """How many executions of a subscription have ended; the same holds."""
    with translated(connection):
        row = connection.execute(
            "select count(*) from penstock.job_outcome o join penstock.job j using (job_id, enqueued_at)"
            " where j.subscription = %s and o.status in ('succeeded', 'dead_lettered', 'cancelled')",
            [subscription],
        ).fetchone()
    return 0 if row is None else int(row[0])


def newest_of(connection: Connection, subscription: str, playbook: str) -> int:
    """The newest execution of a playbook that a subscription started; 0 if there is none."""
    with translated(connection):
        row = connection.execute(
            "select coalesce(max(job_id), 0) from penstock.job where subscription = %s"
            " and starts_with(playbook_ref, %s || '@')",
            [subscription, playbook],
        ).fetchone()
    return 0 if row is None else int(row[0])


@dataclass(frozen=True)
class StepView:
    """One row of v_execution_step: a step, or an item of its loop, and the job it is run by."""

    step: str
    visit: int
    item: int
    job_id: int
    status: str
    attempt: int
    max_attempts: int
    is_stuck: bool
    via: list[str]
    enqueued_at: datetime
    started_at: datetime | None
    finished_at: datetime | None
    process_after: datetime | None
    error: Json | None
    is_skipped: bool


_STEP = ", ".join(f"v.{one.name}" for one in fields(StepView))
# a cycle may go round thousands of times: who looks wants its end
_VISITS = 10


def steps(connection: Connection, execution_id: int) -> list[StepView]:
    """The steps of an execution that have begun, in that order; of a cycle the last visits, of loops no items."""
    with translated(connection), connection.cursor(row_factory=class_row(StepView)) as cursor:
        return cursor.execute(
            f"select {_STEP} from (select t.job_id,"
            "   row_number() over (partition by t.step_id order by t.visit desc) as nth"
            "   from penstock.job_step t where t.execution_id = %(id)s::bigint and t.item = 0) n"
            " join penstock.v_execution_step v on v.execution_id = %(id)s::bigint and v.job_id = n.job_id"
            " where v.item = 0 and n.nth <= %(visits)s order by v.job_id".encode(),
            {"id": execution_id, "visits": _VISITS},
        ).fetchall()


@dataclass(frozen=True)
class ItemsView:
    """How many items of a step's loop stand alike, and the first of them."""

    step: str
    visit: int
    status: str
    count: int
    first: list[StepView]


def items(connection: Connection, execution_id: int) -> list[ItemsView]:
    """The items of an execution's loops, counted; the first are shown of those that ended badly, or are tried again."""
    with translated(connection):
        counted = connection.execute(
            "select step, visit, status, count(*), case when status in ('dead_lettered', 'retrying')"
            "   then (array_agg(job_id order by item))[:3] else '{}' end"
            " from penstock.v_execution_step where execution_id = %s::bigint and item > 0"
            " group by 1, 2, 3 order by min(job_id)",
            [execution_id],
        ).fetchall()
        shown = _by_job(connection, execution_id, [job for *_, first in counted for job in first])
    return [
        ItemsView(step, visit, status, count, [shown[job] for job in first if job in shown])
        for step, visit, status, count, first in counted
    ]


def _by_job(connection: Connection, execution_id: int, job_ids: list[int]) -> dict[int, StepView]:
    with connection.cursor(row_factory=class_row(StepView)) as cursor:
        found = cursor.execute(
            f"select {_STEP} from penstock.v_execution_step v where v.execution_id = %s::bigint"
            " and v.job_id = any (%s)".encode(),
            [execution_id, job_ids],
        ).fetchall()
    return {one.job_id: one for one in found}


@dataclass(frozen=True)
class Question:
    """One row of v_job_awaiting."""

    job_id: int
    step: str | None
    prompt: str | None
    approvers: list[str] | None
    due_at: datetime | None
    on_due: str
    has_key: bool
    child_execution: int | None
    child_playbook_ref: str | None


_QUESTION = ", ".join(one.name for one in fields(Question))


def questions(connection: Connection, execution_id: int) -> list[Question]:
    """What an execution waits for."""
    return _questions(connection, "coalesce(execution_id, job_id)", execution_id)


def question(connection: Connection, job_id: int) -> Question | None:
    """What a job waits for; None if it does not."""
    return next(iter(_questions(connection, "job_id", job_id)), None)


def _questions(connection: Connection, column: str, wanted: int) -> list[Question]:
    with translated(connection), connection.cursor(row_factory=class_row(Question)) as cursor:
        return cursor.execute(
            f"select {_QUESTION} from penstock.v_job_awaiting where {column} = %s::bigint order by job_id".encode(),
            [wanted],
        ).fetchall()
