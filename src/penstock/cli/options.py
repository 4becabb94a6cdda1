"""Options and arguments that several commands share."""

import json
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from penstock.model import Json

if TYPE_CHECKING:
    from penstock.pipeline.books import Server

LARGEST_ID = 2**63 - 1

Status = Literal[
    "blocked",
    "scheduled",
    "ready",
    "leased",
    "running",
    "awaiting",
    "retrying",
    "succeeded",
    "dead_lettered",
    "cancelled",
]

AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON document instead of a table.")]
Actor = Annotated[
    str | None,
    typer.Option(help="On whose behalf, such as user:ann. Your database role if left out.", metavar="ACTOR"),
]
JobIds = Annotated[list[int], typer.Argument(min=1, max=LARGEST_ID, help="One or more job ids.", metavar="JOB_ID")]
JobId = Annotated[int, typer.Argument(min=1, max=LARGEST_ID, help="The job's id.", metavar="JOB_ID")]
Master = Annotated[str, typer.Option(help="Where Spark runs: local[2], spark://host:7077, k8s://…")]
MetricsPort = Annotated[
    int | None,
    typer.Option(
        min=1, max=65535, help="Serve metrics for Prometheus at this port; PENSTOCK_METRICS_PORT if left out."
    ),
]
ServerUrl = Annotated[
    str | None, typer.Option(help="Do it over this server's API, without a database connection.", metavar="URL")
]
TokenAlias = Annotated[
    str | None, typer.Option(help="With --server-url: the credential that holds its token.", metavar="ALIAS")
]
Limit = Annotated[int, typer.Option(min=1, max=1000, help="At most this many.")]


def server_of(url: str | None, token_alias: str | None) -> "Server | None":
    """The server both options name; one without the other is a usage error."""
    if url is None and token_alias is None:
        return None
    if url is None or token_alias is None:
        raise typer.BadParameter("--server-url and --token-alias go together")
    from penstock.pipeline.books import Server

    return Server(url, token_alias)


def read_object(text: str | None, option: str) -> Json | None:
    """An option's JSON object; anything else is a usage error."""
    if text is None:
        return None
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise typer.BadParameter(f"{text!r} is not JSON: {error}", param_hint=option) from error
    if not isinstance(value, dict):
        raise typer.BadParameter(f'{text!r} is not a JSON object such as {{"order": 7}}', param_hint=option)
    return value
