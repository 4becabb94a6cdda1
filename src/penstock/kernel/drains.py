"""Messages that steps poll: whose they are, until they are acknowledged."""

from collections.abc import Sequence

from penstock.kernel.connection import Connection, translated


def take(connection: Connection, job_id: int, token: int, place: str, messages: Sequence[str]) -> dict[str, str]:
    """fn_drain_take: those that are another result's, `kept` or `held`."""
    with translated(connection):
        rows = connection.execute(
            "select message, standing from penstock.fn_drain_take(%s::bigint, %s::bigint, %s::text, %s::text[])",
            [job_id, token, place, list(messages)],
        ).fetchall()
    return {str(message): str(standing) for message, standing in rows}


def done(connection: Connection, place: str, messages: Sequence[str]) -> None:
    """fn_drain_done."""
    with translated(connection):
        connection.execute("select penstock.fn_drain_done(%s::text, %s::text[])", [place, list(messages)])
