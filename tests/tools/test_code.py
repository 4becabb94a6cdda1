"""Inline code: a process of its own that has nothing of the worker's, and never outlives its job."""

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from penstock.jobs import PermanentError
from penstock.kernel.connection import Connection
from penstock.worker.tools.code import ENABLED, CodeFailed, run_code
from tests.acceptance.processes import until
from tests.sql.support import configure
from tests.tools.calling import Caller, a_job


@pytest.fixture(autouse=True)
def _on(db: Connection) -> None:
    configure(db, ENABLED, "true")


def _run(caller: Caller, code: str, timeout_s: float | None = 30, **args: Any) -> Any:
    return run_code(caller({"code": code}, args, a_job(timeout_s=timeout_s)))


def _is_running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def test_code_sees_args_and_leaves_a_result(caller: Caller) -> None:
    code = "import math\ndef area(r):\n    return math.floor(r * r * math.pi)\nresult = {'größe': area(args['r'])}"
    assert _run(caller, code, r=2) == {"größe": 12}
    assert _run(caller, "x = 1") is None


def test_code_is_off_unless_an_operator_allows_it(caller: Caller, db: Connection) -> None:
    configure(db, ENABLED, "false")
    with pytest.raises(PermanentError, match="switched off"):
        _run(caller, "result = 1")


