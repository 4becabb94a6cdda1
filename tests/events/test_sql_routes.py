"""Trigger-in: a change in a table becomes events in the writer's own transaction, and never breaks a writer unasked."""

from typing import Any, LiteralString
from uuid import uuid4

import psycopg
import pytest
from psycopg.types.json import Jsonb

from penstock.errors import BadRequest, ForbiddenPayload, NotReviewed, PayloadTooLarge, UnknownEventType
from penstock.kernel import sql_routes
from penstock.kernel.connection import Connection, connect
from tests.events.support import DOMAIN, TYPE, emit, known, routed
from tests.sql.support import rows, value

ROUTE = "orders.changed"
TABLE = "create table orders (id bigint primary key, status text, total numeric, note text, extra jsonb)"

MERGE: LiteralString = (
    "merge into orders o using (values (9)) v(id) on o.id = v.id when not matched then insert values (v.id)"
)


@pytest.fixture(autouse=True)
def _table(db: Connection) -> None:
    known(db)
    db.execute(TABLE)


def _definition(sql_event: str = "insert", **more: Any) -> dict[str, Any]:
    return {
        "source_schema": "public",
        "source_table": "orders",
        "sql_event": sql_event,
        "target_event_domain": DOMAIN,
        "target_event_type": TYPE,
        **more,
    }


def _live(db: Connection, sql_event: str = "insert", **more: Any) -> None:
    """A route that has run dry, was reviewed, and is live."""
    routed(db, ROUTE, _definition(sql_event, **more))


def _events(db: Connection) -> list[tuple[Any, ...]]:
    return rows(db, "select subject_table, subject_ref, payload from penstock.event_outbox order by seq")


def _add(db: Connection, *ids: int, status: str = "new") -> None:
    db.execute("insert into orders (id, status) select unnest(%s::bigint[]), %s", [list(ids), status])


def test_an_insert_becomes_an_event_with_the_refs_that_are_kept(db: Connection) -> None:
    _live(db, payload_contract={"keep_refs": ["status", "total"]})
    db.execute("insert into orders values (7, 'new', 12.5, 'a note', '{}')")
    assert _events(db) == [("public.orders", "7", {"status": "new", "total": 12.5})]
    kept = rows(db, "select event_domain, event_type, event_stream, actor, causation_depth from penstock.event_outbox")
    assert kept == [(DOMAIN, TYPE, "update", "role:postgres", 0)]


@pytest.mark.parametrize(
    ("sql_event", "statement", "refs"),
    [
        ("insert", "insert into orders select 10 + g from generate_series(1, 3) g", ["11", "12", "13"]),
        ("update", "update orders set status = 'paid' where id < 3", ["1", "2"]),
        ("update", "update orders set status = 'paid' where false", []),
        ("delete", "delete from orders where id = 3", ["3"]),
        ("truncate", "truncate orders", [None]),
        ("insert", MERGE, ["9"]),
        ("update", "insert into orders values (2) on conflict (id) do update set status = 'again'", ["2"]),
    ],
)  # fmt: skip
def test_each_change_is_an_event_of_its_row(
    db: Connection, sql_event: str, statement: LiteralString, refs: list[str | None]
) -> None:
    _add(db, 1, 2, 3)
    _live(db, sql_event)
    db.execute(statement)
    assert [row[1] for row in _events(db)] == refs


def test_copy_is_an_insert(db: Connection) -> None:
    _live(db)
    with db.cursor() as cursor, cursor.copy("copy orders (id) from stdin") as copy:
        copy.write("1\n2\n")
    assert [row[1] for row in _events(db)] == ["1", "2"]


def test_the_event_is_part_of_the_writers_transaction(db: Connection, database: str) -> None:
    _live(db)
    with connect(database) as writer:
        with writer.transaction(force_rollback=True):
            _add(writer, 1)
            assert (len(_events(writer)), _events(db)) == (1, [])
        assert _events(db) == []


def test_only_what_a_filter_names_counts_as_a_change(db: Connection) -> None:
    _add(db, 1, 2, 3)
    _live(db, "update", source_filter={"changed": ["status", "total"]})
    db.execute("update orders set note = 'x'")
    db.execute("update orders set status = status")
    assert _events(db) == []
    db.execute("update orders set status = null, note = 'y' where id = 1")
    db.execute("update orders set total = 1 where id = 2")
    db.execute("update orders set id = 33 where id = 3")
    assert [row[1] for row in _events(db)] == ["1", "2", "33"]


