"""The sink: tasks COPY their rows into the runtime's staging tables, and its driver hands each batch to the runtime.

Spark calls `commit` and `abort` in a process of their own with a freshly built writer: they have options and messages
only. The runtime's committer does the rest.
"""

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from uuid import uuid4

import pyarrow as pa
from adbc_driver_postgresql import dbapi
from pyspark import TaskContext
from pyspark.sql.datasource import DataSource, DataSourceStreamArrowWriter, WriterCommitMessage
from pyspark.sql.types import StructType

from penstock import hosts
from penstock.errors import SettingsError
from penstock.kernel.connection import lasting
from penstock.pipeline.books import Server
from penstock.pipeline.handover import Batch, Share, hand_over
from penstock.pipeline.outlet import Outlet

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
    # where tasks put their rows that cannot reach the database
    outlet: Outlet | None = None

    def to_spark(self) -> dict[str, str]:
        return {"sink": json.dumps(asdict(self))}

    @classmethod
    def from_spark(cls, options: dict[str, str]) -> "SinkOptions":
        told = json.loads(options["sink"])
        outlet = told.pop("outlet")
        if outlet is None:
            return cls(**told)
        return cls(**told, outlet=Outlet(Server(**outlet.pop("server")), **outlet))


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
        stages, outlet = self._options.stages, self._options.outlet
        attempt = uuid4().hex
        share = Share(_batch_id() % len(stages))
        batches = _measured(iterator, share)
        if outlet is not None:
            share.staged.update(outlet.stage(share.lane, attempt, batches))
            return Staged(share)
        first = next(batches, None)
        if first is not None:
            rows = _named(attempt, _chain(first, batches), share)
            schema = pa.schema([("attempt", pa.string()), *first.schema])
            _stage(stages[share.lane], pa.RecordBatchReader.from_batches(schema, rows))
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


def _measured(iterator: Iterator[pa.RecordBatch], share: Share) -> Iterator[pa.RecordBatch]:
    """The batches, with where each part begins and ends noted as they go by."""
    for batch in iterator:
        if not batch.num_rows:
            continue
        ends = pa.table(batch).group_by("part").aggregate([("source_offset", "min"), ("source_offset", "max")])
        for row in ends.to_pylist():
            part, first, last = row["part"], row["source_offset_min"], row["source_offset_max"]
            share.firsts[part] = min(share.firsts.get(part, first), first)
            share.nexts[part] = max(share.nexts.get(part, 0), last + 1)
        yield batch


def _named(attempt: str, batches: Iterator[pa.RecordBatch], share: Share) -> Iterator[pa.RecordBatch]:
    """The batches with their attempt, counted as they go by."""
    for batch in batches:
        share.staged[attempt] = share.staged.get(attempt, 0) + batch.num_rows
        names = pa.array([attempt]).take(pa.array([0] * batch.num_rows))
        yield pa.RecordBatch.from_arrays(
            [names, *batch.columns], schema=pa.schema([("attempt", pa.string()), *batch.schema])
        )


def _chain(first: pa.RecordBatch, rest: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    yield first
    yield from rest
