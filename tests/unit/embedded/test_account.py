"""Whose binaries run, and as which operating-system user."""

import os
import pwd
import shutil
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from penstock.embedded import EmbeddedPostgres, system_binaries
from penstock.embedded.postmaster import stated_pid
from penstock.errors import EmbeddedPostgresError
from tests.unit.embedded.support import USER, WAIT_S, ask, environment, pid_of

as_root = pytest.mark.skipif(os.geteuid() != 0, reason="needs root")


def test_works_with_the_machines_own_postgres(home: Path) -> None:
    data = home / "postgres"
    binaries = system_binaries(15)
    if binaries is None:
        pytest.skip("PostgreSQL 15 is not installed")
    assert binaries.version() == 15
    with EmbeddedPostgres(data, binaries=binaries) as server:
        assert ask(server.url(), "show server_version", binaries).startswith("15.")


def test_a_version_that_is_not_installed_is_none() -> None:
    assert system_binaries(3) is None


@as_root
def test_root_opens_its_own_folders_on_the_way_and_says_so_once(home: Path, capfd: pytest.CaptureFixture[str]) -> None:
    private = home / "private"
    private.mkdir(mode=0o700)
    command = [sys.executable, "-c", USER, str(private / "postgres")]
    for _ in range(2):
        subprocess.run(command, stdin=subprocess.DEVNULL, env=environment(), check=True, timeout=WAIT_S * 3)
    assert private.stat().st_mode & 0o777 == 0o701
    said = capfd.readouterr().err
    assert said.startswith(f"{private} may now be entered by the OS user pgserver (mode 701, was 700): ")
    assert said.count("may now be entered") == 1


@as_root
def test_root_does_not_open_somebody_elses_folder(home: Path) -> None:
    closed = home / "theirs"
    closed.mkdir(mode=0o700)
    shutil.chown(closed, "nobody")
    with pytest.raises(EmbeddedPostgresError, match=r"/theirs cannot be entered by .*chmod o\+x .*PENSTOCK_HOME"):
        EmbeddedPostgres(closed / "postgres").start()
    assert closed.stat().st_mode & 0o777 == 0o700


@as_root
def test_a_normal_user_runs_the_server_as_itself(home: Path) -> None:
    folder = home / "theirs"
    folder.mkdir()
    nobody = pwd.getpwnam("nobody")
    shutil.chown(folder, nobody.pw_uid, nobody.pw_gid)
    data = folder / "postgres"
    server = EmbeddedPostgres(data)
    # A fork, not a new interpreter: ours may live where that user cannot go.
    child = os.fork()
    if child == 0:
        code = 1
        with suppress(BaseException):
            os.setgroups([])
            os.setgid(nobody.pw_gid)
            os.setuid(nobody.pw_uid)
            with server:
                alive = ask(server.url(), "select 1") == "1"
                owned = Path(f"/proc/{pid_of(data)}").stat().st_uid == os.getuid()
                code = 0 if alive and owned else 1
        os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert data.stat().st_uid == nobody.pw_uid
    assert stated_pid(data) is None
