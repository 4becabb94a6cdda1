"""The bench runs and writes what it promises. How fast anything is, is not for a test on a shared machine."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from bench.cells import CELLS as ALL

ROOT = Path(__file__).resolve().parents[2]
CELLS = {
    "enqueue_bulk", "enqueue_keyed", "drain_100k", "drain_300k", "drain_vs_raw", "wal_bytes_per_job",
    "latency_wake_p50", "latency_wake_p99", "latency_poll", "claim_backlog", "claim_foreign", "claim_lane",
    "trigger_update", "trigger_insert", "dispatch_one", "dispatch_three", "dispatch_flat", "event_latency_p50",
    "explain",
}  # fmt: skip
INGEST = {
    "ingest_kafka", "ingest_kafka_vs_copy", "ingest_flat", "ingest_cold_start", "ingest_warm_start", "ingest_nats",
    "ingest_pubsub", "ingest_api",
    "ingest_latency_p50", "ingest_latency_p99",
}  # fmt: skip
LOCAL = {"subscribe_once"}
MARKCUT = {"markcut_local", "markcut_cluster"}
NEED_PEERS = {"drain_100k", "drain_300k"}
TIMEOUT_S = 900


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("bench")


@pytest.fixture(scope="module")
def printed(folder: Path) -> str:
    return _run(folder, [name for name in ALL if not name.startswith(("ingest", "markcut", "subscribe"))])


def _run(folder: Path, cells: list[str]) -> str:
    command = [
        sys.executable,
        "-m",
        "bench",
        "--quick",
        "--no-peers",
        "--results",
        str(folder),
        "--only",
        ",".join(cells),
    ]
    ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=TIMEOUT_S)
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


@pytest.fixture(scope="module")
def latest(folder: Path, printed: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / "latest.json").read_text())
    return found


def test_every_cell_of_the_table_is_printed(printed: str) -> None:
    assert {line.split()[0] for line in printed.splitlines() if line} >= CELLS


def test_every_cell_is_written_with_a_figure(latest: dict[str, Any]) -> None:
    written = {cell["cell"]: cell for cell in latest["cells"]}
    assert {name: written[name]["reason"] for name in CELLS if written[name]["figure"] is None} == {}


def test_every_cell_has_the_promised_fields(latest: dict[str, Any]) -> None:
    promised = {"cell", "figure", "unit", "against", "ratio", "line", "ok"}
    assert all(promised <= cell.keys() for cell in latest["cells"])


@pytest.mark.long
def test_the_cells_of_markcut_are_written_with_a_figure(tmp_path: Path) -> None:
    _run(tmp_path, [name for name in ALL if name.startswith("markcut")])
    written = {cell["cell"]: cell for cell in json.loads((tmp_path / "latest.json").read_text())["cells"]}
    assert {name: written[name]["reason"] for name in MARKCUT if written[name]["figure"] is None} == {}


@pytest.mark.long
def test_the_cells_of_a_local_run_are_written_with_a_figure(tmp_path: Path) -> None:
    _run(tmp_path, [name for name in ALL if name.startswith("subscribe")])
    written = {cell["cell"]: cell for cell in json.loads((tmp_path / "latest.json").read_text())["cells"]}
    assert {name: written[name]["reason"] for name in LOCAL if written[name]["figure"] is None} == {}


@pytest.mark.long
def test_the_cells_of_ingest_are_written_with_a_figure(tmp_path: Path) -> None:
    _run(tmp_path, [name for name in ALL if name.startswith("ingest")])
    written = {cell["cell"]: cell for cell in json.loads((tmp_path / "latest.json").read_text())["cells"]}
    assert {name: written[name]["reason"] for name in INGEST if written[name]["figure"] is None} == {}


def test_a_cell_without_peers_to_compare_with_is_not_judged_and_says_why(latest: dict[str, Any]) -> None:
    judged = {cell["cell"]: cell["ok"] for cell in latest["cells"]}
    assert {name for name in CELLS if judged[name] is None} == NEED_PEERS
    assert all(cell["reason"] for cell in latest["cells"] if cell["cell"] in NEED_PEERS)


def test_machine_versions_settings_and_baselines_stand_beside_the_cells(latest: dict[str, Any]) -> None:
    assert {"cores", "memory_gib", "cpu", "system"} <= latest["machine"].keys()
    assert {"postgresql", "python", "psycopg", "graphile-worker", "pg-boss"} <= latest["versions"].keys()
    assert latest["settings"]["fsync"] == latest["settings"]["synchronous_commit"] == "on"
    assert "copy penstock.job from stdin" in latest["baselines"]["copy"]


def test_a_dated_copy_is_kept(folder: Path, latest: dict[str, Any]) -> None:
    dated = [path for path in folder.iterdir() if path.name != "latest.json"]
    assert [json.loads(path.read_text()) for path in dated] == [latest]


def test_an_unknown_cell_is_a_usage_error() -> None:
    command = [sys.executable, "-m", "bench", "--only", "drain_1k"]
    ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=TIMEOUT_S)
    assert ran.returncode == 2
    assert "no such cell: drain_1k" in ran.stderr
