"""penstock up"""

from typing import Annotated

import typer

from penstock.cli.options import Master, MetricsPort


def up_command(
    app: Annotated[
        list[str] | None,
        typer.Option(help="Module with @penstock.job handlers for the worker. Repeatable; only playbooks if left out."),
    ] = None,
    concurrency: Annotated[int, typer.Option(min=1, max=1000, help="How many handlers run at once.")] = 10,
    master: Master = "local[2]",
    nats: Annotated[bool, typer.Option("--nats", help="Run the embedded NATS server too.")] = False,
    metrics_port: MetricsPort = None,
) -> None:
    """Run everything in the foreground: PostgreSQL, a worker, and all active subscriptions in one Spark application.

    It ends in order at SIGTERM, SIGHUP or Ctrl-C, and the subscriptions stay ACTIVE; a second one ends it at once.

    Example: penstock up --app shop.jobs
    """
    # Spark takes seconds to import, and so does logging; no other command needs both
    from penstock.cli.stack import run_stack

    words = [*(word for module in app or [] for word in ("--app", module)), "--concurrency", str(concurrency)]
    run_stack(words, master=master, with_nats=nats, metrics_port=metrics_port)
