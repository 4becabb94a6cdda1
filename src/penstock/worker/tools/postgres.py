"""postgres: a step that runs one statement in a database of the user's: bound parameters, one transaction."""

import json
import re
from collections.abc import Generator, Iterator, Mapping
from contextlib import closing, contextmanager
from decimal import Decimal
from functools import partial
from typing import Any, NoReturn

import psycopg
from psycopg.abc import Buffer
from psycopg.adapt import Loader
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from psycopg.types import datetime as times
from psycopg.types.json import Jsonb, set_json_loads
from psycopg.types.string import TextLoader

from penstock.jobs import PermanentError
from penstock.kernel.connection import Connection, lasting
from penstock.model import Json
from penstock.worker.tools import lookups
from penstock.worker.tools.cancelling import when_cancelled
from penstock.worker.tools.contract import Call
from penstock.worker.tools.plain import plain
from penstock.worker.tools.pools import Pools

_TIMEOUT_S = 60.0
_CONNECT_S = "10"
_CANCEL_S = 10
_MOST_ROWS = 10_000
_KEYS = ("host", "port", "dbname", "user", "password", "sslmode", "sslrootcert")
_SETTINGS = "select set_config(k, v, true) from (values ('statement_timeout', %s), ('datestyle', 'ISO'),"
_SETTINGS += " ('intervalstyle', 'iso_8601')) s(k, v)"
# what gives rows is read row by row, so that a large answer is noticed before it fills the memory
_QUERY = re.compile(
    r"(?is)\s*(?:select|values|table|show|explain)\b|.*\breturning\b|\s*with\b(?!.*\b(?:insert|update|delete|merge)\b)"
)
# no connection, no room, a conflict with somebody else, an operator, a server that follows another
_PASSING = re.compile(r"08|25006|40|53|55|57|58|P0001|XX")


Cursor = psycopg.Cursor[tuple[Any, ...]]


class NotRun(Exception):
    """The database could not do it now: another try may help."""


def run(call: Call) -> Json:
    """Run the statement; the rows it gives and how many, or how many it changed."""
    alias = call.settings["auth"]
    address = _address(lookups.credential(call, "postgres"), alias)
    params = _params(call)
    most_bytes = lookups.result_bytes(call.services)
    timeout_s = call.job.timeout_s or _TIMEOUT_S
    try:
        with (
            _POOLS.taken(alias, address) as connection,
            when_cancelled(call.job, lambda: connection.cancel_safe(timeout=_CANCEL_S)),
        ):
            return _answer(connection, call.settings["statement"], params, timeout_s, most_bytes)
    except psycopg.Error as error:
        _failed(alias, error, timeout_s)


def _address(credential: Mapping[str, Any], alias: str) -> str:
    """libpq's own form of what the credential says."""
    parts = {key: credential[key] for key in _KEYS if key in credential}
    try:
        if not parts and "url" not in credential:
            raise ValueError
        return lasting(_patient(make_conninfo(credential.get("url", ""), **parts)))
    except (psycopg.ProgrammingError, ValueError, TypeError):
        # libpq's message would repeat the URL, and the password in it
        raise PermanentError(
            f"postgres: the credential {alias} needs a url such as postgresql://user:password@host:5432/database, "
            "or host, port, dbname, user, password and sslmode"
        ) from None


def _patient(address: str) -> str:
    """The same, with a limit on connecting if it has none."""
    return make_conninfo(address, connect_timeout=conninfo_to_dict(address).get("connect_timeout") or _CONNECT_S)


def _params(call: Call) -> dict[str, Any]:
    given = call.settings.get("params")
    given = call.args if given is None else given
    if not isinstance(given, Mapping):
        raise PermanentError(f"postgres: params is a {type(given).__name__}: give a mapping of names and values")
    return {name: Jsonb(value) if isinstance(value, dict | list) else value for name, value in given.items()}


def _answer(connection: Connection, statement: str, params: dict[str, Any], timeout_s: float, most_bytes: int) -> Json:
    query = statement.encode()
    if _QUERY.match(statement):
        try:
            with _transaction(connection, timeout_s) as cursor, closing(_streamed(cursor, query, params)) as rows:
                return _told(cursor, rows, most_bytes)
        except psycopg.ProgrammingError as error:
            # it only looked like one that gives rows, and has been taken back: run it as one that does not
            if error.sqlstate is not None:
                raise
    with _transaction(connection, timeout_s) as cursor:
        # in a pipeline a text is one statement: it cannot end the transaction and begin another
        with connection.pipeline():
            cursor.execute(query, params)
        if cursor.description is None:
            return {"rows": [], "count": max(cursor.rowcount, 0)}
        return _told(cursor, iter(cursor), most_bytes)


