"""penstock subscription explain, penstock subscription test: before anything runs."""

from typing import TYPE_CHECKING, Annotated

import typer

from penstock.cli.options import AsJson
from penstock.cli.output import cell, show_facts, show_heading, show_json, show_line, show_table
from penstock.cli.subjects import Subject, subject
from penstock.cli.words import told
from penstock.errors import SettingsError

# the dry run knows what workers know, which takes a while to import, and no other command needs it
if TYPE_CHECKING:
    from penstock.cli.cases import Tried
    from penstock.cli.rehearsal import Rehearsed, RuleOutcome

PathOrFile = Annotated[
    str, typer.Argument(help="The subscription's path, or a file with it, registered or not.", metavar="PATH|FILE")
]
_MOST_CAPTURED = 1000


def explain_command(
    what: PathOrFile,
    message: Annotated[
        str | None, typer.Option(help="Try the message in this JSON file, or - for standard input.", metavar="FILE")
    ] = None,
    from_dlq: Annotated[
        str | None,
        typer.Option("--from-dlq", help="Try the message of a dead letter, such as ingest-12.", metavar="ID"),
    ] = None,
    captured: Annotated[
        int | None,
        typer.Option(
            min=1,
            max=_MOST_CAPTURED,
            help="Try the next messages of the source; nothing is acknowledged. Pub/Sub counts it as a delivery.",
            metavar="N",
        ),
    ] = None,
    json: AsJson = False,
) -> None:
    """Say in words what a subscription does; or, given a message, what would become of it, rule by rule.

    Exit code 1 if a message would be a dead letter. Nothing is written.

    Example: penstock subscription explain orders.yaml --message order.json
    """
    if (message is not None) + (from_dlq is not None) + (captured is not None) > 1:
        raise typer.BadParameter("give one of --message, --from-dlq and --captured", param_hint="--message")
    found = subject(what)
    if message is None and from_dlq is None and captured is None:
        _show_words(found, json)
        return
    plans = _plans(found, message, from_dlq, captured)
    if json:
        show_json(plans if captured is not None else plans[0])
    else:
        _show_plans(plans)
    if any(plan.dead_letter for plan in plans):
        raise typer.Exit(1)


def try_command(what: PathOrFile, json: AsJson = False) -> None:
    """Try the tests a subscription's file brings along (`tests:`): without a broker, without a database for a file.

    Exit code 1 if one is not as expected, with what was expected and what came.

    Example: penstock subscription test orders.yaml
    """
    from penstock.cli.cases import try_all

    found = subject(what)
    if not found.spec.tests:
        raise SettingsError(
            f"{what}: {found.spec.path} has no tests\nWrite them under tests: see docs/subscriptions.md."
        )
    tried = try_all(found)
    failed = [one for one in tried if one.differences]
    if json:
        show_json(tried)
    else:
        for one in tried:
            _show_tried(one)
        typer.echo(f"{len(tried) - len(failed)} of {len(tried)} are as expected")
    if failed:
        raise typer.Exit(1)


def _plans(found: Subject, message: str | None, from_dlq: str | None, count: int | None) -> "list[Rehearsed]":
    from penstock.cli import samples
    from penstock.cli.rehearsal import rehearse

    if message is not None:
        tried = [samples.read_message(message, found.spec)]
    elif from_dlq is not None:
        tried = [samples.dead_message(from_dlq, found.spec.path)]
    else:
        tried = samples.captured(found, count or 1)
    return [rehearse(found, one) for one in tried]


def _show_words(found: Subject, as_json: bool) -> None:
    said = told(found.spec, found.pool, found.unused)
    if as_json:
        show_json({"path": found.spec.path, "version": found.version, "says": said})
        return
    show_facts({"path": found.spec.path, "name": found.spec.name, "version": found.version})
    for title, sentences in said.items():
        show_heading(title)
        for sentence in sentences:
            typer.echo(f"  {cell(sentence)}")


def _show_plans(plans: "list[Rehearsed]") -> None:
    if not plans:
        typer.echo("the source holds no message that a runtime would get next")
    for nth, plan in enumerate(plans):
        if nth:
            typer.echo()
        _show_plan(plan)


def _show_plan(plan: "Rehearsed") -> None:
    show_facts(
        {
            "message": plan.message_id,
            "playbook": plan.playbook,
            "pool": plan.pool,
            "lane": plan.lane,
            "dedup key": plan.dedup_key,
            "trace": plan.trace,
            "dead letter": plan.dead_letter,
        }
    )
    show_heading("rule by rule")
    show_table(
        ("header", "controls", "verdict", "value", "why"),
        [(one.header, one.controls, one.verdict, one.value, _why(one)) for one in plan.rules],
        empty="  no header decides anything here",
    )
    show_heading("why")
    for sentence in (*plan.reasons, *plan.remarks):
        typer.echo(f"  {cell(sentence)}")
    show_heading("what the playbook would get")
    if plan.payload is None:
        typer.echo(f"  nothing: the message would be a dead letter, {plan.dead_letter}")
    else:
        show_json(plan.payload)


_WHY = {
    "not_allowed": "not listed in allowed, or map",
    "empty": "an empty value says nothing",
    "too_long": "longer than such a value may be",
    "not_text": "not UTF-8, or with U+0000",
    "not_sent": "the message has no such header",
    "overruled": "another rule that applied counts more",
}


def _why(one: "RuleOutcome") -> str | None:
    return _WHY.get(one.reason or one.verdict)


def _show_tried(one: "Tried") -> None:
    show_line("fail" if one.differences else "ok", one.name)
    for difference in one.differences:
        typer.echo(f"         {cell(str(difference))}")
