"""Servers of a test run: on free ports, with a log, ended by their process id, and never left behind."""

import ctypes
import os
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import psutil

_LIBC = ctypes.CDLL(None)
_PR_SET_PDEATHSIG = 1
_LOOK_S = 0.05
_STOP_S = 30
_TAIL_BYTES = 6000


def free_ports(count: int) -> list[int]:
    """Ports nobody listens on; held together while they are chosen, so that they differ."""
    probes = [socket.socket() for _ in range(count)]
    for probe in probes:
        probe.bind(("127.0.0.1", 0))
    ports = [int(probe.getsockname()[1]) for probe in probes]
    for probe in probes:
        probe.close()
    return ports


def listens(port: int) -> bool:
    try:
        with socket.create_connection(("127.0.0.1", port), 1):
            return True
    except OSError:
        return False


class Part:
    """One server process, its output in a file. It dies with the process that started it, however that ends."""

    def __init__(self, command: list[str], log: Path, environment: Mapping[str, str] | None = None) -> None:
        self._log = log
        with log.open("ab") as output:
            self._process = subprocess.Popen(
                command,
                env=os.environ | dict(environment or {}),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                # not our terminal's: an interrupt is for the tests, which then end us
                process_group=0,
                preexec_fn=die_with_parent,
            )

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def is_alive(self) -> bool:
        return self._process.poll() is None

    def log(self) -> str:
        return self._log.read_text(errors="replace")

    def until(self, ready: Callable[[], object], what: str, deadline_s: float) -> None:
        """Wait for a condition; when it does not come, end the process and say what its log says."""
        give_up_at = time.monotonic() + deadline_s
        while not ready():
            if not self.is_alive or time.monotonic() > give_up_at:
                self.kill()
                raise AssertionError(f"{what}: not within {deadline_s:g} s\n{self.log()[-_TAIL_BYTES:]}")
            time.sleep(_LOOK_S)

    def stop(self) -> None:
        """Ask it to end, and end it if it does not."""
        self._process.terminate()
        try:
            self._process.wait(_STOP_S)
        except subprocess.TimeoutExpired:
            self.kill()

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()

    def send(self, number: signal.Signals) -> None:
        self._process.send_signal(number)

    @contextmanager
    def hung(self) -> Iterator[None]:
        """While it is there and does nothing at all."""
        self.send(signal.SIGSTOP)
        try:
            self.until(lambda: psutil.Process(self.pid).status() == psutil.STATUS_STOPPED, "it stops", _STOP_S)
            yield
        finally:
            self.send(signal.SIGCONT)


def die_with_parent() -> None:
    """For preexec_fn: the kernel kills the process when the one that started it ends, however that is."""
    _LIBC.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
