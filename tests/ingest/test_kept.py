"""Messages known by an id, for as long as their source may send them again; and those with a lane of their own."""

from typing import Any

from penstock.kernel import jobs, runtimes
from penstock.kernel.connection import Connection
from penstock.model import Json
from tests.ingest.support import PATH, Runtime, playbook, subscription
from tests.sql.support import rows, value

PART = "projects/p/subscriptions/orders"
TOPIC = "projects/p/topics/orders"
DAY_S = 86_400
PUBSUB: Json = {"source": "pubsub", "subscription": PART}
LANES: Json = PUBSUB | {"lanes": "ordering_key"}


def _runtime(db: Connection, at: Json = PUBSUB, **step: Any) -> Runtime:
    playbook(db, **step)
    subscription(db, at=at)
    return Runtime(db)


def _message(id: str, at_us: int = 1_000, **columns: Any) -> Json:
    """As the pipeline stages it: the offset is a time, and may be anybody's."""
    return {"source_offset": at_us, "part": PART, "message_id": id, "identity": f"{PART}:{TOPIC}:id={id}", **columns}


def _commit(runtime: Runtime, *messages: Json) -> tuple[int, int]:
    runtime.put(*messages)
    report = runtime.commit({PART: {"identity": TOPIC, "next": 2_000, "keep_s": DAY_S}})
    runtimes.stage_clear(runtime.db, PATH, runtime.lease.token)
    return report.executions, report.replays


def test_a_message_that_comes_again_is_known_by_its_id_whatever_its_time(db: Connection) -> None:
    runtime = _runtime(db)
    assert _commit(runtime, _message("a"), _message("b", 900)) == (2, 0)
    assert _commit(runtime, _message("b", 900), _message("c", 10)) == (1, 1)


def test_one_that_comes_twice_in_a_batch_is_run_once(db: Connection) -> None:
    assert _commit(_runtime(db), _message("a"), _message("a"), _message("b")) == (2, 1)


def test_an_id_is_kept_as_long_as_the_source_may_send_it_again_and_no_longer(db: Connection) -> None:
    runtime = _runtime(db)
    _commit(runtime, _message("a"))
    kept = "select extract(epoch from expires_at - now())::int from penstock.once_key where scope = 'message:' || %s"
    (left_s,) = rows(db, kept, PATH)[0]
    assert DAY_S - 60 < left_s <= DAY_S
    db.execute("update penstock.once_key set expires_at = now() - interval '1 second'")
    assert _commit(runtime, _message("a")) == (1, 0)
    assert _commit(runtime, _message("a")) == (0, 1)
    db.execute("update penstock.once_key set expires_at = now() - interval '1 second'")
    db.execute("select penstock.once_sweep()")
    assert value(db, "select count(*) from penstock.once_key") == 0


def test_ids_stay_known_when_a_loss_is_accepted(db: Connection) -> None:
    runtime = _runtime(db)
    _commit(runtime, _message("123456789"))
    place: Json = {PART: {"identity": TOPIC, "next": 0}}
    runtimes.position_set(db, PATH, runtime.lease.token, place, "acknowledged_beyond_the_ledger", {})
    assert _commit(runtime, _message("123456789")) == (0, 1)


def test_messages_of_a_lane_run_one_after_another_and_others_beside_them(db: Connection) -> None:
    runtime = _runtime(db, LANES)
    keys = {"1": "device-1", "2": "device-1", "3": "device-2", "4": None, "5": "device-1"}
    _commit(runtime, *(_message(id, lane=key and f"{PATH}:{key}") for id, key in keys.items()))
    ran = []
    while claimed := jobs.claim(db, "default", 10):
        ids = [value(db, "select source_ref from penstock.job where job_id = %s", one.job_id) for one in claimed]
        ran.append(ids)
        jobs.finish(db, [one.job_id for one in claimed], [one.lease_token for one in claimed])
    assert ran == [["1", "3", "4"], ["2"], ["5"]]


def test_a_lane_goes_on_in_the_next_batch(db: Connection) -> None:
    runtime = _runtime(db, LANES)
    _commit(runtime, _message("1", lane="l"))
    _commit(runtime, _message("2", lane="l"))
    assert rows(db, "select lane, status::text from penstock.job_queue order by job_id") == [
        ("l", "ready"),
        ("l", "blocked"),
    ]


def test_a_message_s_own_lane_goes_before_its_playbook_s(db: Connection) -> None:
    runtime = _runtime(db, LANES, lane="one-at-a-time")
    _commit(runtime, _message("1", lane="l"), _message("2"), _message("3"))
    assert rows(db, "select lane, status::text from penstock.job_queue order by job_id") == [
        ("l", "ready"),
        ("one-at-a-time", "ready"),
        ("one-at-a-time", "blocked"),
    ]


def test_how_often_it_was_delivered_stays_with_the_message(db: Connection) -> None:
    _commit(_runtime(db), _message("a", delivery_attempt=3), _message("b"))
    found = rows(db, "select message_id, delivery_attempt from penstock.ingest_message order by 1")
    assert found == [("a", 3), ("b", None)]
