"""penstock cut, and examples/markcut: six jobs on Spark, run by a worker; the pieces as files; a stage that fails."""

import json
import shutil
from pathlib import Path

from penstock.kernel import executions
from penstock.kernel.connection import Connection
from tests.acceptance.conftest import Penstock
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
