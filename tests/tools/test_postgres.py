"""postgres: one statement in a real database, and what becomes of its values, its errors and its connections."""

import json
from base64 import b64encode
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from penstock.jobs import PermanentError
from penstock.kernel.connection import Connection
from penstock.worker.tools import postgres
from penstock.worker.tools.pools import Pools
from tests.acceptance.processes import until
from tests.logins import Logins
from tests.parts.processes import free_ports
from tests.sql.support import configure, rows, value
from tests.tools.calling import Caller, a_job

OURS = "penstock tool postgres"


@pytest.fixture(autouse=True)
def _shop(db: Connection, caller: Caller, database: str) -> None:
    db.execute("create table orders (id int primary key, name text, data jsonb)")
    caller.credentials(f"shop: {{url: '{database}'}}")


def _run(caller: Caller, statement: str, args: dict[str, Any] | None = None, **settings: Any) -> Any:
    return postgres.run(caller({"auth": "shop", "statement": statement, **settings}, args))


def _refused(caller: Caller, statement: str, args: dict[str, Any] | None = None, **settings: Any) -> str:
    with pytest.raises(PermanentError, match=r"^postgres: ") as caught:
        _run(caller, statement, args, **settings)
    return str(caught.value)


def test_rows_come_back_by_name_and_changes_by_number(caller: Caller, db: Connection) -> None:
    insert = "insert into orders values (%(id)s, %(name)s, %(data)s)"
    assert _run(caller, insert, params={"id": 1, "name": "x'); --", "data": {"a": [1, None]}}) == {
        "rows": [],
        "count": 1,
    }
    assert _run(caller, f"{insert} returning id", {"id": 2, "name": None, "data": [1], "unused": 0}) == {
        "rows": [{"id": 2}],
        "count": 1,
    }
    assert _run(caller, "select name, data from orders order by id") == {
        "rows": [{"name": "x'); --", "data": {"a": [1, None]}}, {"name": None, "data": [1]}],
        "count": 2,
    }
    assert _run(caller, "with old as (delete from orders returning 1) insert into orders values (3)")["count"] == 1
    assert rows(db, "select id from orders") == [(3,)]


def test_a_change_that_looks_like_a_query_is_made_once(caller: Caller, db: Connection) -> None:
    assert _run(caller, "insert into orders values (1) -- returning nothing") == {"rows": [], "count": 1}
    assert _run(caller, "select * into copy from orders")["count"] == 1
    assert value(db, "select count(*) from orders") == 1


@pytest.mark.parametrize(
    ("expression", "plain"),
    [
        ("timestamptz '2026-01-02 03:04:05.5Z' at time zone 'UTC'", "2026-01-02T03:04:05.500000"),
        ("date '2026-01-02'", "2026-01-02"),
        ("time '03:04'", "03:04:00"),
        ("timestamp 'infinity'", "infinity"),
        ("date '0044-03-15 BC'", "0044-03-15 BC"),
        ("interval '1 day 2 hours'", "P1DT2H"),
        ("12.5::numeric", 12.5),
        ("12345678901234567890::numeric", 12345678901234567890),
        ("0.12345678901234567890123::numeric", "0.12345678901234567890123"),
        ("'NaN'::numeric", "NaN"),
        ("'-Infinity'::float8", "-Infinity"),
        ("'{\"a\": 0.12345678901234567890123}'::jsonb", {"a": "0.12345678901234567890123"}),
        ("'6f9619ff-8b86-d011-b42d-00cf4fc964ff'::uuid", "6f9619ff-8b86-d011-b42d-00cf4fc964ff"),
        ("'\\xff00'::bytea", b64encode(b"\xff\0").decode()),
        ("array[1.5, null]::numeric[]", [1.5, None]),
        ("row(1, 'a')", ["1", "a"]),
        ("'10.0.0.1'::inet", "10.0.0.1"),
        ("int4range(1, 5)", "[1, 5)"),
        ("true", True),
        ("null", None),
    ],
)
def test_values_become_plain_data_with_nothing_lost(caller: Caller, expression: str, plain: Any) -> None:
    (row,) = _run(caller, f"select {expression} as it")["rows"]
    assert row == {"it": plain}


def test_a_statement_that_cannot_run_fails_for_good(caller: Caller) -> None:
    assert "42601" in _refused(caller, "selec 1")
    assert "nowhere" in _refused(caller, "select * from nowhere")
    assert "id" in _refused(caller, "select %(id)s::int", {"other": 1})
    assert "22P02" in _refused(caller, "select %(id)s::int", {"id": "seven"})
    assert "NUL" in _refused(caller, "select %(id)s::text", {"id": "a\0b"})
    assert "mapping" in _refused(caller, "select 1", params=[1])
    assert "name id" in _refused(caller, "select 1 as id, 2 as id")
    assert "multiple commands" in _refused(caller, "update orders set id = 1; drop table orders")
    assert "multiple commands" in _refused(caller, "select 1; drop table orders")


def test_an_error_tells_nothing_of_other_rows(caller: Caller) -> None:
    _run(caller, "insert into orders values (1, 'private')")
    said = _refused(caller, "insert into orders values (1, 'private')")
    assert "23505" in said
    assert "private" not in said


