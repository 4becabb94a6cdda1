"""The Spark cluster of the tests: two workers that compute, and that end with the run."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from penstock.embedded.process import start_time
from tests.acceptance.processes import until
from tests.parts.processes import Part
from tests.parts.spark_cluster import SparkCluster, spark_cluster

__all__ = ["spark_cluster"]

# Each task says which executor it ran on.
JOB = """
import sys
from pyspark.sql import SparkSession
session = (
    SparkSession.builder.master(sys.argv[1])
    .config("spark.driver.host", "127.0.0.1")
    .config("spark.driver.bindAddress", "127.0.0.1")
    .config("spark.ui.enabled", "false")
    .config("spark.executor.memory", "512m")
    .config("spark.scheduler.minRegisteredResourcesRatio", "1.0")
    .getOrCreate()
)
print(session.range(0, 1000, 1, 2).count(), session.sparkContext.defaultParallelism, flush=True)
session.stop()
"""

# A run that starts a server and is killed before it can stop it.
KILLED = """
import sys, time
from pathlib import Path
from tests.parts.processes import Part
print(Part(["sleep", "600"], Path(sys.argv[1])).pid, flush=True)
sys.stdin.read()
"""


def test_a_job_runs_on_both_workers(spark_cluster: SparkCluster) -> None:
    environment = os.environ | {"PYSPARK_PYTHON": sys.executable}
    command = [sys.executable, "-c", JOB, spark_cluster.url]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=180, env=environment)
    assert ran.stdout.split() == ["1000", "2"], ran.stderr[-4000:]


def test_a_server_ends_with_the_run_that_started_it(tmp_path: Path) -> None:
    command = [sys.executable, "-c", KILLED, str(tmp_path / "log")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as run:
        assert run.stdout is not None
        pid = int(run.stdout.readline())
        assert start_time(pid) is not None
        run.send_signal(signal.SIGKILL)
        run.wait(60)
    until(lambda: start_time(pid) is None, "the server is gone")


def test_a_server_that_does_not_come_up_is_ended_and_its_log_shown(tmp_path: Path) -> None:
    part = Part(["sh", "-c", "echo no luck today; exit 3"], tmp_path / "log")
    with pytest.raises(AssertionError, match=r"it answers: not within(.|\n)*no luck today"):
        part.until(lambda: False, "it answers", 60)
    assert not part.is_alive
