"""Servers watched from outside: asked, killed, shared with other processes."""

import os
import pwd
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import penstock
from penstock.embedded import Binaries, EmbeddedPostgres, bundled_binaries
from penstock.embedded.postmaster import running
from penstock.embedded.process import start_time, wait_for
from penstock.embedded.shared import SharedServer

WAIT_S = 20

_USER = """
import sys
from pathlib import Path
import penstock.embedded
with getattr(penstock.embedded, sys.argv[1])(Path(sys.argv[2])) as server:
    print(server.url(), flush=True)
    exec(sys.argv[3])
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


def user_command(
    folder: Path, server: type[SharedServer] = EmbeddedPostgres, then: str = "sys.stdin.read()"
) -> list[str]:
    """A process that uses the server on this folder, until its input ends unless it is told what else to do."""
    return [sys.executable, "-c", _USER, server.__name__, str(folder), then]


@contextmanager
def another_user(folder: Path, server: type[SharedServer] = EmbeddedPostgres) -> Iterator["subprocess.Popen[str]"]:
    """A process that uses the server on this folder until it is let go."""
    command = user_command(folder, server)
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


def holds_as(user: pwd.struct_passwd, claim: Callable[[], bool]) -> bool:
    """Does it hold in a process of this user? In a fork: our interpreter may live where that user cannot go."""

    def as_user() -> bool:
        os.setgroups([])
        os.setgid(user.pw_gid)
        os.setuid(user.pw_uid)
        return claim()

    return _holds_in_child(as_user)


def in_child(work: Callable[[], None]) -> None:
    """Do it in a fork of this process, to its end."""

    def is_done() -> bool:
        work()
        return True

    assert _holds_in_child(is_done)


def _holds_in_child(claim: Callable[[], bool]) -> bool:
    child = os.fork()
    if child == 0:
        code = 1
        # one that raises must not go on as a second run of these tests
        with suppress(BaseException):
            code = 0 if claim() else 1
        os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def let_go(process: "subprocess.Popen[str]") -> None:
    assert process.stdin is not None
    process.stdin.close()
    assert process.wait(WAIT_S) == 0
