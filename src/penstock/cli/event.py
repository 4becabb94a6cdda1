"""penstock event"""

from typing import Annotated
from uuid import UUID

import typer

from penstock.cli.database import opened
from penstock.cli.options import Actor, AsJson, Limit, read_object
from penstock.cli.output import cell, show_facts, show_json, show_table
from penstock.kernel import events

app = typer.Typer(no_args_is_help=True, help="Events: facts that were recorded, and what they are about.")

EventId = Annotated[UUID, typer.Argument(help="The event's id.", metavar="EVENT_ID")]
Domain = Annotated[str, typer.Argument(help="The event domain, such as kg.", metavar="DOMAIN")]
EventType = Annotated[str, typer.Argument(help="The event type, such as order_paid.", metavar="TYPE")]


@app.command("domain")
def domain_command(domain: Domain, actor: Actor = None, json: AsJson = False) -> None:
    """Add an event domain of your own.

    Example: penstock event domain shop
    """
    with opened("event") as connection:
        events.domain_register(connection, domain, actor)
    if json:
        show_json({"event_domain": domain})
    else:
        typer.echo(cell(f"{domain} is registered. Next: penstock event register {domain} TYPE"))


@app.command("register")
def register_command(
    domain: Domain,
    event_type: EventType,
    stream: Annotated[str, typer.Option(help="The stream it belongs to: birth, update, alert, …")] = "update",
    keep: Annotated[list[str] | None, typer.Option(help="A key its payload may hold; with one, no others.")] = None,
    forbid: Annotated[list[str] | None, typer.Option(help="A key its payload may not hold, at any depth.")] = None,
    actor: Actor = None,
    json: AsJson = False,
) -> None:
    """Make an event type known. Only known types can be emitted. Once more, it changes.

    Example: penstock event register shop order_paid --stream update --keep status --keep total
    """
    contract = {name: keys for name, keys in (("keep_refs", keep), ("forbid_keys", forbid)) if keys} or None
    with opened("event") as connection:
        events.type_register(connection, domain, event_type, stream, actor, contract=contract)
    if json:
        named = {"event_domain": domain, "event_type": event_type, "event_stream": stream}
        show_json(named | {"payload_contract": contract})
    else:
        typer.echo(cell(f"{domain}.{event_type} is registered in stream {stream}"))


@app.command("emit")
def emit_command(
    domain: Domain,
    event_type: EventType,
    subject_table: Annotated[str | None, typer.Option(help="What kind of thing it is about.")] = None,
    subject_ref: Annotated[str | None, typer.Option(help="Which one.")] = None,
    payload: Annotated[str | None, typer.Option(help="Small safe scalars, a JSON object.")] = None,
    key: Annotated[str | None, typer.Option(help="Same type and key: same event, recorded once.")] = None,
    correlation_id: Annotated[str | None, typer.Option(help="What it belongs to.")] = None,
    actor: Actor = None,
    json: AsJson = False,
) -> None:
    """Record a fact.

    Example: penstock event emit shop order_paid --subject-table orders --subject-ref 17
    """
    given = read_object(payload, "--payload")
    with opened("event") as connection:
        event_id = events.emit(
            connection,
            domain,
            event_type,
            subject_table=subject_table,
            subject_ref=subject_ref,
            payload=given,
            idempotency_key=key,
            correlation_id=correlation_id,
            actor=actor,
        )
    if json:
        show_json({"event_id": event_id})
    else:
        typer.echo(str(event_id))


@app.command("list")
def list_command(
    domain: Annotated[str | None, typer.Option(help="Only of this domain.")] = None,
    event_type: Annotated[str | None, typer.Option("--type", help="Only of this type.")] = None,
    before: Annotated[
        UUID | None, typer.Option(help="Only those older than this one: the next page.", metavar="EVENT_ID")
    ] = None,
    limit: Limit = 50,
    json: AsJson = False,
) -> None:
    """Show the newest events.

    Example: penstock event list --domain shop --type order_paid
    """
    with opened("event") as connection:
        found = events.list_newest(connection, domain=domain, event_type=event_type, before=before, limit=limit)
    if json:
        show_json(found)
        return
    show_table(
        ("number", "event", "type", "stream", "subject", "actor", "recorded"),
        [
            (
                one.seq,
                one.event_id,
                f"{one.event_domain}.{one.event_type}",
                one.event_stream,
                " ".join(part for part in (one.subject_table, one.subject_ref) if part),
                one.actor,
                one.created_at,
            )
            for one in found
        ],
        empty="no events",
    )
    if len(found) == limit:
        typer.echo(f"there may be more: go on with --before {found[-1].event_id}", err=True)