def test_a_filter_needs_a_primary_key_and_an_update(db: Connection) -> None:
    db.execute("create table keyless (id int)")
    with pytest.raises(BadRequest, match="has no primary key"):
        sql_routes.route_set(
            db, ROUTE, _definition("update", source_table="keyless", source_filter={"changed": ["id"]})
        )
    with pytest.raises(BadRequest, match="only an update"):
        sql_routes.route_set(db, ROUTE, _definition("insert", source_filter={"changed": ["id"]}))
    assert sql_routes.route_list(db) == []


def test_the_same_key_is_one_event(db: Connection) -> None:
    _live(db, idempotency_policy={"key": "(status, total)"})
    _add(db, 1, 2, 3)
    _add(db, 4)
    _add(db, 5, status="paid")
    assert [row[1] for row in _events(db)] == ["1", "5"]


def test_a_dry_run_notes_and_emits_nothing(db: Connection) -> None:
    assert (
        sql_routes.route_set(db, ROUTE, _definition(payload_contract={"keep_refs": ["status"]}), enabled=True)
        == "dry_run"
    )
    db.execute("insert into orders select g, 'new' from generate_series(1, 25) g")
    assert _events(db) == []
    (note,) = sql_routes.noted(db, ROUTE)
    assert (note.outcome, note.events) == ("dry_run", 25)
    assert note.sample is not None
    assert len(note.sample) == 10
    assert (note.sample[0]["subject_ref"], note.sample[0]["payload"]) == ("1", {"status": "new"})


def test_live_needs_a_review_and_a_change_needs_another(db: Connection) -> None:
    sql_routes.route_set(db, ROUTE, _definition(), enabled=True)
    with pytest.raises(NotReviewed, match="nobody has reviewed"):
        sql_routes.route_set(db, ROUTE, dry_run=False)
    with pytest.raises(NotReviewed, match="has not run dry"):
        sql_routes.route_set(db, ROUTE, dry_run=False, reviewed_by="user:ann")
    _add(db, 1)
    assert sql_routes.route_set(db, ROUTE, dry_run=False, reviewed_by="user:ann") == "live"
    # the same again changes nothing
    assert sql_routes.route_set(db, ROUTE, _definition()) == "live"
    assert sql_routes.route_set(db, ROUTE, _definition(fail_closed=False)) == "disabled"
    with pytest.raises(NotReviewed):
        sql_routes.route_set(db, ROUTE, enabled=True, dry_run=False)
    with pytest.raises(psycopg.errors.CheckViolation):
        db.execute("update penstock.iu_sql_event_route set enabled = true, dry_run = false")


def test_a_disabled_route_leaves_no_trigger(db: Connection) -> None:
    _live(db)
    assert sql_routes.route_set(db, ROUTE, enabled=False) == "disabled"
    _add(db, 1)
    assert _events(db) == []
    assert value(db, "select count(*) from pg_trigger where tgrelid = 'orders'::regclass and not tgisinternal") == 0


@pytest.mark.parametrize("key", ["token", "Password", "deep"])
def test_a_forbidden_key_fails_the_writer_where_the_route_is_closed(db: Connection, key: str) -> None:
    _live(db, payload_contract={"keep_refs": ["extra"], "forbid_keys": ["deep"]})
    with pytest.raises(psycopg.Error, match="holds the key") as refused:
        db.execute("insert into orders (id, extra) values (1, %s)", [Jsonb({"a": [{key: 1}]})])
    assert refused.value.sqlstate == ForbiddenPayload.sqlstate
    assert (value(db, "select count(*) from orders"), _events(db)) == (0, [])


def test_where_it_is_not_closed_the_refusal_is_noted_and_the_writer_goes_on(db: Connection) -> None:
    _live(db, fail_closed=False, payload_contract={"keep_refs": ["extra"]})
    db.execute("""insert into orders (id, extra) values (1, '{"secret": 1}')""")
    db.execute("""insert into orders (id, extra) values (2, '{"fine": 1}')""")
    assert value(db, "select count(*) from orders") == 2
    assert [row[1] for row in _events(db)] == ["2"]
    note = sql_routes.noted(db, ROUTE)[0]
    assert note.outcome == "refused"
    assert "secret" in (note.detail or "")


def test_a_payload_that_is_too_large_is_refused(db: Connection) -> None:
    _live(db, payload_contract={"keep_refs": ["note"]})
    with pytest.raises(psycopg.Error) as refused:
        db.execute(
            "insert into orders (id, note) select 1, string_agg(md5(g::text), '') from generate_series(1, 400) g"
        )
    assert refused.value.sqlstate == PayloadTooLarge.sqlstate


