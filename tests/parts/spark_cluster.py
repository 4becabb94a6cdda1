"""A Spark cluster for a test run: a master and two workers of one core each, as processes of their own."""

import importlib.util
import shutil
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import psutil
import pytest

from tests.parts.missing import missing
from tests.parts.processes import Part, free_ports, listens, name_of

_START_S = 120
_WORKERS = 2


class SparkCluster:
    """`url` is for --master. Executors get this environment, and nothing of a driver's."""

    def __init__(self, folder: Path, spark_home: Path, environment: Mapping[str, str] | None = None) -> None:
        self._folder = folder
        self._home = spark_home
        self._environment = dict(environment or {})
        port, page = free_ports(2)
        self.url = f"spark://127.0.0.1:{port}"
        options = ["--host", "127.0.0.1", "--port", str(port), "--webui-port", str(page)]
        self._master = self._launch("master", "org.apache.spark.deploy.master.Master", *options)
        self._master.until(lambda: listens(port), "the Spark master listens", _START_S)
        self.workers = [self._worker(number) for number in range(_WORKERS)]
        self._master.until(self._is_complete, "both Spark workers are registered", _START_S)

    def executors(self) -> list[psutil.Process]:
        """The JVMs that run tasks: children of the workers."""
        children = (child for worker in self.workers for child in psutil.Process(worker.pid).children())
        return [child for child in children if name_of(child) == "java"]

    def stop(self) -> None:
        for part in [*self.workers, self._master]:
            part.stop()

    def _worker(self, number: int) -> Part:
        options = ["--cores", "1", "--memory", "1g", "--host", "127.0.0.1", "--webui-port", str(free_ports(1)[0])]
        place = self._folder / f"worker-{number}"
        return self._launch(place.name, "org.apache.spark.deploy.worker.Worker", self.url, *options, "-d", str(place))

    def _is_complete(self) -> bool:
        return self._master.log().count("Registering worker") >= _WORKERS

    def _launch(self, name: str, role: str, *options: str) -> Part:
        environment = {
            "SPARK_HOME": str(self._home),
            "SPARK_NO_DAEMONIZE": "1",
            "SPARK_DAEMON_MEMORY": "256m",
            "SPARK_DAEMON_JAVA_OPTS": "-XX:+UseSerialGC -XX:TieredStopAtLevel=1",
            # it would take a port of its own choice
            "SPARK_MASTER_OPTS": "-Dspark.master.rest.enabled=false",
            "SPARK_LOCAL_IP": "127.0.0.1",
            "PYSPARK_PYTHON": sys.executable,
            **self._environment,
        }
        command = [str(self._home / "bin" / "spark-class"), role, *options]
        return Part(command, self._folder / f"{name}.log", environment)


def spark_home() -> Path:
    """The pyspark package is a Spark installation."""
    found = importlib.util.find_spec("pyspark")
    if found is None or found.origin is None:
        missing("pyspark is not installed")
    if shutil.which("java") is None:
        missing("Java is not installed")
    return Path(found.origin).parent


@pytest.fixture(scope="session")
def spark_cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkCluster]:
    cluster = SparkCluster(tmp_path_factory.mktemp("spark-cluster"), spark_home())
    yield cluster
    cluster.stop()
