"""penstock worker as a command: its app, its output, its signals."""

import os
import signal
import subprocess
from pathlib import Path
from typing import Any

import pytest

from penstock.kernel import jobs
from penstock.kernel.connection import Connection
from tests.acceptance.cli.conftest import DEADLINE_S, PROGRAM, Penstock
from tests.acceptance.outcomes import await_end, outcomes, result
from tests.acceptance.processes import APPS, ROOT


def _worker(penstock: Penstock, app: str, *options: str, **streams: Any) -> subprocess.Popen[str]:
    return penstock.start("worker", "--app", f"{APPS}.{app}", *options, cwd=ROOT, **streams)


def _good_and_bad_jobs_end(db: Connection) -> bool:
    bad = [one.job_id for one in jobs.enqueue_many(db, [{"kind": "raises", "max_attempts": 1}] * 20)]
    good = [one.job_id for one in jobs.enqueue_many(db, [{"kind": "chats"}] * 20)]
    await_end(db, bad + good)
    return {one.error["type"] for job_id in bad for one in outcomes(db, job_id)} == {"ValueError"} and {
        result(db, job_id) for job_id in good
    } == {"well"}


def test_a_worker_whose_reader_has_left_goes_on(penstock: Penstock, db: Connection) -> None:
    reading, writing = os.pipe()
    worker = _worker(penstock, "wild", "--concurrency", "4", stdout=writing, stderr=writing)
    os.close(writing)
    assert os.read(reading, 1)
    os.close(reading)
    assert _good_and_bad_jobs_end(db)
    worker.send_signal(signal.SIGTERM)
    assert worker.wait(DEADLINE_S) == 0


def test_a_worker_whose_log_cannot_be_written_goes_on(penstock: Penstock, db: Connection) -> None:
    full = os.open("/dev/full", os.O_WRONLY)
    worker = _worker(penstock, "wild", "--concurrency", "4", stdout=full, stderr=full)
    os.close(full)
    assert _good_and_bad_jobs_end(db)
    worker.send_signal(signal.SIGTERM)
    assert worker.wait(DEADLINE_S) == 0


def test_a_worker_without_output_goes_on(penstock: Penstock, db: Connection) -> None:
    command = ["/bin/sh", "-c", 'exec "$@" >&- 2>&-', "sh", "penstock", "worker", "--app", f"{APPS}.wild"]
    path = f"{PROGRAM.parent}:{os.environ['PATH']}"
    with subprocess.Popen(command, cwd=ROOT, env=penstock.environment | {"PATH": path}) as worker:
        try:
            assert _good_and_bad_jobs_end(db)
            worker.send_signal(signal.SIGTERM)
            assert worker.wait(DEADLINE_S) == 0
        finally:
            worker.kill()


def test_a_logger_that_raises_ends_the_worker_aloud_after_the_job_is_reported(
    penstock: Penstock, db: Connection
) -> None:
    job_id = jobs.enqueue(db, {"kind": "raises", "max_attempts": 1})
    worker = _worker(penstock, "grumpy", "--concurrency", "1")
    _, said = worker.communicate(timeout=DEADLINE_S)
    assert worker.returncode == 1
    assert "penstock: the worker's part 'run-1' broke: RuntimeError: I do not want to hear it" in said
    assert [one.error["type"] for one in outcomes(db, job_id)] == ["ValueError"]


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("import json\njson.loads('{')\n", "JSONDecodeError: Expecting property name"),
        ("import nowhere_to_be_found\n", "No module named 'nowhere_to_be_found'"),
        ("def f(:\n", "SyntaxError: invalid syntax"),
        ("import sys\nsys.exit(0)\n", "it ends the program (sys.exit) while it is being imported"),
        ("import penstock\n@penstock.job('a b')\ndef f(job): ...\n", "no such kind can be enqueued"),
        ("import penstock\n@penstock.job\ndef f(job): ...\n", 'write @penstock.job("send_invoice")'),
    ],
)
def test_a_module_that_cannot_be_imported_is_shown_with_the_users_own_lines(
    penstock: Penstock, tmp_path: Path, code: str, said: str
) -> None:
    (tmp_path / "broken.py").write_text(code)
    worker = penstock.start("worker", "--app", "broken", cwd=tmp_path)
    _, complaint = worker.communicate(timeout=DEADLINE_S)
    assert worker.returncode == 1
    assert complaint.startswith("penstock: --app broken: it cannot be imported")
    assert said in complaint
    assert f'File "{tmp_path}/broken.py", line' in complaint
    for hidden in ("importlib", "src/penstock", "Traceback"):
        assert hidden not in complaint


@pytest.mark.parametrize(("app", "meant"), [("shop.py", "shop"), ("./shop.py", "shop"), ("a/shop.py", "a.shop")])
def test_a_file_where_a_module_is_wanted_gets_the_modules_name_for_an_answer(
    penstock: Penstock, tmp_path: Path, app: str, meant: str
) -> None:
    (tmp_path / "shop.py").touch()
    worker = penstock.start("worker", "--app", app, cwd=tmp_path)
    _, complaint = worker.communicate(timeout=DEADLINE_S)
    assert worker.returncode == 1
    assert complaint.endswith(f"Name the module, not its file: --app {meant}\n")


def test_a_worker_under_nohup_is_not_stopped_by_a_hangup(penstock: Penstock, db: Connection) -> None:
    worker = _worker(penstock, "wild", stderr=subprocess.STDOUT, preexec_fn=_ignore_hangups)
    assert worker.stdout is not None
    assert "working" in worker.stdout.readline()
    worker.send_signal(signal.SIGHUP)
    job_id = jobs.enqueue(db, {"kind": "calm"})
    await_end(db, [job_id])
    worker.send_signal(signal.SIGTERM)
    assert "stopping" in worker.stdout.readline()


def _ignore_hangups() -> None:
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
