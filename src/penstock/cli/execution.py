"""penstock exec, penstock execution"""

from typing import Annotated

import typer

from penstock.cli.database import opened
from penstock.cli.options import LARGEST_ID, Actor, AsJson, Limit, read_object
from penstock.cli.output import cell, show_facts, show_heading, show_json, show_table
from penstock.kernel import executions, reads

app = typer.Typer(no_args_is_help=True, help="Executions: runs of playbooks.")

ExecutionId = Annotated[int, typer.Argument(min=1, max=LARGEST_ID, help="The execution's id.", metavar="ID")]


def exec_command(
    playbook: Annotated[str, typer.Argument(help="The playbook's path.", metavar="PLAYBOOK")],
    payload: Annotated[str | None, typer.Option(help="The input, a JSON object.")] = None,
    key: Annotated[str | None, typer.Option(help="Same playbook tool and key: same execution, no new one.")] = None,
    pool: Annotated[str | None, typer.Option(help="Where it is served; the playbook's own if left out.")] = None,
    actor: Actor = None,
    json: AsJson = False,
) -> None:
    """Start an execution of a playbook.

    Example: penstock exec domain/process_order --payload '{"order": 7}'
    """
    asked = {
        "playbook": playbook,
        "payload": read_object(payload, "--payload"),
        "idempotency_key": key,
        "pool": pool,
        "actor": actor,
    }
    with opened("exec") as connection:
        given = {name: value for name, value in asked.items() if value is not None}
        execution, is_new = executions.execute(connection, given)
    if json:
        show_json({"execution_id": execution, "started": is_new})
    else:
        typer.echo(cell(f"execution {execution} " + ("is started" if is_new else "was started before with this key")))


@app.command("list")
def list_command(limit: Limit = 20, json: AsJson = False) -> None:
    """Show the newest executions.

    Example: penstock execution list --limit 5
    """
    with opened("execution") as connection:
        found = executions.newest(connection, limit)
    if json:
        show_json(found)
        return
    show_table(
        ("execution", "playbook", "status", "pool", "subscription", "started", "finished"),
        [
            (
                one.execution_id,
                one.playbook_ref,
                one.status,
                one.pool,
                one.subscription,
                one.started_at,
                one.finished_at,
            )
            for one in found
        ],
        empty="no executions",
    )


@app.command("show")
def show_command(execution: ExecutionId, json: AsJson = False) -> None:
    """Show an execution: its playbook, where it stands, and all that happened to it.

    Example: penstock execution show 42
    """
    with opened("execution") as connection:
        one = executions.show(connection, execution)
        trail = reads.trail(connection, execution)
    if json:
        show_json({"execution": one, "trail": trail})
        return
    show_facts(vars(one))
    show_heading("what happened")
    show_table(
        ("when", "what", "attempt", "who", "detail"),
        [(h.happened_at, h.happening, h.attempt, h.actor, h.detail) for h in trail],
    )
