"""A dump restored into a fresh cluster: nothing goes on by itself, and re-based nothing is lost or done twice."""

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from penstock.embedded import Binaries, EmbeddedPostgres
from penstock.errors import LogRestored
from penstock.kernel import consumers, events, queue
from penstock.kernel.connection import Connection, connect
from penstock.kernel.migrate import migrate
from tests.dump import dump
from tests.events.support import CONSUMER, dispatched, emit, jobs_of, known, live
from tests.sql.support import value


@pytest.fixture(scope="module")
def young(scratch: Path, binaries: Binaries) -> Iterator[EmbeddedPostgres]:
    """A cluster that has seen few transactions, and has our roles."""
    embedded = EmbeddedPostgres(scratch / "young", binaries=binaries, settings={"fsync": "off"})
    embedded.start()
    with connect(embedded.url()) as connection:
        connection.execute("create database roles")
    with connect(embedded.url("roles")) as connection:
        migrate(connection)
    yield embedded
    embedded.leave()


def _restored(young: EmbeddedPostgres, binaries: Binaries, original: str, name: str) -> str:
    with connect(young.url()) as connection:
        connection.execute(f"create database {name}".encode())
    subprocess.run(
        [binaries.folder / "psql", "-q", "-v", "ON_ERROR_STOP=1", "-f", "-", young.url(name)],
        input=dump(binaries, original),
        text=True,
        check=True,
        stdout=subprocess.DEVNULL,
        timeout=120,
    )
    return young.url(name)


def _burn(db: Connection, count: int) -> None:
    """So that the original's numbers are far above the copy's."""
    for _ in range(count):
        db.execute("select pg_current_xact_id()")


@pytest.mark.parametrize("emitted_before", [0, 5])
def test_a_restored_copy_waits_to_be_rebased_and_then_loses_nothing(
    db: Connection, database: str, young: EmbeddedPostgres, binaries: Binaries, emitted_before: int
) -> None:
    known(db)
    live(db)
    _burn(db, 3000)
    wanted = [emit(db, f"done {number}") for number in range(4)]
    dispatched(db)
    wanted += [emit(db, f"in the middle {number}") for number in range(6)]
    events.tick(db)
    assert consumers.dispatch_run(db, limit=2)["more"]
    wanted += [emit(db, f"not ticked {number}") for number in range(3)]
    with connect(_restored(young, binaries, database, f"copy{emitted_before}")) as copy:
        now = "select pg_current_xact_id()::text::bigint"
        assert value(copy, now) < value(db, now)
        for call in (events.tick, consumers.dispatch_run):
            with pytest.raises(LogRestored, match="was restored from a copy"):
                call(copy)
        assert not queue.tick(copy)["outbox"]["ok"]
        wanted += [emit(copy, f"before it was re-based {number}") for number in range(emitted_before)]
        events.rebase(copy, "user:ann")
        wanted += [emit(copy, f"after {number}") for number in range(3)]
        dispatched(copy, limit=2)
        assert jobs_of(copy, CONSUMER) == wanted
        # and again: nothing to do
        base = value(copy, "select base from penstock.outbox_base")
        assert events.rebase(copy) == base
        assert dispatched(copy)["events"] == 0


def test_a_transaction_that_was_open_while_it_was_rebased_is_read_too(
    db: Connection, database: str, young: EmbeddedPostgres, binaries: Binaries
) -> None:
    known(db)
    live(db)
    _burn(db, 3000)
    wanted = [emit(db, "pending")]
    url = _restored(young, binaries, database, "copy_open")
    with connect(url) as copy, connect(url) as slow:
        with slow.transaction():
            slow.execute("select pg_current_xact_id()")
            events.rebase(copy)
            wanted.append(emit(copy, "after"))
            dispatched(copy)
            assert jobs_of(copy) == wanted
            late = emit(slow, "late")
        dispatched(copy)
        assert jobs_of(copy) == [*wanted, late]
