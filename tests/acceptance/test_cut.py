"""penstock cut, and examples/markcut: six jobs on Spark, run by a worker; the pieces as files; a stage that fails."""

import json
import os
import shutil
import signal
from pathlib import Path

from penstock.kernel import executions
from penstock.kernel.connection import Connection
from tests.acceptance.conftest import DEADLINE_S, Penstock
from tests.acceptance.processes import until
from tests.tree import ROOT

DOCUMENTS = ROOT / "examples" / "markcut" / "documents"
STAGES = ["copy_to_staging", "mark", "verify_mark", "cut", "verify_cut", "cleanup"]


def test_the_example_is_cut_and_a_failed_stage_goes_on_from_there(
    penstock: Penstock, db: Connection, tmp_path: Path
) -> None:
    shutil.copytree(DOCUMENTS, tmp_path / "documents")
    out = tmp_path / "pieces"
    (out / "mine").mkdir(parents=True)
    ran = penstock.run("cut", tmp_path / "documents", "--out", out, "--master", "local[1]")
    assert (ran.code, "execution 1 has failed" in ran.err) == (1, True), ran
    (out / "mine").rmdir()
    begun = executions.steps(db, 1)
    assert [one.step for one in begun] == [*STAGES, "export"]
    assert begun[-1].is_stuck
    assert "which is no export" in str(begun[-1].error)
    assert executions.move(db, 1, "retry") == "running"
    # its worker takes the stage up that is tried again, too
    penstock.ok("cut", tmp_path / "documents", "--run", "again", "--master", "local[1]")
    assert executions.show(db, 1).status == "succeeded"
    lines = [json.loads(line) for part in sorted(out.glob("part-*")) for line in part.read_text().splitlines()]
    for document in (tmp_path / "documents").rglob("*.*"):
        name = str(document.relative_to(tmp_path / "documents"))
        own = sorted((one for one in lines if one["document"] == name), key=lambda one: int(one["position"]))
        assert "".join(one["text"] for one in own).encode() == document.read_bytes()


def test_a_worker_that_is_killed_ends_the_command_which_says_how_to_go_on(penstock: Penstock, db: Connection) -> None:
    process = penstock.start("cut", DOCUMENTS, "--master", "local[1]")
    until(lambda: _workers(process.pid), "the command has started its worker")
    (worker,) = _workers(process.pid)
    os.kill(worker, signal.SIGKILL)
    _, said = process.communicate(timeout=DEADLINE_S)
    assert process.returncode == 1, said
    assert "the worker ended with code -9, and execution 1 has not" in said
    assert "penstock worker --spark-master" in said
    assert executions.show(db, 1).finished_at is None


def _workers(parent: int) -> list[int]:
    children = Path(f"/proc/{parent}/task/{parent}/children").read_text().split()
    return [int(one) for one in children if b"--while-stdin-open" in Path(f"/proc/{one}/cmdline").read_bytes()]
