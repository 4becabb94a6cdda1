"""Whose binaries run, and as which operating-system user."""

import os
import pwd
import shutil
import subprocess
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import pytest

from penstock.embedded import EmbeddedPostgres, system_binaries
from penstock.embedded.account import server_account
from penstock.embedded.postmaster import stated_pid
from penstock.errors import EmbeddedPostgresError
from tests.unit.embedded.support import WAIT_S, ask, environment, holds_as, pid_of, user_command

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
    command = user_command(private / "postgres")
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

    def runs_as_itself() -> bool:
        with server:
            alive = ask(server.url(), "select 1") == "1"
            return alive and Path(f"/proc/{pid_of(data)}").stat().st_uid == os.getuid()

    assert holds_as(nobody, runs_as_itself)
    assert data.stat().st_uid == nobody.pw_uid
    assert stated_pid(data) is None


@as_root
def test_processes_that_need_the_user_for_the_first_time_at_once_get_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of two useradd at once the second would replace the first one's user, under another number."""
    name = f"penstock-{os.getpid()}"
    monkeypatch.setattr("penstock.embedded.account.USER_FOR_ROOT", name)
    context = get_context("fork")
    for _ in range(5):
        start, found = context.Barrier(6), context.SimpleQueue()

        def ask(start: Any = start, found: Any = found) -> None:
            start.wait()
            found.put(server_account(Path("/nowhere")).uid)

        processes = [context.Process(target=ask) for _ in range(6)]
        for process in processes:
            process.start()
        for process in processes:
            process.join(WAIT_S)
        try:
            assert {found.get() for _ in processes} == {pwd.getpwnam(name).pw_uid}
        finally:
            subprocess.run(["userdel", name], check=True, capture_output=True)
