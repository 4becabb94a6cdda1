"""What a subscription's runtime asks of the kernel: its lease, its staging table, its commits."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from penstock.errors import UnknownSubscription
from penstock.kernel.connection import Connection, patience, translated
from penstock.kernel.jobs import json_text
from penstock.model import Json


@dataclass(frozen=True)
class Counts:
    """All commits of a subscription so far, whoever made them: `recent` newest first, `begun` once there was any."""

    executions: int
    deduplicated: int
    dead_lettered: int
    replays: int
    batches: int
    recent: list[Json]
    backlog: int | None
    last_commit_s: float | None
    begun: bool = False


@dataclass(frozen=True)
class Lease:
    """A subscription held: the token every commit shows, and what the kernel wants of its holder.

    `ledger` is the ledger's name: copies of the database have the same one, and no other database has.
    """

    token: int
    lease_until: datetime
    state: str
    version: int
    positions: Json
    counts: Counts
    ledger: str = ""


@dataclass(frozen=True)
class Committed:
    """What became of one batch."""

    received: int
    executions: int
    deduplicated: int
    dead_lettered: int
    replays: int


def lease(
    connection: Connection,
    path: str,
    incarnation: UUID,
    token: int | None = None,
    backlog: int | None = None,
    lock_ms: int | None = None,
) -> Lease:
    """fn_runtime_lease: take a subscription, or go on holding it. Busy when its lock does not come within lock_ms."""
    with patience(connection, lock_ms), translated(connection):
        row = connection.execute(
            "select token, lease_until, state, version, positions, counts"
            " from penstock.fn_runtime_lease(%s, %s, %s::bigint, %s::bigint)",
            [path, incarnation, token, backlog],
        ).fetchone()
    assert row is not None
    # a schema from before 0009 has none
    ledger = row[-1].pop("ledger", "")
    return Lease(*(*row[:-1], Counts(**row[-1]), ledger))


def release(connection: Connection, path: str, token: int) -> str:
    """fn_runtime_release: the subscription's state after it."""
    with translated(connection):
        row = connection.execute("select penstock.fn_runtime_release(%s, %s::bigint)", [path, token]).fetchone()
    assert row is not None
    return str(row[0])


def said(connection: Connection, path: str, token: int, happening: str, detail: Json) -> None:
    """fn_runtime_said."""
    with translated(connection):
        connection.execute(
            "select penstock.fn_runtime_said(%s, %s::bigint, %s, %s::jsonb)",
            [path, token, happening, json_text(detail)],
        )


def stage_open(connection: Connection, path: str, token: int, lane: int = 0) -> str:
    """fn_ingest_stage_open: the staging table's name."""
    with translated(connection):
        row = connection.execute(
            "select penstock.fn_ingest_stage_open(%s, %s::bigint, %s::int)", [path, token, lane]
        ).fetchone()
    assert row is not None
    return str(row[0])


def stage_add(
    connection: Connection, path: str, token: int, lane: int, attempt: str, messages: Sequence[Mapping[str, Any]]
) -> int:
    """fn_ingest_stage_add: how many messages the chunk has, staged now or before."""
    with translated(connection):
        row = connection.execute(
            "select penstock.fn_ingest_stage_add(%s, %s::bigint, %s::int, %s, %s::json)",
            [path, token, lane, attempt, json_text(messages)],
        ).fetchone()
    assert row is not None
    return int(row[0])


def stage_slice(
    connection: Connection, path: str, token: int, lane: int, attempt: str, start: int, text: str, whole: int
) -> int:
    """fn_ingest_stage_slice: how many messages it staged, one if it was the last slice."""
    with translated(connection):
        row = connection.execute(
            "select penstock.fn_ingest_stage_slice(%s, %s::bigint, %s::int, %s, %s::bigint, %s, %s::bigint)",
            [path, token, lane, attempt, start, text, whole],
        ).fetchone()
    assert row is not None
    return int(row[0])


def stage_acks(connection: Connection, path: str, token: int, lane: int, attempts: list[str]) -> list[str]:
    """fn_ingest_stage_acks."""
    with translated(connection):
        rows = connection.execute(
            "select a from penstock.fn_ingest_stage_acks(%s, %s::bigint, %s::int, %s::text[]) a",
            [path, token, lane, attempts],
        ).fetchall()
    return [row[0] for row in rows]


def ledger(connection: Connection, path: str) -> Json:
    """The positions of a subscription, as its lease has them."""
    with translated(connection):
        rows = connection.execute(
            "select part, identity, next_offset, floor_offset from penstock.v_ingest_position where path = %s", [path]
        ).fetchall()
    return {part: {"identity": identity, "next": after, "floor": floor} for part, identity, after, floor in rows}


def commit(
    connection: Connection,
    path: str,
    token: int,
    positions: Mapping[str, Json],
    expected: Mapping[str, int],
    lane: int = 0,
    lock_ms: int | None = None,
) -> Committed:
    """fn_ingest_commit. Busy when a lock does not come within lock_ms."""
    with patience(connection, lock_ms), translated(connection):
        row = connection.execute(
            "select penstock.fn_ingest_commit(%s, %s::bigint, %s::jsonb, %s::jsonb, %s::int)",
            [path, token, json_text(dict(positions)), json_text(dict(expected)), lane],
        ).fetchone()
    assert row is not None
    return Committed(**row[0])


def position_set(
    connection: Connection, path: str, token: int, positions: Mapping[str, Json], reason: str, detail: Json
) -> None:
    """fn_ingest_position_set."""
    with translated(connection):
        connection.execute(
            "select penstock.fn_ingest_position_set(%s, %s::bigint, %s::jsonb, %s, %s::jsonb)",
            [path, token, json_text(dict(positions)), reason, json_text(detail)],
        )


def once(
    connection: Connection,
    path: str,
    token: int,
    request: UUID,
    call: str,
    asked: Mapping[str, Any],
    lock_ms: int | None = None,
) -> Json:
    """fn_runtime_once: a commit, positions or something said, made once under this name; the answer of that."""
    with patience(connection, lock_ms), translated(connection):
        row = connection.execute(
            "select penstock.fn_runtime_once(%s, %s::bigint, %s, %s, %s::jsonb)",
            [path, token, request, call, json_text(dict(asked))],
        ).fetchone()
    assert row is not None
    answer: Json = row[0]
    return answer


def room(connection: Connection, path: str, token: int, limit: int) -> int:
    """fn_ingest_room: how many more messages may be under way; -1 when nobody should wait for it."""
    with translated(connection):
        row = connection.execute("select penstock.fn_ingest_room(%s, %s::bigint, %s)", [path, token, limit]).fetchone()
    if row is None or row[0] is None:
        raise UnknownSubscription(f"subscription {path} is not registered")
    return int(row[0])


def staged_acks(connection: Connection, stage: str, attempts: list[str]) -> list[str]:
    """The acknowledgement handles of these task attempts."""
    with translated(connection):
        rows = connection.execute(
            f"select ack from penstock.{stage} where attempt = any(%s::text[]) and ack is not null".encode(), [attempts]
        ).fetchall()
    return [row[0] for row in rows]


def stage_clear(connection: Connection, path: str, token: int, lane: int = 0) -> bool:
    """fn_ingest_stage_clear."""
    with translated(connection):
        row = connection.execute(
            "select penstock.fn_ingest_stage_clear(%s, %s::bigint, %s::int)", [path, token, lane]
        ).fetchone()
    return row is not None and bool(row[0])
