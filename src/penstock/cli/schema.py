"""penstock migrate"""

import typer

from penstock.cli.database import opened
from penstock.cli.options import AsJson
from penstock.cli.output import show_json, waiting
from penstock.kernel.migrate import migrate


def migrate_command(json: AsJson = False) -> None:
    """Bring the database to this version's schema. Safe to run twice, and by two at once.

    Example: PENSTOCK_DATABASE_URL=postgresql://db/shop penstock migrate
    """
    with opened("migrate", migrated=False) as connection, waiting("migrating"):
        applied = migrate(connection)
    if json:
        show_json({"applied": [{"version": one.version, "name": one.name} for one in applied]})
        return
    for migration in applied:
        typer.echo(f"applied {migration.version:04} {migration.name}")
    typer.echo("the schema is up to date" if not applied else "the schema is now up to date")
