"""From directed messages to rows of the staging table: what identifies each, and what goes along."""

from collections.abc import Callable

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

_DIGITS = 20


def admit(identities: dict[str, str] | None = None) -> Callable[[DataFrame], DataFrame]:
    """Selects the columns of fn_ingest_stage_open, without those the sink and the table fill in.

    With `identities` (part to what makes it that one) a message is known by its identity, else by its offset.
    """

    def admitted(messages: DataFrame) -> DataFrame:
        born = F.create_map(*(F.lit(text) for pair in (identities or {}).items() for text in pair))
        offset = F.lpad(F.col("source_offset").cast("string"), _DIGITS, "0")
        identity = F.concat_ws(":", "source_part", F.element_at(born, F.col("source_part")), offset)
        return messages.select(
            F.col("source_part").alias("part"),
            "source_offset",
            (identity if identities else F.lit(None).cast("string")).alias("identity"),
            "message_id",
            "published_at",
            "message_key",
            "body",
            F.col("attributes_json").alias("attributes"),
            "playbook",
            "pool",
            "dedup_key",
            "trace",
            "directives",
            F.lit(None).cast("string").alias("fault"),
            "ack",
        )

    return admitted
