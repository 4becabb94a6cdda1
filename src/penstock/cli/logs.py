"""A worker's output, which never fails: whoever read it may leave, a disk may be full, and jobs must go on."""

import io
import logging
import sys
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer


class _Tireless(io.FileIO):
    """Takes whatever is written to it; what cannot be passed on is lost."""

    def write(self, data: "ReadableBuffer", /) -> int:
        size = memoryview(data).nbytes
        try:
            written = super().write(data)
        except OSError:
            return size
        # None: a pipe that takes nothing now. A worker does not wait for its reader
        return size if written is None else written


def tireless(stream: TextIO) -> TextIO:
    """The same file behind a text stream that never raises."""
    raw = _Tireless(stream.fileno(), "w", closefd=False)
    return io.TextIOWrapper(
        io.BufferedWriter(raw), encoding=stream.encoding, errors="backslashreplace", line_buffering=True
    )


def log_to_stderr() -> None:
    """Have all logging on stderr; from here on neither it nor what handlers print can fail."""
    import structlog

    # one for the logs alone: nothing a handler does to sys.stderr can close it
    output = tireless(sys.stderr)
    sys.stdout, sys.stderr = tireless(sys.stdout), tireless(sys.stderr)
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s %(message)s", stream=output)
    structlog.configure(
        processors=[
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            # a plain traceback: the rich one shows local variables, and the database's password may be among them
            structlog.dev.ConsoleRenderer(colors=output.isatty(), exception_formatter=structlog.dev.plain_traceback),
        ],
        logger_factory=structlog.PrintLoggerFactory(output),
        cache_logger_on_first_use=True,
    )
