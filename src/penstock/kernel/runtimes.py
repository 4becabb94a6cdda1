"""What a subscription's runtime asks of the kernel: its lease, its staging table, its commits."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from penstock.kernel.connection import Connection, translated
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
    """A subscription held: the token every commit shows, and what the kernel wants of its holder."""

    token: int
    lease_until: datetime
    state: str
    version: int
    positions: Json
    counts: Counts


@dataclass(frozen=True)
class Committed:
    """What became of one batch."""

    received: int
    executions: int
    deduplicated: int
    dead_lettered: int
    replays: int


def lease(
    connection: Connection, path: str, incarnation: UUID, token: int | None = None, backlog: int | None = None
) -> Lease:
    """fn_runtime_lease: take a subscription, or go on holding it."""
    with translated(connection):
        row = connection.execute(
            "select token, lease_until, state, version, positions, counts"
            " from penstock.fn_runtime_lease(%s, %s, %s::bigint, %s::bigint)",
            [path, incarnation, token, backlog],
        ).fetchone()
    assert row is not None
    return Lease(*(*row[:-1], Counts(**row[-1])))


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


def commit(
    connection: Connection,
    path: str,
    token: int,
    positions: Mapping[str, Json],
    expected: Mapping[str, int],
    lane: int = 0,
) -> Committed:
    """fn_ingest_commit."""
    with translated(connection):
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


def room(connection: Connection, path: str, token: int, limit: int) -> int:
    """fn_ingest_room: how many more messages may be under way; -1 when nobody should wait for it."""
    with translated(connection):
        row = connection.execute("select penstock.fn_ingest_room(%s, %s::bigint, %s)", [path, token, limit]).fetchone()
    return -1 if row is None else int(row[0])


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
