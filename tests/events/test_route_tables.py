"""SQL routes and what becomes of their tables: other names, other types, gone with their schema."""

from typing import Any

import pytest

from penstock.kernel import sql_routes
from penstock.kernel.connection import Connection
from tests.events.support import DOMAIN, TYPE, emit, known, routed
from tests.sql.support import rows, value

ROUTE = "orders.new"


@pytest.fixture(autouse=True)
def _known(db: Connection) -> None:
    known(db)


def _live(db: Connection, sql_event: str = "insert", **more: Any) -> None:
    target = {"target_event_domain": DOMAIN, "target_event_type": TYPE}
    definition = {"source_schema": "public", "sql_event": sql_event, **target, **more}
    routed(db, ROUTE, definition)


def _state(db: Connection) -> str:
    return sql_routes.show(db, ROUTE).state


def test_a_renamed_table_is_a_state_of_its_own_and_its_events_have_its_name(db: Connection) -> None:
    db.execute("create table orders (id bigint primary key)")
    _live(db, source_table="orders")
    db.execute("insert into orders values (1)")
    db.execute("alter table orders rename to sales")
    assert _state(db) == "renamed"
    health = "select detail from penstock.v_queue_health where part = %s"
    assert "has another name now" in value(db, health, f"route:{ROUTE}")
    db.execute("insert into sales values (2)")
    # another one takes its place: it has no trigger, and the old one does not speak for it
    db.execute("create table orders (id bigint primary key)")
    assert _state(db) == "not_applied"
    db.execute("insert into sales values (3)")
    db.execute("insert into orders values (4)")
    assert sql_routes.apply(db, ROUTE) == "live"
    db.execute("insert into sales values (5)")
    db.execute("insert into orders values (6)")
    found = rows(db, "select subject_table, subject_ref from penstock.event_outbox order by seq")
    assert found == [("public.orders", "1"), ("public.sales", "2"), ("public.sales", "3"), ("public.orders", "6")]


def test_a_domain_is_written_as_what_it_is_made_of_and_an_own_type_as_text(db: Connection) -> None:
    db.execute("create domain cents as integer check (value >= 0)")
    db.execute("create domain pennies as cents")
    db.execute("create type spot as (x int, y int)")
    db.execute("create table orders (id bigint primary key, price pennies, place spot, tags text[])")
    _live(db, source_table="orders", payload_contract={"keep_refs": ["price", "place", "tags"]})
    db.execute("insert into orders values (1, 7, row(1, 2), '{a,b}'), (2, null, null, null)")
    found = rows(db, "select payload from penstock.event_outbox order by seq")
    empty = {"price": None, "place": None, "tags": None}
    assert found == [({"price": 7, "place": "(1,2)", "tags": ["a", "b"]},), (empty,)]


def test_what_goes_with_its_schema_is_told_and_half_a_trigger_is_not_live(db: Connection) -> None:
    db.execute("create schema app")
    db.execute("create table app.orders (id int primary key)")
    db.execute("create view app.seen as select * from app.orders")
    _live(db, "ddl", source_schema="app")
    db.execute("drop schema app cascade")
    found = rows(db, "select subject_table, subject_ref from penstock.event_outbox order by subject_table, subject_ref")
    assert found == [("schema", "app"), ("table", "app.orders"), ("view", "app.seen")]
    db.execute("drop event trigger penstock_drop")
    assert _state(db) == "not_applied"
    assert sql_routes.apply(db, ROUTE) == "live"
    assert value(db, "select count(*) from pg_event_trigger where evtname in ('penstock_ddl', 'penstock_drop')") == 2


@pytest.mark.parametrize("state", ["disabled", "dry_run", "live and open"])
def test_a_loop_of_causes_stops_no_writer_that_is_not_to_be_stopped(db: Connection, state: str) -> None:
    db.execute("create function pay(n int) returns text return 'paid'")
    for code, definition in (
        ("pays", {"source_schema": "public", "source_table": "pay", "sql_event": "call"}),
        ("makes", {"sql_event": "ddl"}),
    ):
        target = {"target_event_domain": DOMAIN, "target_event_type": TYPE, "fail_closed": False}
        if state == "live and open":
            routed(db, code, definition | target)
        else:
            sql_routes.route_set(db, code, definition | target, enabled=state == "dry_run")
    deep = emit(db, "deep")
    db.execute("update penstock.event_outbox set causation_depth = 32")
    with db.transaction():
        db.execute("select set_config('penstock.causation_event_id', %s, true)", [str(deep)])
        assert value(db, """select penstock.fn_sql_event_call('pays', '{"n": 1}')""") == "paid"
        db.execute("create table made (id int)")
    noted = rows(db, "select route_code, outcome from penstock.sql_event_route_note where events = 0 order by 1")
    assert noted == ([("makes", "refused"), ("pays", "refused")] if state == "live and open" else [])
