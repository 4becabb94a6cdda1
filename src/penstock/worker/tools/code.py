"""Inline code of a python step: trusted, off by default, in a process of its own with an empty environment.

The process gets a folder of its own, the args on its standard input, and no other open file. It ends with the job: at
its timeout, when it is cancelled, and when this worker dies.
"""

import ctypes
import json
import os
import selectors
import signal
import subprocess
import sys
import time
from functools import cache
from tempfile import TemporaryDirectory
from typing import IO, Any

from penstock.jobs import PermanentError
from penstock.worker.tools import code_child, lookups
from penstock.worker.tools.contract import Call

_PR_SET_DUMPABLE = 4
ENABLED = "playbook.inline_code.enabled"
_LOOK_S = 0.05
_PIECE = 65_536
_PRINTED = 4000


class CodeFailed(Exception):
    """The code raised, ended itself, or took too long."""


def run_code(call: Call) -> Any:
    """Run the step's `code`, which sees `args`; what it leaves in `result`."""
    if lookups.setting(call.services, ENABLED) != "true":
        raise PermanentError(
            f"python: inline code is switched off. An operator who trusts whoever registers playbooks may allow it:"
            f" penstock config set {ENABLED} true"
        )
    _hide_environment()
    most_bytes = lookups.result_bytes(call.services)
    told = json.dumps({"code": call.settings["code"], "args": call.args, "most_bytes": most_bytes}).encode()
    with TemporaryDirectory(prefix="penstock-code-", ignore_cleanup_errors=True) as folder:
        child = _Child(folder, told, most_bytes)
        try:
            child.watch(call)
        finally:
            child.end()
    if child.printed:
        call.job.log.info("the code printed: %s", child.printed.decode("utf-8", "replace"))
    return _result(child)


@cache
def _hide_environment() -> None:
    """From other processes of this user, such as the code's: /proc would show them what we were started with."""
    prctl = getattr(ctypes.CDLL(None), "prctl", None)
    if prctl is not None:
        prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)


class _Child:
    """The process, and what has come from it: the answer on one pipe, what the code prints on the other."""

    def __init__(self, folder: str, told: bytes, most_bytes: int) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-I", "-S", "-X", "utf8", code_child.__file__],
            cwd=folder,
            env={},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            # a group of its own, ended whole
            start_new_session=True,
        )
        self.answer = bytearray()
        self.printed = b""
        self._most_bytes = most_bytes + _PRINTED
        self._unsent = memoryview(len(told).to_bytes(8, "big") + told)
        self._pipes = selectors.DefaultSelector()
        for pipe in (self._process.stdin, self._process.stdout, self._process.stderr):
            assert pipe is not None
            os.set_blocking(pipe.fileno(), False)
            event = selectors.EVENT_WRITE if pipe is self._process.stdin else selectors.EVENT_READ
            self._pipes.register(pipe, event)

    @property
    def status(self) -> int:
        return self._process.returncode

    def watch(self, call: Call) -> None:
        """Until it has ended, or may no longer go on."""
        began = time.monotonic()
        while not self._has_ended():
            self._exchange(_LOOK_S)
            if call.job.cancelled:
                raise CodeFailed("python: the code was stopped, because its job was cancelled or timed out")
            if call.job.timeout_s is not None and time.monotonic() - began > call.job.timeout_s:
                raise CodeFailed(f"python: the code ran longer than {call.job.timeout_s:g} s, and was stopped")
        while self._exchange(0):
            pass

    def end(self) -> None:
        """Its whole group goes, also what it has left running; it is buried last, so that no other has its number."""
        os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        self._pipes.close()
        for pipe in (self._process.stdin, self._process.stdout, self._process.stderr):
            assert pipe is not None
            pipe.close()

    def _has_ended(self) -> bool:
        return os.waitid(os.P_PID, self._process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None

    def _exchange(self, wait_s: float) -> bool:
        """Write and read what is possible; whether anything was read."""
        if not self._pipes.get_map():
            time.sleep(wait_s)
        has_read = False
        for key, _ in self._pipes.select(wait_s):
            pipe: IO[bytes] = key.fileobj  # type: ignore[assignment]
            if pipe is self._process.stdin:
                self._write(pipe)
            else:
                has_read = self._read(pipe) or has_read
        return has_read

    def _write(self, pipe: IO[bytes]) -> None:
        """All it is told; the pipe then stays open, and its end tells the process that this worker has died."""
        try:
            self._unsent = self._unsent[os.write(pipe.fileno(), self._unsent[:_PIECE]) :]
        except BrokenPipeError:
            self._unsent = self._unsent[:0]
        if not self._unsent:
            self._pipes.unregister(pipe)

    def _read(self, pipe: IO[bytes]) -> bool:
        piece = os.read(pipe.fileno(), _PIECE)
        if not piece:
            self._pipes.unregister(pipe)
        elif pipe is self._process.stdout:
            # what is too large is cut, and then cannot be read
            self.answer += piece[: self._most_bytes - len(self.answer)]
        else:
            self.printed = (self.printed + piece)[-_PRINTED:]
        return bool(piece)


def _result(child: _Child) -> Any:
    match _read_answer(child.answer):
        case {"result": result}:
            return result
        case {"error": error, "final": final}:
            raise (PermanentError if final else CodeFailed)(f"python: {error}")
    how = f"signal {-child.status}" if child.status < 0 else f"exit status {child.status}"
    raise CodeFailed(f"python: the code ended its process without a result ({how})")


def _read_answer(answer: bytearray) -> Any:
    try:
        return json.loads(answer)
    except ValueError:
        return None
