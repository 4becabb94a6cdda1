"""The work of a stage, divided into tasks that run on Spark's executors. What comes back to the driver is counts."""

import json
import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from heapq import heapify, heapreplace

import pyarrow as pa
from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

from penstock import hosts
from penstock.errors import PenstockError, StageFailed
from penstock.kernel.connection import Connection, connect
from penstock.model import Json

# a task holds the documents of one chunk in memory; a larger document is a chunk by itself
CHUNK_BYTES = 8 * 1024 * 1024
CHUNK_DOCUMENTS = 200
# what a document costs however small it is
_EACH_BYTES = 4096
_TASKS_PER_CORE = 2
_SHOWN = 10
_ITEMS = pa.schema(
    [("part", pa.int32()), ("id", pa.int64()), ("name", pa.string()), ("path", pa.string()), ("size", pa.int64())]
)


@dataclass(frozen=True)
class Item:
    """One document's worth of work: its name, its size, and the number or file it is known by."""

    name: str
    size: int
    id: int = 0
    path: str = ""


@dataclass
class Report:
    """What a task, or all of them, have done, and what they could not do."""

    counts: Counter[str] = field(default_factory=Counter)
    problems: list[str] = field(default_factory=list)

    def count(self, **numbers: int) -> None:
        self.counts.update(numbers)

    def problem(self, what: str) -> None:
        self.counts["failed"] += 1
        if len(self.problems) < _SHOWN:
            self.problems.append(what)

    def add(self, text: str) -> None:
        other: Json = json.loads(text)
        self.counts.update(other["counts"])
        self.problems = [*self.problems, *other["problems"]][:_SHOWN]

    def to_text(self) -> str:
        return json.dumps({"counts": self.counts, "problems": self.problems})


Work = Callable[[Connection, Sequence[Item], Report], None]


def run_tasks(spark: SparkSession, stage: str, items: Sequence[Item], tasks: int, work: Work) -> Json:
    """Have `work` done on all items, chunk by chunk, on the executors. Raises if any could not be done."""
    report = Report()
    if items:
        for row in collected(stage, divided(spark, items, tasks).mapInArrow(_task(work), "report string")):
            report.add(row)
    if report.counts["failed"]:
        more = report.counts["failed"] - len(report.problems)
        said = [*report.problems, *([f"and {more:,} more"] if more > 0 else [])]
        raise StageFailed(
            "\n".join([f"{stage} did not do all of its work; what is done stays, and it can be run again:", *said])
        )
    return dict(report.counts)


def collected(stage: str, frame: DataFrame) -> list[str]:
    """The one column of a small result."""
    with spark_errors(stage):
        return [str(row[0]) for row in frame.collect()]


@contextmanager
def spark_errors(stage: str) -> Iterator[None]:
    """What goes wrong in Spark becomes an error of ours."""
    try:
        yield
    except (PySparkException, Py4JError) as error:
        raise StageFailed(f"{stage}: Spark gave up: {_reason(str(error))}") from error


def divided(spark: SparkSession, items: Sequence[Item], tasks: int) -> DataFrame:
    """The items as rows, in parts of about the same size."""
    count = min(tasks or spark.sparkContext.defaultParallelism * _TASKS_PER_CORE, len(items))
    parts = _parts([one.size + _EACH_BYTES for one in items], count)
    columns = [parts, *([getattr(one, name) for one in items] for name in ("id", "name", "path", "size"))]
    table = pa.table([pa.array(values, kind.type) for values, kind in zip(columns, _ITEMS, strict=True)], schema=_ITEMS)
    return spark.createDataFrame(table).repartitionById(count, "part")


def chunks(batches: Iterable[pa.RecordBatch]) -> Iterator[list[Item]]:
    """The items of a task, as many at a time as it may hold."""
    held: list[Item] = []
    size = 0
    for batch in batches:
        for row in batch.select(["id", "name", "path", "size"]).to_pylist():
            item = Item(**row)
            if held and (size + item.size > CHUNK_BYTES or len(held) >= CHUNK_DOCUMENTS):
                yield held
                held, size = [], 0
            held.append(item)
            size += item.size
    if held:
        yield held


def own_database() -> Connection:
    """A connection of this process, whose name says which it is."""
    return connect(hosts.database_url(), application=f"penstock markcut {os.getpid()}")


def _task(work: Work) -> Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    def task(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        report = Report()
        todo = chunks(batches)
        first = next(todo, None)
        if first is None:
            return
        try:
            with own_database() as connection:
                work(connection, first, report)
                for chunk in todo:
                    work(connection, chunk, report)
        except PenstockError as error:
            report.problem(str(error))
        yield pa.RecordBatch.from_pydict({"report": [report.to_text()]})

    return task


def _parts(sizes: Sequence[int], count: int) -> list[int]:
    """A part for each size: the next largest goes where there is least so far."""
    loads = [(0, part) for part in range(count)]
    heapify(loads)
    found = [0] * len(sizes)
    for number in sorted(range(len(sizes)), key=lambda one: -sizes[one]):
        load, part = loads[0]
        found[number] = part
        heapreplace(loads, (load + sizes[number], part))
    return found


def _reason(text: str) -> str:
    """The line that says why, of a text that is mostly where."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    errors = [line for line in lines if "Error: " in line or "Exception: " in line]
    first = next(
        (line for line in errors if "most recent failure" in line), (errors or lines or ["nobody knows why"])[-1]
    )
    return first.rpartition("Exception: ")[2][:500]
