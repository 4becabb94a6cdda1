"""Why an execution went where it went, from what was stored when it did."""

from dataclasses import dataclass
from typing import Any

import typer

from penstock.cli.decisions import decisions
from penstock.cli.output import cell, show_facts, show_heading, show_table
from penstock.cli.subjects import playbook_of
from penstock.cli.words import decided
from penstock.kernel import catalog, executions, reads
from penstock.kernel.connection import Connection
from penstock.kernel.executions import ExecutionView, IngestMessage
from penstock.kernel.reads import StepHappening


@dataclass(frozen=True)
class Explanation:
    """`message` is what it was made of, all but the body; None if somebody started it."""

    execution: ExecutionView
    message: dict[str, Any] | None
    reasons: list[str]
    trail: list[StepHappening]


def explained(connection: Connection, execution_id: int) -> Explanation:
    one = executions.show(connection, execution_id)
    message = executions.message(connection, execution_id)
    trail = reads.trail_of_execution(connection, execution_id)
    reasons = _reasons(one, message, _spec(connection, message))
    reasons += decisions(playbook_of(connection, one), executions.steps(connection, execution_id), trail)
    return Explanation(one, _shown(message), reasons, trail)


def show_explanation(found: Explanation) -> None:
    if found.message:
        show_heading("the message")
        show_facts(found.message)
    show_heading("why")
    for reason in found.reasons:
        typer.echo(f"  {cell(reason)}")
    show_heading("what became of it")
    rows = [(one.happened_at, one.step, one.happening, one.attempt, one.actor) for one in found.trail]
    show_table(("when", "step", "what", "attempt", "who"), rows)


def _spec(connection: Connection, message: IngestMessage | None) -> dict[str, Any]:
    if message is None:
        return {}
    entry = catalog.entry(connection, message.subscription, message.version)
    spec: dict[str, Any] = entry.content["spec"]
    return spec


def _reasons(one: ExecutionView, message: IngestMessage | None, spec: dict[str, Any]) -> list[str]:
    if message is None:
        return [f"it was started by {one.actor}, as {one.playbook_ref} in the pool {one.pool or 'of each step'}"]
    directives = message.directives or {}
    said = decided(directives, spec["dispatch"]["playbook"], one.pool or "shared")
    said.append(f"so it runs {one.playbook_ref} in the pool {one.pool}")
    if one.trace:
        said.append(f"its trace is {one.trace}")
    return said


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
