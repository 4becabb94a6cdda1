"""What a producer imports: `Client`, against a real server."""

from collections.abc import Iterator

import pytest

from penstock import Client
from penstock.errors import ForbiddenPayload, SettingsError, UnknownJob
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
