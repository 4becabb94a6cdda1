"""The job functions, one by one."""

import json
from collections.abc import Iterable, Sequence
from datetime import date, datetime
from typing import Any, TypeVar
from uuid import UUID

import psycopg
from psycopg.rows import class_row, tuple_row
from psycopg.types.json import Jsonb

from penstock.errors import BadRequest, UnknownJob
from penstock.kernel.connection import Connection, translated
from penstock.model import Answer, Claim, Enqueued, Facts, JobView, Json

T = TypeVar("T")

# the cast makes a value of a wrong type a refused value, and not a function that does not exist
_FIELDS = dict.fromkeys(
    (
        "kind",
        "idempotency_key",
        "executor",
        "source_ref",
        "target_ref",
        "payload_ref",
        "correlation_id",
        "actor",
        "pool",
        "lane",
        "event_domain",
        "trace",
    ),
    "text",
) | {
    "safe_payload": "jsonb",
    "priority": "integer",
    "process_after": "timestamptz",
    "causation_event_id": "uuid",
    "max_attempts": "integer",
}


def enqueue(connection: Connection, request: Json) -> int:
    """fn_job_enqueue: `request` holds its parameters without p_."""
    unknown = request.keys() - _FIELDS.keys()
    if unknown:
        raise BadRequest(f"unknown field {min(unknown)}", f"A job has: {', '.join(_FIELDS)}.")
    arguments = dict(request)
    if arguments.get("safe_payload") is not None:
        arguments["safe_payload"] = json_text(arguments["safe_payload"])
    names = ", ".join(f"p_{name} => %({name})s::{_FIELDS[name]}" for name in arguments)
    with translated(connection):
        row = _cursor(connection).execute(f"select penstock.fn_job_enqueue({names})".encode(), arguments).fetchone()
    assert row is not None
    return int(row[0])


def json_text(value: Any) -> str:
    """JSON as PostgreSQL reads it; times and UUIDs are written as text."""
    try:
        return json.dumps(value, allow_nan=False, default=_plain)
    except (TypeError, ValueError, RecursionError) as error:
        raise BadRequest(f"this cannot be written as JSON: {error}", "Jobs carry small plain values.") from error


def _plain(value: Any) -> str:
    if isinstance(value, datetime | date):
        return value.isoformat()
    if isinstance(value, UUID):
        return str(value)
    raise TypeError(f"a {type(value).__name__} ({value!r})")


def _cursor(connection: Connection) -> psycopg.Cursor[tuple[Any, ...]]:
    """Ours, whatever rows and cursors the caller has set on a connection of its own."""
    return psycopg.Cursor(connection, row_factory=tuple_row)


def enqueue_many(connection: Connection, requests: Sequence[Json]) -> list[Enqueued]:
    """fn_job_enqueue_many."""
    return enqueue_text(connection, json_text(requests))


def enqueue_text(connection: Connection, requests: str) -> list[Enqueued]:
    """fn_job_enqueue_many; `requests` is the text of a JSON array."""
    with translated(connection):
        cursor = _cursor(connection)
        rows = cursor.execute(
            "select job_id, created from penstock.fn_job_enqueue_many(%s::jsonb)", [requests], binary=True
        ).fetchall()
    return list(map(Enqueued._make, rows))


_CLAIM = "penstock.fn_job_claim(%s, %s, %s::text[], %s::text[], %s, %s, %s)"
_CLAIMED = "c.job_id, c.lease_token, c.job_kind, c.attempt, c.started, c.suspect, c.enqueued_at"
_FACTS = (
    "j.job_id, j.source_ref, j.target_ref, j.payload_ref, j.safe_payload::text, j.lane, j.event_domain,"
    " j.correlation_id, j.causation_event_id, j.trace, j.actor, j.playbook_ref,"
    " j.execution_id, j.step"
)
# an answer that a stopped client does not read holds every lock of its statement: facts of a few jobs fit into a buffer
FEW = 20


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
    with translated(connection):
        rows = connection.execute(
            f"select {_CLAIMED} from {_CLAIM} c".encode(),
            [executor_id, limit, _list(kinds), _list(pools), incarnation, start, suspects],
            binary=True,
        ).fetchall()
    return list(map(Claim._make, rows))


