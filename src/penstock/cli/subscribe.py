"""penstock subscribe"""

from pathlib import Path
from typing import Annotated

import typer

from penstock.cli.options import AsJson, Master, ServerUrl, TokenAlias, server_of
from penstock.cli.output import show_facts, show_json
from penstock.cli.tally import Sent, Tally

_SELDOM = ("cancelled", "known already")


def subscribe_command(
    file: Annotated[Path, typer.Argument(help="A file with one subscription; its playbooks are in it or beside it.")],
    once: Annotated[bool, typer.Option("--once", help="Read what is there, run it, then end.")] = False,
    max_messages: Annotated[int | None, typer.Option(min=1, help="End after so many messages.")] = None,
    events: Annotated[
        Path | None, typer.Option(help="Append every event to this file, one JSON object a line.", metavar="FILE")
    ] = None,
    nats: Annotated[bool, typer.Option("--nats", help="Run the embedded NATS server too.")] = False,
    concurrency: Annotated[
        int | None, typer.Option(min=1, max=1000, help="How many handlers run at once.", show_default="10")
    ] = None,
    master: Master = "local[2]",
    server_url: ServerUrl = None,
    token_alias: TokenAlias = None,
    json: AsJson = False,
) -> None:
    """Run one subscription file here and now: PostgreSQL, Spark and a worker, all of it gone when it ends.

    It registers the file and the playbooks beside it, activates, reads and runs; Ctrl-C ends it in order. At the end it
    says what became of the messages. With --server-url it only reads here: the messages become executions there.

    Example: penstock subscribe orders.yaml --once --events trail.jsonl
    """
    # Spark takes seconds to import, and so does logging; no other command needs both
    from penstock.cli.local import LocalRun, run_local

    asked = LocalRun(file, once, max_messages, events, nats, concurrency, master)
    server = server_of(server_url, token_alias)
    if server is None:
        done: Tally | Sent = run_local(asked)
    else:
        from penstock.cli.off_cluster import run_elsewhere

        done = run_elsewhere(asked, server)
    if json:
        show_json(done)
    else:
        show_facts(_facts(done))


def _facts(done: Tally | Sent) -> dict[str, int | None]:
    """What there hardly ever is stands there only if there was any."""
    shown = {name.replace("dead_lettered", "dead-lettered").replace("_", " "): one for name, one in vars(done).items()}
    return {name: one or None if name in _SELDOM else one for name, one in shown.items()}
