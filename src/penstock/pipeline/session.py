"""The Spark session of a runtime."""

import logging
import os
import signal
import sys
import threading
from collections.abc import Mapping
from pathlib import Path

from pyspark.sql import SparkSession

_LOG4J = """\
rootLogger.level = error
rootLogger.appenderRef.stderr.ref = stderr
appender.stderr.type = Console
appender.stderr.name = stderr
appender.stderr.target = SYSTEM_ERR
appender.stderr.layout.type = PatternLayout
appender.stderr.layout.pattern = %d{yyyy-MM-dd HH:mm:ss} [spark %p] %m%n%ex{short}
"""
_CHECKPOINTS = "org.apache.spark.sql.execution.streaming.checkpointing.FileSystemBasedCheckpointFileManager"
_launching = threading.local()
REDACTED = r"(?i)secret|password|token|access[.]?key|jaas|keystore|truststore|sink|content"


def _quiet_log(folder: Path) -> str:
    """Spark's own lines, errors only: ours say what matters."""
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / "log4j2.properties"
    file.write_text(_LOG4J)
    return file.as_uri()


def make_active(spark: SparkSession) -> None:
    """Of this thread: Spark finds Python data sources by the thread's active session, and threads begin without one."""
    spark._get_j_spark_session_class(spark._jvm).setActiveSession(spark._jsparkSession)


def spark_session(master: str, folder: Path, options: Mapping[str, str] | None = None) -> SparkSession:
    """Local, with this interpreter for the tasks too; on a cluster they use PYSPARK_PYTHON, or their own python3."""
    if master.startswith("local"):
        os.environ["PYSPARK_PYTHON"] = sys.executable
    builder = (
        SparkSession.builder.appName("penstock")
        .master(master)
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.sql.shuffle.partitions", "2")
        .config("spark.sql.session.timeZone", "UTC")
        .config("spark.speculation", "false")
        .config("spark.task.maxFailures", "2")
        .config("spark.sql.streaming.noDataMicroBatches.enabled", "false")
        .config("spark.sql.streaming.metricsEnabled", "false")
        .config("spark.sql.streaming.stopTimeout", "30s")
        # nobody reads them, the ledger says where to begin: no checksums, and no process forked to set each one's mode
        .config("spark.sql.streaming.checkpoint.fileChecksum.enabled", "false")
        .config("spark.sql.streaming.checkpointFileManagerClass", _CHECKPOINTS)
        .config("spark.sql.execution.arrow.maxRecordsPerBatch", "5000")
        .config("spark.redaction.regex", REDACTED)
        .config("spark.sql.redaction.options.regex", REDACTED)
        .config("spark.driver.extraJavaOptions", f"-Dlog4j2.configurationFile={_quiet_log(folder)}")
        .config("spark.sql.warehouse.dir", str(folder / "warehouse"))
    )
    if master.startswith("local"):
        # on a cluster every host has a place of its own
        builder = builder.config("spark.local.dir", str(folder / "spark"))
    for name, value in (options or {}).items():
        builder = builder.config(name, value)
    _launching.is_on = True
    try:
        session = builder.getOrCreate()
    finally:
        _launching.is_on = False
    session.sparkContext.setLogLevel("ERROR")
    _hush(session)
    # it tells of every connection it closes
    logging.getLogger("py4j").setLevel(logging.WARNING)
    return session


def _hush(session: SparkSession) -> None:
    """Whenever a query is stopped the JVM hangs up on pyspark's accumulators, which would show a traceback."""
    server = session.sparkContext._accumulatorServer
    if server is not None:
        setattr(server, "handle_error", lambda *_: None)  # noqa: B010


def is_alive(spark: SparkSession) -> bool:
    """Whether its JVM still runs."""
    process = getattr(spark.sparkContext._gateway, "proc", None)
    return process is None or process.poll() is None


def _deafen() -> None:
    """What the JVM inherits it keeps: a signal to the whole group ends us, and we end the JVM, in order.

    Ctrl-C it does not hear either: pyspark sees to that.
    """
    if getattr(_launching, "is_on", False):
        for number in (signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.SIG_IGN)


# In the child alone, so that this process hears signals while the JVM starts.
os.register_at_fork(after_in_child=_deafen)
