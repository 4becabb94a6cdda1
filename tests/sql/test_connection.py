"""Connections: what the URL and the database say goes before what we would, except where a guarantee hangs on it."""

import pytest

from penstock.embedded import EmbeddedPostgres
from penstock.kernel.connection import Connection, connect
from tests.sql.support import enqueue, finish, take_one, taken, value


@pytest.fixture
def strict(db: Connection, database: str) -> str:
    """A database whose sessions begin above read committed."""
    name = value(db, "select current_database()")
    db.execute(f"alter database {name} set default_transaction_isolation = 'repeatable read'".encode())
    return database


def test_lanes_move_and_limits_are_counted_whatever_isolation_the_database_begins_with(strict: str) -> None:
    with connect(strict) as db:
        first, second = enqueue(db, lane="l"), enqueue(db, lane="l")
        value(
            db,
            "select penstock.fn_job_subscription_set('default', 'PG_worker', p_max_parallel => 1, p_enabled => true)",
        )
        finish(db, take_one(db))
        assert taken(db) == [second]
        assert first < second


def test_options_of_the_url_are_kept(database: str) -> None:
    with connect(f"{database}&options=-c%20statement_timeout%3D1234") as db:
        assert value(db, "show statement_timeout") == "1234ms"
        assert value(db, "show timezone") == "UTC"


def test_text_is_text_whatever_the_environment_says(
    server: EmbeddedPostgres, database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PGCLIENTENCODING", "LATIN1")
    with connect(database) as db:
        job_id = enqueue(db, safe_payload={"name": "日本"})
        assert value(db, "select safe_payload ->> 'name' from penstock.job where job_id = %s", job_id) == "日本"
