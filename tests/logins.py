"""Real login roles for one test, and what a statement comes to when one of them runs it."""

from collections.abc import Mapping
from typing import Any
from uuid import uuid4

import psycopg
from psycopg import errors as pg

from penstock.kernel.connection import Connection, connect

ROLES = (
    "workflow_admin",
    "dot_executor",
    "penstock_producer",
    "penstock_mot",
    "penstock_pipeline",
    "penstock_gateway",
    "penstock_reader",
)


class Logins:
    """Makes login roles of their own names in the test's server and opens connections as them."""

    def __init__(self, superuser: Connection, database: str) -> None:
        self._superuser = superuser
        self._database = database
        self._made: list[str] = []
        self._opened: list[Connection] = []

    def make(self, *groups: str, inherit: bool = True) -> str:
        """A new login that is a member of these roles."""
        name = f"login_{uuid4().hex[:12]}"
        member = f"in role {', '.join(groups)}" if groups else ""
        self._superuser.execute(f"create role {name} login {'inherit' if inherit else 'noinherit'} {member}".encode())
        self._made.append(name)
        return name

    def open(self, name: str) -> Connection:
        """A connection as that login."""
        self._opened.append(connect(self._database.replace("//postgres@", f"//{name}@")))
        return self._opened[-1]

    def member(self, *groups: str, inherit: bool = True) -> Connection:
        """A connection as a new login that is a member of these roles."""
        return self.open(self.make(*groups, inherit=inherit))

    def drop(self) -> None:
        for connection in self._opened:
            connection.close()
        for name in self._made:
            # a backend that is just going still owns its temporary objects
            self._superuser.execute(
                "select pg_terminate_backend(pid, 10000) from pg_stat_activity where usename = %s", [name]
            )
            self._superuser.execute(f"drop owned by {name} cascade".encode())
            self._superuser.execute(f"drop role {name}".encode())


def outcome(connection: Connection, statement: str, values: Mapping[str, Any] | None = None) -> str:
    """Run it and take it back: works, or refused by the kernel (its reason), or by PostgreSQL, or what went wrong."""
    try:
        with connection.transaction(force_rollback=True):
            cursor = connection.execute(statement.encode(), values)
            row = cursor.fetchone() if cursor.description else None
    except pg.InsufficientPrivilege as error:
        return str(error.diag.message_primary)
    except psycopg.Error as error:
        return f"{error.sqlstate} {error.diag.message_primary}"
    return "works" if row is None or row[0] is not False else f"not accepted: {row}"


def contents(superuser: Connection) -> dict[str, str | None]:
    """A fingerprint of every table's rows."""
    tables = superuser.execute(
        "select oid::regclass::text from pg_class where relnamespace = 'penstock'::regnamespace and relkind = 'r'"
    ).fetchall()
    return {
        table: _only(superuser, f"select md5(string_agg(t::text, chr(10) order by t::text)) from {table} t")
        for (table,) in tables
    }


def _only(connection: Connection, query: str) -> str | None:
    row = connection.execute(query.encode()).fetchone()
    return None if row is None else row[0]
