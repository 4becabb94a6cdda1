"""A source of one's own: a table that an old application writes to, read as a queue."""

import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any

import psycopg
from psycopg import errors
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from psycopg.sql import SQL, Composed, Identifier

from penstock.errors import SourceMissing, SourceRefused, SourceUnavailable, SourceUnfit
from penstock.sources.contract import Message, Span

LOOK_S = 0.1
LEAST_HOLD_S = 60
REFUSED = ("authentication failed", "no password supplied", "pg_hba.conf", "role", "permission denied")

# A table that was dropped and made again has another oid; a copy on another server, another server's identity.
BIRTH = """select c.system_identifier || '.' || d.oid || '.' || %(table)s::regclass::oid
    from pg_control_system() c, pg_database d where d.datname = current_database()"""
LAST = "coalesce(pg_sequence_last_value(pg_get_serial_sequence(%(table)s, 'id')::regclass), 0)"
FITS = """select a.attidentity = 'a' and s.seqcache = 1 and s.seqincrement > 0 from pg_attribute a
    join pg_sequence s on s.seqrelid = pg_get_serial_sequence(%(table)s, 'id')::regclass
    where a.attrelid = %(table)s::regclass and a.attname = 'id'"""
# Two of these side by side pass over each other's rows. Once committed, a row is hidden: killed now, we lose nothing.
FETCH = """with due as (
      select id from {table} where done_at is null and visible_at <= clock_timestamp() and id > %(after)s
      order by id limit %(limit)s for update skip locked
    ), taken as (
      update {table} o
      set visible_at = clock_timestamp() + %(hold_s)s * interval '1 second', deliveries = o.deliveries + 1
      from due where o.id = due.id returning o.tableoid as oid, o.*)
    select oid, id, payload, header_names, header_values, created, deliveries from taken order by id"""
DONE = """update {table} set done_at = clock_timestamp()
    where id = any(%(ids)s) and tableoid = %(oid)s and done_at is null"""
BACK = """update {table} o set visible_at = clock_timestamp()
    from unnest(%(ids)s::bigint[], %(deliveries)s::int[]) h(id, n)
    where o.id = h.id and o.deliveries = h.n and o.tableoid = %(oid)s"""
LEFT = "select count(*) from {table} where done_at is null"
SPAN = f"select coalesce(min(id), {LAST} + 1), {LAST} + 1 from {{table}} where done_at is null"
FLOOR = """select max(id) from {table}
    where id < coalesce((select min(id) from {table} where done_at is null), 9223372036854775807)"""


