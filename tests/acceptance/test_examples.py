"""The examples, followed word by word."""

import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest

from penstock.embedded import EmbeddedPostgres, bundled_binaries
from penstock.kernel.connection import Connection
from tests.acceptance.conftest import PROGRAM, Penstock
from tests.acceptance.outcomes import await_end, result
from tests.sql.support import rows, value
from tests.tree import ROOT
from tests.unit.embedded.support import reachable_folder

OWN_SOURCE = ROOT / "examples" / "own_source"
_SCRIPT_S = 300


@pytest.fixture
def shop_environment() -> Iterator[dict[str, str]]:
    """What reaches a server of the reader's own."""
    folder = reachable_folder()
    with EmbeddedPostgres(folder / "postgres") as server:
        place = parse_qs(urlsplit(server.url()).query)
        yield {"PGHOST": place["host"][0], "PGPORT": place["port"][0], "PGUSER": "postgres"}
    shutil.rmtree(folder)


def _steps(readme: Path) -> dict[str, str]:
    """The commands under each numbered step."""
    numbered = re.split(r"^\*\*(\d)\. ", readme.read_text().partition("\n## ")[0], flags=re.MULTILINE)
    return {
        number: "\n".join(re.findall(r"^ {4}(.*)$", text, re.MULTILINE))
        for number, text in zip(numbered[1::2], numbered[2::2], strict=True)
    }


@pytest.mark.long
def test_a_reader_of_the_example_of_an_own_source_gets_what_it_says(
    penstock: Penstock, db: Connection, shop_environment: dict[str, str], tmp_path: Path
) -> None:
    folder = tmp_path / "own_source"
    shutil.copytree(OWN_SOURCE, folder, ignore=shutil.ignore_patterns("__pycache__", "credentials.yaml"))
    path = f"{PROGRAM.parent}:{bundled_binaries().folder}:{penstock.environment['PATH']}"
    environment = penstock.environment | shop_environment | {"PATH": path, "PENSTOCK_HOME": str(tmp_path / "home")}
    steps = _steps(folder / "README.md")
    script = "\n".join(["set -eu", *(steps[number] for number in "123456"), steps["5"], steps["6"]])
    ran = subprocess.run(
        ["bash", "-c", script], cwd=folder, env=environment, capture_output=True, text=True, timeout=_SCRIPT_S
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert value(db, "select count(*) from penstock.job") == 5
    worker, show = steps["7"].splitlines()
    penstock.environment = environment | {"PYTHONPATH": str(folder)}
    penstock.start(*worker.split()[1:])
    ids = [job_id for (job_id,) in rows(db, "select job_id from penstock.job order by source_ref")]
    await_end(db, ids)
    assert [result(db, job_id) for job_id in ids] == [{"parcel": n, "told": f"c-{n}"} for n in range(1, 6)]
    assert "shop/announce_parcel" in penstock.ok(*show.split()[1:])
