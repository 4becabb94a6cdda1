"""Why an execution went where it went, from what was stored when it did."""

from dataclasses import dataclass
from typing import Any

import typer

from penstock.cli.decisions import decisions
from penstock.cli.execution_tree import forgotten_line, trail_rows
from penstock.cli.families import child_lines, origin
from penstock.cli.output import cell, show_facts, show_heading, show_table
from penstock.cli.subjects import playbook_of
from penstock.cli.waiting import waiting_lines
from penstock.cli.words import decided, own_pool
from penstock.kernel import catalog, executions, families, reads
from penstock.kernel.connection import Connection
from penstock.kernel.executions import ExecutionView, IngestMessage
from penstock.kernel.reads import ExecutionTrail


@dataclass(frozen=True)
class Explanation:
    """`message` is what it was made of, all but the body; None if somebody started it."""

    execution: ExecutionView
    message: dict[str, Any] | None
    reasons: list[str]
    trail: ExecutionTrail


def explained(connection: Connection, execution_id: int) -> Explanation:
    one = executions.show(connection, execution_id)
    message = executions.message(connection, execution_id)
    trail = reads.trail_of_execution(connection, execution_id)
    forgotten = forgotten_line(trail)
    reasons = _reasons(connection, one, message, _where(connection, one, is_swept=forgotten is not None))
    reasons += _decisions(connection, one)
    reasons += child_lines(families.children(connection, execution_id))
    reasons += waiting_lines(executions.questions(connection, execution_id))
    if forgotten:
        reasons.append(
            f"it {one.status}; {forgotten}" if one.status != "cancelled" else f"it was cancelled; {forgotten}"
        )
    elif one.status == "failed":
        reasons.append(
            f"so it failed. With the cause mended, it goes on from there: penstock execution retry {execution_id}"
        )
    return Explanation(one, _shown(message), reasons, trail)


def show_explanation(found: Explanation) -> None:
    if found.message:
        show_heading("the message")
        show_facts(found.message)
    show_heading("why")
    for reason in found.reasons:
        typer.echo(f"  {cell(reason)}")
    show_heading("what became of it")
    rows = trail_rows(found.trail, lambda one: (one.happened_at, one.step, one.happening, one.attempt, one.actor))
    show_table(("when", "step", "what", "attempt", "who"), rows)


def _decisions(connection: Connection, one: ExecutionView) -> list[str]:
    begun = executions.steps(connection, one.execution_id)
    items = executions.items(connection, one.execution_id)
    decided_on = reads.decisions_of_execution(connection, one.execution_id)
    return decisions(playbook_of(connection, one), begun, items, decided_on)


def _reasons(connection: Connection, one: ExecutionView, message: IngestMessage | None, where: str) -> list[str]:
    if message is None:
        parent = families.parent(connection, one.execution_id)
        who = f"{origin(parent)}, on behalf of {one.actor}" if parent else one.actor
        return [f"it was started by {who}, as {one.playbook_ref}{where}"]
    dispatch = catalog.entry(connection, message.subscription, message.version).content["spec"]["dispatch"]
    of_playbook = playbook_of(connection, one).first.pool
    pool = own_pool(dispatch.get("execution_pool"), of_playbook)
    said = decided(message.directives or {}, dispatch["playbook"], pool)
    said.append(f"so it runs {one.playbook_ref}{where}")
    if one.trace:
        said.append(f"its trace is {one.trace}")
    return said


def _where(connection: Connection, one: ExecutionView, *, is_swept: bool) -> str:
    """Of an execution that was given no pool, each step has its own; of a swept one the first job's is left."""
    if is_swept:
        return f", its first step in the pool {one.pool}"
    if one.pool is not None:
        return f" in the pool {one.pool}"
    return f", each step in its own pool: the first in {executions.first_pool(connection, one.execution_id)}"


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
