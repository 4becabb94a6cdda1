"""The spine: read → normalise → direct → admit → sink, as one streaming query."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from penstock.catalog.source import KafkaOptions
from penstock.catalog.subscription import SubscriptionSpec
from penstock.model import Json
from penstock.pipeline import sink
from penstock.pipeline.admit import admit
from penstock.pipeline.direct import direct
from penstock.pipeline.normalise import normalise
from penstock.pipeline.positions import Starts
from penstock.pipeline.readers.kafka import read_kafka
from penstock.pipeline.readers.queues import read_queue
from penstock.pipeline.session import make_active
from penstock.routing import rules_of

TASKS = 2


@dataclass(frozen=True)
class Stream:
    """Everything one query needs; the checkpoint is an empty folder of this runtime's own."""

    spec: SubscriptionSpec
    content: Json
    credential: Mapping[str, Any]
    starts: Starts
    token: int
    stage: str
    checkpoint: Path
    once: bool

    @property
    def batch(self) -> int:
        return self.spec.batch()

    @property
    def is_queue(self) -> bool:
        return not isinstance(self.spec.options, KafkaOptions)

    def start(self, spark: SparkSession) -> StreamingQuery:
        make_active(spark)
        spark.dataSource.register(sink.IngestSink)
        identities = self.starts.identities if self.is_queue else None
        writer = (
            self._read(spark)
            .transform(normalise)
            .transform(direct(rules_of(self.spec)))
            .transform(admit(identities))
            .writeStream.format(sink.NAME)
            .queryName(self.spec.path)
            .options(**self._sink().to_spark())
            .option("checkpointLocation", str(self.checkpoint))
        )
        if self.once:
            return writer.trigger(availableNow=True).start()
        return writer.trigger(processingTime=f"{self.spec.runtime.trigger_ms} milliseconds").start()

    def _read(self, spark: SparkSession) -> DataFrame:
        if self.is_queue:
            return read_queue(spark, self.content, self.batch, TASKS)
        return read_kafka(spark, self.spec, self.credential, self.starts.offsets, self.batch)

    def _sink(self) -> sink.SinkOptions:
        return sink.SinkOptions(
            subscription=self.spec.path,
            token=self.token,
            stage=self.stage,
            content=json.dumps(self.content),
            identities=_topics(self.starts.identities),
            is_queue=self.is_queue,
            max_in_flight=self.spec.max_in_flight() or 0,
            batch=self.batch,
            per_s=self.spec.limits.max_dispatch_per_sec or 0,
        )


def _topics(identities: Mapping[str, str]) -> dict[str, str]:
    """By part, and by topic for parts that appear later."""
    return {part.rpartition(":")[0] or part: identity for part, identity in identities.items()} | dict(identities)
