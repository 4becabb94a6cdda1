"""Bring a database to this version of the schema: all in one transaction, under an advisory lock."""

from dataclasses import dataclass
from hashlib import sha256
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
        _make_roles(connection)
        _run(connection, _SQL / "ledger.sql")
        applied = _applied(connection)
        _refuse_newer(applied, known)
        missing = [migration for migration in known if migration.version not in applied]
        for migration in missing:
            connection.execute(migration.text)
            connection.execute(
                "insert into penstock.schema_migration (version, name, checksum) values (%s, %s, %s)",
                [migration.version, migration.name, migration.checksum],
            )
        for file in sorted(_sql_files(_SQL / "functions"), key=lambda file: file.name):
            _run(connection, file)
        for file in sorted(_sql_files(_SQL / "views"), key=lambda file: file.name):
            _make_view(connection, file)
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
