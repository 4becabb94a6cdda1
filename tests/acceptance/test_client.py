"""What a producer imports: `Client`, against a real server."""

import math
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

import psycopg
import pytest
from psycopg.rows import dict_row

from penstock import Client
from penstock.errors import BadRequest, BadText, ForbiddenPayload, Refused, SettingsError, UnknownJob
from penstock.kernel import jobs
from penstock.kernel.connection import Connection
from penstock.model import Json
from tests.conftest import Connect
from tests.sql.support import rows, value

COUNT = "select count(*) from penstock.job"


@pytest.fixture
def client(database: str) -> Iterator[Client]:
    with Client(database) as client:
        yield client


def _numbered(n: int) -> Iterator[Json]:
    return ({"kind": "greet", "trace": str(i), "lane": "one"} for i in range(n))


def test_a_job_can_be_asked_for_looked_at_and_cancelled(client: Client) -> None:
    job_id = client.enqueue("greet", {"name": "Ada"}, key="k", priority=3)
    assert client.enqueue("greet", {"name": "Ada"}, key="k") == job_id
    job = client.job(job_id)
    assert (job.status, job.priority, job.safe_payload) == ("ready", 3, {"name": "Ada"})
    assert client.cancel(job_id) == "cancelled"
    with pytest.raises(UnknownJob):
        client.job(job_id + 1000)


@pytest.mark.parametrize("n", [0, 1, 9, 10, 11, 35])
def test_many_jobs_keep_their_order_over_all_batches(client: Client, db: Connection, n: int) -> None:
    made = client.enqueue_many(_numbered(n), batch=10)
    assert [one.created for one in made] == [True] * n
    asked = rows(db, "select job_id, trace from penstock.job order by job_id")
    assert asked == [(one.job_id, str(i)) for i, one in enumerate(made)]


def test_a_bad_batch_is_refused_whole_and_those_before_it_stay(client: Client, db: Connection) -> None:
    wanted = [*_numbered(25)]
    wanted[14] = {"kind": "greet", "safe_payload": {"password": "x"}}
    with pytest.raises(ForbiddenPayload):
        client.enqueue_many(wanted, batch=10)
    assert value(db, COUNT) == 10


def test_requests_that_end_in_an_error_leave_the_batches_before_it(client: Client, db: Connection) -> None:
    def broken() -> Iterator[Json]:
        yield from _numbered(25)
        raise RuntimeError("the source is gone")

    with pytest.raises(RuntimeError, match="the source is gone"):
        client.enqueue_many(broken(), batch=10)
    assert value(db, COUNT) == 20
    assert len(client.enqueue_many(_numbered(1))) == 1


@pytest.mark.parametrize("batch", [0, 10_001])
def test_a_batch_has_1_to_10_000_jobs(client: Client, batch: int) -> None:
    with pytest.raises(SettingsError, match="1 to 10,000"):
        client.enqueue_many([{"kind": "greet"}], batch=batch)


def test_jobs_asked_for_on_a_connection_are_part_of_its_transaction(
    client: Client, db: Connection, session: Connect
) -> None:
    mine = session()
    mine.execute("begin")
    client.enqueue("greet", connection=mine)
    assert len(client.enqueue_many(_numbered(25), batch=10, connection=mine)) == 25
    assert value(db, COUNT) == 0
    mine.execute("rollback")
    assert value(db, COUNT) == 0


def test_a_connection_with_rows_of_its_own_kind_gets_the_same_answers(client: Client, session: Connect) -> None:
    mine: Any = session()
    mine.row_factory, mine.cursor_factory = dict_row, psycopg.ClientCursor
    job_id = client.enqueue("greet", {"name": "Ada"}, connection=mine)
    made = client.enqueue_many([{"kind": "greet"}] * 2, connection=mine)
    assert [job_id, *(one.job_id for one in made)] == [1, 2, 3]


def test_many_are_asked_for_with_the_same_words_as_one(client: Client) -> None:
    later, cause = datetime(2100, 1, 1, tzinfo=UTC), uuid4()
    request = {"kind": "greet", "payload": {"at": later}, "key": "k", "process_after": later}
    (made,) = client.enqueue_many([{**request, "causation_event_id": cause}])
    job = client.job(made.job_id)
    assert (job.status, job.process_after, job.safe_payload) == (
        "scheduled",
        later,
        {"at": "2100-01-01T00:00:00+00:00"},
    )
    assert client.enqueue("greet", {"at": later}, key="k") == made.job_id


BAD: dict[str, tuple[dict[str, Any], type[Refused], str]] = {
    "not a number": ({"payload": {"a": math.nan}}, BadRequest, "cannot be written as JSON"),
    "an object": ({"payload": {"a": object()}}, BadRequest, "cannot be written as JSON"),
    "a word for a priority": ({"priority": "high"}, BadRequest, "cannot be read"),
    "a huge priority": ({"priority": 2**40}, BadRequest, "out of range"),
    "no time": ({"process_after": "soon"}, BadRequest, "cannot be read"),
    "half a character in the key": ({"key": "\ud800"}, BadText, "U+D800"),
    "half a character in the payload": ({"payload": {"a": "\ud800"}}, BadRequest, "cannot be read"),
    "a zero in the payload": ({"payload": {"a": "\0"}}, BadText, r"U\+0000.*\n.*Take it out"),
    "a zero in the lane": ({"lane": "\0"}, BadText, r"U\+0000"),
}


@pytest.mark.parametrize("name", BAD)
def test_a_value_that_cannot_be_used_is_refused_by_name(name: str, client: Client, db: Connection) -> None:
    fields, error, said = BAD[name]
    with pytest.raises(error, match=said.replace("U+D", r"U\+D")):
        client.enqueue("greet", **fields)
    with pytest.raises((BadRequest, BadText)):
        client.enqueue_many([{"kind": "greet"}, {"kind": "greet", **fields}])
    assert value(db, COUNT) == 0


@pytest.mark.parametrize("job_id", ["abc", 2**70])
def test_an_id_that_is_none_is_refused_by_name(job_id: Any, client: Client) -> None:
    with pytest.raises(BadRequest, match="cannot be read"):
        client.job(job_id)
    with pytest.raises(BadRequest, match="cannot be read"):
        client.cancel(job_id)


def test_an_unknown_field_is_named(db: Connection) -> None:
    with pytest.raises(BadRequest, match="unknown field colour"):
        jobs.enqueue(db, {"kind": "greet", "colour": "blue"})
