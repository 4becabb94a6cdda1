"""Two sessions cut the same document: one after the other, the later version wins, and nothing is told twice."""

import random

import pytest

from penstock.kernel.connection import Connection
from tests.concurrency.sessions import answer, aside, never_waits, together
from tests.conftest import Connect
from tests.sql.support import rows, value
from tests.sql.test_pieces import ONE, Version, cut, recut, stage

SESSIONS = 4
TWO: Version = [("b", b"B2\n"), ("a", b"A1\n"), ("d", b"D\n")]


def _live(db: Connection, document: str = "d.md") -> Version:
    found = rows(
        db,
        "select substring(address from '#(.*)~'), bytes from penstock.iu_piece"
        " where document = %s and deprecated_at is null order by position",
        document,
    )
    return [(str(name), bytes(text)) for name, text in found]


def test_the_same_record_is_cut_once(db: Connection, session: Connect) -> None:
    staging_id = stage(db, ONE)
    first, second = session(), session()
    with first.transaction(), aside(db) as others:
        assert cut(first, staging_id, ONE)["documents"] == 1
        waiting = others.run_until_it_waits(second, lambda mine: cut(mine, staging_id, ONE))
        first.execute("commit")
        assert answer(waiting)["documents"] == 0
    assert value(db, "select count(*) from penstock.event_outbox") == len(ONE)


@pytest.mark.parametrize("is_known", [False, True])
def test_a_later_version_is_compared_with_the_one_it_waited_for(
    is_known: bool, db: Connection, session: Connect
) -> None:
    if is_known:
        recut(db, [("z", b"Z\n")], "r0")
    earlier, later = stage(db, ONE, run="r1"), stage(db, TWO, run="r2")
    first, second = session(), session()
    with first.transaction(), aside(db) as others:
        cut(first, earlier, ONE)
        waiting = others.run_until_it_waits(second, lambda mine: cut(mine, later, TWO))
        first.execute("commit")
        counts = answer(waiting)
    assert {kind: counts[kind] for kind in ("added", "changed", "reordered", "deprecated")} == {
        "added": 1,
        "changed": 1,
        "reordered": 2,
        "deprecated": 1,
    }
    assert _live(db) == TWO


def test_a_cut_compares_nothing_before_it_holds_the_document(db: Connection, session: Connect) -> None:
    recut(db, [("z", b"Z\n")], "r0")
    earlier, later = stage(db, ONE, run="r1"), stage(db, TWO, run="r2")
    first, second = session(), session()
    with first.transaction(), aside(db) as others:
        first.execute("select from penstock.iu_document for update")
        waiting = others.run_until_it_waits(second, lambda mine: cut(mine, later, TWO))
        cut(first, earlier, ONE)
        first.execute("commit")
        assert answer(waiting)["changed"] == 1
    assert _live(db) == TWO


@pytest.mark.parametrize("is_known", [False, True])
def test_an_earlier_version_that_had_to_wait_changes_nothing(is_known: bool, db: Connection, session: Connect) -> None:
    if is_known:
        recut(db, TWO, "r0")
    earlier, later = stage(db, ONE, run="r1"), stage(db, TWO, run="r2")
    first, second = session(), session()
    with first.transaction(), aside(db) as others:
        cut(first, later, TWO)
        waiting = others.run_until_it_waits(second, lambda mine: cut(mine, earlier, ONE))
        first.execute("commit")
        assert answer(waiting)["superseded"] == 1
    assert _live(db) == TWO
    assert value(db, "select count(*) from penstock.event_outbox") == len(TWO)


def test_the_second_cuts_when_the_first_dies(db: Connection, session: Connect) -> None:
    staging_id = stage(db, ONE)
    first, second = session(), session()
    first.execute("begin")
    cut(first, staging_id, ONE)
    with aside(db) as others:
        waiting = others.run_until_it_waits(second, lambda mine: cut(mine, staging_id, ONE))
        value(db, "select pg_terminate_backend(%s)", first.info.backend_pid)
        assert answer(waiting)["documents"] == 1
    assert _live(db) == ONE
    assert value(db, "select count(*) from penstock.event_outbox") == len(ONE)


def test_other_documents_wait_for_nobody(db: Connection, session: Connect) -> None:
    mine, other = stage(db, ONE, document="a.md"), stage(db, ONE, document="b.md")
    first = session()
    with first.transaction():
        cut(first, mine, ONE)
        assert cut(never_waits(db), other, ONE)["documents"] == 1


def test_many_sessions_that_cut_many_documents_do_not_deadlock(db: Connection, session: Connect) -> None:
    """Every session has a version of every document, in runs of their own, in any order."""
    documents = [f"{number}.md" for number in range(20)]
    versions = [[("a", f"A{number}\n".encode()), ("b", b"B\n")] for number in range(SESSIONS)]
    staged = [
        [(stage(db, versions[number], run=f"r{number}", document=one), one) for one in documents]
        for number in range(SESSIONS)
    ]
    connections = [session() for _ in range(SESSIONS)]

    def cut_all(number: int) -> None:
        ours = list(staged[number])
        random.Random(number).shuffle(ours)
        for staging_id, _ in ours:
            cut(connections[number], staging_id, versions[number])

    together(SESSIONS, cut_all)
    assert all(_live(db, one) == versions[-1] for one in documents)
