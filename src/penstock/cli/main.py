"""The `penstock` command."""

import errno
import os
import sys
from importlib.metadata import version
from typing import Annotated

import typer

from penstock.cli import (
    catalog,
    config,
    consumer,
    cut,
    dlq,
    doctor,
    event,
    execution,
    executor,
    explain,
    inbox,
    job,
    pool,
    route,
    schedule,
    schema,
    serve,
    subscribe,
    subscription,
    tick,
    token,
    up,
    worker,
)
from penstock.cli.demo.command import demo_command
from penstock.cli.output import complain
from penstock.cli.signals import end_in_order
from penstock.errors import PenstockError

_NO_ROOM = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO})

app = typer.Typer(
    name="penstock",
    help="Every message, webhook and database change becomes exactly one durable, leased, audited job in PostgreSQL.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
app.command("up")(up.up_command)
app.command("subscribe")(subscribe.subscribe_command)
app.command("demo")(demo_command)
app.command("doctor")(doctor.doctor_command)
app.command("migrate")(schema.migrate_command)
app.command("serve")(serve.serve_command)
app.command("worker")(worker.worker_command)
app.command("tick")(tick.tick_command)
app.command("validate")(catalog.validate_command)
app.command("exec")(execution.exec_command)
app.command("explain")(explain.explain_command)
app.command("cut")(cut.cut_command)
app.command("inbox")(inbox.inbox_command)
app.add_typer(catalog.app, name="catalog")
app.add_typer(subscription.app, name="subscription")
app.add_typer(execution.app, name="execution")
app.add_typer(job.app, name="job")
app.add_typer(dlq.app, name="dlq")
app.add_typer(event.app, name="event")
app.add_typer(consumer.app, name="consumer")
app.add_typer(route.app, name="route")
app.add_typer(executor.app, name="executor")
app.add_typer(schedule.app, name="schedule")
app.add_typer(pool.app, name="pool")
app.add_typer(config.app, name="config")
app.add_typer(token.app, name="token")


def _print_version(asked: bool) -> None:
    if asked:
        typer.echo(f"penstock {version('penstock')}")
        raise typer.Exit


@app.callback()
def penstock(
    show_version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """Nothing of its own to do: its options are those of all commands."""


def main() -> None:
    """Run the command; our own errors are a message and exit code 1, never a traceback."""
    _have_streams()
    end_in_order()
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    try:
        try:
            _run()
        finally:
            sys.stdout.flush()
    except BrokenPipeError:
        # whoever read us has left; what is still buffered must not be written at exit
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
    except OSError as error:
        if error.errno not in _NO_ROOM:
            raise
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        complain(f"cannot write: {error.strerror}")
        sys.exit(1)


def _have_streams() -> None:
    """A stream that was closed before we began (`>&-`) is one into nowhere."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w"))  # noqa: SIM115


def _run() -> None:
    try:
        "".join(sys.argv).encode()
    except UnicodeEncodeError:
        complain("the command line is not valid UTF-8")
        sys.exit(2)
    try:
        app()
    except PenstockError as error:
        complain(error)
        sys.exit(1)


if __name__ == "__main__":
    main()
