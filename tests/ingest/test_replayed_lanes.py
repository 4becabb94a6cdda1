"""A message of a lane stays in it, also when it comes from the dead letters or its first step is run again."""

from typing import Any

from penstock.kernel import dead_letters, executions
from penstock.kernel.connection import Connection
from tests.ingest.support import PATH, PLAYBOOK, Runtime, offsets, playbook, subscription
from tests.playbooks.support import claimed, finished
from tests.playbooks.support import playbook as flow
from tests.sql.support import configure, fail, rows, value

LANE = f"{PATH}:cust"
STEPS = """
  - {step: a, tool: {kind: noop}, next: b}
  - {step: b, tool: {kind: noop}}
"""


def _subscribed(db: Connection, **dispatch: Any) -> None:
    subscription(db, lanes="ordering_key", dispatch={"playbook": PLAYBOOK, **dispatch})


def _second_of_three_replayed(db: Connection) -> int:
    """Messages 1 and 3 wait in a lane; 2 was none of JSON, and is replayed now."""
    _subscribed(db, payload_from="message.json")
    runtime = Runtime(db)
    runtime.put(*offsets(1, 3, lane=LANE), *offsets(2, lane=LANE, body=b"plain", delivery_attempt=4))
    assert runtime.commit().dead_lettered == 1
    _subscribed(db, payload_from="message.body")
    return int(dead_letters.replay(db, "ingest-1").removeprefix("job-"))


def _one_by_one(db: Connection) -> list[list[tuple[str | None, int]]]:
    """Per round of claims: what ran side by side, the lane and the offset of its message."""
    rounds = []
    while claims := claimed(db):
        ids = [one.job_id for _, one in claims]
        rounds.append(
            rows(
                db,
                "select lane, source_offset::int from penstock.job j join penstock.ingest_message m"
                " on m.execution_id = coalesce(j.execution_id, j.job_id) where job_id = any(%s) order by source_offset",
                ids,
            )
        )
        finished(db, claims)
    return rounds


def test_a_replayed_message_waits_in_its_lane(db: Connection) -> None:
    playbook(db)
    _second_of_three_replayed(db)
    assert _one_by_one(db) == [[(LANE, 1)], [(LANE, 3)], [(LANE, 2)]]


def test_a_replayed_message_keeps_how_often_it_was_delivered(db: Connection) -> None:
    playbook(db)
    replayed = _second_of_three_replayed(db)
    message = executions.message(db, replayed)
    assert message is not None
    assert message.delivery_attempt == 4


def test_the_first_step_of_a_replayed_message_waits_in_its_lane(db: Connection) -> None:
    flow(db, STEPS, path=PLAYBOOK)
    _second_of_three_replayed(db)
    assert _one_by_one(db) == [[(LANE, 1)], [(None, 1), (LANE, 3)], [(LANE, 2), (None, 3)], [(None, 2)]]


def test_a_replayed_message_without_a_lane_has_its_playbooks(db: Connection) -> None:
    playbook(db, lane="one at a time")
    subscription(db, dispatch={"playbook": PLAYBOOK, "payload_from": "message.json"})
    runtime = Runtime(db)
    runtime.put(*offsets(1, body=b"plain"))
    runtime.commit()
    subscription(db, dispatch={"playbook": PLAYBOOK, "payload_from": "message.body"})
    dead_letters.replay(db, "ingest-1")
    assert rows(db, "select lane from penstock.job") == [("one at a time",)]


def test_a_first_step_that_is_run_again_stays_in_the_lane(db: Connection) -> None:
    flow(db, STEPS, path=PLAYBOOK)
    configure(db, "queue.retry.max_attempts.default", "1")
    _subscribed(db)
    runtime = Runtime(db)
    runtime.put(*offsets(1, 2, lane=LANE))
    runtime.commit()
    ((_, first),) = claimed(db)
    fail(db, first)
    executions.move(db, first.job_id, "retry")
    assert value(db, "select array_agg(lane order by job_id) from penstock.job_queue") == [LANE, LANE]
    assert _one_by_one(db) == [[(LANE, 2)], [(LANE, 1), (None, 2)], [(None, 1)]]
