"""Sources that hand out messages one by one, NATS and Pub/Sub: a Python data source whose tasks fetch in parallel.

Offsets count what was asked for, and mean nothing to the source: a message is known by its identity, and acknowledged
by the committer after the commit.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain, islice
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.datasource import DataSource, DataSourceStreamReader, InputPartition
from pyspark.sql.streaming.datasource import ReadAllAvailable, ReadLimit, ReadMaxRows, SupportsTriggerAvailableNow
from pyspark.sql.types import StructType

from penstock import hosts
from penstock.catalog.entry import spec_of
from penstock.catalog.subscription import SubscriptionSpec
from penstock.model import Json
from penstock.pipeline.handover import is_last
from penstock.pipeline.readers.peek import Peek
from penstock.sources.contract import Message, Queue
from penstock.sources.opening import open_queue

NAME = "penstock_queue"
SCHEMA = (
    "source_part string, source_offset bigint, message_id string, published_at timestamp, message_key binary,"
    " body binary, attributes array<struct<key: string, value: binary>>, ack string,"
    " delivery_attempt int"
)
_ARROW = pa.schema(
    [
        ("source_part", pa.string()),
        ("source_offset", pa.int64()),
        ("message_id", pa.string()),
        ("published_at", pa.timestamp("us", "UTC")),
        ("message_key", pa.binary()),
        ("body", pa.binary()),
        ("attributes", pa.list_(pa.struct([("key", pa.string()), ("value", pa.binary())]))),
        ("ack", pa.string()),
        ("delivery_attempt", pa.int32()),
    ]
)
_ROWS = 1000
# so few messages are not worth a task more
_WORTH_A_TASK = 200
# so long the driver waits for a message at a time, while nobody knows whether there is one
_LOOK_S = 0.5
# while it looks again and again, the source is asked for so long: an answer that comes too late is lost for a while
_IDLE_S = 60.0
_AHEAD = 1000


def read_queue(spark: SparkSession, content: Json, batch: int, tasks: int, handover: str) -> DataFrame:
    """The stream of a subscription whose source hands out messages."""
    spark.dataSource.register(QueueSource)
    return (
        spark.readStream.format(NAME)
        .option("content", json.dumps(content))
        .option("batch", str(batch))
        .option("tasks", str(tasks))
        .option("handover", handover)
        .load()
    )


class QueueSource(DataSource):
    """Options: content (the catalog entry), batch, tasks, handover. Credentials are found on each host."""

    @classmethod
    def name(cls) -> str:
        return NAME

    def schema(self) -> str:
        return SCHEMA

    def streamReader(self, schema: StructType) -> "QueueReader":
        return QueueReader(dict(self.options))


@dataclass
class Share(InputPartition):
    """What was fetched for one task already, how many messages it fetches besides, and how long it waits for them."""

    messages: int
    wait_s: float
    found: tuple[Message, ...] = ()


class QueueReader(DataSourceStreamReader, SupportsTriggerAvailableNow):
    """Decides on the driver how many to fetch, and fetches in tasks."""

    def __init__(self, options: dict[str, str]) -> None:
        self._content = options["content"]
        self._batch = int(options["batch"])
        self._tasks = int(options["tasks"])
        self._handover = options["handover"]
        self._queue: Queue | None = None
        self._peek: Peek | None = None
        self._is_once = False
        self._until: int | None = None

    def initialOffset(self) -> dict[str, int]:
        return {"asked": 0}

    def getDefaultReadLimit(self) -> ReadLimit:
        return ReadMaxRows(self._batch)

    def prepareForTriggerAvailableNow(self) -> None:
        self._is_once = True
        self._until = self._waiting()

    def latestOffset(self, start: dict[str, int], limit: ReadLimit) -> dict[str, int]:
        asked = int(start["asked"])
        if self._peek is not None:
            self._peek.forget()
        if is_last(self._handover):
            return {"asked": asked}
        left = self._left() if self._until is None else self._until - asked
        most = left if isinstance(limit, ReadAllAvailable) else min(left, getattr(limit, "maxRows", self._batch))
        return {"asked": asked + max(0, most)}

    def partitions(self, start: dict[str, int], end: dict[str, int]) -> list[Share]:
        messages = int(end["asked"]) - int(start["asked"])
        if not messages:
            return []
        found = self._peek.found if self._peek is not None else ()
        left = max(0, messages - len(found))
        tasks = max(1, min(self._tasks, left // _WORTH_A_TASK))
        # after a first message the others are there by now, or belong to the next batch
        wait_s = 0 if found else self._spec().runtime.timeout_ms / 1000
        sizes = [left // tasks + (number < left % tasks) for number in range(tasks)]
        return [Share(size, wait_s, () if number else found) for number, size in enumerate(sizes)]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        assert isinstance(partition, Share)
        queue, _ = self._open()
        try:
            messages = chain(partition.found, queue.fetch(partition.messages, partition.wait_s))
            while some := list(islice(messages, _ROWS)):
                yield _record_batch(some)
        finally:
            queue.close()

    def stop(self) -> None:
        if self._peek is not None:
            self._peek.close()
        elif self._queue is not None:
            self._queue.close()
        self._queue = self._peek = None

    def _left(self) -> int:
        """How many wait; of a source that does not say, a batch if there is one at all."""
        waiting = self._waiting()
        if waiting is not None:
            return waiting
        if self._peek is None:
            assert self._queue is not None
            wait_s = self._spec().runtime.timeout_ms / 1000
            self._peek = Peek(self._queue, min(self._batch, _AHEAD), wait_s if self._is_once else max(wait_s, _IDLE_S))
        return self._batch if self._peek.look(None if self._is_once else _LOOK_S) else 0

    def _waiting(self) -> int | None:
        if self._queue is None:
            self._queue, _ = self._open()
        return self._queue.backlog()

    def _open(self) -> tuple[Queue, SubscriptionSpec]:
        spec = self._spec()
        credential = hosts.credentials().get(spec.auth) if spec.auth else {}
        return open_queue(spec, credential), spec

    def _spec(self) -> SubscriptionSpec:
        spec = spec_of("Subscription", json.loads(self._content))
        assert isinstance(spec, SubscriptionSpec)
        return spec


def _record_batch(messages: list[Message]) -> pa.RecordBatch:
    columns: list[list[Any]] = [
        [one.part for one in messages],
        [one.offset for one in messages],
        [one.id for one in messages],
        [one.published_at for one in messages],
        [one.key for one in messages],
        [one.body for one in messages],
        [[{"key": key, "value": value} for key, value in one.attributes] for one in messages],
        [one.ack for one in messages],
        [one.deliveries or None for one in messages],
    ]
    arrays = [pa.array(values, field.type) for values, field in zip(columns, _ARROW, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, schema=_ARROW)
