"""penstock dlq"""

from collections.abc import Callable, Iterator
from itertools import islice
from typing import Annotated

import typer

from penstock.cli.database import opened
from penstock.cli.options import Actor, AsJson, Limit
from penstock.cli.output import (
    Counter,
    cell,
    complain,
    error_line,
    show_facts,
    show_heading,
    show_json,
    show_table,
)
from penstock.errors import Refused
from penstock.kernel import dead_letters, reads
from penstock.kernel.connection import Connection
from penstock.kernel.dead_letters import DeadLetter
from penstock.kernel.reads import Happening
from penstock.model import Json

app = typer.Typer(no_args_is_help=True, help="Dead letters: jobs that failed for good, until somebody decides.")

LetterIds = Annotated[
    list[str] | None, typer.Argument(help="Ids such as job-12, from penstock dlq list.", metavar="ID")
]
Kind = Annotated[str | None, typer.Option(help="All open ones of this job kind, instead of ids.")]
All = Annotated[bool, typer.Option("--all", help="All open ones, instead of ids.")]
_PAGE = 500
_ATTEMPTS = frozenset({"failed", "dead_lettered"})


@app.command("list")
def list_command(
    kind: Annotated[str | None, typer.Option(help="Only of this job kind.")] = None,
    resolved: Annotated[bool, typer.Option("--resolved", help="Also those replayed or discarded.")] = False,
    before: Annotated[
        str | None, typer.Option(help="Only those older than this one, such as job-12: the next page.", metavar="ID")
    ] = None,
    limit: Limit = 50,
    json: AsJson = False,
) -> None:
    """Show the newest dead letters nobody has dealt with.

    Example: penstock dlq list --kind send_invoice
    """
    with opened("dlq") as connection:
        page = dead_letters.list_newest(connection, kind=kind, resolved=resolved, before=before, limit=limit)
    if json:
        show_json(page)
        return
    show_table(
        ("id", "job", "what", "reason", "error", "died", "resolution"),
        [
            (one.id, one.job_id, one.what, one.reason, error_line(one.error), one.dead_at, one.resolution)
            for one in page.dead_letters
        ],
        empty="no dead letters",
    )
    if page.next_before is not None:
        typer.echo(f"there are more: go on with --before {page.next_before}", err=True)


@app.command("show")
def show_command(
    letter_id: Annotated[str, typer.Argument(help="An id such as job-12.", metavar="ID")], json: AsJson = False
) -> None:
    """Show a dead letter whole: the job as it was, and the error of every attempt.

    Example: penstock dlq show job-12
    """
    with opened("dlq") as connection:
        letter = dead_letters.show(connection, letter_id)
        trail = reads.trail(connection, letter.job_id) if letter.job_id is not None else []
        attempts = [one for one in trail if one.happening in _ATTEMPTS]
    if json:
        show_json({"dead_letter": letter, "attempts": attempts})
        return
    show_facts(_facts(letter))
    show_heading("the job, as it was" if letter.origin == "job" else "the message")
    show_facts(letter.snapshot)
    if attempts:
        show_heading("its attempts")
    for attempt in attempts:
        _show_attempt(attempt)


@app.command("replay")
def replay_command(
    ids: LetterIds = None, kind: Kind = None, every: All = False, actor: Actor = None, json: AsJson = False
) -> None:
    """Run dead-lettered jobs again, each as a new job. The letters are resolved, never deleted.

    Example: penstock dlq replay job-12 job-13
    """

    def replay(connection: Connection, letter_id: str) -> Json:
        what, _, number = dead_letters.replay(connection, letter_id, actor).partition("-")
        return {"id": letter_id, f"{what}_id": int(number)}

    _each(ids, kind, every, replay, _replayed, json)


@app.command("discard")
def discard_command(
    reason: Annotated[str, typer.Option(help="Why; kept on record.")],
    ids: LetterIds = None,
    kind: Kind = None,
    every: All = False,
    actor: Actor = None,
    json: AsJson = False,
) -> None:
    """Close dead letters without running their jobs again. They stay on record, with the reason.

    Example: penstock dlq discard job-12 --reason "the customer is gone"
    """

    def discard(connection: Connection, letter_id: str) -> Json:
        dead_letters.resolve(connection, letter_id, reason, actor)
        return {"id": letter_id, "resolution": "discarded"}

    _each(ids, kind, every, discard, lambda done: f"{done['id']}: discarded", json)


def _each(
    ids: list[str] | None,
    kind: str | None,
    every: bool,
    act: Callable[[Connection, str], Json],
    said: Callable[[Json], str],
    as_json: bool,
) -> None:
    """Do it to the letters named, or to all that match; a refused one stops no other, but the command has failed."""
    if (ids is not None) + (kind is not None) + every != 1:
        raise typer.BadParameter("name dead letters by id, or give --kind or --all", param_hint="ID")
    done: list[Json] = []
    refusals = 0
    with opened("dlq") as connection:
        count = len(ids) if ids is not None else dead_letters.count_open(connection, kind=kind)
        letters = iter(ids) if ids is not None else _matching(connection, kind)
        with Counter("dead letters", count) as counter:
            # what dies while this runs is left for the next time
            for letter_id in islice(letters, count):
                try:
                    done.append(act(connection, letter_id))
                except Refused as refused:
                    refusals += 1
                    complain(refused)
                else:
                    if not as_json:
                        typer.echo(cell(said(done[-1])))
                counter.at(len(done) + refusals)
    if as_json:
        show_json(done)
    elif not count:
        typer.echo("no open dead letters" if kind is None else cell(f"no open dead letters of kind {kind}"))
    if refusals:
        raise typer.Exit(1)


def _replayed(done: Json) -> str:
    what = "job" if "job_id" in done else "attempt"
    return f"{done['id']}: replayed as {what} {done[f'{what}_id']}"


def _matching(connection: Connection, kind: str | None) -> Iterator[str]:
    """The open letters, oldest first, page by page."""
    after = dead_letters.BEFORE_ALL
    while page := dead_letters.list_oldest(connection, kind=kind, after=after, limit=_PAGE):
        for letter in page:
            yield letter.id
        after = page[-1].id


def _facts(letter: DeadLetter) -> Json:
    return {
        "id": letter.id,
        "job": letter.job_id,
        "what": letter.what,
        "reason": letter.reason,
        "died": letter.dead_at,
        "resolution": letter.resolution or "open",
        "resolved": letter.resolved_at,
        "by": letter.resolved_by,
        "replayed as": letter.replay_job_id,
    }


def _show_attempt(attempt: Happening) -> None:
    detail = attempt.detail or {}
    error = detail.get("error")
    show_facts({"attempt": attempt.attempt, "at": attempt.happened_at, "reason": detail.get("reason")})
    show_facts(error if isinstance(error, dict) else {"error": error})