def _streamed(cursor: Cursor, query: bytes, params: Mapping[str, Any]) -> Generator[tuple[Any, ...]]:
    yield from cursor.stream(query, params)


@contextmanager
def _transaction(connection: Connection, timeout_s: float) -> Iterator[Cursor]:
    with connection.transaction(), connection.cursor() as cursor:
        connection.execute(_SETTINGS, [str(round(timeout_s * 1000))])
        yield cursor


def _told(cursor: Cursor, rows: Iterator[tuple[Any, ...]], most_bytes: int) -> Json:
    """The rows as plain data, within the limits; raised within the transaction, so that nothing is left half done."""
    found: list[Json] = []
    size = len('{"rows": [], "count": 1}')
    for row in rows:
        found.append(dict(zip(_columns(cursor), map(plain, row), strict=True)))
        size += len(json.dumps(found[-1], ensure_ascii=False).encode("utf-8", "replace"))
        # with what stands between them, and the digits of their count
        size += 2 * (len(found) > 1) + (len(found) in (10, 100, 1000, 10_000))
        if len(found) > _MOST_ROWS or size > most_bytes:
            raise PermanentError(
                f"postgres: the statement gives more than {_MOST_ROWS:,} rows, or {most_bytes:,} bytes of them,"
                " the most a step's result may hold (queue.result.max_bytes). Nothing was changed: add a limit"
            )
    return {"rows": found, "count": len(found)}


def _columns(cursor: Cursor) -> list[str]:
    names = [column.name for column in cursor.description or ()]
    if len(set(names)) < len(names):
        twice = sorted({name for name in names if names.count(name) > 1})
        raise PermanentError(f"postgres: two columns have the name {twice[0]}: give one another, with `as`")
    return names


def _failed(alias: str, error: psycopg.Error, timeout_s: float) -> NoReturn:
    if isinstance(error, psycopg.errors.QueryCanceled):
        raise NotRun(
            f"postgres: {alias}: the statement was stopped: it may run for {timeout_s:g} s, and ends with its job"
        ) from error
    # a detail would quote the row
    said = error.diag.message_primary or str(error).strip()
    text = f"postgres: {alias}: {said}{_place(error)}"
    code = error.sqlstate
    is_final = (
        isinstance(error, psycopg.ProgrammingError | psycopg.DataError) if code is None else not _is_passing(code)
    )
    if is_final:
        raise PermanentError(text) from error
    raise NotRun(text) from error


def _is_passing(code: str) -> bool:
    return _PASSING.match(code) is not None


def _place(error: psycopg.Error) -> str:
    known = f" ({error.sqlstate})" if error.sqlstate else ""
    return known + (f", at character {error.diag.statement_position}" if error.diag.statement_position else "")


def _opened(address: str) -> Connection:
    connection = psycopg.connect(
        address,
        autocommit=True,
        # between calls it forgets everything
        prepare_threshold=None,
        application_name="penstock tool postgres",
        client_encoding="utf8",
    )
    for name, loader in _LOADERS.items():
        connection.adapters.register_loader(name, loader)
    set_json_loads(partial(json.loads, parse_float=Decimal), connection)
    return connection


def _is_alive(connection: Connection) -> bool:
    try:
        connection.execute("select 1")
    except psycopg.Error:
        return False
    return True


def _is_clean(connection: Connection) -> bool:
    """What a statement left in its session is not for the next one."""
    try:
        connection.execute("discard all")
    except psycopg.Error:
        return False
    return True


def _lenient(loader: type[Loader]) -> type[Loader]:
    """PostgreSQL has times that Python has not: infinity, years before 1 and after 9999. They stay text."""

    class Lenient(loader):  # type: ignore[misc, valid-type]
        def load(self, data: Buffer) -> Any:
            try:
                return super().load(data)
            except psycopg.DataError:
                return bytes(data).decode()

    return Lenient


_LOADERS: dict[str, type[Loader]] = {
    "date": _lenient(times.DateLoader),
    "timestamp": _lenient(times.TimestampLoader),
    "timestamptz": _lenient(times.TimestamptzLoader),
    "time": _lenient(times.TimeLoader),
    "interval": TextLoader,
}
_POOLS: Pools[Connection] = Pools(_opened, _is_alive, _is_clean)
