"""A process under measurement: it says START and HANDLED, with CLOCK_MONOTONIC, on its standard output."""

import os
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from queue import Empty, Queue
from threading import Thread
from types import TracebackType
from typing import Self

import psutil

ROOT = Path(__file__).resolve().parent.parent
STOP_S = 5
LOG_TAIL_LINES = 15


class MeasurementFailed(Exception):
    """A measured process ended early, was too slow, or did not do what is measured."""


@dataclass(frozen=True)
class Command:
    """What to start, and with which variables added to the environment."""

    words: list[str]
    environment: Mapping[str, str] = field(default_factory=dict)


class Process:
    """One started command; leaving the block stops it."""

    def __init__(self, command: Command, log: Path) -> None:
        self._log = log
        self._name = " ".join(Path(word).name for word in command.words[:4])
        with log.open("ab") as errors:
            # In a session of its own: Ctrl-C is ours to handle, in order.
            self._popen = subprocess.Popen(
                command.words,
                env=os.environ | dict(command.environment),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
                cwd=ROOT,
                start_new_session=True,
            )
        self._process = psutil.Process(self._popen.pid)
        self._lines: Queue[str | None] = Queue()
        Thread(target=self._read, daemon=True).start()

    def await_line(self, word: str, timeout_s: float) -> list[str]:
        """The words of the next line that begins with this one."""
        while True:
            try:
                line = self._lines.get(timeout=timeout_s)
            except Empty:
                raise self._failed(f"did not say {word} within {timeout_s:g} s") from None
            if line is None:
                raise self._failed(f"ended without saying {word}")
            if line.startswith(word):
                return line.split(maxsplit=2)

    def said(self) -> list[str]:
        """The lines that have come since, without waiting."""
        lines: list[str] = []
        while True:
            try:
                line = self._lines.get_nowait()
            except Empty:
                return lines
            if line is not None:
                lines.append(line)

    def await_end(self, timeout_s: float) -> None:
        try:
            code = self._popen.wait(timeout_s)
        except subprocess.TimeoutExpired:
            raise self._failed(f"did not end within {timeout_s:g} s") from None
        if code:
            raise self._failed(f"ended with exit code {code}")

    def end(self, timeout_s: float) -> None:
        """Ask it to end, and wait until it has, in order."""
        self._popen.terminate()
        self.await_end(timeout_s)

    def tree(self) -> list[psutil.Process]:
        """It, and all it has started."""
        return [self._process, *self._process.children(recursive=True)]

    def lives(self) -> bool:
        return self._popen.poll() is None

    def cpu_s(self) -> float:
        used = self._process.cpu_times()
        return float(used.user + used.system)

    def rss_bytes(self) -> int:
        return int(self._process.memory_info().rss)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._popen.terminate()
        try:
            self._popen.wait(STOP_S)
        except subprocess.TimeoutExpired:
            self._popen.kill()
            self._popen.wait()

    def _read(self) -> None:
        assert self._popen.stdout is not None
        with self._popen.stdout as lines:
            for line in lines:
                self._lines.put(line)
        self._lines.put(None)

    def _failed(self, what: str) -> MeasurementFailed:
        tail = self._log.read_text(errors="replace").splitlines()[-LOG_TAIL_LINES:]
        return MeasurementFailed("\n  ".join([f"{self._name} {what}. It said:", *tail]))
