"""penstock subscription"""

from collections.abc import Callable
from typing import Annotated

import typer

from penstock.catalog.entry import cautions_of, unused_of
from penstock.cli.catalog import Files, read_files, register_files, show_registered
from penstock.cli.database import opened
from penstock.cli.options import Actor, AsJson, Master, MetricsPort, ServerUrl, TokenAlias, server_of
from penstock.cli.output import cell, show_facts, show_heading, show_json, show_table
from penstock.cli.plans import explain_command, try_command
from penstock.errors import SettingsError
from penstock.kernel import catalog, subscriptions
from penstock.kernel.subscriptions import SubscriptionView

app = typer.Typer(no_args_is_help=True, help="Subscriptions: where messages come from, and what each one runs.")

SubscriptionPath = Annotated[str, typer.Argument(help="The subscription's path.", metavar="PATH")]


@app.command("register")
def register_command(files: Files, actor: Actor = None, json: AsJson = False) -> None:
    """Register subscriptions, with the playbooks in the same files. The same file again changes nothing.

    Example: penstock subscription register orders.yaml
    """
    if not any(one.kind == "Subscription" for one in read_files(files)):
        raise SettingsError(
            f"{', '.join(map(str, files))}: there is no subscription in it\nRun: penstock catalog register"
        )
    show_registered(register_files(files, actor), json)


@app.command("list")
def list_command(json: AsJson = False) -> None:
    """Show every subscription: its state, and whether a runtime holds it.

    Example: penstock subscription list
    """
    with opened("subscription") as connection:
        found = subscriptions.listed(connection)
    if json:
        show_json(found)
        return
    show_table(
        ("path", "state", "source", "running", "waiting", "per second", "executions", "dead letters", "last commit"),
        [
            (
                one.path,
                one.state,
                one.source,
                one.is_running,
                one.backlog,
                one.rate,
                one.executions,
                one.dead_letters_open,
                one.last_commit_at,
            )
            for one in found
        ],
        empty="no subscriptions: penstock subscription register FILE",
    )


@app.command("show")
def show_command(path: SubscriptionPath, json: AsJson = False) -> None:
    """Show a subscription whole: state, lag, rate, counts, the ledger, and what happened to it last.

    Example: penstock subscription show subscriptions/orders
    """
    with opened("subscription") as connection:
        one = subscriptions.show(connection, path)
        ledger = subscriptions.positions(connection, path)
        history = subscriptions.history(connection, path)
        content = catalog.entry(connection, path, one.version).content
    unused, cautions = unused_of("Subscription", content), cautions_of(content)
    if json:
        show_json(
            {"subscription": one, "positions": ledger, "history": history, "unused": unused, "cautions": cautions}
        )
        return
    show_facts(_facts(one) | {"not used yet": ", ".join(unused) or None, "mind": "; ".join(cautions) or None})
    show_heading("ledger")
    show_table(
        ("part", "next offset", "moved"), [(at.part, at.next_offset, at.moved_at) for at in ledger], empty="empty"
    )
    show_heading("what happened last")
    show_table(("when", "what", "who", "detail"), [(h.happened_at, h.happening, h.actor, h.detail) for h in history])


def _facts(one: SubscriptionView) -> dict[str, object]:
    return {
        "path": one.path,
        "state": one.state,
        "version": one.version,
        "source": f"{one.source}, {one.mode}, {one.activation}",
        "held until": one.lease_until if one.is_running else "nobody holds it",
        "waiting at the source": one.backlog,
        "stalled": one.is_stalled or None,
        "messages per second": one.rate if one.rate is not None else "none came within the last minute",
        "last commit": one.last_commit_at,
        "received": one.received,
        "executions": one.executions,
        "deduplicated": one.deduplicated,
        "dead letters": f"{one.dead_lettered}, {one.dead_letters_open} of them open",
        "known already": one.replays,
        "batches": one.batches,
    }


def _mover(action: str, does: str) -> Callable[..., None]:
    def move(path: SubscriptionPath, actor: Actor = None, json: AsJson = False) -> None:
        with opened("subscription") as connection:
            state = subscriptions.move(connection, path, action, actor)
            cautions = cautions_of(catalog.entry(connection, path).content) if state == "ACTIVE" else ()
        if json:
            show_json({"path": path, "state": state})
        else:
            typer.echo(cell(f"{path} is {state}"))
            for caution in cautions:
                typer.echo(cell(f"mind: {caution}"), err=True)

    move.__doc__ = f"{does}\n\nExample: penstock subscription {action} subscriptions/orders"
    return move


for _action, _does in {
    "activate": "Let a runtime read it; a scheduled one is drained by its cadence.",
    "pause": "Stop reading, within two seconds; positions, keys and identities stay.",
    "resume": "Read on after a pause.",
    "drain": "Finish what is under way, then deactivate.",
    "deactivate": "Stop reading until it is activated again.",
}.items():
    app.command(_action)(_mover(_action, _does))


@app.command("run")
def run_command(
    path: SubscriptionPath,
    once: Annotated[bool, typer.Option("--once", help="Read what is there, then end.")] = False,
    wait: Annotated[
        int,
        typer.Option(min=0, help="Wait for a place another runtime holds, so many seconds.", metavar="SECONDS"),
    ] = 0,
    master: Master = "local[2]",
    metrics_port: MetricsPort = None,
    server_url: ServerUrl = None,
    token_alias: TokenAlias = None,
) -> None:
    """Hold a subscription open: read its source until SIGTERM, a drain, or its end. SIGTERM leaves it ACTIVE.

    Example: penstock subscription run subscriptions/orders
    """
    server = server_of(server_url, token_alias)
    # Spark takes seconds to import, and no other command needs it
    if server is not None:
        from penstock.cli.off_cluster import run_off_cluster

        state = run_off_cluster(path, server, once=once, master=master, metrics_port=metrics_port, wait_s=wait)
    else:
        from penstock.cli.runtime import run_subscription

        state = run_subscription(path, once=once, master=master, metrics_port=metrics_port, wait_s=wait)
    typer.echo(cell(f"{path} is {state}"))


app.command("explain")(explain_command)
app.command("test")(try_command)
