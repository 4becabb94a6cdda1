"""What is run again from a dead letter is run as it was the first time: by all its steps, and as often and as late."""

from penstock.kernel import dead_letters, jobs
from penstock.kernel.connection import Connection
from tests.ingest.support import PLAYBOOK, Runtime, subscription
from tests.playbooks.support import claimed, driven, playbook, started, state, steps_of
from tests.sql.support import configure, rows

SINGLE = (
    "  - {step: a, tool: {kind: noop},"
    " retry: {max_attempts: 3, backoff: {strategy: fixed, base_ms: 3600000, cap_ms: 3600000}}}"
)
LINE = "  - {step: a, tool: {kind: noop}, next: b}\n  - {step: b, tool: {kind: noop}}"


def _fail(db: Connection, **error: object) -> int:
    """The one job that is ready fails; its id."""
    ((_, claim),) = claimed(db)
    jobs.fail(db, [claim.job_id], [claim.lease_token], [{"type": "Told", **error}])
    return claim.job_id


def _waits(db: Connection) -> list[tuple[int, int]]:
    """What is tried again: how many minutes from now, and how often it may be tried."""
    configure(db, "queue.retry.backoff.jitter", "0")
    _fail(db)
    return rows(
        db,
        "select round(extract(epoch from process_after - now()) / 60)::int, max_attempts::int from penstock.job_queue"
        " where status = 'retrying'",
    )


def test_a_replayed_execution_of_one_step_keeps_its_retry_policy(db: Connection) -> None:
    configure(db, "queue.retry.backoff.jitter", "0")
    playbook(db, SINGLE)
    execution = started(db)
    _fail(db, permanent=True)
    # a later version does not change what the first was asked for with
    playbook(db, "  - {step: a, tool: {kind: noop}, retry: {max_attempts: 9, backoff: {strategy: fixed, base_ms: 1}}}")
    assert jobs.retry(db, execution) != execution
    assert _waits(db) == [(60, 3)]


def _letter(db: Connection) -> None:
    """A message whose body could not be read becomes a dead letter; its subscription now takes such bodies."""
    subscription(db, dispatch={"playbook": PLAYBOOK, "payload_from": "message.json"})
    runtime = Runtime(db)
    runtime.put({"source_offset": 0, "body": b"plain"})
    assert runtime.commit().dead_lettered == 1
    subscription(db, dispatch={"playbook": PLAYBOOK, "payload_from": "message.body", "execution_pool": "priority"})


def test_a_replayed_message_is_tried_again_as_its_only_step_says(db: Connection) -> None:
    playbook(db, SINGLE, path=PLAYBOOK)
    _letter(db)
    dead_letters.replay(db, "ingest-1")
    assert _waits(db) == [(60, 3)]


def test_a_replayed_message_runs_every_step_of_its_playbook(db: Connection) -> None:
    playbook(db, LINE, path=PLAYBOOK)
    _letter(db)
    execution = int(dead_letters.replay(db, "ingest-1").removeprefix("job-"))
    assert driven(db) == ["a", "b"]
    assert state(db, execution) == ("succeeded", 0, 0)
    assert [one[0] for one in steps_of(db, execution)] == ["a", "b"]
    told = "select distinct pool, subscription, payload_ref from penstock.job where execution_id = %s"
    assert rows(db, told, execution) == [("priority", "subscriptions/orders", f"penstock://message/{execution}")]
