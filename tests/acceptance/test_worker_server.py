"""The server goes away under a worker, and comes back."""

from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import pytest

from penstock.embedded import Binaries, EmbeddedPostgres
from penstock.kernel import jobs
from penstock.kernel.connection import Connection, connect
from penstock.kernel.migrate import migrate
from tests.acceptance import processes
from tests.acceptance.outcomes import await_end, live, outcomes, quick_retries, set_config, status
from tests.acceptance.processes import Crew, until

crew = processes.crew


class Fragile:
    """A server of its own, which the test may restart."""

    def __init__(self, server: EmbeddedPostgres) -> None:
        self._server = server
        self.url = server.start()
        with connect(self.url) as connection:
            migrate(connection)

    def restart(self) -> None:
        self._server.restart("immediate")

    def served(self) -> int:
        """How many workers say that they serve the kinds of apps/timed.py."""
        with connect(self.url) as db:
            row = db.execute("select count(*) from penstock.queue_heartbeat where kinds @> '{ms_1,ms_10}'").fetchone()
            assert row is not None
            return int(row[0])

    def live(self) -> int:
        with connect(self.url) as connection:
            return live(connection)


@pytest.fixture
def fragile(scratch: Path, binaries: Binaries) -> Iterator[Fragile]:
    embedded = EmbeddedPostgres(scratch / f"fragile-{uuid4().hex[:6]}", binaries=binaries)
    try:
        yield Fragile(embedded)
    finally:
        embedded.leave()


def test_after_a_crash_of_the_server_a_worker_goes_on_and_every_job_ends(fragile: Fragile, tmp_path: Path) -> None:
    with connect(fragile.url) as db:
        for kind in ("ms_1", "ms_10"):
            set_config(db, f"queue.lease_ms.{kind}", "3000")
        quick_retries(db)
        jobs.enqueue_many(db, [{"kind": kind} for kind in ("ms_1", "ms_10") for _ in range(500)])
    with Crew(fragile.url, tmp_path) as crew:
        workers = [crew.start("timed", "--poll-ms", "100") for _ in range(2)]
        for done in (50, 300):
            crew.await_notes("ran", done)
            fragile.restart()
        until(lambda: fragile.live() == 0, "the end of all jobs", deadline_s=90)
        with connect(fragile.url) as db:
            rows = db.execute("select status::text, count(*) from penstock.v_job group by 1").fetchall()
            assert rows == [("succeeded", 1000)]
        until(lambda: fragile.served() == 2, "both say again what they serve: the crash has emptied that table")
        assert [worker.stopped() for worker in workers] == [0, 0]


def test_a_worker_whose_connections_are_cut_again_and_again_goes_on(db: Connection, crew: Crew) -> None:
    for kind in ("ms_1", "ms_10"):
        set_config(db, f"queue.lease_ms.{kind}", "1000")
    quick_retries(db)
    made = [one.job_id for one in jobs.enqueue_many(db, [{"kind": "ms_1"}, {"kind": "ms_10"}] * 500)]
    worker = crew.start("timed")
    for done in range(100, 1000, 100):
        crew.await_notes("ran", done)
        db.execute(
            "select pg_terminate_backend(pid) from pg_stat_activity"
            " where datname = current_database() and application_name like 'penstock worker%'"
        )
    await_end(db, made)
    assert db.execute("select status::text, count(*) from penstock.v_job group by 1").fetchall() == [
        ("succeeded", len(made))
    ]
    assert worker.stopped() == 0


def test_a_claim_whose_answer_was_lost_is_not_kept_alive_by_its_worker(db: Connection, crew: Crew) -> None:
    set_config(db, "queue.lease_ms.note", "1500")
    crew.start("plain")
    row = db.execute("select incarnation from penstock.queue_heartbeat").fetchone()
    assert row is not None
    # a claim as that worker, of which it never hears
    set_config(db, "queue.notify.bridge_enabled", "false")
    with db.transaction():
        job_id = jobs.enqueue(db, {"kind": "note"})
        (claim,) = jobs.claim(db, "default", 1, incarnation=row[0])
    assert claim.job_id == job_id
    await_end(db, [job_id])
    assert jobs.show(db, job_id).attempt == 1


def test_a_report_the_database_refuses_whole_is_divided_until_the_bad_one_stands_alone(
    db: Connection, crew: Crew
) -> None:
    quick_retries(db)
    made = [one.job_id for one in jobs.enqueue_many(db, [{"kind": "ms_1", "max_attempts": 2}] * 300)]
    bad = made[150]
    db.execute(
        f"""create function public.object() returns trigger language plpgsql as $$
            begin raise exception 'not this one'; end $$;
            create trigger object before insert on penstock.job_outcome for each row
            when (new.job_id = {bad} and new.status = 'succeeded') execute function public.object()""".encode()
    )
    crew.start("timed")
    await_end(db, made)
    ended = [(one.status, one.error["message"]) for one in outcomes(db, bad)]
    assert [became for became, _ in ended] == ["retrying", "dead_lettered"]
    assert all("not this one" in message for _, message in ended)
    assert {status(db, job_id) for job_id in made if job_id != bad} == {"succeeded"}
