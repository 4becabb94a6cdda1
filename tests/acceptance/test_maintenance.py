"""The job kinds every worker serves."""

from penstock.kernel import jobs
from penstock.kernel.connection import Connection
from tests.acceptance import processes
from tests.acceptance.outcomes import await_end, result, status
from tests.acceptance.processes import Crew

crew = processes.crew


def test_the_reaper_is_a_job_kind_that_any_worker_serves(db: Connection, crew: Crew) -> None:
    abandoned = jobs.enqueue(db, {"kind": "nobody_serves_this"})
    assert len(jobs.claim(db, "default", 1)) == 1
    db.execute("update penstock.job_queue set lease_until = now() - interval '1 second'")
    # no tick can take it back while this session holds the tick's lock: only the job can
    db.execute("select pg_advisory_lock(hashtextextended('penstock.tick', 0))")
    reaper = jobs.enqueue(db, {"kind": "queue_reap_stale_leases"})
    crew.start("plain")
    await_end(db, [reaper])
    assert result(db, reaper) == {"taken_back": 1}
    assert status(db, abandoned) == "ready"
