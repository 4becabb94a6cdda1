"""penstock explain"""

from typing import Annotated, Any

import typer

from penstock.cli.database import opened
from penstock.cli.options import AsJson
from penstock.cli.output import cell, show_facts, show_heading, show_json, show_table
from penstock.cli.words import decided
from penstock.errors import UnknownJob
from penstock.kernel import catalog, executions, reads
from penstock.kernel.connection import Connection
from penstock.kernel.executions import ExecutionView, IngestMessage


def explain_command(
    what: Annotated[
        str, typer.Argument(help="An execution's id, or a message's id with --subscription.", metavar="ID")
    ],
    subscription: Annotated[str | None, typer.Option(help="Whose message it is.", metavar="PATH")] = None,
    json: AsJson = False,
) -> None:
    """Why a message or an execution went where it went, from what was stored when it did.

    Example: penstock explain orders:0:42 --subscription subscriptions/orders
    """
    with opened("explain") as connection:
        message = _message(connection, what, subscription)
        one = executions.show(connection, message.execution_id if message else int(what))
        spec = _spec(connection, message)
        trail = reads.trail(connection, one.execution_id)
    reasons = _reasons(one, message, spec)
    if json:
        show_json({"execution": one, "message": _shown(message), "reasons": reasons, "trail": trail})
        return
    if message:
        show_heading("the message")
        show_facts(_shown(message) or {})
    show_heading("why")
    for reason in reasons:
        typer.echo(f"  {cell(reason)}")
    show_heading("what became of it")
    show_table(("when", "what", "attempt", "who"), [(h.happened_at, h.happening, h.attempt, h.actor) for h in trail])


def _message(connection: Connection, what: str, subscription: str | None) -> IngestMessage | None:
    if subscription is not None:
        found = executions.message_by_id(connection, subscription, what)
        if found is None:
            raise UnknownJob(
                f"{subscription} has made no execution of a message {what}",
                executions.why_none(connection, subscription, what)
                or "Nothing is known of it: it may not be read yet.",
            )
        return found
    if not what.isdecimal():
        raise typer.BadParameter(f"{what} is a message's id: say whose with --subscription PATH")
    return executions.message(connection, int(what))


def _spec(connection: Connection, message: IngestMessage | None) -> dict[str, Any]:
    if message is None:
        return {}
    entry = catalog.entry(connection, message.subscription, message.version)
    spec: dict[str, Any] = entry.content["spec"]
    return spec


def _reasons(one: ExecutionView, message: IngestMessage | None, spec: dict[str, Any]) -> list[str]:
    if message is None:
        return [f"it was started by {one.actor}, as {one.playbook_ref} in the pool {one.pool}"]
    directives = message.directives or {}
    said = decided(directives, spec["dispatch"]["playbook"], one.pool)
    said.append(f"so it runs {one.playbook_ref} in the pool {one.pool}")
    if one.trace:
        said.append(f"its trace is {one.trace}")
    return said


def _shown(message: IngestMessage | None) -> dict[str, Any] | None:
    """All but the body, which may be anything."""
    if message is None:
        return None
    return {
        "id": message.message_id,
        "subscription": f"{message.subscription}@{message.version}",
        "position": f"{message.part} at {message.source_offset}",
        "published": message.published_at,
        "committed": message.ingested_at,
        "bytes": None if message.body is None else len(message.body),
        "attributes": message.attributes,
    }
