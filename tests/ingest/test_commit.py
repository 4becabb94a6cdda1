"""fn_ingest_commit: messages, dedup, jobs and ledger in one transaction, or nothing."""

from typing import Any
from uuid import uuid4

import pytest

from penstock.errors import RuntimeReplaced, SourceChanged, StagingLost, StillUnfit, SubscriptionHeld
from penstock.kernel import executions, jobs, runtimes, subscriptions
from penstock.kernel.connection import Connection, translated
from tests.ingest.support import PATH, PLAYBOOK, Runtime, offsets, playbook, subscription
from tests.sql.support import rows, tick, value


@pytest.fixture
def runtime(db: Connection) -> Runtime:
    playbook(db)
    subscription(db)
    return Runtime(db)


def _of(db: Connection, **spec: Any) -> Runtime:
    playbook(db)
    subscription(db, **spec)
    return Runtime(db)


def test_a_message_becomes_one_execution_with_its_message_job_and_position(db: Connection, runtime: Runtime) -> None:
    runtime.put({"source_offset": 7, "body": b'{"n": 1}', "trace": "00-aa-bb-01", "message_key": b"k"})
    report = runtime.commit()
    assert (report.received, report.executions) == (1, 1)
    (found,) = rows(
        db, "select execution_id, playbook_ref, subscription, status, pool, source_ref, trace from penstock.v_execution"
    )
    assert found[1:] == (f"{PLAYBOOK}@1", PATH, "ready", "subscription", "orders/0:7", "00-aa-bb-01")
    message = executions.message(db, found[0])
    assert message is not None
    assert (message.body, message.message_key, message.source_offset) == (b'{"n": 1}', b"k", 7)
    assert [(one.part, one.next_offset) for one in subscriptions.positions(db, PATH)] == [("orders/0", 8)]
    (claim,) = jobs.claim(db, "default", 10)
    assert (claim.job_id, claim.job_kind) == (found[0], "tool:noop")


def test_a_batch_committed_again_is_known_row_by_row(db: Connection, runtime: Runtime) -> None:
    runtime.put(*offsets(0, 1, 2))
    runtime.commit()
    runtime.put(*offsets(1, 2, 3, 4), attempt="a2")
    report = runtime.commit()
    assert (report.executions, report.replays) == (2, 2)
    assert value(db, "select count(distinct source_ref) from penstock.job") == 5
    assert subscriptions.positions(db, PATH)[0].next_offset == 5


def test_only_the_attempts_the_commit_holds_messages_of_are_merged(db: Connection, runtime: Runtime) -> None:
    runtime.put(*offsets(0, 1), attempt="failed")
    runtime.expected = {}
    runtime.put(*offsets(0, 1), attempt="retried")
    assert runtime.commit().executions == 2


def test_staging_that_lost_rows_commits_nothing(db: Connection, runtime: Runtime) -> None:
    runtime.put(*offsets(0, 1, 2))
    db.execute(f"truncate penstock.{runtime.stage}".encode())
    with pytest.raises(StagingLost, match="staged 3 rows, 0 are there"):
        runtime.commit({"orders/0": {"identity": "t1", "next": 3}})
    assert (value(db, "select count(*) from penstock.job"), subscriptions.positions(db, PATH)) == (0, [])


def test_an_empty_batch_moves_nothing(db: Connection, runtime: Runtime) -> None:
    report = runtime.commit({}, {})
    assert (report.received, report.executions) == (0, 0)


def test_a_replaced_runtime_commits_nothing(db: Connection, runtime: Runtime) -> None:
    runtime.put(*offsets(0))
    db.execute("update penstock.subscription_runtime set lease_until = now() - interval '1 second'")
    successor = Runtime(db)
    with pytest.raises(RuntimeReplaced):
        runtimes.commit(db, PATH, runtime.lease.token, {}, {"a1": 1})
    with pytest.raises(RuntimeReplaced):
        runtimes.lease(db, PATH, runtime.incarnation, runtime.lease.token)
    assert value(db, "select count(*) from penstock.job") == 0
    successor.put(*offsets(0))
    assert successor.commit().executions == 1


def test_a_second_runtime_is_refused_while_the_first_holds_its_lease(db: Connection, runtime: Runtime) -> None:
    with pytest.raises(SubscriptionHeld, match="held by another runtime until"):
        runtimes.lease(db, PATH, uuid4())
    assert runtimes.lease(db, PATH, runtime.incarnation, runtime.lease.token).token == runtime.lease.token


