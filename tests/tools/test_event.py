"""event: a fact in the log, once, with the job's place in the world."""

from typing import Any
from uuid import UUID

import pytest

from penstock.jobs import PermanentError
from penstock.kernel import events
from penstock.kernel.connection import Connection
from penstock.worker.tools import event
from tests.logins import Logins
from tests.sql.support import rows
from tests.tools.calling import TRACE, Caller, a_job

GREW = {"domain": "kg", "type": "grew"}


@pytest.fixture(autouse=True)
def _registered(db: Connection) -> None:
    events.type_register(db, "kg", "grew", "update")


def _emitted(db: Connection, result: Any) -> events.Event:
    return events.show(db, UUID(result["event_id"]))


def test_an_event_carries_what_the_step_says_and_where_the_job_belongs(db: Connection, caller: Caller) -> None:
    cause = events.emit(db, "kg", "grew")
    job = a_job(11, actor="user:ann", correlation_id="c-1", causation_event_id=cause)
    said = {"subject_table": "node", "subject_ref": 5, "payload": {"size": 3}}
    found = _emitted(db, event.run(caller({**GREW, **said}, job=job)))
    assert (found.event_stream, found.subject_table, found.subject_ref) == ("update", "node", "5")
    assert (found.payload, found.actor, found.trace) == ({"size": 3}, "user:ann", TRACE)
    assert (found.correlation_id, found.causation_event_id) == ("c-1", cause)


def test_a_second_try_emits_nothing_new(db: Connection, caller: Caller) -> None:
    first = event.run(caller(GREW, job=a_job(11)))
    assert event.run(caller(GREW, job=a_job(11, attempt=2))) == first
    other = event.run(caller(GREW, job=a_job(12)))
    keyed = event.run(caller({**GREW, "key": "order-1"}, job=a_job(13)))
    assert event.run(caller({**GREW, "key": "order-1"}, job=a_job(14))) == keyed
    assert len({one["event_id"] for one in (first, other, keyed)}) == 3
    assert len(rows(db, "select from penstock.event_outbox")) == 3


def test_a_worker_that_may_not_speak_for_the_jobs_actor_speaks_for_itself(
    db: Connection, database: str, logins: Logins, caller: Caller, tmp_path_factory: pytest.TempPathFactory
) -> None:
    login = logins.make("dot_executor")
    other = Caller(database.replace("//postgres@", f"//{login}@"), tmp_path_factory.mktemp("worker"))
    result = event.run(other(GREW, job=a_job(actor="consumer:axis_refresh")))
    other.close()
    assert _emitted(db, result).actor == f"role:{login}"


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"type": "shrank"}, "shrank"),
        ({"domain": "nowhere"}, "nowhere"),
        ({"stream": "birth"}, "birth"),
        ({"payload": {"deep": [{"Password": "x"}]}}, "Password"),
        ({"payload": {"a": "x" * 20_000}}, "larger than 8192 bytes"),
        ({"payload": [1]}, "has to be an object"),
        ({"subject_ref": "x" * 3000}, "at most 2000"),
        ({"subject_ref": "a\0b"}, "U+0000"),
    ],
)
def test_what_the_log_refuses_fails_the_step_for_good(
    db: Connection, caller: Caller, settings: dict[str, Any], says: str
) -> None:
    with pytest.raises(PermanentError, match=r"^event: ") as caught:
        event.run(caller({**GREW, **settings}))
    assert says in str(caught.value)
    assert rows(db, "select from penstock.event_outbox") == []
