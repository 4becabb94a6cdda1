"""penstock executor"""

from typing import Annotated, Any

import typer

from penstock.cli.database import opened
from penstock.cli.options import Actor, AsJson
from penstock.cli.output import as_json, cell, show_json, show_table
from penstock.kernel import admin, queue
from penstock.kernel.admin import Executor, Rule

app = typer.Typer(no_args_is_help=True, help="Executors: who may claim jobs, and which.")

ExecutorId = Annotated[str, typer.Argument(help="The executor's id.", metavar="EXECUTOR")]
_LOWEST_PRIORITY = -32768


@app.command("list")
def list_command(json: AsJson = False) -> None:
    """Show every executor, the rules it claims under, and how many of its workers live.

    Example: penstock executor list
    """
    with opened("executor") as connection:
        executors = admin.executor_list(connection)
        rules = admin.rule_list(connection)
    if json:
        show_json([_with_rules(executor, rules) for executor in executors])
        return
    show_table(
        ("executor", "kind", "registered", "claims", "living", "silent", "last beat"),
        [
            (e.executor_id, e.executor_kind, e.registered, _claims(e, rules), e.living, e.silent, e.last_beat_at)
            for e in executors
        ],
    )


@app.command("register")
def register_command(
    executor: ExecutorId,
    kind: Annotated[str, typer.Option(help="Such as PG_worker or external_worker.")] = "PG_worker",
    db_role: Annotated[str, typer.Option(help="The database role that may claim as it.")] = "dot_executor",
    actor: Actor = None,
    json: AsJson = False,
) -> None:
    """Make an executor known, or bring a deregistered one back. It claims nothing before it is subscribed.

    Example: penstock executor register mailer --kind PG_worker
    """
    with opened("executor") as connection:
        admin.executor_register(connection, executor, kind, db_role=db_role, actor=actor)
    if json:
        show_json({"executor_id": executor, "executor_kind": kind, "db_role": db_role})
    else:
        typer.echo(cell(f"{executor} is registered. Next: penstock executor subscribe {executor}"))


@app.command("deregister")
def deregister_command(executor: ExecutorId, actor: Actor = None, json: AsJson = False) -> None:
    """Let an executor claim no more. What it holds it may still report.

    Example: penstock executor deregister mailer
    """
    with opened("executor") as connection:
        admin.executor_deregister(connection, executor, actor)
    if json:
        show_json({"executor_id": executor, "registered": False})
    else:
        typer.echo(cell(f"{executor} is deregistered and its rules are disabled"))


@app.command("subscribe")
def subscribe_command(
    executor: ExecutorId,
    job_kind: Annotated[str | None, typer.Option(help="Only this job kind; all if left out.")] = None,
    event_domain: Annotated[str | None, typer.Option(help="Only this event domain; all if left out.")] = None,
    priority_floor: Annotated[
        int | None, typer.Option(min=_LOWEST_PRIORITY, max=32767, help="Only jobs of at least this priority.")
    ] = None,
    max_parallel: Annotated[
        int | None, typer.Option(min=1, max=2**31 - 1, help="How many it may hold at once, over all its processes.")
    ] = None,
    enabled: Annotated[
        bool, typer.Option("--enabled/--disabled", help="Disabled: matching jobs are not taken.")
    ] = True,
    actor: Actor = None,
    json: AsJson = False,
) -> None:
    """Set the rule of what an executor may claim. The most specific matching rule decides, enabled or not.

    Example: penstock executor subscribe mailer --job-kind send_mail --max-parallel 4
    """
    with opened("executor") as connection:
        rule = admin.job_subscription_set(
            connection,
            executor,
            queue.executor_kind(connection, executor),
            job_kind=job_kind,
            event_domain=event_domain,
            priority_floor=priority_floor,
            max_parallel=max_parallel,
            enabled=enabled,
            actor=actor,
        )
        found = next(one for one in admin.rule_list(connection) if one.subscription_id == rule)
    if json:
        show_json(found)
    else:
        typer.echo(cell(f"{executor} claims {_described(found)}"))


def _with_rules(executor: Executor, rules: list[Rule]) -> dict[str, Any]:
    own = [rule for rule in rules if rule.executor_id == executor.executor_id]
    return {**as_json(executor), "rules": as_json(own)}


def _claims(executor: Executor, rules: list[Rule]) -> str:
    own = [_described(rule) for rule in rules if rule.executor_id == executor.executor_id]
    return "; ".join(own) or "nothing"


def _described(rule: Rule) -> str:
    words = [rule.job_kind or "all kinds"]
    if rule.event_domain is not None:
        words.append(f"of {rule.event_domain}")
    if rule.priority_floor > _LOWEST_PRIORITY:
        words.append(f"from priority {rule.priority_floor}")
    if rule.max_parallel is not None:
        words.append(f"at most {rule.max_parallel} at once")
    if not rule.enabled:
        words.append("(disabled)")
    return " ".join(words)
