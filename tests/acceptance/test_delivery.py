"""Outbound routes over HTTP: a real worker, a real server, and signatures that somebody else's library verifies."""

import json
from base64 import b64encode
from pathlib import Path
from typing import Any

import pytest
from standardwebhooks import Webhook

from penstock.kernel import events, outbound
from penstock.kernel.connection import Connection
from tests.acceptance import processes
from tests.acceptance.outcomes import quick_retries, set_config
from tests.acceptance.processes import Crew, until
from tests.acceptance.receiver import DRIP, DROP, HANG, Receiver, receiver
from tests.sql.support import rows, value

crew = processes.crew
SECRET = "whsec_" + b64encode(b"0123456789abcdef0123456789abcdef").decode()


@pytest.fixture
def credentials(tmp_path: Path) -> str:
    path = tmp_path / "credentials.yaml"
    path.write_text(f"hooks:\n  secret: {SECRET}\nbroken:\n  secret: '***'\n")
    path.chmod(0o600)
    return str(path)


@pytest.fixture(autouse=True)
def _open(db: Connection) -> None:
    for gate in ("iu_core.routes_enabled", "iu_core.route_worker_enabled"):
        set_config(db, gate, "true")
    events.type_register(db, "kg", "grew", "update")
    quick_retries(db)


def _live(db: Connection, url: str, *, code: str = "hook", event_type: str = "grew", **target: Any) -> None:
    """A route that has run dry, was reviewed, and is live."""
    where = {"url": url, "secret": "hooks", **target}
    definition = {"event_domain": "kg", "event_type": event_type, "route_kind": "http", "target": where}
    outbound.route_set(db, code, definition, enabled=True)
    events.emit(db, "kg", event_type, subject_ref="dry")
    events.tick(db)
    assert outbound.worker_run(db)["dry_run"] == 1
    outbound.route_set(db, code, dry_run=False, reviewed_by="user:ann")


def _statuses(db: Connection) -> list[tuple[Any, ...]]:
    return rows(db, "select status, attempt_no from penstock.iu_route_attempt where status <> 'dry_run' order by 1, 2")


def _verified(hook: Receiver) -> list[dict[str, Any]]:
    """What it was sent; raises when a signature is not good."""
    for one in hook.received:
        Webhook(SECRET).verify(one.body, one.headers)
    return [json.loads(one.body) for one in hook.received]


def test_an_event_arrives_signed_after_a_500_and_a_dropped_connection(
    db: Connection, crew: Crew, credentials: str
) -> None:
    with receiver(500, DROP, 302) as hook:
        _live(db, f"{hook.url}/hooks?key=private")
        crew.start("plain", PENSTOCK_CREDENTIALS=credentials)
        event = events.emit(db, "kg", "grew", subject_ref="n/7", payload={"größe": 1})
        until(lambda: _statuses(db) == [("sent", 1)], "it has arrived")
        sent = _verified(hook)
        assert [one["data"]["event_id"] for one in sent] == [str(event)] * 4
        assert (sent[-1]["type"], sent[-1]["data"]["payload"]) == ("kg.grew", {"größe": 1})
        # the receiver knows the second for the first by it
        assert {one.headers["webhook-id"] for one in hook.received} == {f"iu_wrk:iu_outbound_default:hook:{event}"}
        assert hook.received[0].path == "/hooks?key=private"
        errors = value(db, "select string_agg(error::text, '') from penstock.job_outcome where error is not null")
        assert "the receiver answered 500" in errors
        assert "the receiver answered 302" in errors
        assert "private" not in errors


