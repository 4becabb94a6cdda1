"""penstock exec, penstock execution"""

import time
from typing import Annotated

import typer

from penstock.cli.database import opened
from penstock.cli.execution_tree import forgotten_line, trail_rows, tree_lines
from penstock.cli.families import child_lines, origin
from penstock.cli.options import LARGEST_ID, Actor, AsJson, Limit, read_object
from penstock.cli.output import cell, show_facts, show_heading, show_json, show_table
from penstock.cli.subjects import playbook_of
from penstock.cli.waiting import waiting_lines
from penstock.kernel import executions, families, reads
from penstock.kernel.connection import Connection
from penstock.kernel.executions import ExecutionView, ItemsView, StepView

app = typer.Typer(no_args_is_help=True, help="Executions: runs of playbooks.")

_LOOK_S = 0.3

ExecutionId = Annotated[int, typer.Argument(min=1, max=LARGEST_ID, help="The execution's id.", metavar="ID")]


def exec_command(
    playbook: Annotated[str, typer.Argument(help="The playbook's path.", metavar="PLAYBOOK")],
    payload: Annotated[str | None, typer.Option(help="The input, a JSON object.")] = None,
    key: Annotated[str | None, typer.Option(help="Same playbook and key: same execution, no new one.")] = None,
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
def show_command(
    execution: ExecutionId,
    follow: Annotated[
        bool, typer.Option("--follow", help="Show the steps again as they change, until it ends.")
    ] = False,
    json: AsJson = False,
) -> None:
    """Show an execution: its playbook, where it stands, its steps, and all that happened to it.

    Example: penstock execution show 42 --follow
    """
    with opened("execution") as connection:
        if follow and not json:
            _follow(connection, execution)
        one = executions.show(connection, execution)
        begun, items = executions.steps(connection, execution), executions.items(connection, execution)
        asked = executions.questions(connection, execution)
        parent, children = families.parent(connection, execution), families.children(connection, execution)
        trail = reads.trail_of_execution(connection, execution)
        lines = _tree(connection, one, begun, items) if begun else []
    if forgotten := forgotten_line(trail):
        lines = [forgotten]
    if json:
        steps = {"execution": one, "steps": begun, "items": items, "awaits": asked}
        family = {"parent": parent, "children": children.shown, "children_left_out": children.left_out}
        show_json({**steps, **family, "trail": trail.lines, "trail_left_out": trail.left_out})
        return
    show_facts({**vars(one), "started_by": origin(parent) if parent else None})
    if lines and not follow:
        show_heading("steps")
        typer.echo("\n".join(lines))
    if children.shown:
        show_heading("executions of its steps")
        typer.echo("\n".join(child_lines(children)))
    if asked:
        show_heading("it waits")
        typer.echo("\n".join(waiting_lines(asked)))
    if one.status == "failed" and not forgotten:
        show_heading("it failed")
        typer.echo(f"with the cause mended, it goes on from there\n  penstock execution retry {execution}")
    show_heading("what happened")
    show_table(
        ("when", "step", "what", "attempt", "who", "detail"),
        trail_rows(trail, lambda h: (h.happened_at, h.step, h.happening, h.attempt, h.actor, h.detail)),
    )


@app.command("cancel")
def cancel_command(execution: ExecutionId, actor: Actor = None) -> None:
    """Begin nothing more of it; what runs is told, and its result is not believed.

    Example: penstock execution cancel 42
    """
    _move(execution, "cancel", actor)


@app.command("pause")
def pause_command(execution: ExecutionId, actor: Actor = None) -> None:
    """Let what runs end, and begin nothing more until it is resumed.

    Example: penstock execution pause 42
    """
    _move(execution, "pause", actor)


@app.command("resume")
def resume_command(execution: ExecutionId, actor: Actor = None) -> None:
    """Go on after a pause.

    Example: penstock execution resume 42
    """
    _move(execution, "resume", actor)


@app.command("retry")
def retry_command(execution: ExecutionId, actor: Actor = None) -> None:
    """Run the steps of a failed execution again that ended badly, and go on from there.

    Example: penstock execution retry 42
    """
    _move(execution, "retry", actor)


def _move(execution: int, action: str, actor: str | None) -> None:
    with opened("execution") as connection:
        typer.echo(f"execution {execution}: {executions.move(connection, execution, action, actor)}")


def _tree(connection: Connection, one: ExecutionView, begun: list[StepView], items: list[ItemsView]) -> list[str]:
    return tree_lines(playbook_of(connection, one), begun, one.status, items)


def _follow(connection: Connection, execution: int) -> None:
    """Until it ends: the tree whenever it has changed."""
    shown: list[str] = []
    while True:
        one = executions.show(connection, execution)
        begun, items = executions.steps(connection, execution), executions.items(connection, execution)
        lines = [f"execution {execution}: {one.status}", *(_tree(connection, one, begun, items) if begun else [])]
        if lines != shown:
            typer.echo("\n".join([*lines, ""]))
            shown = lines
        if one.finished_at is not None:
            return
        time.sleep(_LOOK_S)
