"""One-step playbooks, run by a worker."""

import json
from uuid import uuid4

from penstock.client import Client
from penstock.kernel import catalog, runtimes
from penstock.kernel.connection import Connection
from tests.acceptance import processes
from tests.acceptance.outcomes import await_end, outcomes, result, status
from tests.acceptance.processes import Crew
from tests.ingest.support import PATH, Runtime, playbook, subscription

crew = processes.crew
APP = "tests.acceptance.apps.orders"


def _python(db: Connection, path: str, function: str, **step: object) -> str:
    return playbook(db, path, tool={"kind": "python", "function": f"{APP}:{function}"}, **step)


def test_a_function_gets_the_input_with_the_defaults_below_it(db: Connection, database: str, crew: Crew) -> None:
    path = _python(db, "domain/process", "process")
    entry = catalog.entry(db, path)
    catalog.register(db, path, "Playbook", {**entry.content, "workload": {"currency": "EUR", "order": 0}}, "")
    with Client(database) as client:
        started = client.execute(path, {"order": 7}, idempotency_key="seven")
        assert client.execute(path, {"order": 8}, idempotency_key="seven") == started
    crew.start("plain")
    await_end(db, [started])
    assert result(db, started) == {"currency": "EUR", "order": 7}


def test_an_async_function_runs_and_may_ask_for_the_job(db: Connection, database: str, crew: Crew) -> None:
    _python(db, "domain/later", "process_later")
    with Client(database) as client:
        started = client.execute("domain/later", {"order": 7})
    crew.start("plain")
    await_end(db, [started])
    assert result(db, started) == {"attempt": 1, "order": 7}


def test_a_function_that_is_not_there_is_tried_again_and_says_so(db: Connection, database: str, crew: Crew) -> None:
    _python(db, "domain/gone", "nobody", retry={"max_attempts": 1})
    with Client(database) as client:
        started = client.execute("domain/gone")
    crew.start("plain")
    await_end(db, [started])
    assert status(db, started) == "dead_lettered"
    assert "cannot be imported by this worker" in json.dumps(outcomes(db, started)[-1].error)


def test_a_step_that_outlives_its_own_timeout_fails_whatever_its_kind_may(
    db: Connection, database: str, crew: Crew
) -> None:
    _python(db, "domain/linger", "linger", timeout_s=1, retry={"max_attempts": 1})
    with Client(database) as client:
        started = client.execute("domain/linger")
    crew.start("plain")
    await_end(db, [started])
    error = outcomes(db, started)[-1].error
    assert (error["type"], error["message"]) == ("Timeout", "the handler ran longer than 1 s")


def test_a_message_is_handed_over_as_its_subscription_says(db: Connection, crew: Crew) -> None:
    playbook(db)
    _python(db, "domain/process_order", "process")
    subscription(db, dispatch={"playbook": "domain/process_order", "payload_from": "message.json"})
    runtime = Runtime(db)
    runtime.put(
        {"source_offset": 3, "body": b'{"n": 1, "source": "mine"}', "attributes": '[["X-A", "1"], ["x-a", "2"]]'}
    )
    runtime.commit()
    runtimes.release(db, PATH, runtime.lease.token)
    row = db.execute("select execution_id from penstock.v_execution").fetchone()
    assert row is not None
    crew.start("plain")
    await_end(db, [row[0]])
    given = result(db, row[0])
    assert (given["n"], given["source"], given["subscription"]) == (1, "kafka", PATH)
    assert given["message"]["headers"] == {"x-a": ["1", "2"]}
    assert given["message"]["data"] == {"n": 1, "source": "mine"}
    assert runtimes.lease(db, PATH, uuid4()).positions == {"orders/0": {"identity": "t1", "next": 4, "floor": -1}}
