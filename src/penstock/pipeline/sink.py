"""The sink: tasks COPY their rows into the runtime's staging tables, and its driver hands each batch to the runtime.

Spark calls `commit` and `abort` in a process of their own with a freshly built writer: they have options and messages
only. The runtime's committer does the rest.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from uuid import uuid4

import pyarrow as pa
from adbc_driver_postgresql import dbapi
from pyspark import TaskContext
from pyspark.sql.datasource import DataSource, DataSourceStreamArrowWriter, WriterCommitMessage
from pyspark.sql.types import StructType

from penstock import hosts
from penstock.errors import SettingsError
from penstock.kernel.connection import lasting
from penstock.pipeline.handover import Batch, Share, hand_over

NAME = "penstock_ingest"
_BATCH_ID = "streaming.sql.batchId"


@dataclass(frozen=True)
class SinkOptions:
    """What the sink is told; every value is text in Spark, none is a secret."""

    # used in turn: one is filled while another is committed
    stages: list[str]
    handover: str
    # whether messages of an aborted batch are given back to their source
    is_queue: bool

    def to_spark(self) -> dict[str, str]:
        return {"sink": json.dumps(vars(self))}

    @classmethod
    def from_spark(cls, options: dict[str, str]) -> "SinkOptions":
        return cls(**json.loads(options["sink"]))


class IngestSink(DataSource):
    @classmethod
    def name(cls) -> str:
        return NAME

    def streamWriter(self, schema: StructType, overwrite: bool) -> "IngestWriter":
        return IngestWriter(SinkOptions.from_spark(dict(self.options)))


@dataclass
class Staged(WriterCommitMessage):
    """What one task attempt has put into a staging table."""

    share: Share


class IngestWriter(DataSourceStreamArrowWriter):
    def __init__(self, options: SinkOptions) -> None:
        self._options = options

    def write(self, iterator: Iterator[pa.RecordBatch]) -> Staged:
        stages = self._options.stages
        lane = _batch_id() % len(stages)
        share = Share(uuid4().hex, lane)
        batches = _counted(iterator, share)
        first = next(batches, None)
        if first is not None:
            reader = pa.RecordBatchReader.from_batches(first.schema, _chain(first, batches))
            _stage(stages[lane], reader)
        return Staged(share)

    def commit(self, messages: list[WriterCommitMessage | None], batchId: int) -> None:
        hand_over(self._options.handover, Batch(batchId, _shares(messages)))

    def abort(self, messages: list[WriterCommitMessage | None], batchId: int) -> None:
        shares = _shares(messages) if self._options.is_queue else []
        if shares:
            hand_over(self._options.handover, Batch(batchId, shares, is_aborted=True))


def _batch_id() -> int:
    context = TaskContext.get()
    found = context.getLocalProperty(_BATCH_ID) if context is not None else None
    if found is None:
        raise SettingsError(f"this Spark does not tell its tasks of {_BATCH_ID}: use the version penstock[spark] names")
    return int(found)


def _shares(messages: list[WriterCommitMessage | None]) -> list[Share]:
    return [one.share for one in messages if isinstance(one, Staged) and one.share.rows]


# of this process: the driver asks for all types of the database when it connects, which takes longer than a small batch
_kept: dict[str, dbapi.Connection] = {}


def _stage(table: str, rows: pa.RecordBatchReader) -> None:
    url = lasting(hosts.database_url())
    connection = _connection(url)
    try:
        with connection.cursor() as cursor:
            cursor.adbc_ingest(table, rows, mode="append", db_schema_name="penstock")
    except BaseException:
        _kept.pop(url, None)
        connection.close()
        raise


def _connection(url: str) -> dbapi.Connection:
    """The one of the last batch, unless the server has gone away since."""
    kept = _kept.get(url)
    if kept is not None:
        try:
            with kept.cursor() as cursor:
                cursor.execute("select")
            return kept
        except dbapi.Error:
            del _kept[url]
            kept.close()
    _kept[url] = dbapi.connect(url, autocommit=True)
    return _kept[url]


def _counted(iterator: Iterator[pa.RecordBatch], share: Share) -> Iterator[pa.RecordBatch]:
    """The batches with their attempt, counted as they go by."""
    for batch in iterator:
        if not batch.num_rows:
            continue
        share.rows += batch.num_rows
        ends = pa.table(batch).group_by("part").aggregate([("source_offset", "min"), ("source_offset", "max")])
        for row in ends.to_pylist():
            part, first, last = row["part"], row["source_offset_min"], row["source_offset_max"]
            share.firsts[part] = min(share.firsts.get(part, first), first)
            share.nexts[part] = max(share.nexts.get(part, 0), last + 1)
        attempt = pa.array([share.attempt]).take(pa.array([0] * batch.num_rows))
        yield pa.RecordBatch.from_arrays(
            [attempt, *batch.columns], schema=pa.schema([("attempt", pa.string()), *batch.schema])
        )


def _chain(first: pa.RecordBatch, rest: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    yield first
    yield from rest
