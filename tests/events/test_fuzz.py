"""No event is skipped and none read twice, whoever commits when (guarantee 3)."""

import os
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from uuid import UUID

import pytest

from penstock.embedded import Binaries, EmbeddedPostgres
from penstock.kernel import consumers, events
from penstock.kernel.connection import Connection, connect
from penstock.kernel.migrate import migrate
from tests.concurrency.sessions import wait_until
from tests.events.fuzz import Fuzz
from tests.events.support import CONSUMER, DOMAIN, TYPE, known, live
from tests.sql.support import value

READERS = {"by_ones": 1, "by_threes": 3, "by_hundreds": 100}
SETTINGS = {"fsync": "off", "synchronous_commit": "off", "max_prepared_transactions": "10", "max_connections": "60"}


@pytest.fixture(scope="module")
def own_server(scratch: Path, binaries: Binaries) -> Iterator[EmbeddedPostgres]:
    """One with prepared transactions, and a young count of them."""
    embedded = EmbeddedPostgres(scratch / "fuzz", binaries=binaries, settings=SETTINGS)
    embedded.start()
    yield embedded
    embedded.leave()


def _make(server: EmbeddedPostgres, name: str) -> str:
    with connect(server.url()) as connection:
        connection.execute(f"create database {name}".encode())
    url = server.url(name)
    with connect(url) as connection:
        migrate(connection)
        known(connection)
        live(connection)
    return url


def _burn_to(db: Connection, tx_id: int) -> None:
    """Use up transaction ids until the next one has just so much."""
    while value(db, "select pg_current_xact_id()::text::bigint") < tx_id:
        pass


@pytest.mark.parametrize("seconds", [6, pytest.param(120, marks=pytest.mark.long)])
def test_every_committed_event_reaches_every_reader_once(
    own_server: EmbeddedPostgres, seconds: int, record_property: Callable[[str, object], None]
) -> None:
    url = _make(own_server, f"fuzz{seconds}")
    fuzz = Fuzz(url, seed=int(os.environ.get("FUZZ_SEED", "1")))
    seen_by_keyset: set[UUID] = set()
    with connect(url) as db, connect(url) as late, connect(own_server.url()) as elsewhere:
        for held in (late, elsewhere):
            held.execute("set idle_in_transaction_session_timeout = 0")
        with elsewhere.transaction():
            # in another database, for the whole time
            elsewhere.execute("select pg_current_xact_id()")
            with late.transaction():
                lone = [fuzz.emit(late)]
                db.execute("begin")
                prepared = [fuzz.emit(db)]
                db.execute("prepare transaction 'held'")
                border = 10 ** len(str(value(db, "select pg_current_xact_id()::text::bigint")))
                _burn_to(db, border - 100)
                readers = [fuzz.read(name, limit) for name, limit in READERS.items()]
                keyset = fuzz.keyset(50, seen_by_keyset)
                work = [fuzz.write] * 7 + [fuzz.hold, fuzz.tick, fuzz.tick, fuzz.dispatch, fuzz.dispatch, keyset]
                with fuzz.threads(*work, *readers, *readers):
                    fuzz.stop.wait(seconds)
                    # the readers go on alone: what is committed comes without waiting for who is still open
                _settle(fuzz, db, fuzz.committed.ids)
            # nobody emits after this one
            fuzz.committed.add(lone)
            _settle(fuzz, db, fuzz.committed.ids)
            db.execute("commit prepared 'held'")
            fuzz.committed.add(prepared)
            _settle(fuzz, db, fuzz.committed.ids)
        wanted = Counter(dict.fromkeys(fuzz.committed.ids, 1))
        for reader in READERS:
            assert fuzz.had(db, reader) == wanted, reader
            _assert_order(db, reader)
        assert fuzz.made(db, CONSUMER) == wanted
        assert value(db, "select max(tx_id)::text::bigint from penstock.event_outbox") > border
    missed = fuzz.committed.ids - seen_by_keyset
    record_property(
        "summary",
        f"the cursor fuzz: {len(wanted)} events in {seconds} s, {len(READERS)} readers and a dispatcher, "
        f"{fuzz.cuts} cut off in the middle: none skipped, none twice; a keyset cursor missed {len(missed)}",
    )
    # else the fuzz would not find the fault it is for
    assert len(missed) > 1 + len(lone) + len(prepared)


def _settle(fuzz: Fuzz, db: Connection, wanted: set[UUID]) -> None:
    """Poll as a lone worker would, until everything that is committed has come."""

    def all_there() -> bool:
        events.tick(db)
        for reader in READERS:
            # what the slow ones have left over, in larger pages
            while fuzz.read_page(db, reader, 500):
                pass
        while consumers.dispatch_run(db).get("more"):
            pass
        return (
            all(wanted <= fuzz.had(db, reader).keys() for reader in READERS)
            and wanted <= fuzz.made(db, CONSUMER).keys()
        )

    wait_until(all_there, "every committed event has come")


def _assert_order(db: Connection, reader: str) -> None:
    """Within a page by the numbers, not their digits; and a transaction's own events as they were emitted."""
    rows = db.execute(
        "select page, tx_id::text::bigint, seq from had where reader = %s order by id", [reader]
    ).fetchall()
    last_of: dict[int, int] = {}
    for before, after in pairwise(rows):
        assert before[0] != after[0] or before[1:] < after[1:]
    for _, tx_id, seq in rows:
        assert last_of.get(tx_id, 0) < seq
        last_of[tx_id] = seq


def test_a_tick_of_its_own_transaction_is_not_dispatched(db: Connection, database: str) -> None:
    known(db)
    live(db)
    with connect(database) as other, other.transaction():
        first = events.emit(other, DOMAIN, TYPE)
        # others get higher numbers and end: its own number is below the snapshot's end
        for _ in range(3):
            db.execute("select pg_current_xact_id()")
        assert events.tick(other, force=True) is not None
        consumers.dispatch_run(other)
        last = events.emit(other, DOMAIN, TYPE)
    events.tick(db)
    consumers.dispatch_run(db)
    assert [row[0] for row in db.execute("select causation_event_id from penstock.job order by job_id")] == [
        first,
        last,
    ]


def test_an_open_ticker_stops_no_other_and_none_is_read_twice(db: Connection, database: str) -> None:
    """Its tick becomes visible late, with an older snapshot than the next one's."""
    known(db)
    live(db)
    with connect(database) as slow, connect(database) as slower:
        with slower.transaction():
            with slow.transaction():
                event = events.emit(slow, DOMAIN, TYPE)
                db.execute("select pg_current_xact_id()")
                assert events.tick(slow, force=True) is not None
                assert events.tick(slower, force=True) is not None
            # now the newest tick that can be seen is one that was made by the event's own transaction
            consumers.dispatch_run(db)
        consumers.dispatch_run(db)
        events.tick(db, force=True)
        consumers.dispatch_run(db)
    assert [row[0] for row in db.execute("select causation_event_id from penstock.job")] == [event]
    # a second time would make no second job, but be noted
    assert {one.outcome for one in consumers.noted(db, CONSUMER)} == {"dry_run"}
