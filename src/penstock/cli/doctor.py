"""penstock doctor"""

from functools import partial

import typer

from penstock.cli import checks
from penstock.cli.checks import Check, failed, guarded
from penstock.cli.options import AsJson
from penstock.cli.output import show_json, show_line, waiting
from penstock.client import database_url
from penstock.errors import PenstockError, SettingsError
from penstock.kernel import health
from penstock.kernel.connection import Connection, connect
from penstock.settings import Settings, read_settings


def doctor_command(json: AsJson = False) -> None:
    """Check the machine, the server and the queue; name what is missing and how to get it. Exits 1 on a failure.

    Example: penstock doctor
    """
    found = _examine()
    fine = all(check.state != "fail" for check in found)
    if json:
        show_json({"ok": fine, "checks": found})
    else:
        _show(found)
    if not fine:
        raise typer.Exit(1)


def _examine() -> list[Check]:
    found = [checks.python_check()]
    try:
        settings = read_settings()
        with waiting("starting PostgreSQL"):
            url = database_url()
        with connect(url, application="penstock doctor") as connection:
            return found + _examine_server(connection, settings)
    except SettingsError as error:
        return [*found, failed("settings", error)]
    except PenstockError as error:
        return [*found, failed("postgresql", error)]


def _examine_server(connection: Connection, settings: Settings) -> list[Check]:
    embedded = settings.database_url is None
    server = health.server(connection)
    where = f"embedded in {settings.data_folder}" if embedded else "PENSTOCK_DATABASE_URL"
    found = [checks.version_check(server, where)]
    if found[0].state == "fail":
        return found
    if embedded:
        found.append(checks.disk_check(settings.data_folder))
    found += checks.settings_checks(server, embedded=embedded)
    for name, look in (("transactions", checks.transaction_checks), ("clock", checks.clock_checks)):
        found += guarded(name, partial(look, connection))
    return found + _examine_queue(connection)


def _examine_queue(connection: Connection) -> list[Check]:
    found = guarded("roles", partial(checks.role_checks, connection))
    schema = guarded("schema", partial(checks.schema_checks, connection))
    found += schema
    if schema[0].state != "ok":
        return found
    for name, look in (
        ("partitions", checks.partition_checks),
        ("workers", checks.worker_checks),
        ("queue", checks.queue_checks),
    ):
        found += guarded(name, partial(look, connection))
    return found


def _show(found: list[Check]) -> None:
    width = max(len(check.check) for check in found)
    for check in found:
        show_line(check.state, f"{check.check.ljust(width)}  {check.said}")
        if check.advice is not None:
            show_line("", f"{' ' * width}  -> {check.advice}")
    count = {state: sum(check.state == state for check in found) for state in ("ok", "warn", "fail")}
    typer.echo(f"\n{count['ok']} ok, {count['warn']} to look at, {count['fail']} failed")