def test_a_receiver_that_hangs_delays_no_other_and_ends_as_a_dead_letter(
    db: Connection, crew: Crew, credentials: str
) -> None:
    set_config(db, "queue.retry.max_attempts.route_deliver", "2")
    events.type_register(db, "kg", "shrank", "update")
    with receiver(HANG, HANG) as hook, receiver() as other:
        _live(db, hook.url, timeout_s=1)
        _live(db, other.url, code="other", event_type="shrank")
        crew.start("plain", PENSTOCK_CREDENTIALS=credentials)
        lost = events.emit(db, "kg", "grew", subject_ref="hangs")
        until(lambda: len(hook.received) >= 1, "it hangs")
        events.emit(db, "kg", "shrank", subject_ref="goes on")
        until(lambda: len(other.received) == 1, "another route delivers meanwhile")
        until(
            lambda: value(db, "select count(*) from penstock.v_iu_route_dead_letter_open") == 1, "it is a dead letter"
        )
        (letter,) = rows(db, "select event_ref, reason, error ->> 'message' from penstock.v_iu_route_dead_letter_open")
        assert letter[:2] == (lost, "not_delivered")
        assert "no answer within 1 s" in letter[2]


def test_many_deliveries_that_hang_leave_runners_to_the_others(db: Connection, crew: Crew, credentials: str) -> None:
    events.type_register(db, "kg", "shrank", "update")
    with receiver(*[HANG] * 50) as hook, receiver(*[HANG] * 50) as second, receiver() as other:
        _live(db, hook.url, timeout_s=60)
        _live(db, second.url, code="second", timeout_s=60)
        _live(db, other.url, code="other", event_type="shrank")
        crew.start("plain", "--concurrency", "8", PENSTOCK_CREDENTIALS=credentials)
        for _ in range(40):
            events.emit(db, "kg", "grew", subject_ref="hangs")
        until(lambda: len(hook.received) >= 1 and len(second.received) >= 1, "they hang")
        for _ in range(10):
            events.emit(db, "kg", "shrank", subject_ref="goes on")
        until(lambda: len(other.received) == 10, "another route delivers meanwhile")
        assert len(hook.received) + len(second.received) <= 5
        # what was put off has used no attempt
        given_back = "job_kind = 'route_deliver' and status not in ('leased', 'running')"
        used = f"select max(attempt) from penstock.job_queue where {given_back}"
        assert value(db, used) == 0


def test_a_receiver_that_wants_nothing_more_is_not_asked_again(db: Connection, crew: Crew, credentials: str) -> None:
    with receiver(410) as hook:
        _live(db, hook.url)
        crew.start("plain", PENSTOCK_CREDENTIALS=credentials)
        events.emit(db, "kg", "grew")
        until(lambda: _statuses(db) == [("failed", 1)], "it has failed")
        assert len(hook.received) == 1


@pytest.mark.parametrize(
    ("alias", "words"), [("nobody", "has no credential nobody"), ("broken", "is not whsec_ and base64")]
)
def test_a_secret_that_cannot_be_had_is_said_and_never_shown(
    db: Connection, crew: Crew, credentials: str, alias: str, words: str
) -> None:
    set_config(db, "queue.retry.max_attempts.route_deliver", "1")
    with receiver() as hook:
        _live(db, hook.url, secret=alias)
        worker = crew.start("plain", PENSTOCK_CREDENTIALS=credentials)
        events.emit(db, "kg", "grew")
        until(
            lambda: value(db, "select count(*) from penstock.v_iu_route_dead_letter_open") == 1, "it is a dead letter"
        )
        error = value(db, "select error ->> 'message' from penstock.v_iu_route_dead_letter_open")
        assert words in error
        assert hook.received == []
        assert SECRET not in error + worker.log()


def test_a_receiver_that_answers_byte_by_byte_has_its_time_and_no_more(
    db: Connection, crew: Crew, credentials: str
) -> None:
    set_config(db, "queue.retry.max_attempts.route_deliver", "1")
    with receiver(DRIP) as hook:
        _live(db, hook.url, timeout_s=1)
        crew.start("plain", PENSTOCK_CREDENTIALS=credentials)
        events.emit(db, "kg", "grew")
        until(lambda: _statuses(db) == [("failed", 1)], "it has failed")
        assert "no answer within 1 s" in value(db, "select error ->> 'message' from penstock.iu_route_dead_letter")