def claim_whole(
    connection: Connection,
    executor_id: str,
    limit: int,
    *,
    kinds: Sequence[str],
    pools: Sequence[str] | None,
    incarnation: UUID,
    start: bool,
    suspects: bool,
) -> list[tuple[Claim, Facts]]:
    """fn_job_claim and what was asked of the jobs: in one round trip if they are few, else in two."""
    if limit > FEW:
        claims = claim(
            connection,
            executor_id,
            limit,
            kinds=kinds,
            pools=pools,
            incarnation=incarnation,
            start=start,
            suspects=suspects,
        )
        known = facts(connection, claims) if claims else {}
        return [(one, known[one.job_id]) for one in claims]
    with translated(connection):
        rows = connection.execute(
            f"select {_CLAIMED}, j.* from {_CLAIM} c left join lateral (select {_FACTS} from penstock.job j"
            " where j.job_id = c.job_id and j.enqueued_at = c.enqueued_at offset 0) j on true".encode(),
            [executor_id, limit, _list(kinds), _list(pools), incarnation, start, suspects],
            binary=True,
        ).fetchall()
    width = len(Claim._fields)
    found = [(Claim._make(row[:width]), Facts._make(row[width:])) for row in rows]
    # a job enqueued after the statement began may be claimed by it, but is not seen by the rest of it
    unseen = [one for one, asked in found if asked.job_id is None]
    late = facts(connection, unseen) if unseen else {}
    return [(one, late.get(one.job_id, asked)) for one, asked in found]


def facts(connection: Connection, claims: Sequence[Claim]) -> dict[int, Facts]:
    """What was asked of these jobs: a read without locks, kept to the partitions they lie in."""
    times = [one.enqueued_at for one in claims]
    with translated(connection):
        rows = connection.execute(
            f"select {_FACTS} from penstock.job j"
            " where j.job_id = any(%s::bigint[]) and j.enqueued_at between %s and %s".encode(),
            [_bigints(one.job_id for one in claims), min(times), max(times)],
            binary=True,
        ).fetchall()
    return {row[0]: Facts._make(row) for row in rows}


def start(connection: Connection, job_ids: Sequence[int], tokens: Sequence[int]) -> list[Answer]:
    """fn_job_start."""
    return _answers(connection, "fn_job_start", job_ids, tokens)


def release(
    connection: Connection, job_ids: Sequence[int], tokens: Sequence[int], delays_ms: Sequence[int] | None = None
) -> list[Answer]:
    """fn_job_release."""
    with translated(connection):
        rows = connection.execute(
            "select job_id, accepted, reason from penstock.fn_job_release(%s::bigint[], %s::bigint[], %s::integer[])",
            [_bigints(job_ids), _bigints(tokens), None if delays_ms is None else list(delays_ms)],
        ).fetchall()
    return [Answer._make(row) for row in rows]


def finish(
    connection: Connection,
    job_ids: Sequence[int],
    tokens: Sequence[int],
    results: Sequence[str | None] | None = None,
    following: Sequence[str | None] | None = None,
) -> list[Answer]:
    """fn_job_finish; results, and where steps go on, are JSON text. Returns the refused items only."""
    with translated(connection):
        rows = connection.execute(
            "select job_id, accepted, reason from penstock.fn_job_finish(%s::bigint[], %s::bigint[], %s::jsonb[],"
            " %s::jsonb[]) where not accepted",
            [_bigints(job_ids), _bigints(tokens), _list(results), _list(following)],
            binary=True,
        ).fetchall()
    return [Answer._make(row) for row in rows]


def kept(connection: Connection, job_ids: Sequence[int], tokens: Sequence[int]) -> set[tuple[int, int]]:
    """fn_job_kept: of finishes whose answer was lost, those that were accepted, job and token."""
    with translated(connection):
        rows = connection.execute(
            "select job_id, lease_token from penstock.fn_job_kept(%s::bigint[], %s::bigint[])",
            [list(job_ids), list(tokens)],
        ).fetchall()
    return {(int(job_id), int(token)) for job_id, token in rows}


