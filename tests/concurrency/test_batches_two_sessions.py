"""Batches of executions at the same time: each holds a bad request, and that is nobody else's trouble."""

import pytest

from penstock.errors import Busy
from penstock.kernel import executions
from penstock.kernel.connection import Connection
from penstock.kernel.executions import Executed
from penstock.model import Json
from tests.concurrency.sessions import answer, aside
from tests.conftest import Connect
from tests.ingest.support import PLAYBOOK, playbook
from tests.sql.support import rows, value

BAD: Json = {"playbook": "domain/nowhere"}


@pytest.fixture(autouse=True)
def registered(db: Connection) -> None:
    playbook(db, lane="one-at-a-time")


def _keyed(*keys: str) -> list[Json]:
    return [{"playbook": PLAYBOOK, "idempotency_key": key} for key in keys]


def _batch(connection: Connection, *keys: str) -> list[Executed]:
    return executions.execute_batch(connection, [*_keyed(*keys), BAD])


def test_keys_in_another_order_are_no_deadlock(db: Connection, session: Connect) -> None:
    first, second, third = session(), session(), session()
    third.execute("begin")
    executions.execute_batch(third, _keyed("m"))
    with aside(db) as others:
        # each has come to the key that a third one holds; the other two would be taken before and after it
        one = others.run_until_it_waits(first, lambda mine: _batch(mine, "x", "m", "y"))
        two = others.run_until_it_waits(second, lambda mine: _batch(mine, "y", "m", "x"))
        third.execute("commit")
        done = [answer(one), answer(two)]
    assert [[one.ordinal for one in batch] for batch in done] == [[1, 2, 3, 4]] * 2
    assert [batch[3].status for batch in done] == ["refused", "refused"]
    ids = [[one.execution_id for one in batch[:3]] for batch in done]
    assert ids[0] == ids[1][::-1]
    assert sorted(batch[0].status for batch in done) == ["known", "started"]
    assert value(db, "select count(*) from penstock.job") == 3


def test_a_lock_that_does_not_come_refuses_no_request_but_the_call(db: Connection, session: Connect) -> None:
    holds, waits = session(), session()
    holds.execute("begin")
    executions.execute_batch(holds, _keyed("k"))
    waits.execute("set lock_timeout = '100ms'")
    with pytest.raises(Busy):
        _batch(waits, "j", "k")
    holds.execute("commit")
    assert [one.status for one in _batch(waits, "j", "k")] == ["started", "known", "refused"]


def test_the_good_ones_are_started_in_the_order_they_were_asked_for(db: Connection) -> None:
    done = _batch(db, "c", "a", "b")
    assert rows(db, "select job_id from penstock.job order by job_id") == [(one.execution_id,) for one in done[:3]]
    assert rows(db, "select status::text from penstock.job_queue order by job_id") == [("ready",), *[("blocked",)] * 2]
