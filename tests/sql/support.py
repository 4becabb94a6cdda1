"""Steps the tests of the queue share: bring jobs into a state, move the clock, look at everything."""

import json
from collections.abc import Sequence
from typing import Any, LiteralString
from uuid import UUID

from psycopg.rows import dict_row

from penstock.kernel import jobs
from penstock.kernel.connection import Connection, translated
from penstock.model import Answer, Claim, Json

FACTS = ("job", "job_queue", "job_outcome", "job_result", "job_dead_letter", "once_key", "event_outbox")


def value(db: Connection, query: LiteralString, *arguments: Any) -> Any:
    """The one value of a query that returns one row."""
    with translated():
        row = db.execute(query, arguments).fetchone()
    assert row is not None
    return row[0]


def rows(db: Connection, query: LiteralString, *arguments: Any) -> list[tuple[Any, ...]]:
    with translated():
        return db.execute(query, arguments).fetchall()


def enqueue(db: Connection, kind: str = "work", **fields: Any) -> int:
    return jobs.enqueue(db, {"kind": kind, **fields})


def enqueue_later(db: Connection, kind: str = "work", **fields: Any) -> int:
    """A job that is scheduled for tomorrow."""
    tomorrow = value(db, "select now() + interval '1 day'")
    return enqueue(db, kind, process_after=tomorrow, **fields)


def take(db: Connection, limit: int = 100, **options: Any) -> list[Claim]:
    """Claim as the default executor."""
    return jobs.claim(db, "default", limit, **options)


def taken(db: Connection, limit: int = 100, **options: Any) -> list[int]:
    return [claim.job_id for claim in take(db, limit, **options)]


def take_one(db: Connection, **options: Any) -> Claim:
    (claim,) = take(db, 1, **options)
    return claim


def finish(db: Connection, *claims: Claim) -> None:
    assert refused(db, [one.job_id for one in claims], [one.lease_token for one in claims]) == []


def refused(
    db: Connection, job_ids: Sequence[int], tokens: Sequence[int], results: Sequence[Any] | None = None
) -> list[Answer]:
    """Finish these jobs, with any values as results; the answers that are refusals."""
    texts = None if results is None else [None if result is None else json.dumps(result) for result in results]
    return jobs.finish(db, job_ids, tokens, texts)


def fail(db: Connection, claim: Claim, error: Json | None = None) -> Answer:
    (answer,) = jobs.fail(db, [claim.job_id], [claim.lease_token], [error or {"type": "Boom", "message": "no"}])
    return answer


def row(db: Connection, job_id: int) -> Json:
    """The live row of a job."""
    with db.cursor(row_factory=dict_row) as cursor:
        found = cursor.execute("select * from penstock.job_queue where job_id = %s", [job_id]).fetchone()
    assert found is not None
    return found


def status(db: Connection, job_id: int) -> str:
    return jobs.show(db, job_id).status


def statuses(db: Connection, job_ids: Sequence[int]) -> list[str]:
    return [status(db, job_id) for job_id in job_ids]


def expire(db: Connection, *job_ids: int) -> None:
    """The leases of these jobs have ended."""
    db.execute(
        "update penstock.job_queue set lease_until = clock_timestamp() - interval '1 second' where job_id = any(%s)",
        [list(job_ids)],
    )


def fall_due(db: Connection, *job_ids: int) -> None:
    """The time of these scheduled or retrying jobs has come."""
    db.execute(
        "update penstock.job_queue set process_after = clock_timestamp() - interval '1 second' where job_id = any(%s)",
        [list(job_ids)],
    )


def tick(db: Connection) -> Json:
    report: Json = value(db, "select penstock.fn_queue_tick()")
    return report


def reap(db: Connection, *job_ids: int) -> None:
    """The leases of these jobs end, and the next tick takes them back."""
    expire(db, *job_ids)
    assert tick(db)["reap"] == {"ok": True, "did": len(job_ids)}


def configure(db: Connection, key: str, setting: str | None) -> None:
    value(db, "select penstock.fn_config_set(%s, %s)", key, setting)


def retry_at_once(db: Connection) -> None:
    """Failed jobs are due again immediately."""
    configure(db, "queue.retry.backoff.base_ms", "0")


def register(db: Connection, executor_id: str, kind: str = "PG_worker") -> None:
    value(db, "select penstock.fn_executor_register(%s, %s)", executor_id, kind)


def rule(
    db: Connection,
    executor_id: str = "default",
    *,
    job_kind: str | None = None,
    domain: str | None = None,
    floor: int | None = None,
    most: int | None = None,
    enabled: bool = True,
    kind: str = "PG_worker",
) -> int:
    """What an executor may claim (fn_job_subscription_set)."""
    made: int = value(
        db,
        "select penstock.fn_job_subscription_set(%s, %s, %s, %s, %s, %s, %s)",
        executor_id,
        kind,
        job_kind,
        domain,
        floor,
        most,
        enabled,
    )
    return made


def contents(db: Connection) -> dict[str, list[str]]:
    """Everything the queue holds, to be compared before and after what must change nothing."""
    return {
        table: [
            text for (text,) in db.execute(f"select t::text from penstock.{table} t order by 1".encode()).fetchall()
        ]
        for table in FACTS
    }


def beat(db: Connection, incarnation: UUID, executor_id: str = "default") -> None:
    value(db, "select penstock.fn_queue_heartbeat(%s, 'PG_worker', %s)::text", executor_id, incarnation)
