"""What an event type promises: its stream, and what its payload may hold."""

from typing import Any

import pytest

from penstock.errors import BadRequest, ForbiddenPayload
from penstock.kernel import admin, consumers, events, outbound, sql_routes
from penstock.kernel.connection import Connection, translated
from penstock.model import Json
from tests.events.support import DOMAIN, TYPE, dispatched, emit, known, live, routed
from tests.sql.support import rows, value

ROUTE = "orders.new"


def _promise(db: Connection, **contract: list[str]) -> None:
    events.type_register(db, DOMAIN, TYPE, "update", contract=contract)


def _kept(db: Connection, *refs: str) -> None:
    db.execute("create table if not exists orders (id bigint primary key, status text, extra jsonb)")
    definition: dict[str, Any] = {
        "source_schema": "public",
        "source_table": "orders",
        "sql_event": "insert",
        "target_event_domain": DOMAIN,
        "target_event_type": TYPE,
        "payload_contract": {"keep_refs": list(refs)},
    }
    routed(db, ROUTE, definition)


@pytest.mark.parametrize(
    ("payload", "key"),
    [({"size": 1, "colour": "red"}, "colour"), ({"size": {"deep": [{"Note": 1}]}}, "note"), ({"other": None}, "other")],
)
def test_a_payload_that_breaks_the_contract_of_its_type_is_refused(db: Connection, payload: Json, key: str) -> None:
    _promise(db, keep_refs=["size", "note"], forbid_keys=["note"])
    with pytest.raises(ForbiddenPayload, match=f"holds the key '{key}', which the contract of kg.grew does not allow"):
        emit(db, payload=payload)
    emit(db, payload={"size": 1})
    emit(db)
    known(db)
    emit(db, payload=payload)


@pytest.mark.parametrize("contract", [[], {"keep": ["a"]}, {"keep_refs": []}, {"forbid_keys": 7}])
def test_what_is_no_contract_is_refused(db: Connection, contract: Any) -> None:
    with pytest.raises(BadRequest, match="payload_contract is an object with keep_refs and forbid_keys"):
        events.type_register(db, DOMAIN, TYPE, "update", contract=contract)


def test_a_route_keeps_what_its_type_allows_and_a_type_allows_what_its_routes_keep(db: Connection) -> None:
    _promise(db, keep_refs=["status"])
    with pytest.raises(ForbiddenPayload, match=r"SQL route orders.new holds the key 'extra'"):
        _kept(db, "status", "extra")
    _kept(db, "status")
    with pytest.raises(ForbiddenPayload, match=r"SQL route orders\.new"):
        _promise(db, forbid_keys=["status"])
    assert sql_routes.show(db, ROUTE).state == "live"
    _promise(db, keep_refs=["status", "extra"], forbid_keys=["private"])
    _kept(db, "extra")
    with pytest.raises(ForbiddenPayload, match="'private'"), translated(db):
        db.execute("""insert into orders values (1, 'new', '{"a": {"private": 1}}')""")
    db.execute("""insert into orders values (1, 'new', '{"a": 1}')""")
    assert value(db, "select payload from penstock.event_outbox") == {"extra": {"a": 1}}


def test_a_word_is_not_forbidden_while_an_enabled_route_keeps_it(db: Connection) -> None:
    known(db)
    _kept(db, "status")
    before = value(db, "select value from penstock.dot_config where key = 'queue.forbidden_keys'")
    with pytest.raises(ForbiddenPayload, match=r"of route orders\.new holds the key 'status'"):
        admin.config_set(db, "queue.forbidden_keys", f"{before},status")
    assert value(db, "select value from penstock.dot_config where key = 'queue.forbidden_keys'") == before
    sql_routes.route_set(db, ROUTE, enabled=False)
    admin.config_set(db, "queue.forbidden_keys", f"{before},status")
    with pytest.raises(ForbiddenPayload, match=r"of route orders\.new holds the key 'status'"):
        sql_routes.route_set(db, ROUTE, enabled=True)


def test_a_type_that_moves_to_another_stream_takes_its_rows_along(db: Connection) -> None:
    known(db)
    live(db, stream="update")
    _kept(db, "status")
    out = {"event_domain": DOMAIN, "event_type": TYPE, "event_stream": "update", "route_kind": "notify"}
    outbound.route_set(db, "out", {**out, "target": {"channel": "told"}}, enabled=True)
    events.subscription_set(db, "user:ada", DOMAIN, event_type=TYPE, stream="update")
    events.subscription_set(db, "user:bob", DOMAIN, stream="update")
    events.type_register(db, DOMAIN, TYPE, "alert")
    db.execute("insert into orders values (1, 'new')")
    event = emit(db, "after")
    streams = rows(db, "select distinct event_stream from penstock.event_outbox where created_at = now() or seq > 1")
    assert streams == [("alert",)]
    assert dispatched(db)["jobs"] == 2
    assert events.recipients(db, event) == {"user:ada": "exact"}
    assert outbound.show(db, "out").event_stream == "alert"
    assert consumers.show(db, "greeter").event_stream == "alert"


def test_events_from_before_a_move_are_dispatched_all_the_same(db: Connection) -> None:
    known(db)
    live(db, stream="update")
    for gate in ("iu_core.routes_enabled", "iu_core.route_worker_enabled"):
        admin.config_set(db, gate, "true")
    out = {"event_domain": DOMAIN, "event_type": TYPE, "event_stream": "update", "route_kind": "notify"}
    outbound.route_set(db, "out", {**out, "target": {"channel": "told"}}, enabled=True)
    dispatched(db)
    outbound.worker_run(db)
    event = emit(db, "before")
    events.type_register(db, DOMAIN, TYPE, "birth")
    assert dispatched(db)["jobs"] == 1
    outbound.worker_run(db)
    tried = "select route_code, status from penstock.iu_route_attempt where event_ref = %s"
    assert rows(db, tried, event) == [("out", "dry_run")]


@pytest.mark.parametrize("payload", ["[]", "7", '"text"'])
def test_a_payload_is_an_object(db: Connection, payload: str) -> None:
    known(db)
    emit = "select penstock.fn_iu_emit_event(%s, %s, null, null, null, %s::jsonb, null)"
    with pytest.raises(BadRequest, match="it has to be an object"):
        value(db, emit, DOMAIN, TYPE, payload)


def test_a_job_says_what_caused_its_changes(db: Connection) -> None:
    known(db)
    _kept(db, "status")
    cause = emit(db, "cause")
    with pytest.raises(BadRequest, match="within its transaction"):
        events.mark(db, cause, None, None)
    with db.transaction():
        events.mark(db, cause, "c-7", None)
        db.execute("insert into orders values (1, 'new')")
    db.execute("insert into orders values (2, 'new')")
    told = rows(db, "select causation_event_id, correlation_id from penstock.event_outbox order by seq")
    assert told == [(None, None), (cause, "c-7"), (None, None)]
