"""Kafka, through Spark's own connector: every partition from the ledger's offset on, headers and all."""

import json
from collections.abc import Mapping
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from penstock.catalog.source import KafkaOptions
from penstock.catalog.subscription import SubscriptionSpec
from penstock.sources.kafka_credential import KafkaCredential


def read_kafka(
    spark: SparkSession, spec: SubscriptionSpec, credential: Mapping[str, Any], starts: Mapping[str, int], batch: int
) -> DataFrame:
    """The stream of a subscription; `starts` names every partition there is."""
    assert isinstance(spec.options, KafkaOptions)
    return (
        spark.readStream.format("kafka")
        .options(**KafkaCredential.read(credential).spark_options())
        .options(**_which(spec.options))
        .option("startingOffsets", _starting_offsets(starts))
        .option("includeHeaders", "true")
        .option("kafka.isolation.level", "read_committed")
        .option("failOnDataLoss", "true")
        .option("maxOffsetsPerTrigger", str(batch))
        .load()
        .transform(_envelope)
    )


def _which(options: KafkaOptions) -> dict[str, str]:
    if options.topic_pattern is not None:
        # Spark takes a topic whose name only contains a match, and those of Kafka's own
        return {"subscribePattern": f"^(?!__)(?:{options.topic_pattern})$"}
    return {"subscribe": ",".join(options.topics)}


def _starting_offsets(starts: Mapping[str, int]) -> str:
    offsets: dict[str, dict[str, int]] = {}
    for part, offset in starts.items():
        topic, _, partition = part.rpartition(":")
        offsets.setdefault(topic, {})[partition] = offset
    return json.dumps(offsets)


def _envelope(records: DataFrame) -> DataFrame:
    part = F.concat_ws(":", "topic", F.col("partition").cast("string"))
    return records.select(
        part.alias("source_part"),
        F.col("offset").alias("source_offset"),
        F.concat_ws(":", part, F.col("offset").cast("string")).alias("message_id"),
        F.col("timestamp").alias("published_at"),
        F.col("key").alias("message_key"),
        F.col("value").alias("body"),
        F.col("headers").alias("attributes"),
        F.lit(None).cast("string").alias("ack"),
        F.lit(None).cast("int").alias("delivery_attempt"),
    )
