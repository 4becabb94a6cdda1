"""From directed messages to rows of the staging table: what identifies each, and what goes along."""

from collections.abc import Callable

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from penstock.directives.lanes import LONGEST_KEY
from penstock.pipeline.texts import text_or_null

_DIGITS = 20


def admit(
    identities: dict[str, str] | None = None, *, by_id: bool = False, lanes: str | None = None
) -> Callable[[DataFrame], DataFrame]:
    """Selects the columns of fn_ingest_stage_open, without those the sink and the table fill in.

    With `identities` (part to what makes it that one) a message is known by its identity, else by its offset. `by_id`:
    the source does not number messages, and the identity holds their id and their time. `lanes`: messages of one key
    are a lane under this name.
    """

    def admitted(messages: DataFrame) -> DataFrame:
        born = F.create_map(*(F.lit(text) for pair in (identities or {}).items() for text in pair))
        offset = F.lpad(F.col("source_offset").cast("string"), _DIGITS, "0")
        # the letters keep an id out of the ranges of offsets that are forgotten
        # and a server that begins to count anew, as emulators do, gives an id again, but at another time
        number = F.concat(F.lit("id="), F.col("message_id"), F.lit("@"), offset) if by_id else offset
        identity = F.concat_ws(":", "source_part", F.element_at(born, F.col("source_part")), number)
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
            (_lane(lanes) if lanes else F.lit(None).cast("string")).alias("lane"),
            "delivery_attempt",
        )

    return admitted


def _lane(name: str) -> Column:
    """What penstock.directives.lanes has in Python."""
    key = text_or_null(F.col("message_key"))
    short = F.when(F.char_length(key) <= F.lit(LONGEST_KEY), key)
    named = F.coalesce(short, F.concat(F.lit("sha256="), F.sha2("message_key", 256)))
    return F.when(F.octet_length("message_key") > F.lit(0), F.concat(F.lit(f"{name}:"), named))