def test_code_has_nothing_of_the_workers(caller: Caller, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PENSTOCK_CREDENTIALS", "/etc/penstock/credentials.yaml")
    monkeypatch.setenv("PENSTOCK_DATABASE_URL", "postgresql://ann:s3cr3t@db/shop")
    read, write = os.pipe()
    os.set_inheritable(write, True)
    code = """
import os, sys
def imported(name):
    try:
        __import__(name)
        return True
    except ImportError:
        return False
result = {
    "environment": {k: v for k, v in os.environ.items() if k != "LC_CTYPE"},
    "arguments": sys.argv[1:],
    "folder": os.listdir("."),
    "ours": [name for name in ("penstock", "psycopg", "httpx") if imported(name)],
    "pipes": [os.path.realpath(f"/proc/self/fd/{n}") for n in os.listdir("/proc/self/fd")],
    "stdin": sys.stdin.read(),
}
"""
    found = _run(caller, code)
    inherited = os.readlink(f"/proc/self/fd/{write}")
    os.close(read)
    os.close(write)
    assert not [one for one in found.pop("pipes") if inherited in one]
    assert found == {"environment": {}, "arguments": [], "folder": [], "ours": [], "stdin": ""}


def test_its_folder_goes_with_it(caller: Caller) -> None:
    folder = _run(caller, "import os\nopen('x', 'w').write('x')\nresult = os.getcwd()")
    assert not Path(folder).exists()


@pytest.mark.parametrize(
    ("code", "says"),
    [
        ("x = 1\n\nraise KeyError('order')", r"KeyError: 'order' \(line 3 of the code\)"),
        ("def f():\n    return 1 / 0\nf()", r"ZeroDivisionError: division by zero \(line 2 of the code\)"),
        ("import json\njson.loads('{')", r"JSONDecodeError: .* \(line 2 of the code\)"),
        ("import sys\nsys.exit(3)", r"exit\(3\)"),
        ("import os\nos._exit(3)", "without a result .exit status 3"),
        ("import os, signal\nos.kill(os.getpid(), signal.SIGSEGV)", "signal 11"),
        ("x = bytearray(4 * 1024**3)", "MemoryError"),
        ("import os\nfor n in (3, 4): os.write(n, b'x' * 200_000)", "Error|without a result"),
    ],
)
def test_code_that_fails_says_where(caller: Caller, code: str, says: str) -> None:
    with pytest.raises(CodeFailed, match=says):
        _run(caller, code)


@pytest.mark.parametrize(
    ("code", "says"),
    [
        ("x = 1\nif x", r"SyntaxError: .* \(line 2 of the code\)"),
        ("result = {1, 2}", "cannot be kept as JSON"),
        ("result = float('nan')", "cannot be kept as JSON"),
        ("result = 'x' * 70_000", "may have 65,536"),
    ],
)
def test_code_that_can_never_do_fails_for_good(caller: Caller, code: str, says: str) -> None:
    with pytest.raises(PermanentError, match=says):
        _run(caller, code)


def test_code_may_fill_a_result_to_its_last_byte(caller: Caller) -> None:
    assert _run(caller, "result = 'x' * 65_534") == "x" * 65_534
    with pytest.raises(PermanentError, match="has 65,537 bytes, and may have 65,536"):
        _run(caller, "result = 'x' * 65_535")


def test_what_it_prints_is_cut_and_is_no_result(caller: Caller, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO")
    code = "import sys\nfor _ in range(100): print('x' * 100_000)\nprint('the end', file=sys.stderr)\nresult = 1"
    assert _run(caller, code) == 1
    assert "the end" in caplog.text
    assert len(caplog.text) < 10_000


def test_code_that_never_ends_is_stopped_with_all_it_started(caller: Caller, tmp_path: Path) -> None:
    note = tmp_path / "pids"
    code = f"""
import os, subprocess
other = subprocess.Popen(["sleep", "600"])
fork = os.fork()
if fork:
    open({str(note)!r}, "w").write(f"{{os.getpid()}} {{other.pid}} {{fork}}")
while True:
    pass
"""
    job = a_job(timeout_s=60)
    with ThreadPoolExecutor(1) as thread:
        running = thread.submit(run_code, caller({"code": code}, {}, job))
        until(lambda: note.exists() and note.read_text(), "it runs")
        job.timeout_s = 0.1
        with pytest.raises(CodeFailed, match=r"ran longer than 0\.1 s"):
            running.result(30)
    for pid in map(int, note.read_text().split()):
        until(lambda pid=pid: not _is_running(pid), f"process {pid} has ended")  # type: ignore[misc]


def test_what_code_leaves_running_ends_with_it_and_its_result_counts(caller: Caller) -> None:
    code = """
import os, subprocess, threading, time
threading.Thread(target=time.sleep, args=[600]).start()
result = [subprocess.Popen(["sleep", "600"]).pid]
if os.fork() == 0:
    result = "the fork's"
"""
    (pid,) = _run(caller, code)
    until(lambda: not _is_running(pid), "what it started has ended")


def test_code_ends_when_its_job_is_cancelled(caller: Caller, tmp_path: Path) -> None:
    job, note = a_job(), tmp_path / "pid"
    code = f"import os, time\nopen({str(note)!r}, 'w').write(str(os.getpid()))\ntime.sleep(600)"
    with ThreadPoolExecutor(1) as thread:
        running = thread.submit(run_code, caller({"code": code}, {}, job))
        until(lambda: note.exists() and note.read_text(), "it runs")
        job.cancelled = True
        with pytest.raises(CodeFailed, match="was stopped"):
            running.result(30)
    assert not _is_running(int(note.read_text()))


def test_code_does_not_outlive_a_worker_that_is_killed(caller: Caller, database: str, tmp_path: Path) -> None:
    note = tmp_path / "pids"
    code = (
        f"import os, subprocess, time\nother = subprocess.Popen(['sleep', '600'])\n"
        f"open({str(note)!r}, 'w').write(f'{{os.getpid()}} {{other.pid}}')\ntime.sleep(600)"
    )
    program = (
        "import pathlib, sys; from tests.tools.calling import Caller; from penstock.worker.tools.code import run_code\n"
        "run_code(Caller(sys.argv[1], pathlib.Path(sys.argv[2]))({'code': sys.argv[3]}))"
    )
    worker = subprocess.Popen([sys.executable, "-c", program, database, str(tmp_path), code])
    until(lambda: note.exists() and note.read_text(), "it runs")
    worker.kill()
    worker.wait()
    for pid in map(int, note.read_text().split()):
        until(lambda pid=pid: not _is_running(pid), f"process {pid} has ended")  # type: ignore[misc]


def test_large_args_arrive_whole(caller: Caller) -> None:
    assert _run(caller, "result = len(args['text'])", text="ö" * 1_000_000) == 1_000_000
