"""Executions that started one another: which step started one, and which executions the steps of one have started."""

from dataclasses import dataclass

from psycopg.rows import class_row

from penstock.kernel.connection import Connection, translated

# a loop may start one for every item
_MOST = 20
# a job of a playbook of one step does not name it
_JOB = (
    "select j.job_id, coalesce(j.execution_id, j.job_id) as execution_id, j.playbook_ref, coalesce(j.step,"
    "  (select s.step from penstock.playbook_step s where s.path = split_part(j.playbook_ref, '@', 1)"
    "    and s.version = split_part(j.playbook_ref, '@', 2)::integer and s.is_start)) as step from penstock.job j"
)


@dataclass(frozen=True)
class Parent:
    """What started an execution; of an old one its job, and with it the step, may be gone."""

    execution_id: int
    playbook_ref: str | None
    step: str | None
    job_id: int | None


@dataclass(frozen=True)
class Child:
    """An execution that a step started, and whether the step waits for its end."""

    execution_id: int
    playbook_ref: str
    status: str
    step: str | None
    job_id: int | None
    is_awaited: bool


@dataclass(frozen=True)
class Children:
    """Some of those an execution started, in order, and how many more there are."""

    shown: list[Child]
    left_out: int


def parent(connection: Connection, execution_id: int) -> Parent | None:
    """What started an execution; None if it was no step."""
    with translated(connection), connection.cursor(row_factory=class_row(Parent)) as cursor:
        return cursor.execute(
            "select coalesce(p.execution_id, w.parent_execution) as execution_id, p.playbook_ref, p.step, p.job_id"
            " from penstock.job f left join penstock.job_workflow w on w.execution_id = f.job_id"
            f" left join lateral ({_JOB} where j.job_id = {_starter('w', 'f')} offset 0) p on true"
            " where f.job_id = %s::bigint and coalesce(p.execution_id, w.parent_execution) is not null".encode(),
            [execution_id],
        ).fetchone()


def children(connection: Connection, execution_id: int) -> Children:
    """Those whose end is not a good one, or not there yet, before the others; then the newest."""
    with translated(connection):
        rows = connection.execute(
            "select c.execution_id, c.playbook_ref, e.status, p.step, p.job_id, c.parent_job is not null, c.count"
            " from (select w.*, count(*) over () as count from penstock.job_workflow w"
            "   where w.parent_execution = %(id)s::bigint"
            "   order by w.status = 'succeeded', w.execution_id desc limit %(most)s) c"
            " cross join lateral (select v.status from penstock.v_execution v where v.execution_id = c.execution_id"
            "   offset 0) e"
            f" left join lateral ({_JOB} where j.job_id = {_starter('c', 'c')} offset 0) p on true"
            " order by c.execution_id".encode(),
            {"id": execution_id, "most": _MOST},
        ).fetchall()
    return Children([Child(*row[:-1]) for row in rows], rows[0][-1] - len(rows) if rows else 0)


def _starter(workflow: str, first: str) -> str:
    """The job that started an execution. Of a subscription's, source_ref is what the sender called the message."""
    return (
        f"coalesce({workflow}.parent_job, case when {first}.subscription is null"
        f" then substring({first}.source_ref from '^penstock://job/([0-9]{{1,18}})$')::bigint end)"
    )
