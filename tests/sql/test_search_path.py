"""A caller's own tables, types, functions and settings change nothing in what our functions do."""

import pytest

from penstock.errors import ActorRefused
from penstock.kernel import jobs
from penstock.kernel.connection import Connection
from tests.logins import Logins

# Names our functions use without a schema; PostgreSQL looks for tables and types in pg_temp first, unless told not to.
CATALOG_TYPES = ["text", "jsonb", "uuid", "timestamptz", "name", "regclass", "tid"]


def _work(producer: Connection, executor: Connection) -> list[str]:
    """One job from enqueue to finish, one cancelled, one tick."""
    job_id = jobs.enqueue(producer, {"kind": "greet", "safe_payload": {"a": 1}, "lane": "one", "idempotency_key": "k"})
    (claim,) = jobs.claim(executor, "default", 10, start=True)
    refused = jobs.finish(executor, [claim.job_id], [claim.lease_token], ['{"a": 1}'])
    cancelled = jobs.cancel(producer, jobs.enqueue(producer, {"kind": "greet"}))
    tick = executor.execute("select penstock.fn_queue_tick()").fetchone()
    assert tick is not None
    assert all(part["ok"] for part in tick[0].values()), tick
    return [str(claim.job_id == job_id), str(refused), cancelled]


def _tamper(connection: Connection, *statements: str) -> None:
    for statement in statements:
        connection.execute(statement.encode())


def test_every_function_looks_in_the_catalog_and_last_in_pg_temp(db: Connection) -> None:
    # one whose body was parsed when it was made looks for nothing
    found = db.execute(
        "select proname::text from pg_proc where pronamespace = 'penstock'::regnamespace and prosqlbody is null"
        " and not coalesce('search_path=pg_catalog, pg_temp' = any (proconfig), false)"
    ).fetchall()
    # what it calls looks where its caller does
    assert found == [("fn_sql_event_call",)]


def test_public_functions_and_what_others_fire_or_look_through_run_with_the_owners_rights(db: Connection) -> None:
    found = db.execute(
        "select proname::text from pg_proc where pronamespace = 'penstock'::regnamespace"
        " and prosecdef <> (proname like 'fn\\_%%' and proname <> 'fn_sql_event_call' or proname = any (%s))",
        [["backlog", "sql_route_state", "sql_call_statement", "sql_call_done", "sql_ddl_fired"]],
    ).fetchall()
    assert found == []


def test_a_temporary_pg_roles_gives_nobody_anothers_name(logins: Logins) -> None:
    producer = logins.member("penstock_producer")
    _tamper(
        producer,
        "create temp table pg_roles as select r.rolname, (select oid from pg_catalog.pg_roles"
        " where rolname = session_user) as oid from pg_catalog.pg_roles r",
        "grant select on pg_roles to public",
    )
    with pytest.raises(ActorRefused):
        jobs.enqueue(producer, {"kind": "greet", "actor": "agent:default"})


@pytest.mark.parametrize("type_name", CATALOG_TYPES)
def test_a_temporary_type_runs_no_code_as_the_owner(type_name: str, logins: Logins) -> None:
    producer, executor = logins.member("penstock_producer"), logins.member("dot_executor")
    for connection in (producer, executor):
        _tamper(
            connection,
            f"create function pg_temp.trap(pg_catalog.{type_name}) returns boolean language plpgsql as"
            " $$ begin if current_user <> session_user then raise exception 'the trap ran as %', current_user; end if;"
            " return true; end $$",
            f"create domain pg_temp.{type_name} as pg_catalog.{type_name} check (pg_temp.trap(value))",
            f"grant usage on type pg_temp.{type_name} to public",
        )
    assert _work(producer, executor) == ["True", "[]", "cancelled"]


def test_temporary_tables_with_our_names_are_not_read(db: Connection, logins: Logins) -> None:
    producer, executor = logins.member("penstock_producer"), logins.member("dot_executor")
    names = db.execute(
        "select relname::text from pg_class"
        " where relnamespace = 'penstock'::regnamespace and relkind in ('r', 'p', 'v')"
    ).fetchall()
    for connection in (producer, executor):
        _tamper(connection, *[f"create temp table {name} (nothing integer)" for (name,) in names])
        _tamper(connection, "set search_path = pg_temp, penstock")
    assert _work(producer, executor) == ["True", "[]", "cancelled"]


def test_functions_and_operators_first_in_the_callers_path_are_not_called(db: Connection, logins: Logins) -> None:
    trap = "language plpgsql as $$ begin raise exception 'the trap ran as %', current_user; end $$"
    producer, executor = logins.member("penstock_producer"), logins.member("dot_executor")
    _tamper(db, "create schema trap", "grant all on schema trap to public")
    _tamper(
        db,
        f"create function trap.now() returns timestamptz {trap}",
        f"create function trap.clock_timestamp() returns timestamptz {trap}",
        f"create function trap.gen_random_uuid() returns uuid {trap}",
        f"create function trap.pg_has_role(name, oid, text) returns boolean {trap}",
        f"create function trap.pg_has_role(name, name, text) returns boolean {trap}",
        f"create function trap.cardinality(bigint[]) returns integer {trap}",
        f"create function trap.same(text, text) returns boolean {trap}",
        "create operator trap.= (leftarg = text, rightarg = text, function = trap.same)",
        f"create function trap.joined(text, text) returns text {trap}",
        "create operator trap.|| (leftarg = text, rightarg = text, function = trap.joined)",
        f"create function trap.less(timestamptz, timestamptz) returns boolean {trap}",
        "create operator trap.<= (leftarg = timestamptz, rightarg = timestamptz, function = trap.less)",
    )
    for connection in (producer, executor):
        _tamper(connection, "set search_path = trap, pg_temp, pg_catalog")
    assert _work(producer, executor) == ["True", "[]", "cancelled"]


def test_a_callers_settings_do_not_change_what_is_done(logins: Logins) -> None:
    producer, executor = logins.member("penstock_producer"), logins.member("dot_executor")
    for connection in (producer, executor):
        _tamper(
            connection,
            "set datestyle = 'SQL, DMY'",
            "set timezone = 'Asia/Kolkata'",
            "set intervalstyle = 'sql_standard'",
            "set standard_conforming_strings = off",
            "set quote_all_identifiers = on",
            "set transform_null_equals = on",
            "set array_nulls = off",
            "set penstock.lane_locks = '-5'",
        )
    assert _work(producer, executor) == ["True", "[]", "cancelled"]
