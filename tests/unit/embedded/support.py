"""Servers watched from outside: asked, killed, shared with other processes."""

import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import penstock
from penstock.embedded import Binaries, bundled_binaries
from penstock.embedded.postmaster import running
from penstock.embedded.process import start_time, wait_for

WAIT_S = 20

# A process that uses the server until its input ends.
USER = """
import sys
from pathlib import Path
from penstock.embedded import EmbeddedPostgres
with EmbeddedPostgres(Path(sys.argv[1])) as server:
    print(server.url(), flush=True)
    sys.stdin.read()
"""


def reachable_folder() -> Path:
    """Root's server runs as another OS user, who must be able to enter."""
    folder = Path(tempfile.mkdtemp()).resolve()
    folder.chmod(0o755)
    return folder


def ask(url: str, question: str, binaries: Binaries | None = None) -> str:
    psql = str((binaries or bundled_binaries()).folder / "psql")
    command = [psql, "-X", "-Atq", "-v", "ON_ERROR_STOP=1", "-c", question, url]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=WAIT_S)
    assert ran.returncode == 0, ran.stderr
    return ran.stdout.strip()


def pid_of(data: Path) -> int:
    server = running(data)
    assert server is not None
    return server.pid


def eventually(condition: Callable[[], bool]) -> None:
    assert wait_for(condition, WAIT_S)


def kill(pid: int) -> None:
    os.kill(pid, signal.SIGKILL)
    eventually(lambda: start_time(pid) is None)


def environment() -> dict[str, str]:
    return os.environ | {"PYTHONPATH": str(Path(penstock.__file__).parents[1])}


@contextmanager
def another_user(data: Path) -> Iterator["subprocess.Popen[str]"]:
    command = [sys.executable, "-c", USER, str(data)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment()
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def url_from(process: "subprocess.Popen[str]") -> str:
    assert process.stdout is not None
    url = process.stdout.readline().strip()
    assert url
    return url


def let_go(process: "subprocess.Popen[str]") -> None:
    assert process.stdin is not None
    process.stdin.close()
    assert process.wait(WAIT_S) == 0