def wait(
    connection: Connection,
    job_id: int,
    token: int,
    *,
    until: datetime | None = None,
    seconds: float | None = None,
    on_due: str = "expire",
    callback_key: str | None = None,
    approvers: Sequence[str] | None = None,
    prompt: str | None = None,
) -> Answer:
    """fn_job_await; the time is given, or so many seconds from now on the server's clock."""
    with translated(connection):
        row = connection.execute(
            "select job_id, accepted, reason from penstock.fn_job_await(%s::bigint, %s::bigint,"
            " coalesce(%s::timestamptz, clock_timestamp() + %s * interval '1 second'), %s::text, %s::text, %s::text[],"
            " %s::text)",
            [job_id, token, until, seconds, on_due, callback_key, _list(approvers), prompt],
        ).fetchone()
    assert row is not None
    return Answer._make(row)


def callback_key(connection: Connection, job_id: int, token: int) -> str:
    """fn_job_callback_key."""
    with translated(connection):
        row = connection.execute(
            "select penstock.fn_job_callback_key(%s::bigint, %s::bigint)", [job_id, token]
        ).fetchone()
    assert row is not None
    return str(row[0])


def resume(
    connection: Connection, job_id: int, callback_key: str | None = None, result: Any = None, actor: str | None = None
) -> str:
    """fn_job_resume."""
    with translated(connection):
        row = connection.execute(
            "select penstock.fn_job_resume(%s::bigint, %s::text, %s::jsonb, %s::text)",
            [job_id, callback_key, None if result is None else json_text(result), actor],
        ).fetchone()
    assert row is not None
    return str(row[0])


def child(connection: Connection, job_id: int, token: int, request: Json, *, wait: bool) -> int:
    """fn_job_child: the execution a running job has started."""
    with translated(connection):
        row = connection.execute(
            "select penstock.fn_job_child(%s::bigint, %s::bigint, %s::jsonb, %s)",
            [job_id, token, json_text(request), wait],
        ).fetchone()
    assert row is not None
    return int(row[0])


def child_ended(connection: Connection, execution_id: int) -> bool:
    """fn_job_child_ended: whether a job had waited for it."""
    with translated(connection):
        row = connection.execute("select penstock.fn_job_child_ended(%s::bigint)", [execution_id]).fetchone()
    assert row is not None
    return bool(row[0])


def fail(connection: Connection, job_ids: Sequence[int], tokens: Sequence[int], errors: Sequence[Json]) -> list[Answer]:
    """fn_job_fail; the reason of an accepted item is what the job became."""
    with translated(connection):
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
    with translated(connection):
        rows = connection.execute(
            "select job_id, reason from penstock.fn_job_heartbeat(%s, %s, %s::bigint[], %s::bigint[])",
            [executor_id, incarnation, _bigints(job_ids), _bigints(tokens)],
        ).fetchall()
    return [(row[0], row[1]) for row in rows]


def cancel(connection: Connection, job_id: int, actor: str | None = None, reason: str | None = None) -> str:
    """fn_job_cancel: cancelled, or cancel_requested while a worker holds the job."""
    with translated(connection):
        row = connection.execute(
            "select penstock.fn_job_cancel(%s::bigint, %s, %s)", [job_id, actor, reason]
        ).fetchone()
    assert row is not None
    return str(row[0])


def retry(connection: Connection, job_id: int, actor: str | None = None) -> int:
    """fn_job_retry: the job to look at, a new one when a dead letter was replayed."""
    with translated(connection):
        row = connection.execute("select penstock.fn_job_retry(%s::bigint, %s)", [job_id, actor]).fetchone()
    assert row is not None
    return int(row[0])


def show(connection: Connection, job_id: int) -> JobView:
    """One job of v_job."""
    with translated(connection), connection.cursor(row_factory=class_row(JobView)) as cursor:
        view = cursor.execute("select * from penstock.v_job where job_id = %s::bigint", [job_id]).fetchone()
    if view is None:
        raise UnknownJob(f"job {job_id} does not exist", "penstock job list shows the newest ones.")
    return view


def _answers(connection: Connection, function: str, job_ids: Sequence[int], tokens: Sequence[int]) -> list[Answer]:
    with translated(connection):
        rows = connection.execute(
            f"select job_id, accepted, reason from penstock.{function}(%s::bigint[], %s::bigint[])".encode(),
            [_bigints(job_ids), _bigints(tokens)],
            binary=True,
        ).fetchall()
    return [Answer._make(row) for row in rows]


def _list(values: Sequence[T] | None) -> list[T] | None:
    return None if values is None else list(values)


def _bigints(numbers: Iterable[int]) -> str:
    # an array literal: psycopg builds arrays item by item in Python
    return "{" + ",".join(map(str, numbers)) + "}"
