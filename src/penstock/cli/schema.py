"""penstock migrate"""

import typer

from penstock.client import database_url
from penstock.kernel.connection import connect
from penstock.kernel.migrate import migrate


def migrate_command() -> None:
    """Bring the database to this version's schema. Safe to run twice, and by two at once.

    Example: PENSTOCK_DATABASE_URL=postgresql://db/shop penstock migrate
    """
    with connect(database_url(), application="penstock migrate") as connection:
        applied = migrate(connection)
    for migration in applied:
        typer.echo(f"applied {migration.version:04} {migration.name}")
    typer.echo("the schema is up to date" if not applied else "the schema is now up to date")