def test_what_is_too_much_changes_nothing(caller: Caller, db: Connection) -> None:
    everything = "insert into orders select g from generate_series(1, 10001) g returning 1 as x"
    configure(db, "queue.result.max_bytes", "1000000")
    assert "10,000 rows" in _refused(caller, everything)
    configure(db, "queue.result.max_bytes", "1000")
    assert "1,000 bytes" in _refused(caller, "select repeat('x', 100) as x, generate_series(1, 1000000000) as n")
    assert value(db, "select count(*) from orders") == 0


@pytest.mark.parametrize("count", [1, 9, 10, 101])
def test_rows_may_fill_a_result_to_its_last_byte_and_no_further(caller: Caller, db: Connection, count: int) -> None:
    statement = f"select g as n, 'é' as name from generate_series(1, {count}) g"
    size = len(json.dumps(_run(caller, statement), ensure_ascii=False).encode())
    configure(db, "queue.result.max_bytes", str(size))
    assert _run(caller, statement)["count"] == count
    configure(db, "queue.result.max_bytes", str(size - 1))
    assert f"{size - 1:,} bytes" in _refused(caller, statement)


def test_a_statement_ends_with_the_jobs_time(caller: Caller, db: Connection) -> None:
    call = caller({"auth": "shop", "statement": "select pg_sleep(600)"}, job=a_job(timeout_s=0.3))
    with pytest.raises(postgres.NotRun, match=r"may run for 0\.3 s"):
        postgres.run(call)


def test_a_statement_ends_when_its_job_is_cancelled(caller: Caller, db: Connection) -> None:
    job = a_job()
    call = caller({"auth": "shop", "statement": "select pg_sleep(600)"}, job=job)
    runs = "select count(*) from pg_stat_activity where query like 'select pg_sleep(600)%%' and application_name = %s"
    with ThreadPoolExecutor(1) as thread:
        running = thread.submit(postgres.run, call)
        until(lambda: value(db, f"{runs} and state = 'active'", OURS) == 1, "it runs")
        job.cancelled = True
        assert isinstance(running.exception(30), postgres.NotRun)


def test_a_conflict_is_tried_again(caller: Caller, db: Connection) -> None:
    statement = "do $$ begin raise exception 'not now' using errcode = '40001'; end $$"
    with pytest.raises(postgres.NotRun, match="not now"):
        _run(caller, statement)


def test_credentials_that_do_not_open_it_say_so_and_no_more(caller: Caller) -> None:
    (port,) = free_ports(1)
    caller.credentials(
        "bad: {url: 'postgresql://ann:s3cr3t@[oops'}\nempty: {token: s3cr3t}\n"
        f"gone: {{host: 127.0.0.1, port: {port}, user: ann, password: s3cr3t, dbname: shop}}"
    )
    for alias, kind, says in (
        ("bad", PermanentError, "needs a url"),
        ("empty", PermanentError, "needs a url"),
        ("missing", PermanentError, "no credential missing"),
        ("gone", postgres.NotRun, "refused"),
    ):
        with pytest.raises(kind, match=says) as caught:
            postgres.run(caller({"auth": alias, "statement": "select 1"}))
        assert "s3cr3t" not in str(caught.value)


def test_a_connection_is_kept_but_nothing_of_what_a_statement_left_in_it(caller: Caller) -> None:
    pid = "select pg_backend_pid() as pid, current_setting('search_path') as path"
    first = _run(caller, pid)
    _run(caller, "set search_path = pg_temp")
    assert _run(caller, pid) == first


def test_a_connection_that_was_cut_is_replaced(caller: Caller, db: Connection) -> None:
    (first,) = _run(caller, "select pg_backend_pid() as pid")["rows"]
    value(db, "select pg_terminate_backend(%s, 10000)", first["pid"])
    (second,) = _run(caller, "select pg_backend_pid() as pid")["rows"]
    assert first != second


def test_a_changed_credential_counts_at_once(caller: Caller, database: str, logins: Logins, db: Connection) -> None:
    assert _run(caller, "select current_user::text as who")["rows"] == [{"who": "postgres"}]
    login = logins.make()
    caller.credentials(f"shop: {{url: '{database}', user: {login}}}")
    assert _run(caller, "select current_user::text as who")["rows"] == [{"who": login}]
    count = "select count(*) from pg_stat_activity where application_name = %s and datname = current_database()"
    until(lambda: value(db, count, OURS) == 1, "the old connection is closed")


def test_many_threads_share_few_connections(caller: Caller, db: Connection) -> None:
    with ThreadPoolExecutor(20) as threads:
        found = list(
            threads.map(lambda n: _run(caller, "select %(n)s::int as n, pg_sleep(0.02)::text", {"n": n}), range(60))
        )
    assert [one["rows"][0]["n"] for one in found] == list(range(60))
    count = "select count(*) from pg_stat_activity where application_name = %s and datname = current_database()"
    assert value(db, count, OURS) <= 8


class _Line:
    is_open = True

    def close(self) -> None:
        self.is_open = False


@pytest.fixture
def lines() -> Pools[_Line]:
    return Pools(lambda _: _Line(), lambda one: one.is_open, lambda one: one.is_open, idle_s=1)


def test_what_nobody_uses_is_closed(lines: Pools[_Line]) -> None:
    with lines.taken("shop", "here") as first, lines.taken("shop", "here") as second:
        assert first is not second
    with lines.taken("shop", "here") as again:
        assert again in (first, second)
    until(lambda: not (first.is_open or second.is_open), "both are closed")
