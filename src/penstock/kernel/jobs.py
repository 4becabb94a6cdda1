"""The job functions, one by one."""

from collections.abc import Iterable, Sequence
from uuid import UUID

from psycopg.rows import class_row
from psycopg.types.json import Jsonb

from penstock.errors import UnknownJob
from penstock.kernel.connection import Connection, translated
from penstock.model import Answer, Claim, Enqueued, Facts, JobView, Json


def enqueue(connection: Connection, request: Json) -> int:
    """fn_job_enqueue: `request` holds its parameters without p_."""
    arguments = {
        name: Jsonb(value) if name == "safe_payload" and value is not None else value for name, value in request.items()
    }
    names = ", ".join(f"p_{name} => %({name})s" for name in arguments)
    with translated():
        row = connection.execute(f"select penstock.fn_job_enqueue({names})".encode(), arguments).fetchone()
    assert row is not None
    return int(row[0])


def enqueue_many(connection: Connection, requests: Sequence[Json]) -> list[Enqueued]:
    """fn_job_enqueue_many."""
    with translated():
        rows = connection.execute(
            "select job_id, created from penstock.fn_job_enqueue_many(%s)", [Jsonb(requests)], binary=True
        ).fetchall()
    return [Enqueued(*row) for row in rows]


def claim(
    connection: Connection,
    executor_id: str,
    limit: int,
    *,
    kinds: Sequence[str] | None = None,
    pools: Sequence[str] | None = None,
    incarnation: UUID | None = None,
    start: bool = False,
    suspects: bool = True,
) -> list[Claim]:
    """fn_job_claim."""
    with translated():
        rows = connection.execute(
            "select job_id, lease_token, job_kind, attempt, started, suspect, enqueued_at"
            " from penstock.fn_job_claim(%s, %s, %s::text[], %s::text[], %s, %s, %s)",
            [executor_id, limit, _list(kinds), _list(pools), incarnation, start, suspects],
            binary=True,
        ).fetchall()
    return list(map(Claim._make, rows))


def facts(connection: Connection, claims: Sequence[Claim]) -> dict[int, Facts]:
    """What was asked of these jobs: a read without locks, kept to the partitions they lie in."""
    times = [one.enqueued_at for one in claims]
    with translated():
        rows = connection.execute(
            "select job_id, source_ref, target_ref, payload_ref, safe_payload::text, lane, event_domain,"
            " correlation_id, causation_event_id, trace, actor from penstock.job"
            " where job_id = any(%s::bigint[]) and enqueued_at between %s and %s",
            [_bigints(one.job_id for one in claims), min(times), max(times)],
            binary=True,
        ).fetchall()
    return {row[0]: Facts._make(row) for row in rows}


def start(connection: Connection, job_ids: Sequence[int], tokens: Sequence[int]) -> list[Answer]:
    """fn_job_start."""
    return _answers(connection, "fn_job_start", job_ids, tokens)


def release(connection: Connection, job_ids: Sequence[int], tokens: Sequence[int]) -> list[Answer]:
    """fn_job_release."""
    return _answers(connection, "fn_job_release", job_ids, tokens)


def finish(
    connection: Connection, job_ids: Sequence[int], tokens: Sequence[int], results: Sequence[str | None] | None = None
) -> list[Answer]:
    """fn_job_finish; results are JSON text. Returns the refused items only."""
    with translated():
        rows = connection.execute(
            "select job_id, accepted, reason from penstock.fn_job_finish(%s::bigint[], %s::bigint[], %s::jsonb[])"
            " where not accepted",
            [_bigints(job_ids), _bigints(tokens), None if results is None else list(results)],
            binary=True,
        ).fetchall()
    return [Answer._make(row) for row in rows]


def fail(connection: Connection, job_ids: Sequence[int], tokens: Sequence[int], errors: Sequence[Json]) -> list[Answer]:
    """fn_job_fail; the reason of an accepted item is what the job became."""
    with translated():
        rows = connection.execute(
            "select job_id, accepted, next_status from penstock.fn_job_fail(%s::bigint[], %s::bigint[], %s::jsonb[])",
            [_bigints(job_ids), _bigints(tokens), [Jsonb(error) for error in errors]],
            binary=True,
        ).fetchall()
    return [Answer._make(row) for row in rows]


def heartbeat(
    connection: Connection, executor_id: str, incarnation: UUID, job_ids: Sequence[int], tokens: Sequence[int]
) -> list[tuple[int, str]]:
    """fn_job_heartbeat; returns the jobs to abandon and why: cancelled, or lost."""
    with translated():
        rows = connection.execute(
            "select job_id, reason from penstock.fn_job_heartbeat(%s, %s, %s::bigint[], %s::bigint[])",
            [executor_id, incarnation, _bigints(job_ids), _bigints(tokens)],
        ).fetchall()
    return [(row[0], row[1]) for row in rows]


def cancel(connection: Connection, job_id: int, actor: str | None = None, reason: str | None = None) -> str:
    """fn_job_cancel: cancelled, or cancel_requested while a worker holds the job."""
    with translated():
        row = connection.execute("select penstock.fn_job_cancel(%s, %s, %s)", [job_id, actor, reason]).fetchone()
    assert row is not None
    return str(row[0])


def retry(connection: Connection, job_id: int, actor: str | None = None) -> int:
    """fn_job_retry: the job to look at, a new one when a dead letter was replayed."""
    with translated():
        row = connection.execute("select penstock.fn_job_retry(%s, %s)", [job_id, actor]).fetchone()
    assert row is not None
    return int(row[0])


def show(connection: Connection, job_id: int) -> JobView:
    """One job of v_job."""
    with translated(), connection.cursor(row_factory=class_row(JobView)) as cursor:
        view = cursor.execute("select * from penstock.v_job where job_id = %s", [job_id]).fetchone()
    if view is None:
        raise UnknownJob(f"job {job_id} does not exist")
    return view


def _answers(connection: Connection, function: str, job_ids: Sequence[int], tokens: Sequence[int]) -> list[Answer]:
    with translated():
        rows = connection.execute(
            f"select job_id, accepted, reason from penstock.{function}(%s::bigint[], %s::bigint[])".encode(),
            [_bigints(job_ids), _bigints(tokens)],
            binary=True,
        ).fetchall()
    return [Answer._make(row) for row in rows]


def _list(values: Sequence[str] | None) -> list[str] | None:
    return None if values is None else list(values)


def _bigints(numbers: Iterable[int]) -> str:
    # an array literal: psycopg builds arrays item by item in Python
    return "{" + ",".join(map(str, numbers)) + "}"
