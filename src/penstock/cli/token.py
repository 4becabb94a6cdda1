"""penstock token"""

from datetime import UTC, datetime
from typing import Annotated

import typer

from penstock.cli.database import opened
from penstock.cli.options import Actor, AsJson
from penstock.cli.output import cell, show_json, show_table
from penstock.kernel import tokens

app = typer.Typer(no_args_is_help=True, help="Tokens of the HTTP API: who may use it, and for what.")


@app.command("create")
def create_command(
    actor: Annotated[str, typer.Option(help="For whom it speaks, such as agent:ingest_eu.")],
    scope: Annotated[list[str], typer.Option(help="What it opens: execute, events, internal, metrics. Repeatable.")],
    expires: Annotated[
        str | None, typer.Option(help="When it ends, such as 2030-01-31 or 2030-01-31T12:00+02:00; UTC without a zone.")
    ] = None,
    path: Annotated[
        list[str] | None,
        typer.Option(help="A subscription that internal opens, such as subscriptions/orders; all if none. Repeatable."),
    ] = None,
    note: Annotated[str | None, typer.Option(help="What it is for.")] = None,
    json: AsJson = False,
) -> None:
    """Make a token and print it. This is the only time it is shown.

    Example: penstock token create --actor agent:ingest_eu --scope internal --expires 2030-01-31
    """
    ends = None if expires is None else _time(expires)
    with opened("token") as connection:
        token_id, text = tokens.create(connection, actor, scope, expires_at=ends, note=note, paths=path or None)
    if json:
        made = {"token_id": token_id, "token": text, "actor": actor, "scopes": scope, "paths": path or None}
        show_json(made | {"expires_at": ends})
        return
    typer.echo(text)
    typer.echo(cell(f"token {token_id} speaks for {actor}. Keep it: it is not shown again."), err=True)


@app.command("list")
def list_command(json: AsJson = False) -> None:
    """Show every token, without what would open anything.

    Example: penstock token list
    """
    with opened("token") as connection:
        found = tokens.listed(connection)
    if json:
        show_json(found)
        return
    show_table(
        ("token", "actor", "scopes", "paths", "state", "created", "expires", "note"),
        [_row(one) for one in found],
    )


@app.command("revoke")
def revoke_command(
    token: Annotated[str, typer.Argument(help="The token's id, as the list shows it.", metavar="TOKEN_ID")],
    actor: Actor = None,
    json: AsJson = False,
) -> None:
    """Let a token open nothing any more, from the next request on.

    Example: penstock token revoke mzxw6ytboi4dqmrq
    """
    with opened("token") as connection:
        now = tokens.revoke(connection, token, actor)
    if json:
        show_json({"token_id": token, "revoked_now": now})
    else:
        typer.echo(cell(f"{token} is revoked" if now else f"{token} was revoked before"))


def _row(one: tokens.Token) -> tuple[object, ...]:
    opened_by = (" ".join(one.scopes), None if one.paths is None else " ".join(one.paths))
    return (one.token_id, one.actor, *opened_by, one.state, one.created_at, one.expires_at, one.note)


def _time(text: str) -> datetime:
    try:
        read = datetime.fromisoformat(text)
    except ValueError as error:
        raise typer.BadParameter(f"{text!r} is not a time such as 2030-01-31", param_hint="--expires") from error
    return read if read.tzinfo is not None else read.replace(tzinfo=UTC)
