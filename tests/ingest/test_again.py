"""What comes again under another cover: a part made anew, and letters replayed under one dedup key."""

from typing import Any

import pytest

from penstock.kernel import dead_letters, runtimes
from penstock.kernel.connection import Connection
from tests.ingest.support import PATH, PLAYBOOK, Runtime, offsets, playbook, subscription
from tests.sql.support import configure, rows, value

JSON = {"playbook": PLAYBOOK, "payload_from": "message.json"}
BODY = {"playbook": PLAYBOOK, "payload_from": "message.body"}
WINDOW = {"window_s": 3600}


def _of(db: Connection, **spec: Any) -> Runtime:
    playbook(db)
    subscription(db, **spec)
    return Runtime(db)


@pytest.fixture
def letters(db: Connection) -> Runtime:
    """Two dead letters of the key k, which can run by now."""
    runtime = _of(db, dedup=WINDOW, dispatch=JSON)
    runtime.put(*({"source_offset": n, "dedup_key": "k", "body": b"plain"} for n in (0, 1)))
    assert runtime.commit().dead_lettered == 2
    subscription(db, dedup=WINDOW, dispatch=BODY)
    return runtime


def _made_again(runtime: Runtime, part: str) -> None:
    positions: dict[str, Any] = {part: {"identity": "t2", "next": 0}}
    runtimes.position_set(runtime.db, PATH, runtime.lease.token, positions, "made_again", {})


def test_the_messages_of_a_topic_made_again_are_no_duplicates_of_the_old_ones(db: Connection) -> None:
    runtime = _of(db, dedup=WINDOW)
    runtime.put(*offsets(0, 1))
    runtime.commit()
    _made_again(runtime, "orders/0")
    runtime.put(*offsets(0, 1))
    report = runtime.commit({"orders/0": {"identity": "t2", "next": 2}})
    assert (report.executions, report.deduplicated) == (2, 0)


def test_the_messages_of_a_stream_made_again_are_no_duplicates_of_the_old_ones(db: Connection) -> None:
    runtime = _of(db, dedup=WINDOW)
    for born in ("t1", "t2"):
        if born == "t2":
            _made_again(runtime, "ORDERS")
        runtime.put({"source_offset": 1, "part": "ORDERS", "identity": f"ORDERS:{born}:{1:020}"})
        report = runtime.commit({"ORDERS": {"identity": born, "next": 2}})
        assert (report.executions, report.deduplicated) == (1, 0)


def test_an_id_that_one_topic_gives_twice_is_still_a_duplicate(db: Connection) -> None:
    runtime = _of(db, dedup=WINDOW)
    runtime.put(*offsets(0, 1, message_id="same"))
    assert runtime.commit().deduplicated == 1


def test_two_letters_of_one_key_are_replayed_as_one_execution(db: Connection, letters: Runtime) -> None:
    replayed = dead_letters.replay(db, "ingest-1")
    assert dead_letters.replay(db, "ingest-2") == replayed
    first = int(replayed.removeprefix("job-"))
    assert rows(db, "select execution_id from penstock.v_execution") == [(first,)]
    assert rows(db, "select resolution, replay_job_id from penstock.v_dead_letter order by number") == [
        ("replayed", first),
        ("duplicate", first),
    ]
    recorded = "select execution_id, detail from penstock.v_subscription_event where happening ~ 'deduplicated'"
    detail = {"message_id": "orders/0:1", "key": "key:k", "dead_letter": "ingest-2"}
    assert rows(db, recorded) == [(first, detail)]


def test_a_replayed_letter_is_a_duplicate_of_a_message_that_came_since(db: Connection, letters: Runtime) -> None:
    letters.put({"source_offset": 2, "dedup_key": "k", "body": b"{}"})
    letters.commit()
    first = value(db, "select job_id from penstock.job")
    assert dead_letters.replay(db, "ingest-1") == f"job-{first}"
    assert value(db, "select count(*) from penstock.job") == 1


def test_a_message_after_a_replayed_letter_is_its_duplicate(db: Connection, letters: Runtime) -> None:
    dead_letters.replay(db, "ingest-1")
    letters.put({"source_offset": 2, "dedup_key": "k", "body": b"{}"})
    assert letters.commit().deduplicated == 1


def test_a_replayed_letter_takes_its_key_for_the_window(db: Connection, letters: Runtime) -> None:
    dead_letters.replay(db, "ingest-1")
    assert value(db, "select expires_at - now() < interval '1 hour' from penstock.once_key where key = 'key:k'")
    db.execute("update penstock.once_key set expires_at = now() - interval '1 second'")
    dead_letters.replay(db, "ingest-2")
    assert value(db, "select count(*) from penstock.job") == 2


def test_letters_of_a_subscription_without_dedup_are_all_replayed(db: Connection, letters: Runtime) -> None:
    subscription(db, dedup={**WINDOW, "enabled": False}, dispatch=BODY)
    assert dead_letters.replay(db, "ingest-1") != dead_letters.replay(db, "ingest-2")
    assert value(db, "select count(*) from penstock.once_key") == 0


def test_the_window_of_a_letter_is_the_setting_where_the_subscription_states_none(db: Connection) -> None:
    runtime = _of(db, dedup={"enabled": True}, dispatch=JSON)
    runtime.put({"source_offset": 0, "dedup_key": "k", "body": b"plain"})
    runtime.commit()
    subscription(db, dedup={"enabled": True}, dispatch=BODY)
    configure(db, "queue.once_key.ttl_s.dedup", "60")
    dead_letters.replay(db, "ingest-1")
    assert value(db, "select expires_at <= now() + interval '1 minute' from penstock.once_key where key = 'key:k'")
