"""How jobs ended, read from the database."""

from collections.abc import Iterable
from typing import Any, NamedTuple

from penstock.kernel import jobs
from penstock.kernel.connection import Connection
from penstock.model import TERMINAL
from tests.acceptance.processes import until


class Outcome(NamedTuple):
    """How one attempt ended."""

    attempt: int
    status: str
    reason: str | None
    error: Any


def outcomes(db: Connection, job_id: int) -> list[Outcome]:
    """Every ended attempt of a job, oldest first."""
    rows = db.execute(
        "select attempt, status::text, reason, error from penstock.job_outcome where job_id = %s order by lease_token",
        [job_id],
    ).fetchall()
    return [Outcome(*row) for row in rows]


def status(db: Connection, job_id: int) -> str:
    return jobs.show(db, job_id).status


def result(db: Connection, job_id: int) -> Any:
    row = db.execute("select result from penstock.job_result where job_id = %s", [job_id]).fetchone()
    return None if row is None else row[0]


def live(db: Connection) -> int:
    """How many jobs have not ended yet."""
    row = db.execute("select count(*) from penstock.job_queue").fetchone()
    assert row is not None
    return int(row[0])


def await_end(db: Connection, job_ids: Iterable[int], deadline_s: float = 60) -> None:
    """Wait until these jobs have ended, well or badly."""
    left = set(job_ids)

    def all_ended() -> bool:
        left.difference_update([job_id for job_id in left if status(db, job_id) in TERMINAL])
        return not left

    until(all_ended, f"the end of jobs {sorted(left)[:10]}", deadline_s)


def set_config(db: Connection, key: str, value: str) -> None:
    db.execute("select penstock.fn_config_set(%s, %s)", [key, value])


def quick_retries(db: Connection) -> None:
    """Failed attempts are tried again almost at once."""
    set_config(db, "queue.retry.backoff.base_ms", "20")
    set_config(db, "queue.retry.backoff.strategy", "fixed")
