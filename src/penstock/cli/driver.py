"""This process as a Spark driver: one session, started when it is first needed, and the subscriptions run in it."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event, Lock
from typing import TYPE_CHECKING

from penstock.embedded.jars import cached_jars, kafka_jars, spark_options
from penstock.errors import DatabaseUnavailable, JarsMissing, PenstockError, SettingsError, SparkEnded
from penstock.jobs import Job, JobFunction
from penstock.kernel import subscriptions
from penstock.kernel.connection import connect
from penstock.kernel.subscriptions import SubscriptionView

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from penstock.pipeline.telemetry import Telemetry

_LOOK_S = 1.0
_LIVE = ("ACTIVE", "PAUSED")


def need_spark() -> None:
    """Say what is missing where subscriptions cannot be run."""
    try:
        import penstock.pipeline.runtime  # noqa: F401
    except ImportError as error:
        raise SettingsError(f"subscriptions need Spark: pip install 'penstock[spark]' ({error})") from error


def launched(master: str, home: Path, options: dict[str, str]) -> "SparkSession":
    """A session, or why there is none."""
    from penstock.pipeline.session import spark_session

    try:
        return spark_session(master, home, options)
    except Exception as error:
        said = (str(error).splitlines() or [type(error).__name__])[0]
        raise PenstockError(
            f"Spark could not be started: {said}\nIt needs Java 17 or later: see penstock doctor."
        ) from error


def ended() -> SparkEnded:
    return SparkEnded("Spark's JVM has ended by itself\nNothing is lost: start this command again.")


@dataclass
class Driver:
    """One Spark application, for one subscription (`only`) or any. `told` hears what it is busy with."""

    url: str
    master: str
    home: Path
    telemetry: "Telemetry"
    only: str | None = None
    told: Callable[[str], None] = lambda _: None
    _session: "SparkSession | None" = None
    _no_kafka: PenstockError | None = None
    _turn: Lock = field(default_factory=Lock)

    def session(self) -> "SparkSession":
        """The one session, with Kafka's connector if any subscription here reads Kafka, or if it is at hand."""
        with self._turn:
            if self._session is None:
                self._session = self._started()
            return self._session

    def run(self, path: str, stop: Event, *, once: bool = False, most: int | None = None) -> str:
        """Hold a subscription open until it is over, or has had `most` messages; the state it is left in."""
        from penstock.pipeline.bound import Bound
        from penstock.pipeline.runtime import Runtime

        spark = self.session()
        one = self._show(path)
        if one.source == "kafka" and self._no_kafka is not None:
            raise self._no_kafka
        try:
            if one.activation == "scheduled" and not once:
                return self._drain_when_asked(one, stop)
            return Runtime(
                spark, self.url, path, once=once, stop=stop, telemetry=self.telemetry, bound=Bound(most)
            ).run()
        except Exception as error:
            self._check_whole(error)
            raise

    def _check_whole(self, error: Exception) -> None:
        """What a session without its JVM says is of no use to anybody."""
        if self.is_broken():
            raise ended() from error

    def is_broken(self) -> bool:
        """Whether the JVM has gone by itself."""
        from penstock.embedded.spark import is_alive

        return self._session is not None and not is_alive(self._session)

    def end(self) -> None:
        # a JVM that is gone cannot be stopped
        if self._session is not None and not self.is_broken():
            self._session.stop()

    def _started(self) -> "SparkSession":
        jars = self._jars()
        self.told("Spark is starting")
        try:
            return launched(self.master, self.home, spark_options(jars) if jars else {})
        except PenstockError as error:
            if not jars or self.only is not None:
                raise
            # what does not read Kafka goes on without it
            self._no_kafka = error
            return launched(self.master, self.home, {})

    def _jars(self) -> list[Path] | str:
        """Kafka's connector: fetched if a subscription needs it, taken along if it is at hand."""
        cache = self.home / "cache"
        jars = cached_jars(cache)
        if jars:
            return jars
        if not self._reads_kafka():
            self._no_kafka = SettingsError(
                "this Spark was started without Kafka's connector, as no subscription needed it then\n"
                "Stop this process and start it again."
            )
            return []
        self.told("Kafka's connector for Spark is being fetched")
        try:
            return kafka_jars(cache)
        except JarsMissing as error:
            self._no_kafka = error
            return []

    def _reads_kafka(self) -> bool:
        with connect(self.url, application="penstock runtime") as connection:
            return any(one.source == "kafka" for one in subscriptions.listed(connection, self.only))

    def _drain_when_asked(self, one: SubscriptionView, stop: Event) -> str:
        """A scheduled subscription: the clock asks for drains, and this process, whose session is warm, does them."""
        from penstock.pipeline.runtime import Runtime
        from penstock.worker.loop import Worker, WorkerOptions

        def drain(_: Job) -> dict[str, str]:
            runtime = Runtime(self.session(), self.url, one.path, once=True, stop=stop, telemetry=self.telemetry)
            return {"state": runtime.run()}

        kind = f"drain:{one.subscription_id}"
        handlers = {kind: JobFunction(kind, drain, is_async=False)}
        worker = Worker(WorkerOptions(self.url, concurrency=1), handlers, only=True)
        with ThreadPoolExecutor(1, f"drains of {one.path}") as thread:
            working = thread.submit(worker.run)
            while not stop.wait(_LOOK_S) and not working.done() and self._is_live(one.path):
                pass
            worker.stop()
            working.result()
        return self._show(one.path).state

    def _is_live(self, path: str) -> bool:
        with suppress(DatabaseUnavailable):
            return self._show(path).state in _LIVE
        return True

    def _show(self, path: str) -> SubscriptionView:
        with connect(self.url, application="penstock runtime") as connection:
            return subscriptions.show(connection, path)
