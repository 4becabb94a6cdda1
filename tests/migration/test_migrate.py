"""penstock migrate: whole or not at all, twice as well as once, and never backwards."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from importlib.resources import files
from threading import Barrier
from typing import Any

import pytest

from penstock.embedded import Binaries, EmbeddedPostgres
from penstock.errors import NotAllowed, PenstockError, SchemaError, SchemaMissing, SchemaNewer
from penstock.kernel import jobs
from penstock.kernel.connection import Connection, connect
from penstock.kernel.migrate import check, migrate, migrations
from tests.conftest import Connect
from tests.dump import dump
from tests.logins import Logins

NOTHING_OF_OURS = "select count(*) from pg_class where relnamespace = to_regnamespace('penstock')"


def _value(connection: Connection, query: str) -> Any:
    row = connection.execute(query.encode()).fetchone()
    assert row is not None
    return row[0]


def _objects(connection: Connection) -> list[tuple[Any, ...]]:
    return connection.execute(
        "select oid, relname, relfilenode, relacl from pg_class"
        " where relnamespace = 'penstock'::regnamespace union all"
        " select oid, proname, 0, proacl from pg_proc where pronamespace = 'penstock'::regnamespace order by 1"
    ).fetchall()


def test_an_empty_database_gets_every_migration_and_a_working_queue(empty: str) -> None:
    with connect(empty) as db:
        assert migrate(db) == migrations()
        jobs.enqueue(db, {"kind": "greet"})
        assert len(jobs.claim(db, "default", 10)) == 1


def test_migrations_are_numbered_without_a_gap() -> None:
    assert [migration.version for migration in migrations()] == list(range(1, len(migrations()) + 1))


def test_migrating_again_changes_nothing(db: Connection, database: str, binaries: Binaries) -> None:
    jobs.enqueue(db, {"kind": "greet", "idempotency_key": "k", "lane": "one", "event_domain": "iu"})
    before, objects = dump(binaries, database), _objects(db)
    assert migrate(db) == []
    assert dump(binaries, database) == before
    assert _objects(db) == objects


def test_a_release_that_changed_functions_only_is_not_undone(db: Connection, database: str, binaries: Binaries) -> None:
    db.execute("insert into penstock.schema_release (version) values ('99.10.0'), ('99.9.0')")
    before = dump(binaries, database)
    with pytest.raises(SchemaNewer, match=r"migrated by Penstock 99\.10\.0, this is \d"):
        migrate(db)
    assert dump(binaries, database) == before
    check(db)  # a worker of the earlier release goes on


def test_functions_an_earlier_release_made_are_dropped_and_others_left_alone(db: Connection) -> None:
    signatures = ["penstock.fn_job_finish(bigint)", "penstock.long_gone(text, integer[])"]
    for signature in [*signatures, "penstock.of_the_user()"]:
        db.execute(f"create function {signature} returns void language sql as ''".encode())
    db.execute("insert into penstock.schema_function select unnest(%s::text[])", [[*signatures, "penstock.never()"]])
    assert migrate(db) == []
    assert [_value(db, f"select to_regprocedure('{signature}')") for signature in signatures] == [None, None]
    assert _value(db, "select to_regprocedure('penstock.of_the_user()')") is not None
    made = _value(db, "select count(*) from penstock.schema_function")
    assert made == len(list((files("penstock") / "sql" / "functions").iterdir()))


@pytest.mark.parametrize("isolation", ["read committed", "repeatable read", "serializable"])
def test_migrates_at_the_same_time_apply_everything_once(isolation: str, empty: str) -> None:
    with connect(empty) as db:
        name = _value(db, "select current_database()")
        db.execute(f"alter database {name} set default_transaction_isolation = '{isolation}'".encode())
    start = Barrier(4, timeout=60)

    def one(_: int) -> int:
        with connect(empty) as connection:
            start.wait()
            return len(migrate(connection))

    with ThreadPoolExecutor(4) as pool:
        assert sorted(pool.map(one, range(4))) == [0, 0, 0, len(migrations())]


def test_an_operators_setting_survives(db: Connection) -> None:
    db.execute("select penstock.fn_config_set('queue.lease_ms.default', '12345', 'user:ada')")
    db.execute("select penstock.fn_job_subscription_set('default', 'PG_worker', p_enabled => false)")
    db.execute("select penstock.fn_pool_set('shared', 'ours')")
    migrate(db)
    assert _value(db, "select value from penstock.dot_config where key = 'queue.lease_ms.default'") == "12345"
    assert _value(db, "select bool_or(enabled) from penstock.job_subscription") is False
    assert _value(db, "select note from penstock.pool where pool = 'shared'") == "ours"


def test_what_an_operator_took_away_does_not_come_back(db: Connection) -> None:
    db.execute("select penstock.fn_executor_grant_set('role:penstock_producer', 'PG_worker', p_granted => false)")
    db.execute("select penstock.fn_actor_binding_set('agent:default', 'dot_executor', p_bound => false)")
    migrate(db)
    assert _value(db, "select count(*) from penstock.executor_grant where actor = 'role:penstock_producer'") == 0
    assert _value(db, "select count(*) from penstock.actor_binding where actor_ref = 'agent:default'") == 0


def test_a_right_this_version_does_not_give_is_taken_back(db: Connection) -> None:
    db.execute("grant execute on function penstock.fn_config_set to penstock_reader, public")
    db.execute("grant insert on penstock.job to penstock_producer")
    migrate(db)
    assert not _value(
        db, "select has_function_privilege('penstock_reader', 'penstock.fn_config_set'::regproc, 'execute')"
    )
    assert not _value(db, "select has_table_privilege('penstock_producer', 'penstock.job', 'insert')")


def test_a_newer_database_is_refused_and_left_alone(db: Connection, database: str, binaries: Binaries) -> None:
    db.execute("insert into penstock.schema_migration (version, name, checksum) values (9999, 'from_afar', 'x')")
    before = dump(binaries, database)
    for step in (migrate, check):
        with pytest.raises(SchemaNewer, match=r"at migration 9999, this code knows \d{4}: install the version"):
            step(db)
    assert dump(binaries, database) == before


def test_an_edited_migration_is_refused_and_the_database_left_alone(
    db: Connection, database: str, binaries: Binaries
) -> None:
    db.execute("update penstock.schema_migration set checksum = 'another text' where version = 1")
    before = dump(binaries, database)
    for step in (migrate, check):
        with pytest.raises(SchemaError, match=r"migration 0001_kernel differs .* add a new one"):
            step(db)
    assert dump(binaries, database) == before


@pytest.mark.parametrize("name", ["job_queue", "schedule", "v_queue_health"])
def test_something_in_the_way_leaves_an_empty_database_as_it_was(name: str, empty: str, binaries: Binaries) -> None:
    with connect(empty) as db:
        db.execute(f"create schema penstock; create table penstock.{name} (theirs integer)".encode())
        before = dump(binaries, empty)
        with pytest.raises(PenstockError, match=name):
            migrate(db)
        assert dump(binaries, empty) == before
        db.execute(f"drop table penstock.{name}".encode())
        assert migrate(db) == migrations()


def test_a_failure_in_a_migrated_database_leaves_it_as_it_was(
    db: Connection, database: str, binaries: Binaries
) -> None:
    db.execute("drop view penstock.v_dead_letter; create table penstock.v_dead_letter (theirs integer)")
    before = dump(binaries, database)
    with pytest.raises(PenstockError, match="v_dead_letter"):
        migrate(db)
    assert dump(binaries, database) == before


def test_a_user_without_rights_is_refused(empty: str, server: EmbeddedPostgres) -> None:
    with connect(server.url()) as superuser:
        users = Logins(superuser, empty)
        try:
            with pytest.raises(NotAllowed, match="permission denied for database"):
                migrate(users.member("workflow_admin"))
        finally:
            users.drop()
    with connect(empty) as db:
        assert _value(db, NOTHING_OF_OURS) == 0


def test_a_user_that_does_not_own_the_schema_is_told_who_does(database: str, server: EmbeddedPostgres) -> None:
    with connect(server.url()) as superuser:
        users = Logins(superuser, database)
        try:
            with pytest.raises(SchemaError, match=r"the schema penstock belongs to \w+, and \w+ may not act as it"):
                migrate(users.member("workflow_admin"))
        finally:
            users.drop()


def test_an_owner_that_may_not_create_roles_migrates_where_they_exist(
    owner: Callable[[str], Connection], bare_server: EmbeddedPostgres
) -> None:
    connection = owner("nocreaterole")
    with connect(bare_server.url()) as superuser:
        migrate(superuser)
        superuser.execute("create role ada login in role penstock_producer, dot_executor")
    assert migrate(connection) == migrations()
    assert migrate(connection) == []
    check(connection)
    with connect(bare_server.url("ordinary").replace("//postgres@", "//ada@")) as ada:
        check(ada)
        jobs.enqueue(ada, {"kind": "greet"})
        (claim,) = jobs.claim(ada, "default", 1)
        assert jobs.finish(ada, [claim.job_id], [claim.lease_token]) == []


def test_an_owner_that_may_create_roles_needs_nobody(owner: Callable[[str], Connection]) -> None:
    connection = owner("createrole")
    assert migrate(connection) == migrations()
    assert _value(connection, "select count(*) from pg_roles where rolname = 'penstock_mot'") == 1


def test_another_database_of_the_server_may_be_migrated_meanwhile(
    owner: Callable[[str], Connection], bare_server: EmbeddedPostgres
) -> None:
    connection = owner("createrole")
    with connect(bare_server.url()) as superuser, ThreadPoolExecutor(1) as pool:
        with superuser.transaction():
            superuser.execute("create role workflow_admin nologin")
            migrated = pool.submit(migrate, connection)
            _wait_until_blocked(bare_server, connection)
        assert migrated.result(timeout=60) == migrations()


def _wait_until_blocked(server: EmbeddedPostgres, connection: Connection) -> None:
    """Return when that connection waits for a lock."""
    with connect(server.url()) as watcher:
        watcher.execute(
            "do $$ declare v_until timestamptz := clock_timestamp() + interval '60 seconds'; begin"
            " while not exists (select from pg_stat_activity where pid = "
            f"{connection.info.backend_pid} and wait_event_type = 'Lock') loop"
            " if clock_timestamp() > v_until then raise exception 'it does not wait'; end if;"
            " perform pg_stat_clear_snapshot(); perform pg_sleep(0.02); end loop; end $$".encode()
        )


def test_check_accepts_a_database_at_this_version(db: Connection) -> None:
    check(db)


def test_check_says_what_to_do_with_an_empty_database(empty: str) -> None:
    with connect(empty) as db, pytest.raises(SchemaMissing, match="no Penstock schema\nRun: penstock migrate"):
        check(db)


def test_check_names_the_migration_that_is_missing(db: Connection) -> None:
    last = migrations()[-1]
    db.execute("delete from penstock.schema_migration where version = %s", [last.version])
    with pytest.raises(SchemaMissing, match=f"lacks migration {last.version:04}_{last.name}\nRun: penstock migrate"):
        check(db)


def test_a_database_of_another_encoding_is_refused(server: EmbeddedPostgres) -> None:
    with connect(server.url()) as admin:
        admin.execute("create database latin encoding 'LATIN1' lc_collate 'C' lc_ctype 'C' template template0")
        try:
            with connect(server.url("latin")) as db, pytest.raises(SchemaError, match=r"encoding LATIN1.*UTF8"):
                migrate(db)
        finally:
            admin.execute("drop database latin with (force)")


def test_migrating_again_waits_for_no_reader_of_a_view(db: Connection, session: Connect) -> None:
    reader = session()
    reader.execute("begin")
    reader.execute("select * from penstock.v_queue_health")
    db.execute("set lock_timeout = '3s'")
    assert migrate(db) == []


def test_a_view_that_is_gone_or_was_another_is_made_anew(db: Connection) -> None:
    made = _value(db, "select pg_get_viewdef('penstock.v_executor_subscription_health'::regclass)")
    db.execute("drop view penstock.v_executor_subscription_health cascade")
    migrate(db)
    db.execute(
        "create or replace view penstock.v_executor_subscription_health as"
        " select e.executor_id, e.executor_kind::text as executor_kind, false as registered, 0::bigint as rules,"
        " false as any_enabled, 0::bigint as living, 0::bigint as silent, now() as last_beat_at"
        " from penstock.executor e"
    )
    db.execute("update penstock.schema_view set checksum = '' where view_name = 'v_executor_subscription_health'")
    migrate(db)
    assert _value(db, "select pg_get_viewdef('penstock.v_executor_subscription_health'::regclass)") == made