def test_a_column_that_goes_away_is_a_null_and_shows_in_health(db: Connection) -> None:
    _live(db, payload_contract={"keep_refs": ["status", "total"]})
    _add(db, 1)
    db.execute("alter table orders drop column total")
    _add(db, 2)
    db.execute("alter table orders rename column status to state")
    db.execute("insert into orders (id, state) values (3, 'x')")
    assert [row[2] for row in _events(db)] == [
        {"status": "new", "total": None},
        {"status": "new", "total": None},
        {"status": None, "total": None},
    ]
    assert sql_routes.show(db, ROUTE).state == "broken"
    health = rows(db, "select state, detail from penstock.v_queue_health where part = %s", f"route:{ROUTE}")
    assert health == [("alert", "broken: a column it names is gone, and null in its events")]
    assert sql_routes.apply(db, ROUTE) == "broken"
    db.execute("insert into orders (id, state) values (4, 'x')")
    assert _events(db)[-1] == ("public.orders", "4", {"status": None, "total": None})


def test_a_dropped_table_is_a_named_state_and_one_made_again_is_routed_by_apply(db: Connection) -> None:
    _live(db)
    db.execute("drop table orders")
    assert sql_routes.show(db, ROUTE).state == "table_missing"
    assert sql_routes.apply(db, ROUTE) == "table_missing"
    db.execute(TABLE)
    _add(db, 1)
    assert sql_routes.show(db, ROUTE).state == "not_applied"
    assert sql_routes.apply(db, ROUTE) == "live"
    _add(db, 2)
    assert [row[1] for row in _events(db)] == ["2"]


def test_a_route_that_is_moved_leaves_its_old_table_alone(db: Connection) -> None:
    _live(db)
    db.execute("create table other (id int primary key)")
    _live(db, source_table="other")
    _add(db, 1)
    db.execute("insert into other values (5)")
    assert _events(db) == [("public.other", "5", None)]


def test_what_the_session_says_about_its_cause_is_kept(db: Connection) -> None:
    cause = emit(db, "cause")
    _live(db)
    with db.transaction():
        db.execute("select set_config('penstock.causation_event_id', %s, true)", [str(cause)])
        db.execute("set local penstock.correlation_id = 'c'")
        _add(db, 1)
    db.execute("set penstock.causation_event_id = 'no uuid'")
    _add(db, 2)
    found = rows(
        db, "select causation_event_id, causation_depth, correlation_id from penstock.event_outbox order by seq"
    )
    assert found[1:] == [(cause, 1, "c"), (None, 0, None)]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"source_table": "nowhere"}, "table public.nowhere does not exist"),
        ({"sql_event": "upsert"}, "sql_event is"),
        ({"sql_event": None}, "sql_event is"),
        ({"colour": "red"}, "colour is nothing a route has"),
        ({"payload_contract": {"keep_refs": ["colour"]}}, "has no column colour"),
        ({"payload_contract": {"keep": ["id"]}}, "payload_contract is an object"),
        ({"payload_contract": []}, "payload_contract is an object"),
        ({"idempotency_policy": {"key": ["colour"]}}, "has no column colour"),
        ({"source_schema": "penstock", "source_table": "job"}, "what Penstock writes"),
        ({"source_object_kind": "routine"}, "insert happens to a table"),
        ({"sql_event": "truncate", "payload_contract": {"keep_refs": ["id"]}}, "has no rows"),
    ],
)
def test_what_cannot_be_a_route_is_refused(db: Connection, change: dict[str, Any], words: str) -> None:
    with pytest.raises(BadRequest, match=words):
        sql_routes.route_set(db, ROUTE, _definition(**change))
    assert sql_routes.route_list(db) == []


def test_a_forbidden_column_and_an_unregistered_type_are_refused(db: Connection) -> None:
    db.execute("create table logins (id int primary key, password text)")
    with pytest.raises(ForbiddenPayload, match="password"):
        sql_routes.route_set(
            db, ROUTE, _definition(source_table="logins", payload_contract={"keep_refs": ["password"]})
        )
    with pytest.raises(UnknownEventType):
        sql_routes.route_set(db, ROUTE, _definition(target_event_type="unheard"))


