"""A database that was restored to an older copy, as the ledger and a source meet it."""

from penstock.kernel.connection import Connection


def as_of_an_older_copy(db: Connection, messages: int) -> None:
    """What a database that was restored to the state after so many messages would hold."""
    db.execute("delete from penstock.job_queue where job_id in (select execution_id from penstock.ingest_message"
               " where source_offset > %s)", [messages])  # fmt: skip
    db.execute("delete from penstock.job where job_id in (select execution_id from penstock.ingest_message"
               " where source_offset > %s)", [messages])  # fmt: skip
    db.execute("delete from penstock.ingest_message where source_offset > %s", [messages])
    db.execute(
        "delete from penstock.once_key where scope like 'message:%%' and right(key, 20)::bigint > %s", [messages]
    )
    db.execute("update penstock.ingest_position set next_offset = %s, floor_offset = 0", [messages + 1])
