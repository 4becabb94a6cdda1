"""docs/local.md as its reader follows it: the files it shows, and its commands, one after the other as they stand."""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from penstock.embedded import EmbeddedPostgres
from penstock.embedded.nats_server import NatsServer
from penstock.embedded.postmaster import running
from tests.tree import ROOT, text
from tests.unit.embedded.support import reachable_folder

PAGE = text(ROOT / "docs" / "local.md")
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```", re.MULTILINE | re.DOTALL)
NAMED = re.compile(r"`([\w.]+\.(?:py|yaml))`")
_COMMAND_S = 300


@pytest.fixture
def home() -> Iterator[Path]:
    folder = reachable_folder()
    yield folder
    with EmbeddedPostgres(folder / ".penstock" / "postgres"):
        pass  # the last to leave stops whatever a failed test left
    NatsServer(folder / ".penstock" / "nats").stop()
    shutil.rmtree(folder)


def _written(folder: Path) -> None:
    """Every file the page shows; its name stands before it."""
    for block in BLOCK.finditer(PAGE):
        if block[1] in ("python", "yaml"):
            name = NAMED.findall(PAGE[: block.start()])[-1]
            (folder / name).write_text(block[2])


def _commands() -> list[str]:
    return [line for kind, block in BLOCK.findall(PAGE) if kind == "sh" for line in block.splitlines()]


def _environment(home: Path) -> dict[str, str]:
    others = {name: one for name, one in os.environ.items() if not name.startswith("PENSTOCK_")}
    return others | {"HOME": str(home), "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}


def test_every_command_of_the_page_runs_and_says_what_the_page_says(home: Path) -> None:
    folder = home / "shop"
    folder.mkdir()
    _written(folder)
    commands = _commands()
    assert len(commands) >= 10
    said = {}
    for command in commands:
        done = subprocess.run(
            ["bash", "-c", command],
            cwd=folder,
            env=_environment(home),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=_COMMAND_S,
        )
        assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
        said[command] = done.stdout
    (summary,) = [block for kind, block in BLOCK.findall(PAGE) if kind == "json"]
    (told,) = [said[command] for command in commands if command.endswith("--json")]
    assert json.loads(told) == json.loads(summary)
    (first,) = [said[command] for command in commands if "--max-messages 5" in command]
    assert re.search(r"received +5\nexecuted +5\n", first)
    assert said[commands[-1]].strip() == "20"
    captured = said["penstock subscription explain orders.yaml --captured 3"]
    assert captured.count("shop/process_order") >= 3, captured
    shown = said["penstock subscription show subscriptions/orders"]
    assert (re.search(r"received +23\n", shown) is not None, "waiting at the source" in shown) == (True, False)
    assert "not listed in allowed, or map" in said["penstock subscription explain orders.yaml --message message.json"]
    _check_nothing_runs(home)


def _check_nothing_runs(home: Path) -> None:
    assert running(home / ".penstock" / "postgres") is None
    assert NatsServer(home / ".penstock" / "nats").running() is None
    left = [
        one.info["cmdline"]
        for one in psutil.process_iter(["cmdline"])
        if str(home) in " ".join(one.info["cmdline"] or [])
    ]
    assert left == []
