"""Documents cut on Spark: all of a folder in one run with a small driver, on two cores and on two workers."""

import json
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.parts.spark_cluster import SparkCluster, spark_home

from bench.markcut import DRIVER_MEMORY, write_documents
from bench.processes import Command, MeasurementFailed, Process
from bench.results import Cell, cell, reaching
from bench.run import Bench
from penstock.kernel.connection import connect

START_S = 180
RUN_S = 1800
LOCAL = reaching(1.0)
CLUSTER = reaching(0.5)


@dataclass(frozen=True)
class Ran:
    """One run: bytes per second over all six stages, and what it told of itself."""

    mb_per_s: float
    told: dict[str, Any]


def local(bench: Bench) -> list[Cell]:
    """`local[2]`, and the folder in one run with a driver of a gigabyte."""
    with _folder(bench) as (folder, size):
        ran = _run(bench, "local[2]", _database(bench), folder, size)
    return [_cell("markcut_local", ran, LOCAL, bench, size)]


def cluster(bench: Bench) -> list[Cell]:
    """A standalone cluster: a master, and two workers of one core each."""
    url = _database(bench)
    with _folder(bench) as (folder, size), _two_workers(bench, url) as master:
        ran = _run(bench, master, url, folder, size)
    return [_cell("markcut_cluster", ran, CLUSTER, bench, size)]


def _cell(name: str, ran: Ran, line: Any, bench: Bench, size: int) -> Cell:
    detail = {"documents": bench.sizes.documents, "bytes": size, "driver": DRIVER_MEMORY, **ran.told}
    return cell(name, ran.mb_per_s, "MB/s", line, detail=detail)


@contextmanager
def _folder(bench: Bench) -> Iterator[tuple[Path, int]]:
    folder = bench.server.folder / "documents"
    size = write_documents(folder, bench.sizes.documents, bench.sizes.document_bytes)
    try:
        yield folder, size
    finally:
        shutil.rmtree(folder)


@contextmanager
def _two_workers(bench: Bench, url: str) -> Iterator[str]:
    """Executors know the database from their own environment; nothing of the driver's travels."""
    place = bench.server.folder / "spark-cluster"
    place.mkdir(exist_ok=True)
    started = SparkCluster(place, spark_home(), {"PENSTOCK_DATABASE_URL": url})
    try:
        yield started.url
    finally:
        started.stop()


def _database(bench: Bench) -> str:
    return bench.server.fresh("bench_markcut", migrated=True)


def _run(bench: Bench, master: str, url: str, folder: Path, size: int) -> Ran:
    bench.say(f"{bench.sizes.documents:,} documents of {size / 1e6:.0f} MB on {master.partition(':')[0]}")
    words = [sys.executable, "-m", "bench.markcut", "--master", master, "--folder", str(folder)]
    environment = {"PENSTOCK_DATABASE_URL": url, "PYSPARK_PYTHON": sys.executable}
    with Process(Command(words, environment), bench.server.folder / "markcut.log") as process:
        began = int(process.await_line("START", START_S)[1])
        _, ended, text = process.await_line("HANDLED", RUN_S)
        process.await_end(START_S)
    _check(url, bench.sizes.documents, size)
    return Ran(size / ((int(ended) - began) / 1e9) / 1e6, json.loads(text))


def _check(url: str, documents: int, size: int) -> None:
    """Every byte is in a piece, and staging is empty."""
    with connect(url) as connection:
        found = connection.execute(
            "select (select count(*) from penstock.iu_document where run = 'bench'),"
            " (select sum(p.size_bytes) from penstock.iu_piece p join penstock.iu_document d using (document)"
            "   where d.run = 'bench'), (select count(*) from penstock.iu_staging_record)"
        ).fetchone()
    if found != (documents, size, 0):
        raise MeasurementFailed(f"documents, bytes and what is left in staging are {found}, not {(documents, size, 0)}")
