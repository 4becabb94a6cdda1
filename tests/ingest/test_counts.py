"""What a runtime hears of its own commits when it renews its lease."""

from dataclasses import replace

import pytest

from penstock.errors import RuntimeReplaced
from penstock.kernel import runtimes, subscriptions
from penstock.kernel.connection import Connection
from penstock.kernel.runtimes import Counts
from tests.ingest.support import PATH, Runtime, offsets, playbook, subscription
from tests.sql.support import value


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
    assert _counts(runtime) == replace(runtime.lease.counts, begun=True)


def test_a_runtime_that_was_replaced_hears_nothing_of_the_others_commits(db: Connection, runtime: Runtime) -> None:
    db.execute("update penstock.subscription_runtime set lease_until = now() - interval '1 second'")
    other = Runtime(db)
    other.put(*offsets(0))
    other.commit()
    with pytest.raises(RuntimeReplaced):
        _counts(runtime)


def test_a_taken_subscription_is_told_the_version_its_commits_are_judged_by(db: Connection, runtime: Runtime) -> None:
    runtimes.release(db, PATH, runtime.lease.token)
    # a registration that commits between the two statements of the call, as their snapshots would have it
    db.execute(
        "create function penstock.meanwhile() returns trigger language plpgsql as $$ begin"
        " update penstock.subscription s set version = 2 where s.path = new.path; return null; end $$;"
        " create trigger meanwhile after update on penstock.subscription_runtime"
        " for each row execute function penstock.meanwhile()"
    )
    db.execute(
        "insert into penstock.catalog select path, 2, kind, content, source, registered_by from penstock.catalog"
        " where path = %s",
        [PATH],
    )
    runtime = Runtime(db)
    judged_by = value(db, "select version from penstock.subscription_runtime")
    assert (runtime.lease.version, judged_by) == (1, 1)
    assert runtimes.lease(db, PATH, runtime.incarnation, runtime.lease.token).version == 2


def test_the_floor_of_a_part_comes_with_its_position(db: Connection, runtime: Runtime) -> None:
    runtime.commit({"ORDERS": {"identity": "t1", "next": 5, "floor": 3}, "orders/0": {"identity": "t1", "next": 9}}, {})
    assert runtimes.lease(db, PATH, runtime.incarnation, runtime.lease.token).positions == {
        "ORDERS": {"identity": "t1", "next": 5, "floor": 3},
        "orders/0": {"identity": "t1", "next": 9, "floor": -1},
    }


def test_a_subscription_has_begun_with_its_first_commit_even_of_nothing(db: Connection, runtime: Runtime) -> None:
    assert runtime.lease.counts.begun is False
    runtime.commit({}, {})
    assert runtimes.lease(db, PATH, runtime.incarnation, runtime.lease.token).counts.begun is True


def test_what_waits_at_the_source_is_not_known_once_nobody_reads_it(runtime: Runtime) -> None:
    _counts(runtime, backlog=18)
    held = subscriptions.show(runtime.db, PATH)
    assert (held.backlog, held.backlog_at is not None) == (18, True)
    runtimes.release(runtime.db, PATH, runtime.lease.token)
    left = subscriptions.show(runtime.db, PATH)
    assert (left.backlog, left.backlog_at) == (None, None)
