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
from penstock.errors import SourceChanged, SourceUnfit
from penstock.kernel import runtimes, subscriptions
from penstock.kernel.connection import Connection, connect
from penstock.model import Json
from penstock.pipeline import hosts
from penstock.sources.contract import Queue
from penstock.sources.kafka import KafkaSource
from penstock.sources.opening import open_queue, open_source

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
    firsts: dict[str, int] = field(default_factory=dict)
    nexts: dict[str, int] = field(default_factory=dict)


class IngestWriter(DataSourceStreamArrowWriter):
    def __init__(self, options: SinkOptions) -> None:
        self._options = options

    def write(self, iterator: Iterator[pa.RecordBatch]) -> Staged:
        staged = Staged(uuid4().hex, 0)
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
        if queue is None:
            self._check_topics()
        else:
            self._check_queue(connection, staged, queue)
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
        # a queue's floor may be beyond the last message for us
        return {
            part: {"identity": self._identity(part), "next": max(following, floors[part] + 1), "floor": floors[part]}
            if part in floors
            else {"identity": self._identity(part), "next": following}
            for part, following in nexts.items()
        }

    def _check_topics(self) -> None:
        """Spark's connector knows a topic by its name: one made again that has outgrown the old offsets passes it."""
        source = open_source(self._spec(), hosts.credentials())
        assert isinstance(source, KafkaSource)
        try:
            topics = source.topics()
        finally:
            source.close()
        for topic in topics:
            self._check_identity(topic.name, topic.id)

    def _check_identity(self, part: str, identity: str) -> None:
        if self._options.identities.get(part, identity) != identity:
            raise SourceChanged(f"{part} was made again since the runtime started: nothing was committed")

    def _check_queue(self, connection: Connection, staged: list[Staged], queue: Queue) -> None:
        """Looked at after the fetch: a queue says nothing when it was made again, or removes what nobody has read.

        Nothing is committed then, and the runtime starts again, with the ledger held against what is there now.
        """
        ledger = {at.part: at.next_offset for at in subscriptions.positions(connection, self._options.subscription)}
        for span in queue.spans():
            self._check_identity(span.part, span.identity)
            first = min((one.firsts.get(span.part, span.first) for one in staged), default=span.first)
            if span.keeps and ledger.get(span.part, span.first) < min(first, span.first):
                raise SourceChanged(f"{span.part} has removed messages before they were read: nothing was committed")

    def _identity(self, part: str) -> str:
        identities = self._options.identities
        found = identities.get(part) or identities.get(part.rpartition(":")[0])
        if found is None:
            raise SourceUnfit(
                f"{self._options.subscription}: a message of part {part} came, and the source did not name that part "
                "when the runtime started: spans() must name a part before its first message is handed out"
            )
        return found

    @contextmanager
    def _opened(self) -> Iterator[Queue | None]:
        """The source, where messages are acknowledged one by one."""
        if not self._options.is_queue:
            yield None
            return
        spec = self._spec()
        queue = open_queue(spec, hosts.credentials().get(spec.auth) if spec.auth else {})
        try:
            yield queue
        finally:
            queue.close()

    def _spec(self) -> SubscriptionSpec:
        spec = spec_of("Subscription", json.loads(self._options.content))
        assert isinstance(spec, SubscriptionSpec)
        return spec

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
        ends = pa.table(batch).group_by("part").aggregate([("source_offset", "min"), ("source_offset", "max")])
        for row in ends.to_pylist():
            part, first, last = row["part"], row["source_offset_min"], row["source_offset_max"]
            staged.firsts[part] = min(staged.firsts.get(part, first), first)
            staged.nexts[part] = max(staged.nexts.get(part, 0), last + 1)
        attempt = pa.array([staged.attempt]).take(pa.array([0] * batch.num_rows))
        yield pa.RecordBatch.from_arrays(
            [attempt, *batch.columns], schema=pa.schema([("attempt", pa.string()), *batch.schema])
        )


def _chain(first: pa.RecordBatch, rest: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    yield first
    yield from rest