class OutboxQueue:
    """One table. `hold_s` is how long a row that was handed out stays hidden: longer than any batch takes."""

    def __init__(
        self, credential: Mapping[str, Any], *, table: str = "outbox", hold_s: int = 300, page: int = 100
    ) -> None:
        try:
            self._login = conninfo_to_dict(str(credential["url"]), password=credential.get("password"))
        except (KeyError, psycopg.Error):
            # the database's own words would repeat the url, and a password in it
            raise SourceRefused(f"The credential for the table {table} needs a url: postgresql://…") from None
        self._table, self._hold_s, self._page = table, hold_s, page
        self._connection: psycopg.Connection[tuple[Any, ...]] | None = None

    def check(self) -> None:
        self.spans()
        self._fetched(0, 0)
        if self._hold_s < LEAST_HOLD_S:
            raise SourceUnfit(f"hold_s is {self._hold_s}, and a batch may take {LEAST_HOLD_S} s: set hold_s to 300.")
        if self._rows(FITS) != [(True,)]:
            # ids that the application brings, or draws in advance, may appear below a floor
            raise SourceUnfit(f"{self._table}.id must be `generated always as identity` (cache 1): see outbox.sql.")

    def spans(self) -> tuple[Span, ...]:
        ((birth,),), ((first, following),) = self._rows(BIRTH), self._rows(SPAN)
        return (Span(self._table, birth, first, following),)

    def backlog(self) -> int:
        return int(self._rows(LEFT)[0][0])

    def floors(self) -> Mapping[str, int]:
        """Nothing while anybody writes: an open transaction may hold a lower id than those we see."""
        with self._asking() as connection:
            try:
                with connection.transaction():
                    connection.execute(self._statement("lock table {table} in share mode nowait"))
                    ((floor,),) = connection.execute(self._statement(FLOOR)).fetchall()
            except errors.LockNotAvailable:
                return {}
        return {} if floor is None else {self._table: floor}

    def fetch(self, limit: int, wait_s: float) -> Iterator[Message]:
        until, left, after = time.monotonic() + wait_s, limit, -1
        while left > 0:
            page = self._fetched(min(left, self._page), after)
            if page:
                left, after = left - len(page), page[-1].offset
                yield from self._all_or_given_back(page)
            elif after >= 0 or time.monotonic() >= until:
                return
            else:
                time.sleep(LOOK_S)

    def acknowledge(self, handles: Iterable[str]) -> int:
        done = list(handles)
        self._settle(DONE, done)
        return len(done)

    def give_back(self, handles: Iterable[str]) -> None:
        self._settle(BACK, list(handles))

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _fetched(self, limit: int, after: int) -> list[Message]:
        found = self._rows(FETCH, limit=limit, after=after, hold_s=self._hold_s)
        return [
            Message(
                self._table, number, str(number), created, None, payload, tuple(zip(names, values, strict=True)),
                f"{oid}:{number}:{deliveries}", deliveries,
            )
            for oid, number, payload, names, values, created, deliveries in found
        ]  # fmt: skip

    def _all_or_given_back(self, page: list[Message]) -> Iterator[Message]:
        taken = 0
        try:
            for message in page:
                taken += 1
                yield message
        finally:
            with suppress(SourceUnavailable):
                self.give_back(message.ack for message in page[taken:])

    def _settle(self, statement: str, handles: list[str]) -> None:
        """A handle says of which table, which row and which delivery: none touches what another has by now."""
        parts = [[int(number) for number in handle.split(":")] for handle in handles]
        for oid in {part[0] for part in parts}:
            ids, deliveries = ([part[n] for part in parts if part[0] == oid] for n in (1, 2))
            with self._asking() as connection:
                connection.execute(self._statement(statement), {"oid": oid, "ids": ids, "deliveries": deliveries})

    def _rows(self, statement: str, **values: object) -> list[tuple[Any, ...]]:
        with self._asking() as connection:
            return connection.execute(self._statement(statement), {"table": self._table, **values}).fetchall()

    def _statement(self, text: str) -> Composed:
        return SQL(text).format(table=Identifier(*self._table.split(".")))

    @contextmanager
    def _asking(self) -> Iterator[psycopg.Connection[tuple[Any, ...]]]:
        """The connection, made when first needed and again after a loss; what goes wrong gets its name."""
        try:
            if self._connection is None:
                self._connection = psycopg.connect(make_conninfo("", **self._login), autocommit=True)
            yield self._connection
        except (errors.UndefinedTable, errors.InvalidSchemaName) as error:
            raise SourceMissing(f"{self._place()} has no table {self._table}. Make it: psql -f outbox.sql") from error
        except errors.UndefinedColumn as error:
            raise SourceUnfit(f"{self._table} is no outbox: {_said(error)}. See outbox.sql.") from error
        except (psycopg.OperationalError, errors.InsufficientPrivilege) as error:
            self.close()
            said = _said(error)
            if any(word in said for word in REFUSED):
                raise SourceRefused(f"{self._place()} refused the credential: {said}. Correct its url.") from error
            raise SourceUnavailable(f"{self._place()} does not answer: {said}. See that the server runs.") from error

    def _place(self) -> str:
        return f"PostgreSQL at {self._login.get('host', 'localhost')}, database {self._login.get('dbname', '')},"


def _said(error: psycopg.Error) -> str:
    return " ".join(str(error).split())
