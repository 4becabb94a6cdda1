"""The baselines: COPY of the rows that enqueue writes, and our own claim and finish statements alone in a loop."""

import time
from uuid import uuid4

from bench.measure import Drained, Round
from bench.processes import MeasurementFailed
from bench.server import BenchServer, wal_bytes
from penstock.kernel import jobs
from penstock.kernel.connection import Connection, connect

BATCH = 1000
BLOCK_BYTES = 1 << 18
TABLES = ("penstock.job", "penstock.job_queue")
KEYED_TABLES = (*TABLES, "penstock.once_key")
SQL = {
    "copy": "begin; copy penstock.job from stdin; copy penstock.job_queue from stdin; commit"
    " -- one transaction; the rows that enqueue_many wrote, as text; partitioned tables through the parent",
    "copy_keyed": "begin; copy penstock.job from stdin; copy penstock.job_queue from stdin;"
    " copy penstock.once_key from stdin; commit",
    "statements": "select job_id, lease_token, job_kind, attempt, started, suspect, enqueued_at from"
    f" penstock.fn_job_claim('default', {BATCH}, '{{noop}}', null, $incarnation, true); select job_id, accepted, reason"
    " from penstock.fn_job_finish($job_ids, $tokens, null) where not accepted"
    " -- in turn, one session, each its own transaction, until a claim comes back empty",
}

Rows = dict[str, list[bytes]]


def rows_of(connection: Connection, tables: tuple[str, ...]) -> Rows:
    """The rows of these tables as blocks of COPY text."""
    rows: Rows = {}
    for table in tables:
        with connection.cursor().copy(f"copy (select * from {table}) to stdout".encode()) as copy:
            text = b"".join(bytes(line) for line in copy)
        rows[table] = [text[start : start + BLOCK_BYTES] for start in range(0, len(text), BLOCK_BYTES)]
    return rows


def copy_in(connection: Connection, rows: Rows) -> float:
    """Seconds to COPY them back, in one transaction."""
    began = time.monotonic()
    with connection.transaction(), connection.cursor() as cursor:
        for table, blocks in rows.items():
            with cursor.copy(f"copy {table} from stdin".encode()) as copy:
                for block in blocks:
                    copy.write(block)
    return time.monotonic() - began


def copy_and_drain(server: BenchServer, rows: Rows, n: int) -> Round:
    """COPY in place of the client, then the bare statements in place of the worker."""
    with connect(server.fresh("bench_raw", migrated=True)) as connection:
        copied_s = copy_in(connection, rows)
        connection.execute("analyze")
        wal, cpu = wal_bytes(connection), server.cpu_s()
        own = time.process_time()
        seconds = _claim_and_finish(connection, n)
        drained = Drained(
            per_s=n / seconds,
            seconds=seconds,
            wal_bytes_per_job=(wal_bytes(connection) - wal) / n,
            postgres_us_per_job=(server.cpu_s() - cpu) * 1e6 / n,
            worker_us_per_job=(time.process_time() - own) * 1e6 / n,
        )
    return Round(n / copied_s, drained)


def _claim_and_finish(connection: Connection, n: int) -> float:
    incarnation = uuid4()
    finished = 0
    began = time.monotonic()
    while claims := jobs.claim(connection, "default", BATCH, kinds=["noop"], incarnation=incarnation, start=True):
        refused = jobs.finish(connection, [c.job_id for c in claims], [c.lease_token for c in claims])
        finished += len(claims) - len(refused)
    seconds = time.monotonic() - began
    if finished != n:
        raise MeasurementFailed(f"the statements alone finished {finished} of {n} jobs")
    return seconds
