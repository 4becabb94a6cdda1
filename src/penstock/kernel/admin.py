"""What operators decide: settings, pools, executors and what they may claim, who may speak for whom."""

from dataclasses import dataclass
from datetime import datetime

from psycopg.rows import class_row

from penstock.kernel.connection import Connection, translated


@dataclass(frozen=True)
class Setting:
    """One row of dot_config."""

    key: str
    value: str
    updated_at: datetime
    updated_by: str


@dataclass(frozen=True)
class Pool:
    pool: str
    note: str | None
    set_by: str
    set_at: datetime


@dataclass(frozen=True)
class Executor:
    """An executor, and who of it lives (v_executor_subscription_health)."""

    executor_id: str
    executor_kind: str
    registered: bool
    rules: int
    any_enabled: bool
    living: int
    silent: int
    last_beat_at: datetime | None


@dataclass(frozen=True)
class Rule:
    """What an executor may claim (job_subscription); None matches all."""

    subscription_id: int
    executor_id: str
    job_kind: str | None
    event_domain: str | None
    priority_floor: int
    max_parallel: int | None
    enabled: bool


def config_list(connection: Connection) -> list[Setting]:
    with translated(connection), connection.cursor(row_factory=class_row(Setting)) as cursor:
        return cursor.execute(
            "select key, value, updated_at, updated_by from penstock.dot_config order by key"
        ).fetchall()


def config_get(connection: Connection, key: str) -> Setting | None:
    with translated(connection), connection.cursor(row_factory=class_row(Setting)) as cursor:
        return cursor.execute(
            "select key, value, updated_at, updated_by from penstock.dot_config where key = %s", [key]
        ).fetchone()


def config_set(connection: Connection, key: str, value: str | None, actor: str | None = None) -> str | None:
    """fn_config_set: the value before, None if there was none."""
    with translated(connection):
        row = connection.execute("select penstock.fn_config_set(%s, %s, %s)", [key, value, actor]).fetchone()
    assert row is not None
    return None if row[0] is None else str(row[0])


def pool_list(connection: Connection) -> list[Pool]:
    with translated(connection), connection.cursor(row_factory=class_row(Pool)) as cursor:
        return cursor.execute("select pool, note, set_by, set_at from penstock.pool order by pool").fetchall()


def pool_set(connection: Connection, pool: str, note: str | None = None, actor: str | None = None) -> None:
    """fn_pool_set."""
    with translated(connection):
        connection.execute("select penstock.fn_pool_set(%s, %s, %s)", [pool, note, actor])


def executor_list(connection: Connection) -> list[Executor]:
    """v_executor_subscription_health."""
    with translated(connection), connection.cursor(row_factory=class_row(Executor)) as cursor:
        return cursor.execute(
            "select executor_id, executor_kind, registered, rules, any_enabled, living, silent, last_beat_at"
            " from penstock.v_executor_subscription_health order by executor_id"
        ).fetchall()


def executor_register(
    connection: Connection, executor_id: str, kind: str, *, db_role: str = "dot_executor", actor: str | None = None
) -> None:
    """fn_executor_register."""
    with translated(connection):
        connection.execute("select penstock.fn_executor_register(%s, %s, %s, %s)", [executor_id, kind, actor, db_role])


def executor_deregister(connection: Connection, executor_id: str, actor: str | None = None) -> None:
    """fn_executor_deregister."""
    with translated(connection):
        connection.execute("select penstock.fn_executor_deregister(%s, %s)", [executor_id, actor])


def rule_list(connection: Connection) -> list[Rule]:
    """Every job subscription."""
    with translated(connection), connection.cursor(row_factory=class_row(Rule)) as cursor:
        return cursor.execute(
            "select subscription_id, executor_id, job_kind, event_domain, priority_floor, max_parallel, enabled"
            " from penstock.job_subscription order by executor_id, job_kind nulls first, event_domain nulls first"
        ).fetchall()


def job_subscription_set(
    connection: Connection,
    executor_id: str,
    executor_kind: str,
    *,
    job_kind: str | None = None,
    event_domain: str | None = None,
    priority_floor: int | None = None,
    max_parallel: int | None = None,
    enabled: bool = False,
    actor: str | None = None,
) -> int:
    """fn_job_subscription_set: the rule's id."""
    with translated(connection):
        row = connection.execute(
            "select penstock.fn_job_subscription_set(%s, %s, %s, %s, %s::integer, %s::integer, %s, %s)",
            [executor_id, executor_kind, job_kind, event_domain, priority_floor, max_parallel, enabled, actor],
        ).fetchone()
    assert row is not None
    return int(row[0])


def executor_grant_set(
    connection: Connection,
    actor: str,
    executor_kind: str,
    *,
    job_kind: str | None = None,
    granted: bool = True,
    granted_by: str | None = None,
) -> None:
    """fn_executor_grant_set: which executors an actor may drive."""
    with translated(connection):
        connection.execute(
            "select penstock.fn_executor_grant_set(%s, %s, %s, %s, %s)",
            [actor, executor_kind, job_kind, granted, granted_by],
        )


def actor_binding_set(
    connection: Connection, actor_ref: str, db_role: str, *, bound: bool = True, actor: str | None = None
) -> None:
    """fn_actor_binding_set: which database role may speak for an actor."""
    with translated(connection):
        connection.execute("select penstock.fn_actor_binding_set(%s, %s, %s, %s)", [actor_ref, db_role, bound, actor])
