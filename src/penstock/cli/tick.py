"""penstock tick"""

import typer

from penstock.cli.database import opened
from penstock.cli.options import AsJson
from penstock.cli.output import show_json, show_table
from penstock.kernel import queue


def tick_command(json: AsJson = False) -> None:
    """Do once what the clock drives: due jobs, ended leases, silent workers, schedules, sweepers, partitions.

    A running worker does this every second; so can cron. Exits 1 when a part failed.

    Example: penstock tick --json
    """
    with opened("tick") as connection:
        report = queue.tick(connection)
    parts = {name: outcome for name, outcome in report.items() if isinstance(outcome, dict)}
    if json:
        show_json(report)
    elif not parts:
        typer.echo(f"nothing done: {report.get('skipped')}")
    else:
        show_table(("part", "state", "did"), [_row(name, outcome) for name, outcome in parts.items()])
    if any(not outcome.get("ok") for outcome in parts.values()):
        raise typer.Exit(1)


def _row(name: str, outcome: dict[str, object]) -> tuple[str, str, object]:
    return (name, "ok", outcome.get("did")) if outcome.get("ok") else (name, "fail", outcome.get("error"))
