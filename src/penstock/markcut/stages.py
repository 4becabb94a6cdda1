"""The six stages of a run. Each takes a Spark session and the run's parameters, and returns what it counted.

A stage does what is not done yet: run again, after a failure or after all, it does the rest, or nothing. One that could
not do all of its work raises, and what it has done stays.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from hashlib import sha256
from typing import Any

from pyspark.sql import SparkSession

from penstock.errors import DocumentUnfit, StageFailed
from penstock.kernel import pieces
from penstock.kernel.connection import Connection
from penstock.kernel.pieces import STATES, MarkRow, Waiting
from penstock.markcut import documents
from penstock.markcut.checks import Fault, marks_fault, pieces_fault
from penstock.markcut.marks import find_marks
from penstock.markcut.params import Params, read_params
from penstock.markcut.tasks import Item, Report, Work, own_database, run_tasks
from penstock.model import Json


def copy_to_staging(spark: SparkSession, params: Mapping[str, Any]) -> Json:
    """Read the documents into staging. The driver lists them; the tasks read them, each on its own host."""
    told = read_params(params)
    if told.folder is None and not told.files:
        raise DocumentUnfit("MARK/CUT: say which documents: folder, or files")
    items = [Item(one.name, one.size, path=one.path) for one in documents.listed(told)]
    counts = run_tasks(spark, "copy_to_staging", items, told.tasks, partial(_copy, told.run, told.max_document_bytes))
    return {"documents": len(items), "bytes": 0, "staged": 0, "known": 0} | counts


def mark(spark: SparkSession, params: Mapping[str, Any]) -> Json:
    """Find where each document is to be cut."""
    told = read_params(params)

    def is_due(one: Waiting) -> bool:
        return one.state == "staged" or (one.state in ("marked", "mark_verified") and one.max_bytes != told.max_bytes)

    return _run(spark, told, "mark", is_due, partial(_mark, told.max_bytes), {"marked": 0, "marks": 0})


def verify_mark(spark: SparkSession, params: Mapping[str, Any]) -> Json:
    """Prove that the marks cover each document once, in order."""
    return _run(spark, read_params(params), "verify_mark", _is("marked"), _verify_mark, {"verified": 0, "bytes": 0})


def cut(spark: SparkSession, params: Mapping[str, Any]) -> Json:
    """Make each document's pieces what its marks say; each document whole or not at all."""
    zero = dict.fromkeys(("documents", "superseded", "pieces", "added", "changed", "reordered", "deprecated"), 0)
    return _run(spark, read_params(params), "cut", _is("mark_verified"), _cut, zero)


def verify_cut(spark: SparkSession, params: Mapping[str, Any]) -> Json:
    """Prove that the pieces joined are the documents, byte for byte."""
    zero = {"verified": 0, "superseded": 0, "pieces": 0, "bytes": 0}
    return _run(spark, read_params(params), "verify_cut", _is("cut"), _verify_cut, zero)


def cleanup(spark: SparkSession, params: Mapping[str, Any]) -> Json:
    """Take the run's documents out of staging, once all of them are cut and verified."""
    told = read_params(params)
    waiting = _waiting(told.run)
    _check_order("cleanup", waiting)
    items = [_item(one) for one in waiting]
    return {"removed": 0} | run_tasks(spark, "cleanup", items, told.tasks, _cleanup)


_INPUT = {
    "mark": "staged",
    "verify_mark": "marked",
    "cut": "mark_verified",
    "verify_cut": "cut",
    "cleanup": "cut_verified",
}


def _run(
    spark: SparkSession, told: Params, stage: str, is_due: Callable[[Waiting], bool], work: Work, zero: Json
) -> Json:
    waiting = _waiting(told.run)
    if not waiting:
        raise StageFailed(f"{stage}: the run {told.run} has nothing in staging: run copy_to_staging first")
    _check_order(stage, waiting)
    return zero | run_tasks(spark, stage, [_item(one) for one in waiting if is_due(one)], told.tasks, work)


def _waiting(run: str) -> list[Waiting]:
    with own_database() as connection:
        return pieces.waiting(connection, run)


def _check_order(stage: str, waiting: Sequence[Waiting]) -> None:
    """No document is further back than what the stage begins with."""
    wanted = STATES.index(_INPUT[stage])
    behind = [one for one in waiting if STATES.index(one.state) < wanted]
    if behind:
        first = behind[0]
        raise StageFailed(
            f"{stage}: {len(behind):,} documents are not {_INPUT[stage]}, {first.document} is {first.state}: "
            "run the stage before it first"
        )


def _is(state: str) -> Callable[[Waiting], bool]:
    return lambda one: one.state == state


def _item(one: Waiting) -> Item:
    return Item(one.document, one.size_bytes, id=one.staging_id)


def _copy(run: str, max_bytes: int, connection: Connection, chunk: Sequence[Item], report: Report) -> None:
    names, formats, contents = [], [], []
    for item in chunk:
        try:
            contents.append(documents.read(item.path, max_bytes))
        except DocumentUnfit as error:
            report.problem(str(error))
            continue
        names.append(item.name)
        formats.append(documents.format_of(item.name))
    report.count(**pieces.staging_write(connection, run, names, formats, contents), bytes=sum(map(len, contents)))


def _mark(max_bytes: int, connection: Connection, chunk: Sequence[Item], report: Report) -> None:
    found: list[tuple[int, MarkRow]] = []
    for one in pieces.staged(connection, [item.id for item in chunk]):
        marks = find_marks(one.document, one.bytes, max_bytes=max_bytes, is_markdown=one.format == "markdown")
        found += [(one.staging_id, MarkRow(number, *each)) for number, each in enumerate(marks)]
    marked = pieces.mark_write(connection, [item.id for item in chunk], max_bytes, found)
    report.count(marked=marked, marks=len(found))


def _verify_mark(connection: Connection, chunk: Sequence[Item], report: Report) -> None:
    good: list[int] = []
    for one in pieces.marked(connection, [item.id for item in chunk]):
        fault = marks_fault(one.document, one.bytes, one.marks, one.max_bytes)
        if _is_good(one.document, fault, report):
            good.append(one.staging_id)
            report.count(bytes=len(one.bytes))
    report.count(verified=pieces.mark_verified(connection, good))


def _cut(connection: Connection, chunk: Sequence[Item], report: Report) -> None:
    hashes = [
        (one.staging_id, mark.position, sha256(memoryview(one.bytes)[mark.first : mark.end]).digest())
        for one in pieces.marked(connection, [item.id for item in chunk])
        for mark in one.marks
    ]
    report.count(**pieces.cut_write(connection, [item.id for item in chunk], hashes))


def _verify_cut(connection: Connection, chunk: Sequence[Item], report: Report) -> None:
    good: list[int] = []
    for one in pieces.cut(connection, [item.id for item in chunk]):
        if one.pieces is None:
            report.count(superseded=1)
            good.append(one.staging_id)
        elif _is_good(one.document, pieces_fault(one.document, one.bytes, one.pieces), report):
            good.append(one.staging_id)
            report.count(verified=1, pieces=len(one.pieces), bytes=len(one.bytes))
    pieces.cut_verified(connection, good)


def _cleanup(connection: Connection, chunk: Sequence[Item], report: Report) -> None:
    report.count(removed=pieces.staging_cleanup(connection, [item.id for item in chunk]))


def _is_good(document: str, fault: Fault | None, report: Report) -> bool:
    if fault is not None:
        report.problem(f"{document}, byte {fault.at}: {fault.what}")
    return fault is None
