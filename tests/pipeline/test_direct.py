"""Spark Columns and plain Python come to the same headers, the same plan and the same record of it."""

from collections.abc import Iterator
from random import Random
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from pyspark.sql import DataFrame, Row, SparkSession
from pyspark.sql import functions as F

from penstock.directives.headers import Attribute, attributes_to_json, normalise, texts
from penstock.directives.lanes import lane_of
from penstock.directives.plan import plan
from penstock.directives.rules import Rule, Rules, TraceRules
from penstock.directives.trace import identity_of
from penstock.pipeline.admit import admit
from penstock.pipeline.direct import DIRECTED, direct
from penstock.pipeline.normalise import normalise as normalised
from tests.pipeline.channels import channel, specs
from tests.unit.directives.w3c import CASES

SENT = "source_offset bigint, message_id string, sent array<struct<key: binary, value: binary>>"
SAME = settings(deadline=None, phases=[Phase.generate], suppress_health_check=list(HealthCheck))
PART = "topic-0"


def messages(spark: SparkSession, channels: list[list[Attribute]]) -> DataFrame:
    """The columns a reader hands over. Keys come as bytes, because a string of Spark's may hold any."""
    rows = [(number, str(number), [(_raw(key), value) for key, value in one]) for number, one in enumerate(channels)]
    attribute = lambda one: F.struct(one["key"].cast("string").alias("key"), one["value"].alias("value"))  # noqa: E731
    return spark.createDataFrame(rows, SENT).select(
        F.lit(PART).alias("source_part"),
        "source_offset",
        "message_id",
        F.current_timestamp().alias("published_at"),
        F.lit(None).cast("binary").alias("message_key"),
        F.lit(b"body").alias("body"),
        F.transform("sent", attribute).alias("attributes"),
        F.lit(None).cast("string").alias("ack"),
        F.lit(None).cast("int").alias("delivery_attempt"),
    )


def _raw(key: str | bytes) -> bytes:
    return key.encode() if isinstance(key, str) else key


def in_spark(spark: SparkSession, rules: Rules, channels: list[list[Attribute]]) -> Iterator[dict[str, Any]]:
    directed = messages(spark, channels).transform(normalised).transform(direct(rules))
    assert tuple(directed.columns) == DIRECTED
    wanted = directed.select("source_offset", *DIRECTED[DIRECTED.index("attributes_json") :])
    rows: list[Row] = sorted(wanted.collect(), key=lambda row: int(row["source_offset"]))
    return ({key: value for key, value in row.asDict().items() if key != "source_offset"} for row in rows)


def in_python(rules: Rules, attributes: list[Attribute], message_id: str) -> dict[str, Any]:
    headers = normalise(attributes)
    made = plan(rules, headers, identity_of(rules.subscription, PART, message_id))
    return {
        "attributes_json": attributes_to_json(attributes),
        "headers": {name: texts(headers, name) for name in headers},
        "playbook": made.playbook,
        "pool": made.pool,
        "dedup_key": made.idempotency_key,
        "trace": made.trace.traceparent if made.trace else None,
        "directives": made.to_json(),
    }


def agree(spark: SparkSession, rules: Rules, channels: list[list[Attribute]]) -> None:
    """Fail with the first channel on which the two differ."""
    for number, columns in enumerate(in_spark(spark, rules, channels)):
        assert columns == in_python(rules, channels[number], str(number)), (rules, channels[number])
    assert number + 1 == len(channels)


def _made(seed: int, rules: Rules, count: int) -> list[list[Attribute]]:
    random = Random(seed)
    return [channel(random, rules) for _ in range(count)]


def test_columns_and_python_agree(spark: SparkSession) -> None:
    @settings(SAME, max_examples=12, derandomize=True)
    @given(specs(), st.integers(0, 2**32))
    def compared(rules: Rules, seed: int) -> None:
        agree(spark, rules, _made(seed, rules, 200))

    compared()


@pytest.mark.long
def test_columns_and_python_agree_at_length(spark: SparkSession) -> None:
    @settings(SAME, max_examples=200)
    @given(specs(), st.integers(0, 2**32))
    def compared(rules: Rules, seed: int) -> None:
        agree(spark, rules, _made(seed, rules, 500))

    compared()


_KEYS = st.one_of(
    st.binary(max_size=250),
    st.text(max_size=250).map(lambda text: text.encode("utf-8", "surrogatepass")),
    st.integers(198, 203).map(lambda count: ("é" * count).encode()),
    st.none(),
)


def test_columns_and_python_name_the_same_lanes(spark: SparkSession) -> None:
    @settings(SAME, max_examples=4, derandomize=True)
    @given(st.lists(_KEYS, min_size=150, max_size=200))
    def compared(keys: list[bytes | None]) -> None:
        numbered = spark.createDataFrame(list(enumerate(keys)), "source_offset bigint, message_key binary")
        sent = messages(spark, [[]] * len(keys)).drop("message_key").join(numbered, "source_offset")
        staged = sent.transform(normalised).transform(direct(Rules("s"))).transform(admit(lanes="s"))
        lanes = {row["source_offset"]: row["lane"] for row in staged.select("source_offset", "lane").collect()}
        assert [lanes[number] for number in range(len(keys))] == [lane_of("s", key) for key in keys]

    compared()


@pytest.mark.parametrize("trust", ["continue", "link", "restart"])
def test_columns_and_python_agree_on_the_w3c_table(spark: SparkSession, trust: Any) -> None:
    sent = [[(key, value.encode()) for key, value in case.sent] for case in CASES]
    agree(spark, Rules("s", (), TraceRules(trust=trust)), [list(one) for one in sent])


def test_no_channel_reaches_a_playbook_or_pool_that_is_not_listed(spark: SparkSession) -> None:
    rules = Rules(
        "s",
        (
            Rule("x-route", "dispatch.playbook", allowed=("bills", "fraud")),
            Rule("x-pool", "dispatch.execution_pool", allowed=("iot",)),
            Rule("x-priority", "priority", map={"high": "fast"}),
        ),
    )
    rows = list(in_spark(spark, rules, _made(4, rules, 3000)))
    assert {row["playbook"] for row in rows} == {None, "bills", "fraud"}
    assert {row["pool"] for row in rows} == {None, "iot", "fast"}


def test_thousands_of_headers_are_as_many_steps(spark: SparkSession) -> None:
    attributes: list[Attribute] = [(f"K{number % 15_000}", b"v") for number in range(30_000)]
    agree(spark, Rules("s", (Rule("k7", "idempotency_key"),)), [attributes])


def test_a_message_without_attributes_has_no_headers(spark: SparkSession) -> None:
    without = messages(spark, [[]]).withColumn("attributes", F.lit(None).cast("array<struct<key:string,value:binary>>"))
    row = without.transform(normalised).transform(direct(Rules("s"))).first()
    assert row is not None
    assert (row["attributes_json"], row["headers"], row["directives"], row["dedup_key"]) == ("[]", {}, None, None)
