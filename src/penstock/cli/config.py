"""penstock config"""

from typing import Annotated

import typer

from penstock.cli.database import opened
from penstock.cli.options import Actor, AsJson
from penstock.cli.output import cell, show_json, show_table
from penstock.errors import BadConfig
from penstock.kernel import admin

app = typer.Typer(no_args_is_help=True, help="The queue's settings: retries, leases, limits and switches.")

Key = Annotated[str, typer.Argument(help="A setting such as queue.retry.max_attempts.default.", metavar="KEY")]


@app.command("list")
def list_command(json: AsJson = False) -> None:
    """Show every setting and who changed it last.

    Example: penstock config list
    """
    with opened("config") as connection:
        settings = admin.config_list(connection)
    if json:
        show_json(settings)
    else:
        show_table(("key", "value", "updated", "by"), [(s.key, s.value, s.updated_at, s.updated_by) for s in settings])


@app.command("get")
def get_command(key: Key, json: AsJson = False) -> None:
    """Print the value of one setting.

    Example: penstock config get queue.lease_ms.default
    """
    with opened("config") as connection:
        setting = admin.config_get(connection, key)
    if setting is None:
        raise BadConfig(f"{key} is not set", "penstock config list shows what is.")
    if json:
        show_json(setting)
    else:
        typer.echo(cell(setting.value))


@app.command("set")
def set_command(
    key: Key,
    value: Annotated[str | None, typer.Argument(help="Its new value.", metavar="VALUE")] = None,
    unset: Annotated[bool, typer.Option("--unset", help="Take a setting of one job kind away.")] = False,
    actor: Actor = None,
    json: AsJson = False,
) -> None:
    """Change one setting; it holds from the next claim, beat or retry on.

    Example: penstock config set queue.retry.max_attempts.send_invoice 8
    """
    if (value is None) != unset:
        raise typer.BadParameter("give either a value or --unset", param_hint="VALUE")
    with opened("config") as connection:
        before = admin.config_set(connection, key, value, actor)
    if json:
        show_json({"key": key, "value": value, "before": before})
    else:
        typer.echo(cell(f"{key}: {_shown(before)} -> {_shown(value)}"))


def _shown(value: str | None) -> str:
    return "unset" if value is None else value
