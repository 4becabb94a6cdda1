"""What could not be delivered: kept whole, replayed once, and in nobody's way."""

import pytest
from psycopg.types.json import Jsonb

from penstock.errors import RouteNotLive, UnknownDeadLetter
from penstock.kernel import dead_letters, events, jobs, outbound, queue
from penstock.kernel.connection import Connection
from tests.events.outward import attempts, opened, route, run
from tests.events.support import DOMAIN, TYPE, emit
from tests.sql.support import configure, fail, take_one, value


@pytest.fixture(autouse=True)
def _open(db: Connection) -> None:
    opened(db)


def test_one_worker_that_cannot_go_on_stops_no_other(db: Connection) -> None:
    route(db, "live")
    outbound.worker_set(db, "aaa")
    run(db)
    db.execute("update penstock.event_cursor set tick_id = -5 where cursor_name = 'route:aaa'")
    event = emit(db)
    events.tick(db)
    report = queue.tick(db)["routes"]
    assert report["error"] == "route worker aaa: the cursor route:aaa stands at a tick that is gone"
    assert attempts(db, event) == [("live", "queued", 1)]
    assert value(db, "select state from penstock.v_queue_health where part = 'tick:routes'") == "alert"


def test_a_dead_letter_is_replayed_from_its_snapshot(db: Connection) -> None:
    route(db, "hook", "http", target={"url": "http://localhost:1/x", "secret": "s"})
    event = emit(db, "n/7")
    run(db)
    claim = take_one(db, kinds=["route_deliver"])
    db.execute("delete from penstock.event_outbox where event_id = %s", [event])
    attempt = jobs.show(db, claim.job_id).safe_payload
    assert attempt is not None
    with pytest.raises(RouteNotLive, match="is gone: its partition was dropped"):
        outbound.deliver(db, attempt["attempt"], claim.lease_token)
    db.execute(
        "insert into penstock.iu_route_dead_letter"
        " (idempotency_key, worker_name, route_code, event_ref, reason, event_snapshot)"
        " select idempotency_key, worker_name, route_code, event_ref, 'not_delivered', %s"
        " from penstock.iu_route_attempt where attempt_id = %s",
        [Jsonb({"event_id": str(event), "event_domain": DOMAIN, "event_type": TYPE}), attempt["attempt"]],
    )
    told = outbound.deliver(db, attempt["attempt"], claim.lease_token)["event"]
    assert (told["event_id"], told["event_domain"], told["event_type"]) == (str(event), DOMAIN, TYPE)


def test_the_job_of_a_delivery_is_replayed_by_its_route_alone(db: Connection) -> None:
    route(db, "live", "http", target={"url": "http://localhost:1/x", "secret": "s"})
    emit(db)
    run(db)
    configure(db, "queue.retry.max_attempts.route_deliver", "1")
    fail(db, take_one(db, kinds=["route_deliver"]))
    with pytest.raises(UnknownDeadLetter, match="is that of a delivery"):
        dead_letters.replay(db, "job-1")
    queue.tick(db)
    assert dead_letters.replay(db, "route-1").startswith("job-")
