"""A database that was in use before playbooks of several steps: all of it is still there, and goes on."""

from collections.abc import Iterator
from itertools import chain
from uuid import uuid4

import pytest

from penstock.embedded import EmbeddedPostgres
from penstock.kernel import dead_letters, executions, jobs, queue
from penstock.kernel.connection import Connection, connect
from penstock.kernel.migrate import check, migrate, migrations
from tests.acceptance import processes
from tests.acceptance.outcomes import await_end, result
from tests.acceptance.processes import Crew, until
from tests.events import support as event_plane
from tests.migration.older import ORDERS, SINGLE, TABLES, Filled, contents, fill, restore
from tests.playbooks.support import playbook, started, state, steps_of
from tests.sql.support import enqueue, fall_due, finish, refused, rows, status, statuses, take, tick, value

crew = processes.crew
NEW = [7, 8]
MANY = """
  - {step: a, tool: {kind: noop}, next: [b, c]}
  - {step: b, tool: {kind: noop}, next: d}
  - {step: c, tool: {kind: playbook, path: shop/process, payload: {order: child}}, next: d}
  - {step: d, tool: {kind: noop}}
"""


@pytest.fixture
def database(server: EmbeddedPostgres, template: str) -> Iterator[str]:
    """The URL of a database as the release before made it; the template has made the roles."""
    assert template
    name = f"t_{uuid4().hex[:12]}"
    with connect(server.url()) as superuser:
        superuser.execute(f"create database {name}".encode())
        try:
            with connect(server.url(name)) as older:
                restore(older)
            yield server.url(name)
        finally:
            superuser.execute(f"drop database {name} with (force)".encode())


@pytest.fixture
def filled(db: Connection) -> Filled:
    return fill(db)


def _upgraded(db: Connection) -> None:
    before = [row for (row,) in rows(db, "select version from penstock.schema_migration order by 1")]
    assert before == list(range(1, NEW[0]))
    assert [one.version for one in migrate(db)] == [one.version for one in migrations() if one.version >= NEW[0]]
    check(db)


def test_every_row_is_still_there(db: Connection, filled: Filled) -> None:
    tables = [name for (name,) in rows(db, TABLES)]
    before = contents(db, tables)
    used = {name for name, kept in before.items() if kept}
    assert used >= {"job", "job_queue", "job_outcome", "job_result", "job_dead_letter", "once_key", "event_outbox"}
    assert used >= {"catalog", "subscription", "ingest_message", "execution_input", "consumer_registry", "schedule"}
    stood = statuses(db, [*filled.jobs.values(), *filled.executions.values()])
    _upgraded(db)
    after = contents(db, tables)
    lost = {
        name: [row for row in kept if not any(row.items() <= other.items() for other in after[name])]
        for name, kept in before.items()
    }
    assert {name: missing for name, missing in lost.items() if missing} == {}
    assert statuses(db, [*filled.jobs.values(), *filled.executions.values()]) == stood
    assert migrate(db) == []


def test_what_a_worker_held_is_finished_under_its_old_token(db: Connection, filled: Filled) -> None:
    _upgraded(db)
    held = ("leased", "running", "cancelling")
    answers = {
        one.job_id: one.reason
        for one in refused(db, [filled.jobs[one] for one in held], [filled.tokens[one] for one in held])
    }
    assert answers == {filled.jobs["cancelling"]: "cancelled"}
    assert statuses(db, [filled.jobs[one] for one in held]) == ["succeeded", "succeeded", "cancelled"]


def test_what_waited_is_claimed_in_order_and_finished(db: Connection, filled: Filled) -> None:
    _upgraded(db)
    fall_due(db, filled.jobs["scheduled"], filled.jobs["retrying"])
    assert all(part["ok"] for part in tick(db).values())
    first = take(db)
    names = {job_id: name for name, job_id in filled.jobs.items()}
    assert {names[one.job_id] for one in first if one.job_id in names} == {
        *("ready", "scheduled", "retrying", "first of lane")
    }
    finish(db, *first)
    assert filled.jobs["second of lane"] in [one.job_id for one in take(db)]


def test_keys_hold_over_the_upgrade(db: Connection, filled: Filled) -> None:
    _upgraded(db)
    assert enqueue(db, "ready", idempotency_key="once") == filled.jobs["ready"]
    again = executions.execute(db, {"playbook": SINGLE, "idempotency_key": "ready"})
    assert again == (filled.executions["ready"], False)
    assert executions.execute(db, {"playbook": SINGLE, "idempotency_key": "another"})[1]


def test_dead_letters_are_replayed(db: Connection, filled: Filled, crew: Crew) -> None:
    _upgraded(db)
    letters = {
        job: f"job-{letter}" for letter, job in rows(db, "select dead_letter_id, job_id from penstock.job_dead_letter")
    }
    again = dead_letters.replay(db, letters[filled.jobs["dead"]])
    assert status(db, int(again.removeprefix("job-"))) == "ready"
    replayed = int(dead_letters.replay(db, letters[filled.executions["dead"]]).removeprefix("job-"))
    crew.start("plain")
    await_end(db, [replayed])
    assert result(db, replayed) == {"currency": "EUR", "order": "dead"}


def test_executions_from_before_run_and_so_do_new_ones_of_the_same_playbook(
    db: Connection, filled: Filled, crew: Crew
) -> None:
    _upgraded(db)
    assert filled.runtime is not None
    assert filled.runtime.commit().executions == 2
    new = started(db, SINGLE, payload={"order": "new"})
    tuned = started(db, "shop/tuned", payload={"order": "new"})
    facts = jobs.show(db, tuned)
    assert (facts.pool, facts.lane, facts.max_attempts) == ("priority", "one at a time", 2)
    messages = [job for (job,) in rows(db, "select job_id from penstock.job where subscription = %s", ORDERS)]
    assert len(messages) == 5
    crew.start("plain")
    old = [filled.executions["ready"], filled.executions["tuned"]]
    await_end(db, [*old, new, tuned, *messages])
    assert [result(db, one) for one in (*old, new, tuned)] == [
        {"currency": "EUR", "order": "ready"},
        {"order": "tuned"},
        {"currency": "EUR", "order": "new"},
        {"order": "new"},
    ]
    assert [result(db, one)["order"] for one in messages] == ["message"] * 5
    assert executions.show(db, new).status == "succeeded"


def test_a_playbook_of_several_steps_is_registered_and_runs(db: Connection, filled: Filled, crew: Crew) -> None:
    _upgraded(db)
    playbook(db, MANY)
    execution = started(db)
    crew.start("plain")
    until(lambda: executions.show(db, execution).finished_at is not None, "the end of the execution")
    assert state(db, execution) == ("succeeded", 0, 0)
    assert {one[0] for one in steps_of(db, execution)} == {"a", "b", "c", "d"}


def test_events_go_on_to_those_who_waited_for_them(db: Connection, filled: Filled) -> None:
    _upgraded(db)
    before = len(event_plane.jobs_of(db))
    event_plane.emit(db, "after")
    event_plane.dispatched(db)
    assert len(event_plane.jobs_of(db)) == before + 2
    seen = rows(db, "select subject_ref from penstock.fn_event_inbox('user:ann')")
    assert {"waits", "after"} <= set(chain.from_iterable(seen))
    db.execute("update penstock.schedule set next_run_at = now() - interval '1 minute'")
    assert queue.tick(db)["schedules"]["did"]["enqueued"] == 1
    assert value(db, "select count(*) from penstock.job where job_kind = 'nightly'") == 1
