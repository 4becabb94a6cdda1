"""One line on a terminal that says how far a command is, and above it what is worth reading of what is said meanwhile.

While it is shown, this process's standard error is a pipe that ends here, and so is that of whatever it starts.
"""

import atexit
import os
import re
import select
from contextlib import suppress
from threading import Thread
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.live import Live
from rich.spinner import Spinner
from rich.text import Text

from penstock.cli.logs import tireless
from penstock.cli.output import printable
from penstock.embedded.logfile import MAX_BYTES, LogFile

_STDERR = 2
_CHUNK = 65536
_FRAMES = 10
# the cursor, at the beginning of an empty line
_AS_IT_WAS = b"\r\x1b[K\x1b[?25h"
_COLOURS = re.compile(r"\x1b\[[0-9;]*m")
# what goes as it should, and what a JVM and Spark say of themselves when they begin
_PLAIN = re.compile(
    r"\S+ \[(?:info|debug) *\] |\S+ \S+ (?:INFO|DEBUG) "
    r"|WARNING: |NOTE: |Picked up |Setting default log level to |To adjust logging level use "
)


class Line:
    """On a terminal a line that changes, warnings above it, and all that is said in a file; elsewhere nothing."""

    def __init__(self, log: LogFile) -> None:
        self._log = log
        self._shown: _Shown | None = None

    def __enter__(self) -> Self:
        if Console(stderr=True).is_terminal:
            self._shown = _Shown(self._log)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._shown is not None:
            self._shown.end()

    @property
    def is_shown(self) -> bool:
        return self._shown is not None

    def says(self, text: str) -> None:
        if self._shown is not None:
            self._shown.says(text)


class _Shown:
    def __init__(self, log: LogFile) -> None:
        self._log = _Kept(log)
        self._terminal = os.dup(_STDERR)
        # a terminal may be closed while we go on
        console = Console(file=tireless(os.fdopen(self._terminal, "w", closefd=False)), highlight=False)
        console.print(Text(f"All that is said meanwhile is in {log.path}; warnings are shown here."), soft_wrap=True)
        self._console = console
        self._spinner = Spinner("dots", "starting")
        # what this process prints goes where it always does: the summary may be for a file
        self._live = Live(
            self._spinner,
            console=console,
            refresh_per_second=_FRAMES,
            transient=True,
            redirect_stdout=False,
            redirect_stderr=False,
        )
        self._heard, pipe = os.pipe()
        self._ended, self._end = os.pipe()
        os.dup2(pipe, _STDERR)
        os.close(pipe)
        self._thread = Thread(target=self._listen, name="said", daemon=True)
        self._thread.start()
        self._live.start()
        atexit.register(self._leave)

    def says(self, text: str) -> None:
        self._spinner.update(text=text)

    def end(self) -> None:
        """What was said is shown or kept, and the terminal is as it was."""
        atexit.unregister(self._leave)
        os.dup2(self._terminal, _STDERR)
        os.close(self._end)
        self._thread.join()
        self._live.stop()
        for one in (self._heard, self._ended, self._terminal):
            os.close(one)
        self._log.close()

    def _leave(self) -> None:
        """In a hurry, whatever the other threads hold."""
        os.dup2(self._terminal, _STDERR)
        with suppress(OSError):
            os.write(self._terminal, _AS_IT_WAS)

    def _listen(self) -> None:
        """Until it has ended and nothing is left: others may keep their side of the pipe open."""
        rest = b""
        while self._heard in select.select([self._heard, self._ended], [], [])[0]:
            read = os.read(self._heard, _CHUNK)
            if not read:
                break
            *lines, rest = (rest + read).split(b"\n")
            if len(rest) > _CHUNK:
                lines, rest = [*lines, rest], b""
            for line in lines:
                self._pass_on(line)
        if rest:
            self._pass_on(rest)

    def _pass_on(self, line: bytes) -> None:
        self._log.write(line)
        text = _COLOURS.sub("", line.decode(errors="replace")).rstrip()
        if text and not _PLAIN.match(text):
            self._console.print(Text(printable(text, keep="\t")), soft_wrap=True)


class _Kept:
    """A file of a bounded size. What cannot be written is lost: the command goes on."""

    def __init__(self, log: LogFile) -> None:
        self._log = log
        log.path.parent.mkdir(parents=True, exist_ok=True)
        log.turn()
        self._file = log.opened()

    def write(self, line: bytes) -> None:
        with suppress(OSError):
            self._file.write(line + b"\n")
            self._file.flush()
            if self._file.tell() > MAX_BYTES:
                self._file.close()
                self._log.turn()
                self._file = self._log.opened()

    def close(self) -> None:
        with suppress(OSError):
            self._file.close()
