"""The route worker: one attempt for each event and route, whatever happens, and nothing delivered that is not live."""

import random
from contextlib import closing
from itertools import takewhile
from typing import Any

import psycopg
import pytest

from penstock.errors import BadRequest, NotReviewed, RouteNotLive, StillUnfit, UnknownDeadLetter, UnknownEventType
from penstock.kernel import dead_letters, events, jobs, outbound, queue
from penstock.kernel.connection import Connection, connect
from tests.concurrency.sessions import together
from tests.events.outward import GATES, NOTIFY, attempts, opened, route, run
from tests.events.support import DOMAIN, TYPE, emit, known
from tests.sql.support import configure, fail, finish, rows, take, take_one, value


@pytest.fixture(autouse=True)
def _open(db: Connection) -> None:
    opened(db)


def test_each_event_and_route_has_exactly_one_attempt(db: Connection) -> None:
    route(db, "dry", state="dry_run")
    route(db, "live")
    route(db, "off", state="disabled")
    route(db, "pigeon", kind="pigeon")
    known(db, "other")
    event, lonely = emit(db, "n/7"), emit(db, event_type="other")
    assert run(db) == {"events": 2, "dry_run": 1, "queued": 1, "disabled": 1, "failed": 1, "skipped": 1}
    assert attempts(db, event) == [
        ("dry", "dry_run", 1),
        ("live", "queued", 1),
        ("off", "disabled", 1),
        ("pigeon", "failed", 1),
    ]
    assert attempts(db, lonely) == [(None, "skipped", 1)]
    keys = rows(
        db, "select idempotency_key from penstock.iu_route_attempt where route_code = 'live' and event_ref = %s", event
    )
    assert keys == [(f"iu_wrk:iu_outbound_default:live:{event}",)]
    (letter,) = rows(
        db, "select route_code, reason, event_snapshot ->> 'subject_ref' from penstock.v_iu_route_dead_letter_open"
    )
    assert letter == ("pigeon", "unhandled_kind", "n/7")


@pytest.mark.parametrize("gate", GATES)
def test_a_closed_gate_is_a_clean_no_op(db: Connection, gate: str) -> None:
    route(db, "live")
    event = emit(db)
    events.tick(db)
    configure(db, gate, "false")
    assert outbound.worker_run(db) == {"skipped": f"{gate} is not true"}
    configure(db, gate, "true")
    run(db)
    assert attempts(db, event) == [("live", "queued", 1)]


def test_a_cursor_that_is_put_back_makes_no_duplicate(db: Connection) -> None:
    route(db, "live")
    start = value(db, "select tick_id from penstock.event_cursor where cursor_name = 'route:iu_outbound_default'")
    made = [emit(db, str(number)) for number in range(5)]
    run(db)
    db.execute("update penstock.event_cursor set tick_id = %s where cursor_name like 'route:%%'", [start])
    assert run(db) == {"events": 5}
    assert len(attempts(db, *made)) == 5
    assert value(db, "select count(*) from penstock.job where job_kind = 'route_deliver'") == 5


def test_an_event_that_cannot_be_routed_is_isolated_and_a_dead_letter(db: Connection) -> None:
    route(db, "live")
    db.execute(
        "create function refuse() returns trigger language plpgsql as $$ begin if new.target_ref = 'bad'"
        " then raise 'not this one'; end if; return new; end $$"
    )
    db.execute("create trigger refuse before insert on penstock.job for each row execute function refuse()")
    good, bad, better = emit(db, "good"), emit(db, "bad"), emit(db, "better")
    events.tick(db)
    report = outbound.worker_run(db)
    assert (report["queued"], report["failed"], report["apart"]) == (2, 1, "not this one")
    assert attempts(db, good) == attempts(db, better) == [("live", "queued", 1)]
    assert attempts(db, bad) == [("live", "failed", 1)]
    (letter,) = rows(db, "select event_ref, error ->> 'message' from penstock.v_iu_route_dead_letter_open")
    assert letter == (bad, "not this one")
    db.execute("drop trigger refuse on penstock.job")
    assert dead_letters.replay(db, "route-1").startswith("job-")


def test_a_worker_serves_its_own_domain_or_every_one_with_a_route(db: Connection) -> None:
    route(db, "live")
    outbound.worker_set(db, "piece_worker", "piece")
    events.type_register(db, "piece", "cut", "update")
    mine, its = emit(db), events.emit(db, "piece", "cut")
    run(db)
    run(db, worker="piece_worker")
    assert attempts(db, its) == [(None, "skipped", 1)]
    assert attempts(db, mine) == [("live", "queued", 1)]
    with pytest.raises(BadRequest, match="there is no route worker"):
        outbound.worker_run(db, "nobody")