def test_a_renewal_tells_a_runtime_of_a_newer_token_of_its_own_alone(db: Connection, runtime: Runtime) -> None:
    first = runtime.lease.token
    newer = runtimes.lease(db, PATH, runtime.incarnation).token
    assert runtimes.lease(db, PATH, runtime.incarnation, first).token == newer
    for incarnation, token in ((uuid4(), first), (runtime.incarnation, newer + 1)):
        with pytest.raises(RuntimeReplaced):
            runtimes.lease(db, PATH, incarnation, token)
    assert value(db, "select token from penstock.subscription_runtime") == newer


def test_a_part_made_anew_is_noticed(db: Connection, runtime: Runtime) -> None:
    runtime.put(*offsets(5))
    runtime.commit()
    runtime.put(*offsets(0))
    with pytest.raises(SourceChanged, match="orders/0 is not the one the ledger knows"):
        runtime.commit({"orders/0": {"identity": "t2", "next": 1}})


def test_messages_with_an_identity_are_known_by_it_until_the_source_cannot_send_them_again(db: Connection) -> None:
    runtime = _of(db)

    def message(number: int) -> dict[str, Any]:
        return {"source_offset": number, "part": "ORDERS", "identity": f"ORDERS:t1:{number:020}"}

    runtime.put(message(1), message(2), message(2))
    first = runtime.commit({"ORDERS": {"identity": "t1", "next": 3}})
    assert (first.executions, first.replays) == (2, 1)
    runtime.put(message(2), message(3), attempt="a2")
    second = runtime.commit({"ORDERS": {"identity": "t1", "next": 4, "floor": 2}})
    assert (second.executions, second.replays) == (1, 1)
    assert rows(db, "select key from penstock.once_key") == [(f"ORDERS:t1:{3:020}",)]
    # a server that was killed has forgotten acknowledgements it had confirmed
    runtime.put(message(1), message(2), message(3))
    assert runtime.commit({"ORDERS": {"identity": "t1", "next": 4, "floor": 0}}).replays == 3


def test_numbers_that_a_source_gives_out_again_are_new_and_those_before_them_stay_known(db: Connection) -> None:
    runtime = _of(db)

    def message(number: int) -> dict[str, Any]:
        return {"source_offset": number, "part": "ORDERS", "identity": f"ORDERS:t1:{number:020}"}

    runtime.put(*(message(number) for number in range(1, 7)))
    runtime.commit({"ORDERS": {"identity": "t1", "next": 7, "floor": 2}})
    went_back: dict[str, Any] = {"ORDERS": {"identity": "t1", "next": 5}}
    runtimes.position_set(db, PATH, runtime.lease.token, went_back, "source_went_back", {})
    runtime.put(*(message(number) for number in range(1, 8)))
    assert runtime.commit({"ORDERS": {"identity": "t1", "next": 8}}).replays == 4
    run = [at for (at,) in rows(db, "select source_offset from penstock.ingest_message order by execution_id")]
    assert (run[:6], sorted(run[6:])) == ([1, 2, 3, 4, 5, 6], [5, 6, 7])


def test_what_cannot_run_goes_to_the_dead_letter_whole_and_the_rest_goes_on(db: Connection) -> None:
    runtime = _of(db, dispatch={"playbook": PLAYBOOK, "payload_from": "message.json"})
    bad = [b"{", b"", b"\xff", b'"\\u0000"', b"nan", b"[" * 100_000]
    runtime.put(*({"source_offset": n, "body": body} for n, body in enumerate(bad)))
    runtime.put(
        {"source_offset": 10, "body": b"{}"},
        {"source_offset": 11, "body": None},
        {"source_offset": 12, "fault": "bad_key"},
    )
    report = runtime.commit()
    assert (report.executions, report.dead_lettered) == (2, 7)
    found = rows(db, "select source_offset, body, reason from penstock.ingest_dead_letter order by source_offset")
    assert found == [*((n, body, "bad_json") for n, body in enumerate(bad)), (12, b"{}", "bad_key")]
    events = "select payload -> 'messages' from penstock.event_outbox where event_type ~ 'dead_lettered'"
    assert sorted(row[0] for row in rows(db, events)) == [1, 6]


