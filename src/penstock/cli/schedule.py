"""penstock schedule"""

from typing import Annotated

import typer

from penstock.cli.database import opened
from penstock.cli.options import Actor, AsJson, read_object
from penstock.cli.output import cell, show_json, show_table
from penstock.errors import BadSchedule
from penstock.kernel import schedules

app = typer.Typer(no_args_is_help=True, help="Jobs asked for by the clock: cron lines and intervals.")

ScheduleId = Annotated[str, typer.Argument(help="The schedule's name.", metavar="SCHEDULE")]


@app.command("list")
def list_command(json: AsJson = False) -> None:
    """Show every schedule, when it runs next, and what went wrong last.

    Example: penstock schedule list
    """
    with opened("schedule") as connection:
        found = schedules.schedule_list(connection)
    if json:
        show_json(found)
        return
    show_table(
        ("schedule", "when", "timezone", "kind", "enabled", "next run", "last run", "last job", "last error"),
        [
            (
                one.schedule_id,
                one.cron or f"every {cell(one.every)}",
                one.timezone,
                one.job.get("kind"),
                one.enabled,
                one.next_run_at,
                one.last_run_at,
                one.last_job_id,
                one.last_error,
            )
            for one in found
        ],
        empty="no schedules: make one with penstock schedule set",
    )


@app.command("set")
def set_command(
    schedule: ScheduleId,
    kind: Annotated[str, typer.Argument(help="The job kind to enqueue.", metavar="KIND")],
    cron: Annotated[str | None, typer.Option(help="Five fields: minute, hour, day, month, weekday.")] = None,
    every: Annotated[str | None, typer.Option(help="An interval such as 15 minutes.")] = None,
    timezone: Annotated[str, typer.Option(help="Whose clocks --cron means.")] = "UTC",
    payload: Annotated[str | None, typer.Option(help="The job's payload, a JSON object.")] = None,
    pool: Annotated[str | None, typer.Option(help="The job's pool; shared if left out.")] = None,
    lane: Annotated[str | None, typer.Option(help="The job's lane.")] = None,
    priority: Annotated[int | None, typer.Option(min=-32768, max=32767, help="Higher first.")] = None,
    executor: Annotated[str | None, typer.Option(help="The executor kind; PG_worker if left out.")] = None,
    enabled: Annotated[bool, typer.Option("--enabled/--disabled", help="A disabled schedule does nothing.")] = True,
    actor: Actor = None,
    json: AsJson = False,
) -> None:
    """Have the clock ask for a job, again and again. Replaces what a schedule of that name said.

    Example: penstock schedule set nightly send_report --cron "30 2 * * *" --timezone Europe/Berlin
    """
    if (cron is None) == (every is None):
        raise typer.BadParameter("give either --cron or --every", param_hint="--cron")
    job = {
        "kind": kind,
        "safe_payload": read_object(payload, "--payload"),
        "pool": pool,
        "lane": lane,
        "priority": priority,
        "executor": executor,
    }
    given = {name: value for name, value in job.items() if value is not None}
    with opened("schedule") as connection:
        next_run = schedules.schedule_set(
            connection, schedule, given, cron=cron, every=every, timezone=timezone, enabled=enabled, actor=actor
        )
    if json:
        show_json({"schedule_id": schedule, "enabled": enabled, "next_run_at": next_run})
    else:
        typer.echo(cell(f"{schedule}: next run {cell(next_run)}" if enabled else f"{schedule}: disabled"))


@app.command("drop")
def drop_command(schedule: ScheduleId, actor: Actor = None, json: AsJson = False) -> None:
    """Forget a schedule. Jobs it has asked for stay.

    Example: penstock schedule drop nightly
    """
    with opened("schedule") as connection:
        if not schedules.schedule_drop(connection, schedule, actor):
            raise BadSchedule(f"schedule {schedule} does not exist", "penstock schedule list shows them.")
    if json:
        show_json({"schedule_id": schedule, "dropped": True})
    else:
        typer.echo(cell(f"{schedule}: dropped"))
