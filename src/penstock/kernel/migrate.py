"""Bring a database to this version of the schema: all in one transaction, under an advisory lock."""

import re
from dataclasses import dataclass
from graphlib import TopologicalSorter
from hashlib import sha256
from importlib.metadata import version
from importlib.resources import files
from importlib.resources.abc import Traversable

from psycopg import errors as pg

from penstock.errors import SchemaError, SchemaMissing, SchemaNewer
from penstock.kernel.connection import Connection, translated

_SQL = files("penstock") / "sql"
_LOCK = 0x70656E73746F636B  # "penstock"
_OLDEST_POSTGRES = 150000


@dataclass(frozen=True)
class Migration:
    version: int
    name: str
    text: str

    @property
    def checksum(self) -> str:
        return sha256(self.text.encode()).hexdigest()


def migrations() -> list[Migration]:
    """The numbered files, in order."""
    found = sorted(_sql_files(_SQL / "migrations"), key=lambda file: file.name)
    return [Migration(int(file.name[:4]), file.name[5:-4], file.read_text()) for file in found]


def migrate(connection: Connection) -> list[Migration]:
    """Apply what is missing, all functions and grants again, and changed views. Returns the migrations applied now."""
    if connection.info.server_version < _OLDEST_POSTGRES:
        raise SchemaError(
            f"PostgreSQL {connection.info.server_version // 10000} is too old: Penstock needs 15 or later"
        )
    _refuse_encoding(connection)
    known = migrations()
    with translated(), connection.transaction():
        # so that what a migrate we waited for has committed is seen, whatever the database's default is
        connection.execute("set transaction isolation level read committed")
        connection.execute("select pg_advisory_xact_lock(%s)", [_LOCK])
        connection.execute("set local client_min_messages = warning")
        connection.execute("set local check_function_bodies = off")
        connection.execute("set local search_path = pg_catalog, pg_temp")
        _refuse_stranger(connection)
        _make_roles(connection)
        _run(connection, _SQL / "ledger.sql")
        _refuse_older_code(connection)
        applied = _applied(connection)
        _refuse_newer(applied, known)
        missing = [migration for migration in known if migration.version not in applied]
        for migration in missing:
            connection.execute(migration.text)
            connection.execute(
                "insert into penstock.schema_migration (version, name, checksum) values (%s, %s, %s)",
                [migration.version, migration.name, migration.checksum],
            )
        made = _make_functions(connection)
        for file in _views():
            _make_view(connection, file)
        _drop_functions_besides(connection, made)
        _run(connection, _SQL / "seeds.sql")
        _run(connection, _SQL / "grants.sql")
    return missing


def check(connection: Connection) -> None:
    """Raise unless the database stands at exactly this code's version."""
    with translated(connection):
        row = connection.execute("select to_regclass('penstock.schema_migration')").fetchone()
        if row is None or row[0] is None:
            raise SchemaMissing("this database has no Penstock schema\nRun: penstock migrate")
        applied = _applied(connection)
    known = migrations()
    _refuse_newer(applied, known)
    missing = [migration for migration in known if migration.version not in applied]
    if missing:
        raise SchemaMissing(
            f"the database lacks migration {missing[0].version:04}_{missing[0].name}\nRun: penstock migrate"
        )


def _refuse_encoding(connection: Connection) -> None:
    encoding = connection.info.parameter_status("server_encoding")
    if encoding != "UTF8":
        raise SchemaError(
            f"the database {connection.info.dbname} has the encoding {encoding}: Penstock needs UTF8\n"
            "Make one with: create database NAME encoding 'UTF8' template template0"
        )


def _refuse_stranger(connection: Connection) -> None:
    row = connection.execute(
        "select pg_get_userbyid(nspowner), current_user from pg_namespace"
        " where nspname = 'penstock' and not pg_has_role(nspowner, 'usage')"
    ).fetchone()
    if row is not None:
        raise SchemaError(
            f"the schema penstock belongs to {row[0]}, and {row[1]} may not act as it\nMigrate as {row[0]}."
        )


