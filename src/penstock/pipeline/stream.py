"""The spine: read → normalise → direct → admit → sink, as one streaming query."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from penstock.catalog.subscription import SubscriptionSpec
from penstock.errors import QueryFailed
from penstock.model import Json
from penstock.pipeline.admit import admit
from penstock.pipeline.direct import direct
from penstock.pipeline.normalise import normalise
from penstock.pipeline.positions import Starts
from penstock.pipeline.readers.kafka import read_kafka
from penstock.pipeline.readers.queues import read_queue
from penstock.pipeline.session import make_active
from penstock.pipeline.sink import NAME, IngestSink, SinkOptions
from penstock.routing import rules_of

_TASKS = 2


@dataclass(frozen=True)
class Stream:
    """Everything one query needs; the checkpoint is an empty folder of this runtime's own."""

    spec: SubscriptionSpec
    content: Json
    credential: Mapping[str, Any]
    starts: Starts
    sink: SinkOptions
    checkpoint: Path
    once: bool

    @property
    def batch(self) -> int:
        return self.spec.batch()

    def start(self, spark: SparkSession) -> StreamingQuery:
        make_active(spark)
        spark.dataSource.register(IngestSink)
        identities = self.starts.identities if self.spec.is_queue else None
        lanes = self.spec.path if self.spec.makes_lanes else None
        writer = (
            self._read(spark)
            .transform(normalise)
            .transform(direct(rules_of(self.spec)))
            .transform(admit(identities, by_id=not self.spec.is_numbered, lanes=lanes))
            .writeStream.format(NAME)
            .queryName(self.spec.path)
            .options(**self.sink.to_spark())
            .option("checkpointLocation", self.checkpoint.as_uri())
        )
        if self.once:
            return writer.trigger(availableNow=True).start()
        return writer.trigger(processingTime=f"{self.spec.runtime.trigger_ms} milliseconds").start()

    def _read(self, spark: SparkSession) -> DataFrame:
        if self.spec.is_queue:
            return read_queue(spark, self.content, self.batch, tasks_of(self.spec), self.sink.handover)
        return read_kafka(spark, self.spec, self.credential, self.starts.offsets, self.batch)


def tasks_of(spec: SubscriptionSpec) -> int:
    """How many fetch side by side. What has an order keeps it: what two tasks write lies as they happen to come."""
    return 1 if spec.makes_lanes else _TASKS


def failure_of(text: str) -> QueryFailed:
    """Why a query has ended: the line that says so, of Spark's many."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    causes = [line for line in lines if line.startswith("penstock.errors.")] or [
        line for line in lines if "Caused by" in line
    ]
    return QueryFailed((causes[-1] if causes else lines[0] if lines else "the query ended")[:1000])
