"""The Spark session of a runtime."""

from collections.abc import Mapping
from pathlib import Path

from pyspark.sql import SparkSession

from penstock.embedded.spark import hush, launching, session_options

_CHECKPOINTS = "org.apache.spark.sql.execution.streaming.checkpointing.FileSystemBasedCheckpointFileManager"
_STREAMING = {
    "spark.sql.shuffle.partitions": "2",
    "spark.speculation": "false",
    "spark.task.maxFailures": "2",
    "spark.sql.streaming.noDataMicroBatches.enabled": "false",
    "spark.sql.streaming.metricsEnabled": "false",
    "spark.sql.streaming.stopTimeout": "30s",
    # nobody reads them, the ledger says where to begin: no checksums, and no process forked to set each one's mode
    "spark.sql.streaming.checkpoint.fileChecksum.enabled": "false",
    "spark.sql.streaming.checkpointFileManagerClass": _CHECKPOINTS,
    "spark.sql.execution.arrow.maxRecordsPerBatch": "5000",
}


def make_active(spark: SparkSession) -> None:
    """Of this thread: Spark finds Python data sources by the thread's active session, and threads begin without one."""
    spark._get_j_spark_session_class(spark._jvm).setActiveSession(spark._jsparkSession)


def spark_session(master: str, folder: Path, options: Mapping[str, str] | None = None) -> SparkSession:
    """Made for streams, with what `options` adds."""
    builder = SparkSession.builder.appName("penstock").master(master)
    for name, value in (session_options(master, folder) | _STREAMING | dict(options or {})).items():
        builder = builder.config(name, value)
    with launching(master):
        session = builder.getOrCreate()
    hush(session)
    return session