def _refuse_older_code(connection: Connection) -> None:
    """A release may change functions alone: an earlier one must not put its own back."""
    ours = version("penstock")
    seen = [row[0] for row in connection.execute("select version from penstock.schema_release").fetchall()]
    newest = max(seen, key=_in_order, default=ours)
    if _in_order(newest) > _in_order(ours):
        raise SchemaNewer(
            f"the database was migrated by Penstock {newest}, this is {ours}: install that version, or a later one"
        )
    connection.execute("insert into penstock.schema_release (version) values (%s) on conflict do nothing", [ours])


def _in_order(release: str) -> tuple[int, ...]:
    return tuple(int(part) for part in release.split(".")[:3])


def _make_functions(connection: Connection) -> list[str]:
    """Make every function anew. Returns their signatures."""
    before = _function_rows(connection)
    for file in sorted(_sql_files(_SQL / "functions"), key=lambda file: file.name):
        _run(connection, file)
    return [signature for signature, row in _function_rows(connection).items() if before.get(signature) != row]


def _function_rows(connection: Connection) -> dict[str, str]:
    """Each function's signature, and which transaction wrote its row in the catalogue."""
    rows = connection.execute(
        "select oid::regprocedure::text, xmin::text from pg_proc where pronamespace = 'penstock'::regnamespace"
    ).fetchall()
    return {row[0]: row[1] for row in rows}


def _drop_functions_besides(connection: Connection, made: list[str]) -> None:
    """Drop what an earlier version made from a file and this one does not: left in place, a call may be ambiguous."""
    gone = connection.execute(
        "delete from penstock.schema_function where signature <> all (%s)"
        " returning signature, to_regprocedure(signature) is not null",
        [made],
    ).fetchall()
    for signature, exists in gone:
        if exists:
            connection.execute(f"drop routine {signature}".encode())
    connection.execute(
        "insert into penstock.schema_function (signature) select unnest(%s::text[]) on conflict do nothing", [made]
    )


def _views() -> list[Traversable]:
    """The views, each after those it reads."""
    known = {
        file.name.removesuffix(".sql"): file for file in sorted(_sql_files(_SQL / "views"), key=lambda one: one.name)
    }
    words = {name: set(re.findall(r"penstock\.(\w+)", file.read_text())) - {name} for name, file in known.items()}
    order = TopologicalSorter({name: words[name] & known.keys() for name in known}).static_order()
    return [known[name] for name in order]


def _make_view(connection: Connection, file: Traversable) -> None:
    """Make a view anew if it has changed: it is locked then, and whoever reads another view over it may deadlock."""
    name, text = file.name.removesuffix(".sql"), file.read_text()
    checksum = sha256(text.encode()).hexdigest()
    known = connection.execute(
        "select from penstock.schema_view where view_name = %s and checksum = %s"
        " and exists (select from pg_class where oid = to_regclass('penstock.' || view_name) and relkind = 'v')",
        [name, checksum],
    ).fetchone()
    if known is None:
        connection.execute(text)
        connection.execute(
            "insert into penstock.schema_view (view_name, checksum) values (%s, %s)"
            " on conflict (view_name) do update set checksum = excluded.checksum",
            [name, checksum],
        )


def _make_roles(connection: Connection) -> None:
    try:
        _run(connection, _SQL / "roles.sql")
    except pg.InsufficientPrivilege as error:
        raise SchemaError(f"{error.diag.message_primary}\n{error.diag.message_hint}") from error


def _applied(connection: Connection) -> dict[int, str]:
    rows = connection.execute("select version, checksum from penstock.schema_migration").fetchall()
    return {row[0]: row[1] for row in rows}


def _refuse_newer(applied: dict[int, str], known: list[Migration]) -> None:
    newest = max((migration.version for migration in known), default=0)
    later = [version for version in applied if version > newest]
    if later:
        raise SchemaNewer(
            f"the database is at migration {max(later):04}, this code knows {newest:04}: "
            "install the version of Penstock that migrated it, or a later one"
        )
    for migration in known:
        if migration.version in applied and applied[migration.version] != migration.checksum:
            raise SchemaError(
                f"migration {migration.version:04}_{migration.name} differs from the one this database was made with: "
                "migrations are never edited once applied; add a new one"
            )


def _sql_files(folder: Traversable) -> list[Traversable]:
    return [file for file in folder.iterdir() if file.name.endswith(".sql")]


def _run(connection: Connection, file: Traversable) -> None:
    connection.execute(file.read_text())
