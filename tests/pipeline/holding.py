"""A continuous runtime in a thread of the test's own, with the error it ended with."""

from threading import Thread
from types import TracebackType
from typing import Self

from pyspark.sql import SparkSession

from penstock.errors import PenstockError
from penstock.kernel.connection import Connection
from penstock.pipeline.books import Place
from penstock.pipeline.bound import Bound
from penstock.pipeline.runtime import Runtime
from tests.ingest.support import PATH
from tests.sql.support import value

_END_S = 120


class Holding:
    def __init__(self, spark: SparkSession, place: Place, bound: Bound | None = None) -> None:
        self._runtime = Runtime(spark, place, PATH, bound=bound or Bound())
        self._thread = Thread(target=self._run)
        self.error: PenstockError | None = None

    @property
    def is_running(self) -> bool:
        return self._thread.is_alive()

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()
        self._thread.join(_END_S)
        assert not self.is_running, "the runtime did not stop"

    def stop(self) -> None:
        self._runtime.stop.set()

    def _run(self) -> None:
        try:
            self._runtime.run()
        except PenstockError as error:
            self.error = error


def run_once(spark: SparkSession, database: str) -> None:
    """Drain what is there."""
    Runtime(spark, database, PATH, once=True).run()


def staged(db: Connection) -> int:
    """How many messages lie in the runtime's staging tables."""
    names = db.execute("select relname::text from pg_class where relname ~ '^ingest_stage_'").fetchall()
    return sum(int(value(db, f"select count(*) from penstock.{name}")) for (name,) in names)
