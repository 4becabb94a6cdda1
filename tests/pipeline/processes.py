"""Real `penstock subscription run` processes, each with its JVM in a process group of its own."""

import os
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Self

import psutil

from tests.parts.processes import die_with_parent, name_of

ROOT = Path(__file__).parent.parent.parent
PENSTOCK = Path(sys.executable).parent / "penstock"


class RuntimeProcess:
    """One runtime: stopped, killed and watched from outside; nothing of it outlives the test."""

    def __init__(self, path: str, environment: dict[str, str], log: Path, *options: str) -> None:
        self._log = log
        self._orphans: list[psutil.Process] = []
        with log.open("ab") as output:
            self._process = subprocess.Popen(
                [PENSTOCK, *self._words(path), *options],
                cwd=ROOT,
                env=os.environ | environment,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                preexec_fn=die_with_parent,
            )

    def _words(self, path: str) -> list[str]:
        return ["subscription", "run", path]

    @property
    def is_alive(self) -> bool:
        return self._process.poll() is None

    def log(self) -> str:
        return self._log.read_text(errors="replace")

    def jvm(self) -> psutil.Process | None:
        """The JVM, once it is there."""
        return next((one for one in self._all() if name_of(one) == "java"), None)

    def task_processes(self) -> list[psutil.Process]:
        """Spark's Python workers, and what commits."""
        return [one for one in self._all()[1:] if name_of(one).startswith("python")]

    def kill_alone(self) -> None:
        """The Python process; the JVM must find out by itself, and is not left behind if it does not."""
        self._orphans = self._all()[1:]
        self.send(signal.SIGKILL)
        self._process.wait(60)

    def send(self, number: signal.Signals) -> None:
        """To the Python process alone."""
        self._process.send_signal(number)

    def send_group(self, number: signal.Signals) -> None:
        """To its whole process group, as a terminal does: what has a group of its own does not hear it."""
        os.killpg(self._process.pid, number)

    def send_all(self, number: signal.Signals) -> None:
        """To everything it has started."""
        for one in self._all():
            # it may have ended since it was listed
            with suppress(psutil.NoSuchProcess):
                one.send_signal(number)

    def kill(self) -> None:
        """Everything at once, as a machine that loses its power."""
        self.send_all(signal.SIGKILL)
        self._process.wait(60)

    def end(self, deadline_s: float = 120) -> int:
        """In order; the exit code."""
        self.send(signal.SIGTERM)
        return self._process.wait(deadline_s)

    def wait(self, deadline_s: float = 120) -> int:
        return self._process.wait(deadline_s)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._all():
            self.send_all(signal.SIGCONT)
            self.kill()
        for orphan in self._orphans:
            with suppress(psutil.NoSuchProcess):
                orphan.kill()

    def _all(self) -> list[psutil.Process]:
        try:
            own = psutil.Process(self._process.pid)
            return [own, *own.children(recursive=True)]
        except psutil.NoSuchProcess:
            return []


class StackProcess(RuntimeProcess):
    """A `penstock up`, with its worker."""

    def __init__(self, environment: dict[str, str], log: Path, *options: str) -> None:
        super().__init__("", environment, log, *options)

    def _words(self, path: str) -> list[str]:
        return ["up"]
