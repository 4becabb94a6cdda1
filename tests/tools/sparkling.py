"""Functions that steps call with Spark."""

import time
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession
from pyspark.sql import functions as F  # noqa: N812


def count(spark: SparkSession, args: dict[str, Any]) -> dict[str, Any]:
    """How many numbers below `n` there are, and their sum, through a view whose name every call uses."""
    spark.range(args["n"]).createOrReplaceTempView("numbers")
    (row,) = spark.sql("select count(*) as n, sum(id) as total from numbers").collect()
    return {"n": row.n, "total": row.total}


def python_of_tasks(spark: SparkSession, args: dict[str, Any]) -> dict[str, Any]:
    """Which interpreter a task runs in, and what the work is called."""

    def executable(_: int) -> str:
        import sys

        return sys.executable

    context = spark.sparkContext
    found = spark.range(1).select(F.udf(executable)("id").alias("python")).collect()[0].python
    active = SparkSession.getActiveSession()
    return {
        "python": found,
        "group": context.getLocalProperty("spark.jobGroup.id"),
        "description": context.getLocalProperty("spark.job.description"),
        "is_active": active is not None and active.conf.get("spark.sql.session.timeZone") == "UTC",
    }


def views(spark: SparkSession, _: dict[str, Any]) -> list[str]:
    return [one.name for one in spark.catalog.listTables()]


def frame(spark: SparkSession, _: dict[str, Any]) -> Any:
    return spark.range(1)


def endless(spark: SparkSession, args: dict[str, Any]) -> None:
    """A task that notes that it runs, and goes on until it is told to end."""

    def wait(path: str) -> int:
        Path(path).touch()
        time.sleep(600)
        return 1

    spark.createDataFrame([(args["note"],)], "path string").select(F.udf(wait)("path")).collect()


def raising(spark: SparkSession, _: dict[str, Any]) -> None:
    spark.sql("select * from nowhere").collect()
