"""Messages that start playbooks of several steps: the graph is written by the commit that makes the executions."""

from penstock.kernel import executions
from penstock.kernel.connection import Connection
from tests.ingest.support import PLAYBOOK, Runtime, offsets, playbook, subscription
from tests.playbooks.support import claimed, driven, finished, state, steps_of
from tests.playbooks.support import playbook as flow

STEPS = """
  - {step: a, tool: {kind: noop}, next: [b, c]}
  - {step: b, tool: {kind: noop}, next: d}
  - {step: c, tool: {kind: noop}, next: d}
  - {step: d, tool: {kind: noop}}
"""


def test_each_message_is_a_workflow_and_its_first_job(db: Connection) -> None:
    flow(db, STEPS, path=PLAYBOOK)
    subscription(db, dispatch={"playbook": PLAYBOOK, "execution_pool": "priority"})
    runtime = Runtime(db)
    runtime.put(*offsets(1, 2, 3, trace="00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"))
    assert runtime.commit().executions == 3
    found = executions.newest(db, 10)
    assert [(one.status, one.pool, one.subscription) for one in found] == [
        ("running", "priority", "subscriptions/orders")
    ] * 3
    ran = driven(db)
    assert sorted(ran) == sorted("abcd" * 3)
    for one in found:
        assert state(db, one.execution_id) == ("succeeded", 0, 0)
    refs = db.execute(
        "select distinct payload_ref = 'penstock://message/' || execution_id, pool, trace is not null, subscription"
        " from penstock.job where step is not null"
    ).fetchall()
    assert refs == [(True, "priority", True, "subscriptions/orders")]


def test_all_steps_of_a_message_are_served_where_the_first_is(db: Connection) -> None:
    flow(db, STEPS, path=PLAYBOOK)
    subscription(db)
    runtime = Runtime(db)
    runtime.put(*offsets(1))
    runtime.commit()
    driven(db)
    assert db.execute("select distinct pool from penstock.job where step is not null").fetchall() == [("subscription",)]


def test_a_replay_starts_no_second_workflow(db: Connection) -> None:
    flow(db, STEPS, path=PLAYBOOK)
    subscription(db)
    runtime = Runtime(db)
    runtime.put(*offsets(1))
    runtime.commit()
    runtime.put(*offsets(1, 2))
    assert (runtime.commit().executions, len(executions.newest(db, 10))) == (1, 2)


def test_limits_count_every_live_step_of_a_message(db: Connection) -> None:
    flow(db, STEPS, path=PLAYBOOK)
    subscription(db, limits={"max_in_flight": 10})
    runtime = Runtime(db)
    runtime.put(*offsets(1))
    runtime.commit()
    finished(db, claimed(db))
    alive = db.execute("select count(*) from penstock.job_queue where source is not null").fetchone()
    assert alive == (2,)


def test_playbooks_of_one_step_and_of_several_in_one_batch(db: Connection) -> None:
    flow(db, STEPS, path="domain/long")
    playbook(db)
    directive = {"header": "x-route", "controls": "dispatch.playbook", "allowed": ["domain/long"]}
    subscription(db, headers={"directives": [directive]})
    runtime = Runtime(db)
    runtime.put(*offsets(1), {"source_offset": 2, "playbook": "domain/long"})
    assert runtime.commit().executions == 2
    assert db.execute("select count(*) from penstock.job_workflow").fetchone() == (1,)
    assert sorted(driven(db)) == ["", "a", "b", "c", "d"]
    (long,) = db.execute("select execution_id from penstock.job_workflow").fetchone() or (0,)
    assert [step for step, *_ in steps_of(db, long)] == ["a", "b", "c", "d"]
