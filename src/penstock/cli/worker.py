"""penstock worker"""

import atexit
import importlib
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from threading import Thread
from typing import Annotated

import typer

from penstock.cli.output import complain, waiting
from penstock.client import database_url
from penstock.errors import SettingsError, WorkerBroken
from penstock.jobs import JobFunction, handlers_of


def worker_command(
    app: Annotated[
        list[str], typer.Option(help="Module that holds @penstock.job handlers, e.g. shop.jobs. Repeatable.")
    ],
    pool: Annotated[
        list[str] | None, typer.Option(help="Serve only this pool. Repeatable; all pools if left out.")
    ] = None,
    executor: Annotated[str, typer.Option(help="The executor id to claim as.")] = "default",
    concurrency: Annotated[int, typer.Option(min=1, max=1000, help="How many handlers run at once.")] = 10,
    poll_ms: Annotated[
        int, typer.Option(min=1, max=60_000, help="How often to look for jobs when no wake-up comes.")
    ] = 500,
    grace_s: Annotated[float, typer.Option(min=0, help="How long handlers may go on after SIGTERM.")] = 30.0,
    while_stdin_open: Annotated[bool, typer.Option(hidden=True, help="Stop when standard input ends.")] = False,
) -> None:
    """Claim jobs and run their handlers until SIGTERM or Ctrl-C.

    Example: penstock worker --app shop.jobs --pool shared --concurrency 20
    """
    # its logging is slow to import, and no other command needs it
    import structlog

    from penstock.worker.loop import Worker, WorkerOptions

    _log_to_stderr()
    handlers = load_handlers(app)
    with waiting("starting PostgreSQL"):
        url = database_url()
    options = WorkerOptions(url, executor, tuple(pool) if pool else None, concurrency, poll_ms, grace_s)
    worker = Worker(options, handlers)
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: worker.stop())
    if while_stdin_open:
        Thread(target=_stop_at_end_of_input, args=[worker.stop], daemon=True).start()
    try:
        tally = worker.run()
        structlog.get_logger("penstock.worker").info(
            "stopped", succeeded=tally.succeeded, failed=tally.failed, released=tally.released, refused=tally.refused
        )
    except WorkerBroken as error:
        complain(error)
        raise typer.Exit(1) from error
    finally:
        if worker.runners.stuck:
            _leave(code=1 if sys.exc_info()[0] else 0)


def load_handlers(modules: list[str]) -> dict[str, JobFunction]:
    """Import the app modules and collect their handlers, by kind."""
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)
    handlers: dict[str, JobFunction] = {}
    for name in modules:
        try:
            module = importlib.import_module(name)
        except (ModuleNotFoundError, TypeError, ValueError) as error:
            if not _is_missing(name, error):
                raise
            raise SettingsError(
                f"--app {name}: there is no module of that name in {here} or on the Python path"
            ) from error
        for kind, function in handlers_of(module).items():
            if kind in handlers and handlers[kind] is not function:
                raise SettingsError(f"--app {name}: another module already has a handler for the job kind {kind!r}")
            handlers[kind] = function
    if not handlers:
        raise SettingsError(f"--app {', '.join(modules)}: no function there is decorated with @penstock.job(kind)")
    return handlers


def _is_missing(name: str, error: Exception) -> bool:
    """Whether the module itself is not there, rather than something it imports."""
    if isinstance(error, ModuleNotFoundError):
        return error.name is not None and f"{name}.".startswith(f"{error.name}.")
    return not all(part.isidentifier() for part in name.split("."))


def _leave(code: int) -> None:
    """End the process whatever the handlers it gave up still do: their threads would keep the interpreter alive."""
    atexit._run_exitfuncs()
    os._exit(code)


def _stop_at_end_of_input(stop: Callable[[], None]) -> None:
    # not sys.stdin: a thread that waits in it would break the interpreter's end
    while os.read(0, 1024):
        pass
    stop()


def _log_to_stderr() -> None:
    import logging

    import structlog

    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s %(message)s", stream=sys.stderr)
    structlog.configure(
        processors=[
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.dev.ConsoleRenderer(colors=sys.stderr.isatty()),
        ],
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
        cache_logger_on_first_use=True,
    )