@pytest.mark.parametrize(
    ("kind", "target"),
    [
        ("event", {"event_domain": "piece", "event_type": "cut"}),
        ("job", {"job_kind": "greet", "pool": "priority", "priority": 5}),
        ("notify", NOTIFY),
    ],
)
def test_what_the_database_can_do_is_delivered_once(
    db: Connection, database: str, kind: str, target: dict[str, Any]
) -> None:
    events.type_register(db, "piece", "cut", "update")
    route(db, "live", kind=kind, target=target)
    event = emit(db, "n/7", payload={"size": 1}, correlation_id="c")
    run(db)
    attempt = value(db, "select attempt_id from penstock.iu_route_attempt where event_ref = %s", event)
    with connect(database) as listener:
        listener.execute("listen told; listen the_end")
        assert outbound.deliver(db, attempt) == {"status": "sent"}
        assert outbound.deliver(db, attempt) == {"status": "sent"}
        # after this word on a channel of our own no earlier one is on its way
        db.execute("notify the_end")
        with closing(listener.notifies(timeout=60)) as heard:
            told = [one.payload for one in takewhile(lambda one: one.channel != "the_end", heard)]
    assert attempts(db, event) == [("live", "sent", 1)]
    if kind == "event":
        found = rows(
            db,
            "select subject_ref, payload, causation_event_id, causation_depth from penstock.event_outbox"
            " where event_type = 'cut'",
        )
        assert found == [("n/7", {"size": 1}, event, 1)]
    elif kind == "job":
        found = rows(
            db, "select target_ref, pool, priority, causation_event_id from penstock.job where job_kind = 'greet'"
        )
        assert found == [("n/7", "priority", 5, event)]
    else:
        assert told == [str(event)]


def test_a_delivery_that_dies_is_a_dead_letter_of_its_route_and_can_be_replayed(db: Connection) -> None:
    route(db, "live", kind="http", target={"url": "http://127.0.0.1:9/x", "secret": "hooks"})
    configure(db, "queue.retry.max_attempts.route_deliver", "1")
    event = emit(db, "n/7")
    run(db)
    fail(db, take_one(db, kinds=["route_deliver"]), {"type": "NotDelivered", "message": "POST: 500"})
    assert queue.tick(db)["routes"]["did"]["settled"] == 1
    assert attempts(db, event) == [("live", "failed", 1)]
    (letter,) = dead_letters.list_newest(db).dead_letters
    assert (letter.id, letter.what, letter.error) == (
        "route-1",
        "live",
        {"type": "NotDelivered", "message": "POST: 500"},
    )
    assert dead_letters.replay(db, "route-1").startswith("job-")
    with pytest.raises(UnknownDeadLetter, match="is being delivered again"):
        dead_letters.replay(db, "route-1")
    claim = take_one(db, kinds=["route_deliver"])
    attempt = jobs.show(db, claim.job_id).safe_payload
    assert attempt is not None
    assert outbound.sent(db, attempt["attempt"])
    finish(db, claim)
    assert attempts(db, event) == [("live", "failed", 1), ("live", "sent", 2)]
    assert dead_letters.list_newest(db).dead_letters == []
    assert queue.tick(db)["routes"]["did"]["settled"] == 0


def test_a_delivery_that_was_cancelled_has_failed(db: Connection) -> None:
    route(db, "live")
    event = emit(db)
    run(db)
    jobs.cancel(db, value(db, "select job_id from penstock.iu_route_attempt where event_ref = %s", event))
    assert queue.tick(db)["routes"]["did"]["settled"] == 1
    assert attempts(db, event) == [("live", "failed", 1)]


def test_a_replay_of_a_route_that_is_off_or_unhandled_is_refused(db: Connection) -> None:
    route(db, "pigeon", kind="pigeon")
    emit(db)
    run(db)
    with pytest.raises(StillUnfit, match="nobody handles its kind, pigeon"):
        dead_letters.replay(db, "route-1")
    outbound.route_set(db, "pigeon", enabled=False)
    with pytest.raises(StillUnfit, match="it is disabled"):
        dead_letters.replay(db, "route-1")
    route(db, "pigeon", state="dry_run")
    assert dead_letters.replay(db, "route-1").startswith("attempt-")
    assert dead_letters.list_newest(db).dead_letters == []


def test_a_route_switched_off_while_a_delivery_waits_sends_nothing(db: Connection) -> None:
    route(db, "live")
    event = emit(db)
    run(db)
    outbound.route_set(db, "live", enabled=False)
    with pytest.raises(RouteNotLive):
        outbound.deliver(db, value(db, "select attempt_id from penstock.iu_route_attempt where event_ref = %s", event))


@pytest.mark.parametrize("gate", GATES)
def test_a_gate_that_is_closed_while_a_delivery_waits_stops_it(db: Connection, gate: str) -> None:
    route(db, "live")
    route(db, "pigeon", kind="pigeon")
    event = emit(db)
    run(db)
    configure(db, gate, "false")
    attempt = "select attempt_id from penstock.iu_route_attempt where event_ref = %s and route_code = 'live'"
    with pytest.raises(RouteNotLive):
        outbound.deliver(db, value(db, attempt, event))
    route(db, "pigeon", state="live", target={"channel": "other"})
    with pytest.raises(StillUnfit, match="a gate is closed"):
        dead_letters.replay(db, "route-1")


