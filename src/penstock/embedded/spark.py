"""What every Spark session of ours has in common, said without importing pyspark."""

import logging
import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

_LOG4J = """\
rootLogger.level = error
rootLogger.appenderRef.stderr.ref = stderr
appender.stderr.type = Console
appender.stderr.name = stderr
appender.stderr.target = SYSTEM_ERR
appender.stderr.layout.type = PatternLayout
appender.stderr.layout.pattern = %d{yyyy-MM-dd HH:mm:ss} [spark %p] %m%n%ex{short}
"""
_REDACTED = r"(?i)secret|password|token|access[.]?key|jaas|keystore|truststore|sink|content"
# who says that a task, its partition or a batch is aborted, and that a query has ended
_ENDINGS = (
    "org.apache.spark.util.Utils",
    "org.apache.spark.sql.execution.datasources.v2.DataWritingSparkTask",
    "org.apache.spark.sql.execution.datasources.v2.WriteToDataSourceV2Exec",
    "org.apache.spark.sql.execution.streaming.runtime.MicroBatchExecution",
)
_launching = threading.local()


def session_options(master: str, folder: Path) -> dict[str, str]:
    """Quiet, in UTC, with its files in a folder of ours, and with secrets redacted."""
    options = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.session.timeZone": "UTC",
        "spark.redaction.regex": _REDACTED,
        "spark.sql.redaction.options.regex": _REDACTED,
        "spark.driver.extraJavaOptions": f"-Dlog4j2.configurationFile={_quiet_log(folder)}",
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
    }
    if master.startswith("local"):
        # on a cluster every host has a place of its own
        options["spark.local.dir"] = str(folder / "spark")
    return options


@contextmanager
def launching(master: str) -> Iterator[None]:
    """While a session is made. Local, it has this interpreter for the tasks too; on a cluster they use PYSPARK_PYTHON,
    or their own python3."""
    if master.startswith("local"):
        os.environ["PYSPARK_PYTHON"] = sys.executable
    _launching.is_on = True
    try:
        yield
    finally:
        _launching.is_on = False


def hush(session: Any) -> None:
    """Errors only, and no tracebacks of pyspark's own."""
    session.sparkContext.setLogLevel("ERROR")
    # whenever a query is stopped the JVM hangs up on pyspark's accumulators, which would show a traceback
    server = session.sparkContext._accumulatorServer
    if server is not None:
        setattr(server, "handle_error", lambda *_: None)  # noqa: B010
    # it tells of every connection it closes
    logging.getLogger("py4j").setLevel(logging.WARNING)


@contextmanager
def quietly(session: Any) -> Iterator[None]:
    """While a query of ours is ended on purpose: Spark would call the batch it leaves off an error."""
    levels, logs = session._jvm.org.apache.logging.log4j.Level, session._jvm.org.apache.logging.log4j.core.config
    for name in _ENDINGS:
        logs.Configurator.setLevel(name, levels.OFF)
    try:
        yield
    finally:
        for name in _ENDINGS:
            logs.Configurator.setLevel(name, levels.ERROR)


def is_alive(session: Any) -> bool:
    """Whether its JVM still runs."""
    process = getattr(session.sparkContext._gateway, "proc", None)
    return process is None or process.poll() is None


def _quiet_log(folder: Path) -> str:
    """Spark's own lines, errors only: ours say what matters."""
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / "log4j2.properties"
    file.write_text(_LOG4J)
    return file.as_uri()


def _deafen() -> None:
    """What the JVM inherits it keeps: a signal to the whole group ends us, and we end the JVM, in order.

    Ctrl-C it does not hear either: pyspark sees to that.
    """
    if getattr(_launching, "is_on", False):
        for number in (signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.SIG_IGN)


# In the child alone, so that this process hears signals while the JVM starts.
os.register_at_fork(after_in_child=_deafen)
