"""penstock inbox"""

from typing import Annotated

import typer

from penstock.cli.database import opened
from penstock.cli.options import AsJson, Limit
from penstock.cli.output import show_json, show_table
from penstock.kernel import events


def inbox_command(
    recipient: Annotated[str, typer.Argument(help="Whose, such as role:kg_indexer.", metavar="RECIPIENT")],
    read: Annotated[bool, typer.Option("--read", help="What is shown is read from now on.")] = False,
    limit: Limit = 50,
    json: AsJson = False,
) -> None:
    """Show the events a recipient has not read: what its subscriptions give it, and broadcasts.

    Example: penstock inbox role:kg_indexer --read
    """
    with opened("inbox") as connection:
        found = events.inbox(connection, recipient, limit)
        if read and found:
            events.mark_read(connection, recipient, [one.event_id for one in found])
    if json:
        show_json(found)
        return
    show_table(
        ("event", "type", "stream", "subject", "actor", "recorded", "by"),
        [
            (
                one.event_id,
                f"{one.event_domain}.{one.event_type}",
                one.event_stream,
                " ".join(part for part in (one.subject_table, one.subject_ref) if part),
                one.actor,
                one.created_at,
                one.rule,
            )
            for one in found
        ],
        empty="nothing unread",
    )