def test_a_role_with_an_odd_name_may_write(db: Connection, database: str) -> None:
    _live(db)
    role = f"odd name {uuid4().hex[:8]}"
    db.execute(f'create role "{role}" login'.encode())
    db.execute(f'grant insert on orders to "{role}"'.encode())
    try:
        with connect(database) as writer:
            writer.execute(f'set role "{role}"'.encode())
            _add(writer, 1)
        assert value(db, "select actor from penstock.event_outbox") == "system:sql_route"
    finally:
        db.execute(f'drop owned by "{role}"'.encode())
        db.execute(f'drop role "{role}"'.encode())


def test_a_hundred_thousand_rows_are_one_insert_of_events(db: Connection) -> None:
    db.execute("insert into orders select g, 'new' from generate_series(1, 100000) g")
    _live(db, "update", payload_contract={"keep_refs": ["status"]}, source_filter={"changed": ["status"]})
    db.execute("update orders set status = 'paid'")
    assert value(db, "select count(*) from penstock.event_outbox") == 100_000
    assert value(db, "select count(distinct tx_id) from penstock.event_outbox") == 1


def test_different_keys_stay_different_and_equal_ones_equal(db: Connection, database: str) -> None:
    db.execute("create table marks (id int primary key, a text, b text, at timestamptz)")
    _live(db, source_table="marks", idempotency_policy={"key": ["a", "b", "at"]})
    db.execute("insert into marks values (1, null, 'x'), (2, 'x', null), (3, 'a,b', 'c'), (4, 'a', 'b,c')")
    for number, zone in enumerate(("UTC", "Asia/Tokyo", "America/New_York")):
        with connect(database) as writer:
            writer.execute(f"set timezone = '{zone}'".encode())
            writer.execute("insert into marks values (%s, 'k', 'k', '2026-01-01 00:00:00+00')", [10 + number])
    db.execute("insert into marks values (20, repeat('long', 5000), 'k', null)")
    assert [row[1] for row in _events(db)] == ["1", "2", "3", "4", "10", "20"]


def test_a_route_is_disabled_also_while_somebody_reads_its_table(db: Connection, database: str) -> None:
    _live(db)
    with connect(database) as reader, reader.transaction():
        reader.execute("select from orders")
        assert sql_routes.route_set(db, ROUTE, enabled=False) == "disabled"
    _add(db, 1)
    assert _events(db) == []


def test_a_column_that_becomes_json_is_looked_through_and_compared_as_text(db: Connection) -> None:
    _live(db, "update", payload_contract={"keep_refs": ["note"]}, source_filter={"changed": ["note"]})
    db.execute("insert into orders (id, note) values (1, '{}'), (2, '{}')")
    db.execute("alter table orders alter note type json using note::json")
    db.execute("""update orders set note = '{"fine": 1}' where id = 1""")
    with pytest.raises(psycopg.Error, match="password"):
        db.execute("""update orders set note = '{"password": 1}' where id = 2""")
    assert _events(db) == [("public.orders", "1", {"note": {"fine": 1}})]


def test_without_its_primary_key_a_filter_counts_every_row_once_and_is_broken(db: Connection) -> None:
    _add(db, 1, 2)
    _live(db, "update", source_filter={"changed": ["status"]})
    db.execute("alter table orders drop constraint orders_pkey")
    db.execute("update orders set note = 'x'")
    assert len(_events(db)) == 2
    assert sql_routes.show(db, ROUTE).state == "broken"


def test_a_subject_is_bounded_and_holds_nothing_forbidden(db: Connection) -> None:
    db.execute("create table logins (id int primary key, password text, login text)")
    for contract in ({"subject": ["password"]}, {"keep_refs": ["login"], "forbid_keys": ["login"]}):
        with pytest.raises(ForbiddenPayload):
            sql_routes.route_set(db, ROUTE, _definition(source_table="logins", payload_contract=contract))
    _live(db, source_table="logins", payload_contract={"subject": ["login"]})
    db.execute("insert into logins values (1, 'p', repeat('x', 9000))")
    assert len(_events(db)[0][1]) == 2000


def test_many_rows_after_few_are_not_joined_row_by_row(db: Connection) -> None:
    db.execute("insert into orders select g, 'new' from generate_series(1, 20000) g")
    _live(db, "update", source_filter={"changed": ["status"]})
    for number in range(1, 13):
        db.execute("update orders set status = 'one' where id = %s", [number])
    db.execute("set statement_timeout = '20s'")
    db.execute("update orders set status = 'all'")
    assert len(_events(db)) == 20_012
