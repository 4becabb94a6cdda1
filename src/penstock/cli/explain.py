"""penstock explain"""

from typing import Annotated

import typer

from penstock.cli.database import opened
from penstock.cli.explanation import explained, show_explanation
from penstock.cli.options import AsJson
from penstock.cli.output import show_json
from penstock.errors import UnknownJob
from penstock.kernel import executions
from penstock.kernel.connection import Connection


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
        found = explained(connection, _execution_id(connection, what, subscription))
    if json:
        show_json({**vars(found), "trail": found.trail.lines, "trail_left_out": found.trail.left_out})
    else:
        show_explanation(found)


def _execution_id(connection: Connection, what: str, subscription: str | None) -> int:
    if subscription is not None:
        found = executions.message_by_id(connection, subscription, what)
        if found is None:
            raise UnknownJob(
                f"{subscription} has made no execution of a message {what}",
                executions.why_none(connection, subscription, what)
                or "Nothing is known of it: it may not be read yet.",
            )
        return found.execution_id
    if not what.isdecimal():
        raise typer.BadParameter(f"{what} is a message's id: say whose with --subscription PATH")
    return int(what)
