"""Writers that commit late, roll back and nest; readers that page and are cut off; and who counts what came."""

import random
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from threading import Event, Lock, Thread
from uuid import UUID

import psycopg

from penstock.kernel import consumers, events
from penstock.kernel.connection import Connection, connect
from tests.events.support import DOMAIN, TYPE

_PAUSE_S = 0.002


@dataclass
class Committed:
    """The events whose transaction has committed, as the writers know it."""

    ids: set[UUID] = field(default_factory=set)
    lock: Lock = field(default_factory=Lock)

    def add(self, ids: list[UUID]) -> None:
        with self.lock:
            self.ids.update(ids)


class Fuzz:
    def __init__(self, url: str, seed: int) -> None:
        self.url = url
        self.seed = seed
        self.committed = Committed()
        self.stop = Event()
        self.cuts = 0
        self._failures: list[BaseException] = []
        with connect(url) as db:
            # what a reader has had, in the transaction that moved its cursor
            db.execute(
                "create table had (id bigint generated always as identity, reader text, page bigint, event_id uuid,"
                " tx_id xid8, seq bigint)"
            )

    @contextmanager
    def threads(self, *work: Callable[[random.Random], None]) -> Iterator[None]:
        """Each until the block ends; one that fails for another reason than a cut fails the test."""
        threads = [Thread(target=self._guarded, args=[one, number]) for number, one in enumerate(work)]
        for thread in threads:
            thread.start()
        try:
            yield
        finally:
            self.stop.set()
            for thread in threads:
                thread.join()
            self.stop.clear()
        if self._failures:
            raise self._failures[0]

    def _guarded(self, work: Callable[[random.Random], None], number: int) -> None:
        try:
            work(random.Random(f"{self.seed}:{number}"))
        except BaseException as error:
            self._failures.append(error)

    # ------------------------------------------------------------ who writes

    def write(self, dice: random.Random) -> None:
        """Transactions of a few events, some in savepoints, some rolled back, some with a tick in the middle."""
        with connect(self.url) as db:
            while not self.stop.wait(dice.random() * _PAUSE_S):
                self._transaction(db, dice, hold_s=0.02 * dice.random() ** 4)

    def hold(self, dice: random.Random) -> None:
        """Each of its transactions stays open for long."""
        with connect(self.url) as db:
            while not self.stop.is_set():
                self._transaction(db, dice, hold_s=0.3 + dice.random())

    def _transaction(self, db: Connection, dice: random.Random, hold_s: float) -> None:
        kept: list[UUID] = []
        with suppress(_Undone):
            with db.transaction():
                for _ in range(dice.randint(1, 4)):
                    kept += self._savepoint(db, dice) if dice.random() < 0.3 else [self.emit(db)]
                if dice.random() < 0.1:
                    events.tick(db, force=True)
                self.stop.wait(hold_s)
                if dice.random() < 0.3:
                    kept.append(self.emit(db))
                if dice.random() < 0.2:
                    raise _Undone
            self.committed.add(kept)

    def _savepoint(self, db: Connection, dice: random.Random) -> list[UUID]:
        with suppress(_Undone), db.transaction():
            inner = [self.emit(db)]
            if dice.random() < 0.4:
                raise _Undone
            return inner
        return []

    @staticmethod
    def emit(db: Connection) -> UUID:
        return events.emit(db, DOMAIN, TYPE)

    # ------------------------------------------------------------ who reads

    def tick(self, dice: random.Random) -> None:
        with connect(self.url) as db:
            while not self.stop.wait(dice.random() * 0.02):
                events.tick(db)

    def dispatch(self, dice: random.Random) -> None:
        """Cut off at times, between the jobs and the commit."""
        while not self.stop.is_set():
            with suppress(psycopg.OperationalError), connect(self.url) as db:
                for _ in range(dice.randint(1, 30)):
                    self.dispatch_page(db, dice.randint(1, 9), cut=dice.random() < 0.1)
                    self.stop.wait(_PAUSE_S)

    def dispatch_page(self, db: Connection, limit: int, *, cut: bool = False) -> bool:
        with db.transaction():
            report = consumers.dispatch_run(db, limit=limit)
            if cut and report.get("events"):
                self._cut(db)
        return bool(report.get("more"))

    def read(self, reader: str, limit: int) -> Callable[[random.Random], None]:
        """A cursor of its own, with pages so small."""
        with connect(self.url) as db:
            db.execute(
                "insert into penstock.event_cursor (cursor_name, tick_id) select %s, max(tick_id)"
                " from penstock.outbox_tick",
                [reader],
            )

        def work(dice: random.Random) -> None:
            while not self.stop.is_set():
                with suppress(psycopg.OperationalError), connect(self.url) as db:
                    for _ in range(dice.randint(1, 30)):
                        self.read_page(db, reader, limit, cut=dice.random() < 0.1)
                        self.stop.wait(_PAUSE_S)

        return work

    def read_page(self, db: Connection, reader: str, limit: int, *, cut: bool = False) -> bool:
        with db.transaction():
            row = db.execute(
                "with held as materialized (select penstock.cursor_taken(%s) as c),"
                " page as materialized (select c, penstock.cursor_page(c, %s) as events from held"
                "   where (c).goal_tick_id is not null),"
                " kept as (insert into had (reader, page, event_id, tx_id, seq)"
                "   select %s, pg_current_xact_id()::text::bigint, e.event_id, e.tx_id, e.seq"
                "     from page, unnest(page.events) with ordinality e order by e.ordinality)"
                " select penstock.cursor_moved(c, events, %s), cardinality(events) from page",
                [reader, limit, reader, limit],
            ).fetchone()
            if cut and row is not None and row[1]:
                self._cut(db)
        return bool(row and row[0])

    def _cut(self, db: Connection) -> None:
        self.cuts += 1
        with connect(self.url) as other:
            other.execute("select pg_terminate_backend(%s)", [db.info.backend_pid])
        db.execute("select 1")

    def keyset(self, limit: int, seen: set[UUID]) -> Callable[[random.Random], None]:
        """What document 004 does: on from the highest (created_at, id) read so far."""

        def work(_: random.Random) -> None:
            last: tuple[object, object] = ("-infinity", UUID(int=0))
            with connect(self.url) as db:
                while not self.stop.wait(_PAUSE_S):
                    page = db.execute(
                        "select created_at, event_id from penstock.event_outbox"
                        " where (created_at, event_id) > (%s::timestamptz, %s) order by 1, 2 limit %s",
                        [*last, limit],
                    ).fetchall()
                    seen.update(row[1] for row in page)
                    last = page[-1] if page else last

        return work

    # ------------------------------------------------------------ what came of it

    def had(self, db: Connection, reader: str) -> Counter[UUID]:
        return Counter(row[0] for row in db.execute("select event_id from had where reader = %s", [reader]))

    def made(self, db: Connection, consumer: str) -> Counter[UUID]:
        found = db.execute("select causation_event_id from penstock.job where actor = %s", [f"consumer:{consumer}"])
        return Counter(row[0] for row in found)


class _Undone(Exception):
    pass
