"""The command as users run it: the installed program, in a process of its own."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.parts.jars import broker_jars
from tests.parts.kafka import kafka_broker
from tests.parts.nats import nats_server
from tests.parts.pubsub import pubsub_server

__all__ = ["broker_jars", "kafka_broker", "nats_server", "pubsub_server"]

PROGRAM = Path(sys.executable).with_name("penstock")
DEADLINE_S = 300


@dataclass(frozen=True)
class Ran:
    code: int
    out: str
    err: str


class Penstock:
    """Runs commands with these PENSTOCK_ variables and no others, without a terminal."""

    def __init__(self, **variables: str) -> None:
        others = {name: value for name, value in os.environ.items() if not name.startswith("PENSTOCK_")}
        self.environment = others | variables
        self._started: list[subprocess.Popen[str]] = []

    def run(self, *words: object) -> Ran:
        ran = subprocess.run(
            [PROGRAM, *map(str, words)],
            env=self.environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=DEADLINE_S,
        )
        return Ran(ran.returncode, ran.stdout, ran.stderr)

    def ok(self, *words: object) -> str:
        """What it prints, when it must succeed."""
        ran = self.run(*words)
        assert ran.code == 0, ran
        return ran.out

    def json(self, *words: object) -> Any:
        return json.loads(self.ok(*words, "--json"))

    def refuses(self, *words: object, code: int = 1) -> str:
        """What it says on stderr, when it must fail and print nothing."""
        ran = self.run(*words)
        assert (ran.code, ran.out) == (code, ""), ran
        assert "Traceback" not in ran.err
        return ran.err

    def start(self, *words: object, **options: Any) -> subprocess.Popen[str]:
        """A command that goes on; killed with the test."""
        streams = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        process = subprocess.Popen([PROGRAM, *map(str, words)], env=self.environment, text=True, **(streams | options))
        self._started.append(process)
        return process

    def end(self) -> None:
        for process in self._started:
            if process.poll() is None:
                process.send_signal(signal.SIGKILL)
            process.communicate()


@pytest.fixture
def penstock(database: str) -> Iterator[Penstock]:
    command = Penstock(PENSTOCK_DATABASE_URL=database)
    yield command
    command.end()