def test_a_header_cannot_start_what_the_subscription_does_not_list(db: Connection) -> None:
    playbook(db, "domain/fraud")
    playbook(db, "domain/secret")
    playbook(db)
    directives = [
        {"header": "x-route", "controls": "dispatch.playbook", "allowed": ["domain/fraud"]},
        {"header": "x-pool", "controls": "dispatch.execution_pool", "allowed": ["priority"]},
    ]
    subscription(db, headers={"directives": directives})
    runtime = Runtime(db)
    runtime.put(
        {"source_offset": 0, "playbook": "domain/fraud", "pool": "priority"},
        {"source_offset": 1, "playbook": "domain/secret"},
        {"source_offset": 2, "pool": "shared"},
    )
    runtime.commit()
    assert rows(db, "select playbook_ref, pool from penstock.v_execution") == [("domain/fraud@1", "priority")]
    assert rows(db, "select reason from penstock.ingest_dead_letter order by source_offset") == [
        ("playbook_not_allowed",),
        ("pool_not_allowed",),
    ]


def test_duplicates_of_a_key_are_one_execution_and_recorded_with_it(db: Connection) -> None:
    runtime = _of(db, dedup={"window_s": 3600})
    runtime.put({"source_offset": 0, "dedup_key": "k"}, {"source_offset": 1, "dedup_key": "k"}, {"source_offset": 2})
    assert (runtime.commit().deduplicated, value(db, "select count(*) from penstock.job")) == (1, 2)
    runtime.put({"source_offset": 3, "dedup_key": "k"}, attempt="a2")
    assert runtime.commit().deduplicated == 1
    first = value(db, "select min(job_id) from penstock.job")
    recorded = (
        "select execution_id, detail ->> 'key' from penstock.v_subscription_event where happening ~ 'deduplicated'"
    )
    assert rows(db, recorded) == [(first, "key:k")] * 2


def test_a_key_whose_window_has_ended_counts_anew(db: Connection) -> None:
    runtime = _of(db, dedup={"window_s": 3600})
    runtime.put({"source_offset": 0, "dedup_key": "k"})
    runtime.commit()
    db.execute("update penstock.once_key set expires_at = now() - interval '1 second'")
    runtime.put({"source_offset": 1, "dedup_key": "k"})
    assert runtime.commit().executions == 1


def test_a_message_that_cannot_run_takes_no_key(db: Connection) -> None:
    runtime = _of(db, dedup={"window_s": 3600}, dispatch={"playbook": PLAYBOOK, "payload_from": "message.json"})
    runtime.put({"source_offset": 0, "dedup_key": "k", "body": b"{"}, {"source_offset": 1, "dedup_key": "k"})
    report = runtime.commit()
    assert (report.dead_lettered, report.executions, report.deduplicated) == (1, 1, 0)


def test_a_dead_letter_is_replayed_once_what_stood_in_its_way_has_changed(db: Connection) -> None:
    runtime = _of(db, dispatch={"playbook": PLAYBOOK, "payload_from": "message.json"})
    runtime.put({"source_offset": 0, "body": b"plain"})
    runtime.commit()
    ask = "select penstock.fn_dead_letter_replay('ingest-1')"
    with pytest.raises(StillUnfit, match="its body is not JSON"):
        _ask(db, ask)
    subscription(db, dispatch={"playbook": PLAYBOOK, "payload_from": "message.body"})
    made = _ask(db, ask)
    (found,) = rows(db, "select execution_id, subscription, source_ref from penstock.v_execution")
    assert (f"job-{found[0]}", *found[1:]) == (made, PATH, "orders/0:0")
    assert rows(db, "select id, resolution from penstock.v_dead_letter") == [("ingest-1", "replayed")]


def test_a_stalled_runtime_becomes_an_event_once(db: Connection, runtime: Runtime) -> None:
    runtimes.lease(db, PATH, runtime.incarnation, runtime.lease.token, backlog=5)
    tick(db)
    stalled = "select count(*) from penstock.event_outbox where event_type = 'subscription.stalled'"
    assert value(db, stalled) == 0
    db.execute("update penstock.subscription_runtime set backlog_since = now() - interval '5 minutes'")
    tick(db)
    tick(db)
    assert value(db, stalled) == 1


def test_room_counts_jobs_that_have_not_ended(db: Connection) -> None:
    runtime = _of(db, limits={"max_in_flight": 3})
    runtime.put(*offsets(0, 1))
    runtime.commit()
    token = runtime.lease.token
    assert runtimes.room(db, PATH, token, 3) == 1
    (claim,) = jobs.claim(db, "default", 1)
    jobs.finish(db, [claim.job_id], [claim.lease_token])
    assert runtimes.room(db, PATH, token, 3) == 2
    subscriptions.move(db, PATH, "pause")
    assert runtimes.room(db, PATH, token, 3) == -1


def _ask(db: Connection, statement: str) -> Any:
    with translated(db):
        row = db.execute(statement.encode()).fetchone()
    assert row is not None
    return row[0]