def test_live_needs_a_review(db: Connection) -> None:
    route(db, "r", state="dry_run")
    with pytest.raises(NotReviewed, match="has not run dry"):
        outbound.route_set(db, "r", dry_run=False, reviewed_by="user:ann")
    with pytest.raises(NotReviewed, match="nobody has reviewed"):
        outbound.route_set(db, "r", dry_run=False)
    emit(db)
    run(db)
    assert outbound.route_set(db, "r", dry_run=False, reviewed_by="user:ann") == "live"
    route(db, "r", state="disabled", target={"channel": "other"})
    assert outbound.show(db, "r").state == "disabled"
    with pytest.raises(psycopg.errors.CheckViolation):
        db.execute("update penstock.iu_outbound_route set enabled = true, dry_run = false")


@pytest.mark.parametrize(
    ("change", "error", "words"),
    [
        ({"event_domain": "nowhere"}, BadRequest, "does not exist"),
        ({"event_type": "unheard"}, UnknownEventType, "not registered"),
        ({"route_kind": "Pigeon!"}, BadRequest, "route_kind is"),
        ({"route_kind": None}, BadRequest, "route_kind is"),
        ({"colour": 1}, BadRequest, "colour is nothing"),
        ({"route_kind": "http", "target": {"url": "ftp://x", "secret": "s"}}, BadRequest, "has a url"),
        ({"route_kind": "http", "target": {"url": "https://x"}}, BadRequest, "has a secret"),
        (
            {"route_kind": "http", "target": {"url": "https://x", "secret": "s", "timeout_s": 900}},
            BadRequest,
            "timeout_s",
        ),
        ({"target": {"channel": "No Channel"}}, BadRequest, "has a channel"),
        ({"route_kind": "event", "target": {"event_domain": "kg", "event_type": "unheard"}}, UnknownEventType, "not"),
        ({"route_kind": "job", "target": {"job_kind": "9lives"}}, BadRequest, "kind"),
    ],
)
def test_what_cannot_be_a_route_is_refused(
    db: Connection, change: dict[str, Any], error: type[Exception], words: str
) -> None:
    definition = {"event_domain": DOMAIN, "event_type": TYPE, "route_kind": "notify", "target": NOTIFY}
    with pytest.raises(error, match=words):
        outbound.route_set(db, "r", {**definition, **change})
    assert outbound.route_list(db) == []


def test_two_workers_killed_at_random_leave_one_attempt_for_each_event_and_route(db: Connection, database: str) -> None:
    """2,000 events here; the long form has 10,000."""
    _storm(db, database, 2000)


@pytest.mark.long
def test_ten_thousand_events_over_five_routes(db: Connection, database: str) -> None:
    _storm(db, database, 10_000)


def _storm(db: Connection, database: str, count: int) -> None:
    known(db, "other")
    route(db, "dry", state="dry_run")
    route(db, "live")
    route(db, "off", state="disabled")
    route(db, "pigeon", kind="pigeon")
    db.execute(
        "select penstock.fn_iu_emit_event(%s, case when g %% 5 = 0 then 'other' else %s end, null, null, g::text, null,"
        " null)"
        " from generate_series(1, %s) g",
        [DOMAIN, TYPE, count],
    )
    events.tick(db)

    def work(number: int) -> int:
        dice, cuts = random.Random(number), 0
        while True:
            with connect(database) as mine:
                for _ in range(dice.randint(1, 8)):
                    try:
                        with mine.transaction():
                            report = outbound.worker_run(mine, limit=dice.randint(20, 200))
                            if dice.random() < 0.2:
                                cuts += 1
                                value(db, "select pg_terminate_backend(%s)", mine.info.backend_pid)
                                mine.execute("select 1")
                    except psycopg.OperationalError:
                        break
                    if report.get("more") is False:
                        return cuts

    assert sum(together(2, work)) > 0
    made = rows(
        db,
        "select coalesce(route_code, 'none'), status, count(*), count(distinct event_ref)"
        " from penstock.iu_route_attempt"
        " where worker_name <> 'test' group by 1, 2 order by 1",
    )
    routed, alone = count - count // 5, count // 5
    assert made == [
        ("dry", "dry_run", routed, routed),
        ("live", "queued", routed, routed),
        ("none", "skipped", alone, alone),
        ("off", "disabled", routed, routed),
        ("pigeon", "failed", routed, routed),
    ]
    assert value(db, "select count(*) from penstock.job where job_kind = 'route_deliver'") == routed
    assert value(db, "select count(*) from penstock.iu_route_dead_letter where event_snapshot ? 'event_id'") == routed
    assert len(take(db, 10, kinds=["route_deliver"])) == 10