@app.command("show")
def show_command(event_id: EventId, json: AsJson = False) -> None:
    """Show an event whole.

    Example: penstock event show 0b6f1c1e-7a1d-4f0c-9d63-1f3e8f0f8a11
    """
    with opened("event") as connection:
        event = events.show(connection, event_id)
    if json:
        show_json(event)
        return
    show_facts(
        {
            "event": event.event_id,
            "type": f"{event.event_domain}.{event.event_type}",
            "stream": event.event_stream,
            "subject": " ".join(part for part in (event.subject_table, event.subject_ref) if part) or None,
            "actor": event.actor,
            "recorded": event.created_at,
            "number": event.seq,
            "correlation": event.correlation_id,
            "caused by": event.causation_event_id,
            "causes before it": event.causation_depth,
            "trace": event.trace,
            "payload": event.payload,
        }
    )


@app.command("subscribe")
def subscribe_command(
    recipient: Annotated[str, typer.Argument(help="Who reads, such as role:kg_indexer.", metavar="RECIPIENT")],
    domain: Domain,
    event_type: Annotated[str | None, typer.Option("--type", help="Only this type.")] = None,
    stream: Annotated[str | None, typer.Option(help="Only this stream.")] = None,
    subject_table: Annotated[str | None, typer.Option(help="Only events about this table.")] = None,
    payload: Annotated[str | None, typer.Option(help="Only events whose payload holds this JSON object.")] = None,
    mute: Annotated[bool, typer.Option("--mute/--unmute", help="Not these, whatever a broader row says.")] = False,
    actor: Actor = None,
    json: AsJson = False,
) -> None:
    """Say which events a recipient reads in its inbox, or mutes. The most exact row that matches an event decides.

    Example: penstock event subscribe role:kg_indexer shop --type order_paid
    """
    given = read_object(payload, "--payload")
    with opened("event") as connection:
        events.subscription_set(
            connection,
            recipient,
            domain,
            event_type=event_type,
            stream=stream,
            mute=mute,
            subject_table=subject_table,
            payload=given,
            actor=actor,
        )
    said = f"{domain}.{event_type or '*'}{f' in stream {stream}' if stream else ''}"
    if json:
        show_json({"recipient_ref": recipient, "event_domain": domain, "event_type": event_type, "mute": mute})
    else:
        typer.echo(cell(f"{recipient} {'mutes' if mute else 'reads'} {said}"))


@app.command("subscriptions")
def subscriptions_command(
    recipient: Annotated[str | None, typer.Option(help="Only of this recipient, such as role:kg_indexer.")] = None,
    json: AsJson = False,
) -> None:
    """Show which events recipients read, or mute.

    Example: penstock event subscriptions --recipient role:kg_indexer
    """
    with opened("event") as connection:
        found = events.subscriptions(connection, recipient)
    if json:
        show_json(found)
        return
    show_table(
        ("recipient", "", "events", "stream", "about", "payload", "set by", "set"),
        [
            (
                one.recipient_ref,
                "mutes" if one.mute else "reads",
                f"{one.event_domain}.{one.event_type or '*'}",
                one.event_stream,
                one.scope_subject_table,
                one.scope_filter or None,
                one.set_by,
                one.set_at,
            )
            for one in found
        ],
        empty="nobody reads events yet: every event is a broadcast to nobody",
    )


@app.command("cursors")
def cursors_command(json: AsJson = False) -> None:
    """Show the readers of the event log, and how far behind they are.

    Example: penstock event cursors
    """
    with opened("event") as connection:
        found = events.cursors(connection)
    if json:
        show_json(found)
        return
    show_table(
        ("reader", "state", "moved", "oldest unread"),
        [(one.cursor_name, one.state, one.moved_at, one.oldest_unread_at) for one in found],
        empty="nobody has read the event log yet",
    )


@app.command("rebase")
def rebase_command(actor: Actor = None, json: AsJson = False) -> None:
    """Let a database that was restored from a copy go on with its event log, when the original is gone.

    Example: penstock event rebase
    """
    with opened("event") as connection:
        base = events.rebase(connection, actor)
    if json:
        show_json({"base": base})
    else:
        typer.echo("the event log goes on here; what had not been dispatched is next")
