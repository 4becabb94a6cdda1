"""spark: a session of the worker's own, in a process of its own, because a process has one only."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.acceptance.processes import until
from tests.tree import ROOT


def test_one_session_serves_all_calls_and_is_made_again_when_its_jvm_dies(database: str, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "tests.tools.spark_session_life", database, str(tmp_path)]
    ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300, env=dict(os.environ))
    assert ran.returncode == 0, ran.stderr[-6000:]
    said: dict[str, Any] = {}
    for line in ran.stdout.splitlines():
        said |= json.loads(line)
    assert said["loaded_before_use"] is False
    assert said["counts"] == [{"n": n, "total": n * (n - 1) // 2} for n in range(1, 9)]
    assert said["views"] == []
    assert said["tasks"] == {
        "python": sys.executable,
        "group": "penstock-job-8-101",
        "description": "tests.tools.sparkling:python_of_tasks, job 8, attempt 1",
        "is_active": True,
    }
    assert said["failures"]["frame"].startswith(
        "PermanentError: spark: tests.tools.sparkling:frame returned a DataFrame"
    )
    assert "nowhere" in said["failures"]["raising"]
    assert "cannot be imported" in said["failures"]["missing"]
    assert "cancelled" in said["cancelled"].lower()
    assert said["after_a_killed_jvm"] == {"n": 3, "total": 3}
    until(lambda: not Path(f"/proc/{said['jvm']}").exists(), "the JVM has ended with its process")
