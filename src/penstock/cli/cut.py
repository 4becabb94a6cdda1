"""penstock cut"""

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from importlib import resources
from pathlib import Path
from typing import Annotated, Literal

import typer

from penstock.catalog.entry import read
from penstock.cli.database import opened
from penstock.cli.execution_tree import tree_lines
from penstock.cli.options import AsJson, Master
from penstock.cli.output import cell, show_json
from penstock.cli.subjects import playbook_of
from penstock.cli.worker_process import WorkerProcess
from penstock.credentials import Credentials
from penstock.errors import StageFailed
from penstock.kernel import executions, results
from penstock.kernel.connection import Connection
from penstock.kernel.executions import ExecutionView
from penstock.kernel.registration import register

PLAYBOOK = "markcut/cut"
_LOOK_S = 0.3
_STOP_S = 30


def cut_command(
    files: Annotated[list[Path], typer.Argument(help="Documents, or folders of them.", metavar="FILE", exists=True)],
    out: Annotated[
        Path | None, typer.Option(help="Write the pieces into this folder; it is made, or emptied if it holds some.")
    ] = None,
    run: Annotated[
        str | None,
        typer.Option(help="The run's name; the same again goes on. Made of the paths if left out."),
    ] = None,
    max_bytes: Annotated[int, typer.Option(min=16, max=16 * 1024 * 1024, help="The largest piece.")] = 4000,
    format: Annotated[Literal["jsonl", "parquet"], typer.Option(help="How the pieces are written.")] = "jsonl",
    master: Master = "local[*]",
    json: AsJson = False,
) -> None:
    """Cut documents into pieces with an address, an order and a hash: an execution of markcut/cut, and a worker for it.

    Example: penstock cut documents --out pieces
    """
    where = _where(files)
    run = run or "cut-" + sha256(str(where).encode()).hexdigest()[:12]
    payload = {"run": run, "max_bytes": max_bytes, "format": format, **where}
    if out is not None:
        payload["out"] = str(out.absolute())
    with opened("cut") as connection:
        register(connection, read(playbook_text(), "playbook.yaml"), Credentials(None, {}))
        execution, _ = executions.execute(connection, {"playbook": PLAYBOOK, "payload": payload})
        with _worker(master) as worker:
            one = _followed(connection, execution, worker, is_quiet=json)
        found = results.results(connection, execution, ["copy_to_staging", "cut", "verify_cut", "export"]).by_step
    if json:
        show_json({"execution_id": execution, "status": one.status, "results": found})
    if one.status != "succeeded":
        raise StageFailed(
            f"execution {execution} has {one.status}: penstock execution show {execution} says why. With that mended, "
            f"a worker goes on after: penstock execution retry {execution}"
        )
    if not json:
        for name, result in found.items():
            typer.echo(cell(f"{name}: " + ", ".join(f"{value} {key}" for key, value in (result or {}).items())))


def playbook_text() -> str:
    """The six stages as a playbook; examples/markcut shows it."""
    return resources.files("penstock.markcut").joinpath("playbook.yaml").read_text(encoding="utf-8")


def _where(files: list[Path]) -> dict[str, object]:
    """One folder, whose documents are named from there; else files, named as they are written."""
    if len(files) == 1 and files[0].is_dir():
        return {"folder": str(files[0].absolute())}
    return {"files": [str(one.absolute()) for one in files]}


@contextmanager
def _worker(master: str) -> Iterator[WorkerProcess]:
    """A worker of its own process, whose Spark ends with it."""
    worker = WorkerProcess(["--spark-master", master, "--concurrency", "2"], os.environ)
    try:
        yield worker
    finally:
        worker.ask_to_stop()
        worker.end(_STOP_S)


def _followed(connection: Connection, execution: int, worker: WorkerProcess, *, is_quiet: bool) -> ExecutionView:
    shown: list[str] = []
    while True:
        # before the look at the execution, which may end just before its worker does
        code = worker.code
        one = executions.show(connection, execution)
        begun = executions.steps(connection, execution)
        lines = tree_lines(playbook_of(connection, one), begun, one.status)
        if lines != shown and not is_quiet:
            for line in lines:
                if line not in shown and "not yet" not in line:
                    name, *said = line.lstrip("└─│├ ").split()
                    typer.echo(cell(f"{name:<16} {' '.join(said)}"))
            shown = lines
        if one.finished_at is not None:
            return one
        if code is not None:
            raise StageFailed(
                f"the worker ended with code {code}, and execution {execution} has not: what the worker said last is "
                "above. With that mended, another one goes on after: penstock worker --spark-master MASTER"
            )
        time.sleep(_LOOK_S)
