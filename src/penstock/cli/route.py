"""penstock route"""

from dataclasses import asdict
from typing import Annotated, Any

import typer

from penstock.cli.database import opened
from penstock.cli.options import Actor, AsJson, read_object
from penstock.cli.output import cell, show_facts, show_heading, show_json, show_table
from penstock.kernel import admin, events, outbound, sql_routes
from penstock.kernel.connection import Connection
from penstock.kernel.outbound import OutboundRoute
from penstock.kernel.sql_routes import SqlRoute

app = typer.Typer(no_args_is_help=True, help="Routes: which SQL change becomes which event, and where events go.")

RouteCode = Annotated[str, typer.Argument(help="The route's code, such as orders.paid.", metavar="ROUTE")]
RouteOrAll = Annotated[
    str | None, typer.Argument(help="The route's code; with --outbound and none, the route worker.", metavar="ROUTE")
]
Outbound = Annotated[
    bool, typer.Option("--outbound/--sql", help="Routes that deliver events, instead of those that make them.")
]
DryRun = Annotated[bool, typer.Option("--dry-run/--live", help="Only note what it would do.")]
_GATES = ("iu_core.routes_enabled", "iu_core.route_worker_enabled")
_UNWELL = frozenset({"table_missing", "renamed", "not_applied", "broken"})


@app.command("set")
def set_command(
    route: RouteCode,
    definition: Annotated[
        str, typer.Argument(help="A JSON object: what it takes, and what it makes of it.", metavar="DEFINITION")
    ],
    outward: Outbound = False,
    actor: Actor = None,
    json: AsJson = False,
) -> None:
    """Have a change of a table become an event, or with --outbound an event be delivered. It starts disabled.

    Example: penstock route set orders.new '{"source_schema": "public", "source_table": "orders", "sql_event": "insert",
    "target_event_domain": "shop", "target_event_type": "order_new"}'
    """
    given = read_object(definition, "DEFINITION")
    with opened("route") as connection:
        if outward:
            state = outbound.route_set(connection, route, given, actor=actor)
        else:
            state = sql_routes.route_set(connection, route, given, actor=actor)
    following = f"Next: penstock route enable {route}{_word(outward)} --dry-run" if state == "disabled" else ""
    _say(route, state, following, json)


@app.command("list")
def list_command(outward: Outbound = False, json: AsJson = False) -> None:
    """Show every route, and what has become of it.

    Example: penstock route list --outbound
    """
    with opened("route") as connection:
        found: list[Any] = [*outbound.route_list(connection)] if outward else [*sql_routes.route_list(connection)]
    if json:
        show_json(found)
        return
    show_table(
        ("route", "from", "to", "state", "reviewed by"),
        [(one.route_code, _source(one), _target(one), one.state, one.reviewed_by) for one in found],
        empty=f"no routes: make one with penstock route set{_word(outward)}",
    )


@app.command("review")
def review_command(
    route: RouteCode,
    by: Annotated[str | None, typer.Option(help="Who has looked, such as user:ann: the review is kept.")] = None,
    outward: Outbound = False,
    json: AsJson = False,
) -> None:
    """Show what a route would do, by its dry run; with --by, keep that somebody has looked.

    Example: penstock route review orders.new --by user:ann
    """
    with opened("route") as connection:
        if outward:
            _review_outbound(connection, route, by, json)
        else:
            _review_sql(connection, route, by, json)


@app.command("enable")
def enable_command(
    route: RouteOrAll = None,
    dry_run: DryRun = False,
    outward: Outbound = False,
    from_now: Annotated[
        bool, typer.Option("--from-now", help="With --outbound and no route: what has come so far is not delivered.")
    ] = False,
    json: AsJson = False,
) -> None:
    """Let a route work: as a dry run, or live once that was reviewed. Without a route, open the gates of the worker.

    Example: penstock route enable orders.new --dry-run
    """
    with opened("route") as connection:
        if route is None:
            _gates(connection, outward, "true", from_now=from_now, as_json=json)
            return
        if outward:
            state = outbound.route_set(connection, route, enabled=True, dry_run=dry_run)
        else:
            state = sql_routes.route_set(connection, route, enabled=True, dry_run=dry_run)
    following = f"Next: let one come, then penstock route review {route}{_word(outward)} --by user:NAME"
    _say(route, state, following if dry_run else "", json)


@app.command("verify")
def verify_command(route: RouteOrAll = None, outward: Outbound = False, json: AsJson = False) -> None:
    """Say whether a route does what it should, or with --outbound alone the route workers; exit code 1 if not.

    Example: penstock route verify orders.new
    """
    with opened("route") as connection:
        if route is None:
            _verify_worker(connection, outward, as_json=json)
            return
        state = outbound.show(connection, route).state if outward else sql_routes.show(connection, route).state
        waits = outward and state == "live" and not outbound.worker_names(connection)
    _say(route, state, "A gate is closed, and its events wait: penstock route enable --outbound" if waits else "", json)
    if state in _UNWELL or waits:
        raise typer.Exit(1)


@app.command("disable")
def disable_command(route: RouteOrAll = None, outward: Outbound = False, json: AsJson = False) -> None:
    """Let a route do nothing any more. Without a route, close the gates of the route worker: events wait.

    Example: penstock route disable orders.new
    """
    with opened("route") as connection:
        if route is None:
            _gates(connection, outward, "false", from_now=False, as_json=json)
            return
        if outward:
            state = outbound.route_set(connection, route, enabled=False)
        else:
            state = sql_routes.route_set(connection, route, enabled=False)
    _say(route, state, "", json)


