"""The installed command, as a user runs it."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import pytest

_COMMAND = Path(sys.executable).parent / "penstock"
_DEADLINE_S = 60


class Ran(NamedTuple):
    """What one run of the command came to."""

    code: int
    out: str
    err: str


class Penstock:
    """Runs `penstock` against one database."""

    def __init__(self, database: str) -> None:
        self._environment = os.environ | {"PENSTOCK_DATABASE_URL": database}

    def run(self, *words: object) -> Ran:
        ran = subprocess.run(
            [_COMMAND, *map(str, words)],
            env=self._environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=_DEADLINE_S,
        )
        return Ran(ran.returncode, ran.stdout, ran.stderr)

    def ok(self, *words: object) -> str:
        """Run it, which must succeed; what it printed."""
        ran = self.run(*words)
        assert ran.code == 0, ran.err
        return ran.out

    def json(self, *words: object) -> Any:
        """Run it with --json, which must succeed; the document it printed."""
        return json.loads(self.ok(*words, "--json"))

    def refuses(self, *words: object, code: int = 1) -> str:
        """Run it, which must fail in that way; what it complained of."""
        ran = self.run(*words)
        assert ran.code == code, ran
        return ran.err


@pytest.fixture
def penstock(database: str) -> Penstock:
    return Penstock(database)
