"""spark: a step that calls a function of the user's, `function(spark, args)`, with the worker's one Spark session.

Nothing of Spark is loaded before the first such step. Calls share the JVM; each has a session of its own within it, so
that temporary views and settings of one are not another's.
"""

import atexit
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from shutil import rmtree
from threading import Lock
from typing import TYPE_CHECKING, Any

from penstock.embedded.spark import hush, is_alive, launching, session_options
from penstock.jobs import Job, PermanentError
from penstock.worker.tools import lookups
from penstock.worker.tools.cancelling import when_cancelled
from penstock.worker.tools.contract import Call, Services

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


class SparkMissing(Exception):
    """This worker cannot run Spark; another one may."""


def run(call: Call) -> Any:
    """Call the function; what it returns."""
    function = lookups.function(call.settings["function"])
    spark = _SESSIONS.current(call.services)
    with _job_group(spark, call.job, call.settings["function"]):
        result = function(spark, call.args)
    if hasattr(result, "toPandas"):
        raise PermanentError(
            f"spark: {call.settings['function']} returned a DataFrame: write it somewhere, and return where"
        )
    return result


class _Sessions:
    """The one session of this process: made at first use, and made again should its JVM have died."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._session: SparkSession | None = None

    def current(self, services: Services) -> "SparkSession":
        """A session within it, for the caller alone, and active in its thread."""
        with self._lock:
            if self._session is None or not is_alive(self._session):
                self._session = _started(services, self._session)
            made = self._session.newSession()
        made._get_j_spark_session_class(made._jvm).setActiveSession(made._jsparkSession)
        return made

    def stop(self) -> None:
        # a JVM that is gone cannot be stopped
        if self._session is not None and is_alive(self._session):
            self._session.stop()


_SESSIONS = _Sessions()


def _started(services: Services, dead: "SparkSession | None") -> "SparkSession":
    try:
        from pyspark.sql import SparkSession
    except ImportError as error:
        raise SparkMissing(f"spark: this worker has no Spark: pip install 'penstock[spark]' ({error})") from error
    folder = services.home / "spark-tool" if services.home is not None else _passing_folder()
    if dead is not None:
        _forget(dead)
    else:
        atexit.register(_SESSIONS.stop)
    builder = SparkSession.builder.appName("penstock").master(services.spark_master)
    for name, value in session_options(services.spark_master, folder).items():
        builder = builder.config(name, value)
    try:
        with launching(services.spark_master):
            session = builder.getOrCreate()
    except Exception as error:
        said = (str(error).splitlines() or [type(error).__name__])[0]
        raise SparkMissing(f"spark: Spark could not be started: {said}. See penstock doctor") from error
    hush(session)
    return session


@cache
def _passing_folder() -> Path:
    """One that goes with the process; asked for before the session's own end is, so that it goes after it."""
    folder = Path(tempfile.mkdtemp(prefix="penstock-"))
    atexit.register(rmtree, folder, ignore_errors=True)
    return folder


def _forget(dead: "SparkSession") -> None:
    """What pyspark keeps of a JVM that is no more; with it no other would be started."""
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

    dead.sparkContext._gateway.shutdown()  # type: ignore[union-attr]
    SparkContext._gateway = SparkContext._jvm = SparkContext._active_spark_context = None
    SparkSession._instantiatedSession = SparkSession._activeSession = None


@contextmanager
def _job_group(spark: "SparkSession", job: Job, function: str) -> Iterator[None]:
    """What Spark runs meanwhile is the job's, is named after it, and ends with it."""
    context = spark.sparkContext
    group = f"penstock-job-{job.id}-{job.lease_token}"
    context.setJobGroup(group, f"{function}, job {job.id}, attempt {job.attempt}", interruptOnCancel=True)
    try:
        with when_cancelled(job, lambda: context.cancelJobGroup(group)):
            yield
    finally:
        if is_alive(spark):
            for name in ("spark.jobGroup.id", "spark.job.description", "spark.job.interruptOnCancel"):
                context.setLocalProperty(name, None)  # type: ignore[arg-type]
