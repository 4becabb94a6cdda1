"""What nobody may do through the event plane who may not do it otherwise."""

from typing import Any

import pytest

from penstock.errors import BadRequest, NotAllowed, PenstockError
from penstock.kernel import consumers, events, outbound, sql_routes
from penstock.kernel.connection import Connection
from tests.events.outward import opened, route, run
from tests.events.support import DOMAIN, TYPE, emit, known, routed
from tests.logins import Logins
from tests.sql.support import rows, take_one, value


def _definition(table: str, sql_event: str = "insert", **more: Any) -> dict[str, Any]:
    source = {"source_schema": "public", "source_table": table, "sql_event": sql_event}
    return {**source, "target_event_domain": DOMAIN, "target_event_type": TYPE, **more}


def _queued(db: Connection) -> int:
    """An attempt that waits for its HTTP delivery."""
    opened(db)
    route(db, "hook", "http", target={"url": "http://localhost:1/x", "secret": "s"})
    emit(db, "n/1")
    run(db)
    return int(value(db, "select attempt_id from penstock.iu_route_attempt where status = 'queued'"))


@pytest.mark.parametrize("cast", ["json", "jsonb", "text"])
@pytest.mark.parametrize("is_live", [True, False])
def test_the_owner_of_a_table_runs_nothing_with_our_rights(
    db: Connection, logins: Logins, cast: str, is_live: bool
) -> None:
    known(db)
    name = logins.make()
    db.execute(f"grant create, usage on schema public to {name}".encode())
    owner = logins.open(name)
    owner.execute("create type mood as enum ('ok', 'bad')")
    owner.execute("create table t (id mood primary key, m mood, ms mood[], note text)")
    names = ["id", "m", "ms", "note"]
    policy = {"payload_contract": {"keep_refs": names}, "idempotency_policy": {"key": names}}
    definition = _definition("t", "update", source_filter={"changed": names}, **policy)
    if is_live:
        routed(db, "t.changed", definition)
    else:
        sql_routes.route_set(db, "t.changed", definition, enabled=True)
    owner.execute(
        f"create function evil(m mood) returns {cast} language plpgsql as"
        " $$ begin execute format('alter role %I superuser', session_user); return '1'; end $$".encode()
    )
    owner.execute(f"create cast (mood as {cast}) with function evil(mood) as implicit".encode())
    owner.execute("create function equal(mood, mood) returns boolean language sql as 'select evil($1) is null'")
    owner.execute("create operator public.= (leftarg = mood, rightarg = mood, function = equal)")
    # also a column that becomes one of the owner's own types after the route was made
    owner.execute("alter table t alter note type mood using 'ok'")
    owner.execute("insert into t values ('ok', 'ok', '{ok,bad}', 'ok')")
    owner.execute("update t set m = 'bad'")
    assert value(db, "select rolsuper from pg_roles where rolname = %s", name) is False
    noted = "select outcome, events, sample -> 0 ->> 'subject_ref' from penstock.sql_event_route_note order by noted_at"
    if is_live:
        payload = {"id": "ok", "m": "bad", "ms": "{ok,bad}", "note": "ok"}
        assert rows(db, "select subject_ref, payload from penstock.event_outbox") == [("ok", payload)]
    else:
        assert rows(db, noted) == [("dry_run", 1, "ok")]


def test_an_executor_dispatches_by_the_cursor_of_consumers_alone(db: Connection, logins: Logins) -> None:
    known(db)
    executor = logins.member("dot_executor")
    for cursor in ("route:iu_outbound_default", "broadcasts", "audit"):
        with pytest.raises(BadRequest, match=f"cursor {cursor} is not one of consumers"):
            consumers.dispatch_run(executor, cursor)
    assert consumers.dispatch_run(executor)["events"] == 0


def test_a_call_is_no_dry_run_of_a_table_route(db: Connection, logins: Logins) -> None:
    known(db)
    db.execute("create table t (id int primary key)")
    sql_routes.route_set(db, "t.new", _definition("t"), enabled=True)
    producer = logins.member("penstock_producer")
    producer.execute("""select penstock.sql_call_done('t.new', '{"id": 1}', null)""")
    assert rows(db, "select from penstock.sql_event_route_note") == []


def test_an_executor_ends_no_delivery_that_it_does_not_hold(db: Connection, logins: Logins) -> None:
    known(db)
    attempt = _queued(db)
    status = "select status from penstock.iu_route_attempt where attempt_id = %s"
    executor = logins.member("dot_executor")
    claim = take_one(db, kinds=["route_deliver"])
    for token in (None, claim.lease_token + 1):
        with pytest.raises(PenstockError, match="is not yours to deliver"):
            outbound.deliver(executor, attempt, token)
        assert not outbound.sent(executor, attempt, token)
    assert value(db, status, attempt) == "queued"
    assert outbound.deliver(executor, attempt, claim.lease_token)["status"] == "queued"
    assert outbound.sent(executor, attempt, claim.lease_token)
    assert value(db, status, attempt) == "sent"


def test_a_reader_changes_nothing(db: Connection, logins: Logins) -> None:
    known(db)
    reader = logins.member("penstock_reader")
    assert [one.cursor_name for one in events.cursors(reader)] == [
        "broadcasts",
        "consumers",
        "route:iu_outbound_default",
    ]
    with pytest.raises(NotAllowed):
        events.tick(reader)
