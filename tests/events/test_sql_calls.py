"""Trigger-in without rows: calls of routines, and DDL."""

import re
from typing import Any

import pytest

from penstock.errors import BadRequest
from penstock.kernel import sql_routes
from penstock.kernel.connection import Connection
from tests.events.support import DOMAIN, TYPE, known
from tests.sql.support import rows, value

ROUTE = "orders.called"


@pytest.fixture(autouse=True)
def _table(db: Connection) -> None:
    known(db)
    db.execute("create table orders (id bigint primary key)")


def _definition(sql_event: str, **more: Any) -> dict[str, Any]:
    target = {"target_event_domain": DOMAIN, "target_event_type": TYPE}
    return {"source_schema": "public", "sql_event": sql_event, **target, **more}


def _events(db: Connection) -> list[tuple[Any, ...]]:
    return rows(db, "select subject_table, subject_ref, payload from penstock.event_outbox order by seq")


def test_a_call_is_recorded_with_the_arguments_that_are_kept(db: Connection) -> None:
    db.execute("create function pay(order_id int, note text default null) returns text return 'paid ' || order_id")
    contract = {"keep_refs": ["order_id"], "subject": ["order_id"]}
    definition = _definition("call", source_table="pay", payload_contract=contract)
    sql_routes.route_set(db, ROUTE, definition, enabled=True)
    call = "select penstock.fn_sql_event_call(%s, %s::jsonb)"
    assert value(db, call, ROUTE, '{"order_id": 7}') == "paid 7"
    assert _events(db) == []
    sql_routes.route_set(db, ROUTE, dry_run=False, reviewed_by="user:ann")
    assert value(db, call, ROUTE, '{"order_id": 8, "note": "thanks"}') == "paid 8"
    assert _events(db) == [("public.pay", "8", {"order_id": 8})]
    with pytest.raises(BadRequest, match="has no argument colour"):
        value(db, call, ROUTE, '{"colour": 1}')
    sql_routes.route_set(db, ROUTE, enabled=False)
    assert value(db, call, ROUTE, '{"order_id": 9}') == "paid 9"
    assert len(_events(db)) == 1


def test_a_procedure_and_a_set_can_be_called_too(db: Connection) -> None:
    db.execute("create procedure fill(n int) language sql as 'insert into orders select generate_series(1, n)'")
    db.execute("create function evens(n int) returns setof int language sql as 'select 2 * generate_series(1, n)'")
    call = "select penstock.fn_sql_event_call(%s, %s::jsonb)"
    sql_routes.route_set(db, "fill", _definition("call", source_table="fill"), enabled=True)
    sql_routes.route_set(db, "evens", _definition("call", source_table="evens(integer)"), enabled=True)
    assert value(db, call, "fill", '{"n": 3}') is None
    assert value(db, "select count(*) from orders") == 3
    assert value(db, call, "evens", '{"n": 3}') == [2, 4, 6]


def test_arguments_may_be_arrays_and_rows_and_only_given_back(db: Connection) -> None:
    db.execute("create type spot as (x int, label text)")
    db.execute(
        "create function mixed(out total int, names text[], grid int[], inout at spot, notes jsonb default '{}')"
        " language sql as $$ select cardinality(names) + cardinality(grid), row((at).x + 1, names[2])::spot $$"
    )
    db.execute("create procedure count_up(out n int, by int[]) language plpgsql as $$ begin n := by[1] + 1; end $$")
    call = "select penstock.fn_sql_event_call(%s, %s::jsonb)"
    sql_routes.route_set(db, "mixed", _definition("call", source_table="mixed"), enabled=True)
    sql_routes.route_set(db, "count_up", _definition("call", source_table="count_up"), enabled=True)
    given = '{"names": ["a", "b, \\"c\\" {}"], "grid": [[1, 2], [3, 4]], "at": {"x": 6, "label": "here"}, "notes": [1]}'
    assert value(db, call, "mixed", given) == {"total": 6, "at": {"x": 7, "label": 'b, "c" {}'}}
    assert value(db, call, "count_up", '{"by": [41]}') == {"n": 42}
    with pytest.raises(BadRequest, match="has no argument total"):
        value(db, call, "mixed", '{"total": 1}')


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ('{"a": 1}', "public.needy(integer,text,integer[]) needs an argument that is not given: b"),
        ("null", "are a JSON object"),
        ("[1]", "are a JSON object"),
        ('{"a": 1, "b": "x", "c": 2}', "has no argument c"),
        ('{"a": "x", "b": "x"}', "a value cannot be read: invalid input syntax for type integer"),
    ],
)
def test_arguments_that_do_not_fit_are_named(db: Connection, given: str, said: str) -> None:
    db.execute(
        "create function needy(a int, b text, variadic more int[] default '{}') returns int return cardinality(more)"
    )
    sql_routes.route_set(db, "needy", _definition("call", source_table="needy"), enabled=True)
    call = "select penstock.fn_sql_event_call(%s, %s::jsonb)"
    assert value(db, call, "needy", '{"a": 1, "b": "x", "more": [4, 5]}') == 2
    assert value(db, call, "needy", '{"a": 1, "b": "x"}') == 0
    with pytest.raises(BadRequest, match=re.escape(said)):
        value(db, call, "needy", given)


def test_an_array_of_json_is_one(db: Connection) -> None:
    db.execute("create function told(x jsonb[]) returns jsonb return to_jsonb(x)")
    sql_routes.route_set(db, "told", _definition("call", source_table="told"), enabled=True)
    given = '{"x": ["a", {"b": [1]}, null, 2]}'
    assert value(db, "select penstock.fn_sql_event_call('told', %s::jsonb)", given) == ["a", {"b": [1]}, None, 2]


def test_the_event_triggers_go_with_the_last_ddl_route(db: Connection) -> None:
    triggers = "select count(*) from pg_event_trigger where evtname in ('penstock_ddl', 'penstock_drop')"
    for code in ("one", "two"):
        sql_routes.route_set(db, code, _definition("ddl"), enabled=True)
    sql_routes.route_set(db, "one", enabled=False)
    assert value(db, triggers) == 2
    sql_routes.route_set(db, "two", enabled=False)
    assert value(db, triggers) == 0


def test_ddl_becomes_events_but_not_our_own(db: Connection) -> None:
    definition = {
        "sql_event": "ddl",
        "source_schema": "public",
        "target_event_domain": DOMAIN,
        "target_event_type": TYPE,
    }
    sql_routes.route_set(db, ROUTE, definition, enabled=True)
    db.execute("create table made (id int)")
    sql_routes.route_set(db, ROUTE, dry_run=False, reviewed_by="user:ann")
    db.execute("alter table made add column x int")
    db.execute("create table penstock_of_mine (id int)")
    sql_routes.route_set(db, "made", _definition("insert", source_table="made"), enabled=True)
    sql_routes.route_set(db, "made", enabled=False)
    db.execute("create temp table passing (id int)")
    db.execute("select penstock.partition_ensure('event_outbox', now() + interval '3 years')")
    db.execute("drop table made")
    found = rows(db, "select subject_table, subject_ref, payload from penstock.event_outbox order by seq")
    assert found == [
        ("table", "public.made", {"command": "ALTER TABLE"}),
        ("table", "public.penstock_of_mine", {"command": "CREATE TABLE"}),
        ("table", "public.made", {"command": "DROP TABLE"}),
    ]
