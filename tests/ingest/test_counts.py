"""What a runtime hears of its own commits when it renews its lease."""

import pytest

from penstock.errors import RuntimeReplaced
from penstock.kernel import runtimes
from penstock.kernel.connection import Connection
from penstock.kernel.runtimes import Counts
from tests.ingest.support import PATH, Runtime, offsets, playbook, subscription


@pytest.fixture
def runtime(db: Connection) -> Runtime:
    playbook(db)
    subscription(db)
    return Runtime(db)


def _counts(runtime: Runtime, backlog: int | None = None) -> Counts:
    return runtimes.lease(runtime.db, PATH, runtime.incarnation, runtime.lease.token, backlog).counts


def test_a_subscription_without_a_commit_has_no_batch_and_no_time_of_one(runtime: Runtime) -> None:
    assert runtime.lease.counts == Counts(0, 0, 0, 0, 0, [], None, None)


def test_a_renewal_tells_what_the_last_batch_came_to(runtime: Runtime) -> None:
    runtime.put(*offsets(0, 1, 2))
    runtime.put({"source_offset": 3, "fault": "bad_json"})
    runtime.commit()
    counts = _counts(runtime, backlog=7)
    assert (counts.executions, counts.dead_lettered, counts.batches, counts.backlog) == (3, 1, 1, 7)
    (batch,) = counts.recent
    assert batch.pop("commit_ms") >= 0
    assert batch == {
        "batch": 1,
        "received": 4,
        "executions": 3,
        "deduplicated": 0,
        "dead_lettered": 1,
        "replays": 0,
    }


def test_the_newest_batches_are_told_of_one_by_one_and_the_older_ones_forgotten(runtime: Runtime) -> None:
    for number in range(7):
        runtime.put(*offsets(number))
        runtime.commit()
    assert [batch["batch"] for batch in _counts(runtime).recent] == [7, 6, 5, 4, 3]


def test_a_commit_without_messages_is_no_batch(runtime: Runtime) -> None:
    runtime.commit({"orders/0": {"identity": "t1", "next": 9}}, {})
    assert _counts(runtime) == runtime.lease.counts


def test_a_runtime_that_was_replaced_hears_nothing_of_the_others_commits(db: Connection, runtime: Runtime) -> None:
    db.execute("update penstock.subscription_runtime set lease_until = now() - interval '1 second'")
    other = Runtime(db)
    other.put(*offsets(0))
    other.commit()
    with pytest.raises(RuntimeReplaced):
        _counts(runtime)
