"""A finish whose answer is lost is asked again: what is owed for its result is done, and not given back."""

from threading import Thread

from penstock.errors import DatabaseUnavailable
from penstock.jobs import Job, Pledge
from penstock.kernel import jobs
from penstock.kernel.connection import Connection
from penstock.model import Claim
from penstock.worker.afterwards import Afterwards
from penstock.worker.held import Held, Shelf
from penstock.worker.link import Link
from penstock.worker.report import Reporter
from tests.sql.support import enqueue, take_one


class _Deaf(Link):
    """Loses the first answer after the server has done what it was asked."""

    lost = False

    def _open(self) -> Connection:
        connection = super()._open()
        if not self.lost:
            self.lost = True
            (job,) = connection.execute("select job_id, lease_token from penstock.job_queue where job_kind = 'owes'")
            assert jobs.finish(connection, [job[0]], [job[1]]) == []
            raise DatabaseUnavailable("the answer is lost")
        return connection


def _held(db: Connection, claim: Claim, told: list[str], name: str) -> Held:
    held = Held(claim, Job(claim, jobs.facts(db, [claim])[claim.job_id]), 0.0, 30.0, 60.0)
    held.pledges = (Pledge(lambda: told.append(f"{name} kept"), lambda: told.append(f"{name} lost")),)
    return held


def test_what_is_owed_for_a_result_is_done_though_the_first_answer_is_lost(db: Connection, database: str) -> None:
    told: list[str] = []
    enqueue(db, "gone")
    gone = take_one(db, start=True)
    before = _held(db, gone, told, "another's")
    jobs.release(db, [gone.job_id], [gone.lease_token])
    enqueue(db, "owes")
    owes = _held(db, take_one(db, kinds=["owes"], start=True), told, "ours")
    afterwards = Afterwards()
    reporter = Reporter(_Deaf(database, "report"), Shelf(), afterwards)
    for held in (before, owes):
        reporter.succeeded(held, None)
    threads = [Thread(target=reporter.run), Thread(target=afterwards.run)]
    for thread in threads:
        thread.start()
    reporter.close()
    threads[0].join(60)
    afterwards.close()
    threads[1].join(60)
    assert sorted(told) == ["another's lost", "ours kept"]
