"""The sink: tasks COPY their rows into the runtime's staging table, and one commit makes them executions.

`commit` runs in a process of its own with a freshly built writer: it has options and messages only, and may run late,
twice or never. Acknowledgements come after it.
"""

import json
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from uuid import uuid4

import pyarrow as pa
from adbc_driver_postgresql import dbapi
from pyspark.sql.datasource import DataSource, DataSourceStreamArrowWriter, WriterCommitMessage
from pyspark.sql.types import StructType

from penstock.catalog.entry import spec_of
from penstock.catalog.subscription import SubscriptionSpec
from penstock.kernel import runtimes
from penstock.kernel.connection import Connection, connect
from penstock.model import Json
from penstock.pipeline import hosts
from penstock.sources.contract import Queue
from penstock.sources.opening import open_queue

NAME = "penstock_ingest"
_ROOM_LOOK_S = 0.1
_NO_LIMIT = 2**31 - 1


@dataclass(frozen=True)
class SinkOptions:
    """What the sink is told; every value is text in Spark, none is a secret."""

    subscription: str
    token: int
    stage: str
    content: str
    # part, or its topic, to what makes it that one
    identities: dict[str, str] = field(default_factory=dict)
    is_queue: bool = False
    max_in_flight: int = 0
    batch: int = 0
    per_s: int = 0

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
    """What one task attempt has put into the staging table."""

    attempt: str
    rows: int
    nexts: dict[str, int]


class IngestWriter(DataSourceStreamArrowWriter):
    def __init__(self, options: SinkOptions) -> None:
        self._options = options

    def write(self, iterator: Iterator[pa.RecordBatch]) -> Staged:
        staged = Staged(uuid4().hex, 0, {})
        batches = _counted(iterator, staged)
        first = next(batches, None)
        if first is not None:
            reader = pa.RecordBatchReader.from_batches(first.schema, _chain(first, batches))
            with dbapi.connect(hosts.database_url()) as connection, connection.cursor() as cursor:
                cursor.adbc_ingest(self._options.stage, reader, mode="append", db_schema_name="penstock")
                connection.commit()
        return staged

    def commit(self, messages: list[WriterCommitMessage | None], batchId: int) -> None:
        staged = [one for one in messages if isinstance(one, Staged) and one.rows]
        began = time.monotonic()
        with connect(hosts.database_url(), application="penstock commit") as connection, self._opened() as queue:
            if staged:
                self._commit(connection, staged, queue)
            self._await_room(connection, began, sum(one.rows for one in staged))

    def abort(self, messages: list[WriterCommitMessage | None], batchId: int) -> None:
        staged = [one for one in messages if isinstance(one, Staged) and one.rows]
        with self._opened() as queue:
            if staged and queue is not None:
                with connect(hosts.database_url(), application="penstock abort") as connection:
                    queue.give_back(self._handles(connection, staged))

    def _commit(self, connection: Connection, staged: list[Staged], queue: Queue | None) -> None:
        options = self._options
        positions = self._positions(staged, {} if queue is None else queue.floors())
        expected = {one.attempt: one.rows for one in staged}
        runtimes.commit(connection, options.subscription, options.token, positions, expected)
        if queue is not None:
            queue.acknowledge(self._handles(connection, staged))
        runtimes.stage_clear(connection, options.subscription, options.token)

    def _handles(self, connection: Connection, staged: list[Staged]) -> list[str]:
        return runtimes.staged_acks(connection, self._options.stage, [one.attempt for one in staged])

    def _positions(self, staged: list[Staged], floors: Mapping[str, int]) -> dict[str, Json]:
        nexts: Counter[str] = Counter()
        for one in staged:
            for part, following in one.nexts.items():
                nexts[part] = max(nexts[part], following)
        return {
            part: {"identity": self._identity(part), "next": following}
            | ({"floor": floors[part]} if part in floors else {})
            for part, following in nexts.items()
        }

    def _identity(self, part: str) -> str:
        identities = self._options.identities
        return identities.get(part) or identities[part.rpartition(":")[0]]

    @contextmanager
    def _opened(self) -> Iterator[Queue | None]:
        """The source, where messages are acknowledged one by one."""
        if not self._options.is_queue:
            yield None
            return
        spec = spec_of("Subscription", json.loads(self._options.content))
        assert isinstance(spec, SubscriptionSpec)
        queue = open_queue(spec, hosts.credentials().get(spec.auth) if spec.auth else {})
        try:
            yield queue
        finally:
            queue.close()

    def _await_room(self, connection: Connection, began: float, rows: int) -> None:
        """Until the next batch fits under max_in_flight and the rate, or nobody wants it any more."""
        options = self._options
        until = began + rows / options.per_s if options.per_s else began
        limit = options.max_in_flight or _NO_LIMIT
        while options.max_in_flight or time.monotonic() < until:
            room = runtimes.room(connection, options.subscription, options.token, limit)
            if room < 0 or (room >= options.batch and time.monotonic() >= until):
                return
            time.sleep(_ROOM_LOOK_S)


def _counted(iterator: Iterator[pa.RecordBatch], staged: Staged) -> Iterator[pa.RecordBatch]:
    """The batches with their attempt, counted as they go by."""
    for batch in iterator:
        if not batch.num_rows:
            continue
        staged.rows += batch.num_rows
        highest = pa.table(batch).group_by("part").aggregate([("source_offset", "max")])
        for row in highest.to_pylist():
            staged.nexts[row["part"]] = max(staged.nexts.get(row["part"], 0), row["source_offset_max"] + 1)
        attempt = pa.array([staged.attempt]).take(pa.array([0] * batch.num_rows))
        yield pa.RecordBatch.from_arrays(
            [attempt, *batch.columns], schema=pa.schema([("attempt", pa.string()), *batch.schema])
        )


def _chain(first: pa.RecordBatch, rest: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    yield first
    yield from rest
