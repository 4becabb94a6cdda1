"""The catalog's functions: versioned, immutable entries by path."""

from dataclasses import dataclass
from datetime import datetime

from psycopg.rows import class_row

from penstock.errors import UnknownPlaybook, UnknownSubscription
from penstock.kernel.connection import Connection, translated
from penstock.kernel.jobs import json_text
from penstock.model import Json


@dataclass(frozen=True)
class CatalogEntry:
    """One version of an entry."""

    path: str
    version: int
    kind: str
    content: Json
    source: str
    registered_by: str
    registered_at: datetime


def register(
    connection: Connection,
    path: str,
    kind: str,
    content: Json,
    source: str,
    actor: str | None = None,
    graph: Json | None = None,
) -> tuple[int, bool]:
    """fn_catalog_register: the version, and whether it is new."""
    with translated(connection):
        row = connection.execute(
            "select version, created from penstock.fn_catalog_register(%s, %s, %s::jsonb, %s, %s, %s::jsonb)",
            [path, kind, json_text(content), source, actor, None if graph is None else json_text(graph)],
        ).fetchone()
    assert row is not None
    return row[0], row[1]


def entry(connection: Connection, path: str, version: int | None = None, kind: str | None = None) -> CatalogEntry:
    """One entry, at its newest version unless another is asked for."""
    with translated(connection), connection.cursor(row_factory=class_row(CatalogEntry)) as cursor:
        found = cursor.execute(
            "select * from penstock.catalog where path = %s and version = coalesce(%s::integer, version)"
            " and kind = coalesce(%s::text, kind) order by version desc limit 1",
            [path, version, kind],
        ).fetchone()
    if found is None:
        what = path if version is None else f"{path}@{version}"
        error = UnknownSubscription if kind == "Subscription" else UnknownPlaybook
        raise error(f"{what} is not in the catalog", "penstock catalog list shows what is.")
    return found


def entries(connection: Connection, kind: str | None = None) -> list[CatalogEntry]:
    """Every entry at its newest version, by path."""
    with translated(connection), connection.cursor(row_factory=class_row(CatalogEntry)) as cursor:
        return cursor.execute(
            "select distinct on (path) * from penstock.catalog where kind = coalesce(%s::text, kind)"
            " order by path, version desc",
            [kind],
        ).fetchall()