@app.command("worker")
def worker_command(
    name: Annotated[str, typer.Argument(help="The route worker's name.", metavar="NAME")],
    domain: Annotated[str | None, typer.Option(help="Only events of this domain; none: all that have a route.")] = None,
    from_now: Annotated[bool, typer.Option("--from-now", help="What has come so far is not delivered.")] = False,
    actor: Actor = None,
    json: AsJson = False,
) -> None:
    """Add a route worker with a place of its own in the event log, or change one. `route verify --outbound` lists them.

    Example: penstock route worker shop_out --domain shop
    """
    with opened("route") as connection:
        outbound.worker_set(connection, name, domain, reset=from_now, actor=actor)
    if json:
        show_json({"worker_name": name, "event_domain": domain})
    else:
        typer.echo(cell(f"{name} delivers events of {domain or 'every domain that has a route'}"))


def _review_sql(connection: Connection, route: str, by: str | None, as_json: bool) -> None:
    if by is not None:
        sql_routes.route_set(connection, route, reviewed_by=by)
    found, notes = sql_routes.show(connection, route), sql_routes.noted(connection, route)
    if as_json:
        show_json({"route": found, "notes": notes})
        return
    contract = {
        "payload contract": found.payload_contract,
        "idempotency policy": found.idempotency_policy,
        "source filter": found.source_filter,
        "closed": found.fail_closed,
    }
    show_facts(_facts(found) | contract)
    show_heading("statements it did not make events of, newest first")
    show_table(
        ("when", "outcome", "events", "the first of them", "why"),
        [(n.noted_at, n.outcome, n.events, n.sample[0] if n.sample else None, n.detail) for n in notes],
        empty="nothing yet",
    )


def _review_outbound(connection: Connection, route: str, by: str | None, as_json: bool) -> None:
    if by is not None:
        outbound.route_set(connection, route, reviewed_by=by)
    found, attempts = outbound.show(connection, route), outbound.attempts(connection, route)
    if as_json:
        show_json({"route": found, "attempts": attempts})
        return
    show_facts(_facts(found))
    show_heading("its attempts, newest first")
    show_table(
        ("attempt", "event", "status", "number", "job", "when", "error"),
        [
            (
                a.attempt_id,
                a.event_ref,
                a.status,
                a.attempt_no,
                a.job_id,
                a.attempted_at,
                (a.error or {}).get("message"),
            )
            for a in attempts
        ],
        empty="nothing yet",
    )


def _gates(connection: Connection, outward: bool, setting: str, *, from_now: bool, as_json: bool) -> None:
    _need_outbound(outward)
    if from_now:
        for worker in outbound.workers(connection):
            outbound.worker_set(connection, worker.worker_name, worker.event_domain, reset=True)
    for gate in _GATES:
        admin.config_set(connection, gate, setting)
    if as_json:
        show_json(outbound.workers(connection))
    else:
        state = "enabled" if setting == "true" else "disabled: events wait"
        typer.echo(f"the route worker is {state}")


def _verify_worker(connection: Connection, outward: bool, *, as_json: bool) -> None:
    _need_outbound(outward)
    workers = outbound.workers(connection)
    letters = outbound.letters_open(connection)
    states = {one.cursor_name.removeprefix("route:"): one.state for one in events.cursors(connection)}
    if as_json:
        show_json(
            [
                asdict(w) | {"state": states[w.worker_name], "dead_letters": letters.get(w.worker_name, 0)}
                for w in workers
            ]
        )
    else:
        show_table(
            ("worker", "domain", "routes gate", "worker gate", "state", "runs", "events", "last run", "dead letters"),
            [
                (
                    w.worker_name,
                    w.event_domain or "all with a route",
                    w.routes_enabled,
                    w.worker_enabled,
                    states[w.worker_name],
                    w.runs,
                    w.events,
                    w.last_run_at,
                    letters.get(w.worker_name, 0),
                )
                for w in workers
            ],
        )
    if letters or any(states[w.worker_name] not in ("reads", "has read all") for w in workers):
        raise typer.Exit(1)


def _need_outbound(outward: bool) -> None:
    if not outward:
        raise typer.BadParameter("name a route, or say --outbound for the route worker", param_hint="ROUTE")


def _facts(route: SqlRoute | OutboundRoute) -> dict[str, object]:
    return {
        "route": route.route_code,
        "from": _source(route),
        "to": _target(route),
        "state": route.state,
        "reviewed by": route.reviewed_by,
    }


def _source(route: SqlRoute | OutboundRoute) -> str:
    if isinstance(route, OutboundRoute):
        return f"{route.event_domain}.{route.event_type or '*'}"
    return f"{route.sql_event} {'.'.join(part for part in (route.source_schema, route.source_table) if part)}".strip()


def _target(route: SqlRoute | OutboundRoute) -> str:
    if isinstance(route, SqlRoute):
        return f"{route.target_event_domain}.{route.target_event_type}"
    place = route.target.get("url") or route.target.get("job_kind") or route.target.get("channel")
    return f"{route.route_kind} {place or route.target.get('event_type') or ''}".strip()


def _word(outward: bool) -> str:
    return " --outbound" if outward else ""


def _say(route: str, state: str, following: str, as_json: bool) -> None:
    if as_json:
        show_json({"route_code": route, "state": state})
    else:
        typer.echo(cell(f"{route}: {state}. {following}".rstrip()))
