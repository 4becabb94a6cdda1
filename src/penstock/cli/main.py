"""The `penstock` command."""

import sys

import typer
from rich.console import Console

from penstock.cli import schema, worker
from penstock.errors import PenstockError

app = typer.Typer(
    name="penstock",
    help="Every message, webhook and database change becomes exactly one durable, leased, audited job in PostgreSQL.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
app.command("migrate")(schema.migrate_command)
app.command("worker")(worker.worker_command)


def main() -> None:
    """Run the command; our own errors are a message and exit code 1, never a traceback."""
    try:
        app()
    except PenstockError as error:
        Console(stderr=True, highlight=False).print(f"[bold red]penstock:[/] {error}", markup=True, soft_wrap=True)
        sys.exit(1)


if __name__ == "__main__":
    main()
