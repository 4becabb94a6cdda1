"""penstock consumer"""

from typing import Annotated

import typer

from penstock.cli.database import opened
from penstock.cli.options import Actor, AsJson
from penstock.cli.output import cell, show_facts, show_heading, show_json, show_table
from penstock.kernel import consumers
from penstock.kernel.consumers import Consumer

app = typer.Typer(no_args_is_help=True, help="Consumers: which event becomes which job.")

ConsumerId = Annotated[str, typer.Argument(help="The consumer's id.", metavar="CONSUMER")]


@app.command("register")
def register_command(
    consumer: ConsumerId,
    event: Annotated[str, typer.Argument(help="The event, such as shop.order_paid.", metavar="DOMAIN.TYPE")],
    kind: Annotated[str, typer.Argument(help="The job kind to enqueue.", metavar="KIND")],
    key: Annotated[str, typer.Option(help="The job's idempotency key; fields of the event in braces.")] = "",
    payload_ref: Annotated[str | None, typer.Option(help="The job's payload_ref, such as {event_subject_ref}.")] = None,
    stream: Annotated[str | None, typer.Option(help="Only of this stream.")] = None,
    executor: Annotated[str, typer.Option(help="The executor kind.")] = "PG_worker",
    priority: Annotated[int, typer.Option(min=-32768, max=32767, help="Higher first.")] = 0,
    rate_per_s: Annotated[float | None, typer.Option(help="Jobs a second; more of them wait.")] = None,
    fail_open: Annotated[
        bool, typer.Option("--fail-open", help="What it fails for is noted, and becomes no dead letter.")
    ] = False,
    notes: Annotated[str | None, typer.Option(help="What it is for.")] = None,
    actor: Actor = None,
    json: AsJson = False,
) -> None:
    """Have an event become a job. It starts disabled; one that changes does, too.

    Example: penstock consumer register receipts shop.order_paid send_receipt --payload-ref "{event_subject_ref}"
    """
    domain, dot, event_type = event.partition(".")
    if not dot:
        raise typer.BadParameter(f"{event!r} is not of the form DOMAIN.TYPE", param_hint="DOMAIN.TYPE")
    with opened("consumer") as connection:
        consumers.register(
            connection,
            consumer,
            domain,
            event_type,
            kind,
            key or f"{{event_id}}:{consumer}",
            stream=stream,
            executor=executor,
            ref_template=payload_ref,
            priority=priority,
            registered_by=actor,
            rate_per_s=rate_per_s,
            fail_closed=not fail_open,
            notes=notes,
        )
        found = consumers.show(connection, consumer)
    _say(found, f"Next: penstock consumer enable {consumer} --dry-run", json)


@app.command("list")
def list_command(json: AsJson = False) -> None:
    """Show every consumer, and whether it is live.

    Example: penstock consumer list
    """
    with opened("consumer") as connection:
        found = consumers.consumer_list(connection)
    if json:
        show_json(found)
        return
    show_table(
        ("consumer", "event", "job kind", "executor", "state", "reviewed by"),
        [
            (
                one.consumer_id,
                f"{one.event_domain}.{one.event_type}",
                one.job_kind,
                one.executor,
                one.state,
                one.reviewed_by,
            )
            for one in found
        ],
        empty="no consumers: make one with penstock consumer register",
    )


@app.command("review")
def review_command(
    consumer: ConsumerId,
    by: Annotated[str | None, typer.Option(help="Who has looked, such as user:ann: the review is kept.")] = None,
    json: AsJson = False,
) -> None:
    """Show what a consumer would do, by its dry run; with --by, keep that somebody has looked.

    Example: penstock consumer review receipts --by user:ann
    """
    with opened("consumer") as connection:
        if by is not None:
            consumers.switch(connection, consumer, reviewed_by=by)
        found = consumers.show(connection, consumer)
        notes = consumers.noted(connection, consumer)
    if json:
        show_json({"consumer": found, "dispatches": notes})
        return
    show_facts(
        {
            "consumer": found.consumer_id,
            "event": f"{found.event_domain}.{found.event_type}",
            "job": found.job_kind,
            "key": found.idempotency_key_template,
            "payload ref": found.payload_ref_template,
            "state": found.state,
            "reviewed by": found.reviewed_by,
        }
    )
    show_heading("what it made of events, newest first, where no job came of it")
    show_table(
        ("event", "outcome", "when", "job kind", "key", "payload ref", "job", "why"),
        [
            (n.event_id, n.outcome, n.dispatched_at, n.job_kind, n.idempotency_key, n.payload_ref, n.job_id, n.detail)
            for n in notes
        ],
        empty="nothing yet",
    )


@app.command("enable")
def enable_command(
    consumer: ConsumerId,
    dry_run: Annotated[bool, typer.Option("--dry-run/--live", help="Only note what it would do.")] = False,
    json: AsJson = False,
) -> None:
    """Let a consumer take events: as a dry run, or live once that was reviewed.

    Example: penstock consumer enable receipts --dry-run
    """
    with opened("consumer") as connection:
        consumers.switch(connection, consumer, enabled=True, dry_run=dry_run)
        found = consumers.show(connection, consumer)
    _say(found, f"Next: penstock consumer review {consumer} --by user:NAME" if dry_run else None, json)


@app.command("disable")
def disable_command(consumer: ConsumerId, json: AsJson = False) -> None:
    """Let a consumer take no more events. Those that come meanwhile are not caught up.

    Example: penstock consumer disable receipts
    """
    with opened("consumer") as connection:
        consumers.switch(connection, consumer, enabled=False)
        found = consumers.show(connection, consumer)
    _say(found, None, json)


def _say(consumer: Consumer, following: str | None, as_json: bool) -> None:
    if as_json:
        show_json(consumer)
    else:
        typer.echo(cell(f"{consumer.consumer_id}: {consumer.state}. {following or ''}".strip()))
