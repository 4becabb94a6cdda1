"""Spark's own connector opens Kafka with the options a credential gives."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from penstock.embedded.jars import spark_options
from penstock.sources.kafka import KafkaSource
from tests.parts.jars import connector_jars
from tests.parts.kafka import Kafka
from tests.parts.spark_cluster import spark_home

__all__ = ["connector_jars"]

# The options come by standard input: a command line is for everybody to see.
READING = """
import json, sys
from pyspark.sql import SparkSession
given = json.load(sys.stdin)
builder = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false")
for name, value in given["session"].items():
    builder = builder.config(name, value)
rows = builder.getOrCreate().read.format("kafka").options(**given["source"]).option("includeHeaders", True).load()
print(json.dumps([[bytes(row.value).decode(), [[h.key, bytes(h.value).decode()] for h in row.headers]]
                  for row in rows.orderBy("offset").collect()]))
"""


@pytest.mark.parametrize("mechanism", ["SCRAM-SHA-512"])
def test_tls_a_login_and_headers_with_the_same_key(
    kafka_broker: Kafka, connector_jars: list[Path], mechanism: str
) -> None:
    assert spark_home().is_dir()
    kafka_broker.add_topic("for-spark")
    headers = [("K", b"1"), ("K", b"2")]
    kafka_broker.publish("for-spark", [(b"key", b"one", headers), (None, b"two", headers)])
    source = KafkaSource(kafka_broker.secure_credential(mechanism), topic="for-spark")
    given = {"session": spark_options(connector_jars), "source": source.spark_options()}
    ran = subprocess.run(
        [sys.executable, "-c", READING],
        input=json.dumps(given),
        capture_output=True,
        text=True,
        timeout=300,
        env=os.environ | {"PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"},
    )
    assert ran.returncode == 0, ran.stderr[-6000:]
    assert json.loads(ran.stdout) == [["one", [["K", "1"], ["K", "2"]]], ["two", [["K", "1"], ["K", "2"]]]]
