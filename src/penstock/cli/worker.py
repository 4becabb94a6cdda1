"""penstock worker"""

import os
import signal
import sys
from collections.abc import Callable
from threading import Thread
from typing import TYPE_CHECKING, Annotated

import typer

from penstock.cli.apps import load_handlers
from penstock.cli.database import lend_database
from penstock.cli.logs import log_to_stderr
from penstock.cli.output import complain, waiting
from penstock.cli.signals import heed, leave
from penstock.client import database_url
from penstock.embedded import EmbeddedPostgres
from penstock.errors import WorkerBroken
from penstock.settings import read_settings

if TYPE_CHECKING:
    from penstock.worker.loop import Worker


def worker_command(
    app: Annotated[
        list[str] | None,
        typer.Option(
            help="Module that holds @penstock.job handlers, e.g. shop.jobs. Repeatable; only playbooks if left out."
        ),
    ] = None,
    pool: Annotated[
        list[str] | None, typer.Option(help="Serve only this pool. Repeatable; all pools if left out.")
    ] = None,
    executor: Annotated[str, typer.Option(help="The executor id to claim as.")] = "default",
    concurrency: Annotated[int, typer.Option(min=1, max=1000, help="How many handlers run at once.")] = 10,
    poll_ms: Annotated[
        int, typer.Option(min=1, max=60_000, help="How often to look for jobs when no wake-up comes.")
    ] = 500,
    grace_s: Annotated[float, typer.Option(min=0, help="How long handlers may go on after SIGTERM.")] = 30.0,
    spark_master: Annotated[str, typer.Option(help="Where the steps of the tool spark run.")] = "local[*]",
    while_stdin_open: Annotated[bool, typer.Option(hidden=True, help="Stop when standard input ends.")] = False,
) -> None:
    """Claim jobs and run their handlers until SIGTERM, SIGHUP or Ctrl-C; a second one ends the grace time.

    Example: penstock worker --app shop.jobs --pool shared --concurrency 20
    """
    # its logging is slow to import, and no other command needs it
    import structlog

    from penstock.worker.loop import Worker, WorkerOptions

    log_to_stderr()
    handlers = load_handlers(app or [])
    with waiting("starting PostgreSQL"):
        url = database_url()
    settings = read_settings()
    options = WorkerOptions(
        url,
        executor,
        tuple(pool) if pool else None,
        concurrency,
        poll_ms,
        grace_s,
        settings.credentials,
        spark_master,
        settings.home.expanduser().absolute(),
    )
    worker = Worker(options, handlers, revive=_revival())
    lend_database(url)
    _heed_signals(worker)
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
            leave(1 if sys.exc_info()[0] else 0)


def _revival() -> Callable[[], None] | None:
    """How to start the server again, when it is the embedded one."""
    settings = read_settings()
    return EmbeddedPostgres(settings.data_folder).revive if settings.database_url is None else None


def _heed_signals(worker: "Worker") -> None:
    def react(number: int) -> None:
        # a closing terminal hangs up twice by itself: that is no hurry
        if worker.is_stopping and number != signal.SIGHUP:
            worker.hurry()
        else:
            worker.stop()

    heed(react)


def _stop_at_end_of_input(stop: Callable[[], None]) -> None:
    # not sys.stdin: a thread that waits in it would break the interpreter's end
    while os.read(0, 1024):
        pass
    stop()
