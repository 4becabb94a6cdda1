"""The spine: read → normalise → direct → admit → sink, as one streaming query."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from penstock.catalog.subscription import SubscriptionSpec
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

TASKS = 2


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
        writer = (
            self._read(spark)
            .transform(normalise)
            .transform(direct(rules_of(self.spec)))
            .transform(admit(identities))
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
            return read_queue(spark, self.content, self.batch, TASKS, self.sink.handover)
        return read_kafka(spark, self.spec, self.credential, self.starts.offsets, self.batch)
