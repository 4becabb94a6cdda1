"""penstock pool"""

from typing import Annotated

import typer

from penstock.cli.database import opened
from penstock.cli.options import Actor, AsJson
from penstock.cli.output import cell, show_json, show_table
from penstock.kernel import admin

app = typer.Typer(no_args_is_help=True, help="Pools: shares of capacity that jobs name and workers serve.")


@app.command("list")
def list_command(json: AsJson = False) -> None:
    """Show every pool.

    Example: penstock pool list
    """
    with opened("pool") as connection:
        pools = admin.pool_list(connection)
    if json:
        show_json(pools)
    else:
        show_table(("pool", "note", "set by", "set"), [(p.pool, p.note, p.set_by, p.set_at) for p in pools])


@app.command("set")
def set_command(
    pool: Annotated[str, typer.Argument(help="Lower-case letters, digits, _ and -.", metavar="POOL")],
    note: Annotated[str | None, typer.Option(help="What it is for.")] = None,
    actor: Actor = None,
    json: AsJson = False,
) -> None:
    """Make a pool, or change its note.

    Example: penstock pool set imports --note "nightly files"
    """
    with opened("pool") as connection:
        admin.pool_set(connection, pool, note, actor)
    if json:
        show_json({"pool": pool, "note": note})
    else:
        typer.echo(cell(f"pool {pool} is there: serve it with penstock worker --pool {pool}"))
