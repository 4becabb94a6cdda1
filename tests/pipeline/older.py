"""A database that was restored to an older copy, as the ledger and a source meet it."""

from penstock.kernel.connection import Connection


def as_of_an_older_copy(db: Connection, messages: int, batches: int | None = None) -> None:
    """What a database that was restored to the state after the message of that offset would hold."""
    db.execute("delete from penstock.once_key where scope like 'message:%%' and ref::bigint in"
               " (select execution_id from penstock.ingest_message where source_offset > %s)", [messages])  # fmt: skip
    db.execute("delete from penstock.job_queue where job_id in (select execution_id from penstock.ingest_message"
               " where source_offset > %s)", [messages])  # fmt: skip
    db.execute("delete from penstock.job where job_id in (select execution_id from penstock.ingest_message"
               " where source_offset > %s)", [messages])  # fmt: skip
    db.execute("delete from penstock.ingest_message where source_offset > %s", [messages])
    db.execute("update penstock.ingest_position set next_offset = %s, floor_offset = 0", [messages + 1])
    db.execute("update penstock.subscription_runtime set batches = coalesce(%s, batches)", [batches])
