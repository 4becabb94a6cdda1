"""Data folders on which no server outlives the test."""

import os
import shutil
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from penstock.embedded import EmbeddedPostgres
from penstock.embedded.postmaster import running
from tests.unit.embedded.support import eventually, reachable_folder


@pytest.fixture(scope="module")
def template() -> Iterator[Path]:
    """A data folder to copy, which is quicker than initdb."""
    folder = reachable_folder()
    with EmbeddedPostgres(folder / "postgres"):
        pass
    yield folder / "postgres"
    shutil.rmtree(folder)


@pytest.fixture
def home() -> Iterator[Path]:
    """A folder without a living server afterwards."""
    folder = reachable_folder()
    yield folder
    left = [server for data in folder.rglob("postmaster.pid") if (server := running(data.parent))]
    for server in left:
        os.kill(server.pid, signal.SIGQUIT)
    eventually(lambda: not any(server.lives() for server in left))
    shutil.rmtree(folder)
    assert not left, "a server was left running"


@pytest.fixture
def data(home: Path, template: Path) -> Path:
    subprocess.run(["cp", "-a", template, home], check=True)
    return home / "postgres"
