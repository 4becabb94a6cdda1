"""penstock job"""

from collections.abc import Callable
from datetime import datetime
from typing import Annotated, Any

import typer

from penstock.cli.database import opened
from penstock.cli.options import LARGEST_ID, Actor, AsJson, JobId, JobIds, Limit, Status, read_object
from penstock.cli.output import (
    cell,
    complain,
    error_line,
    show_facts,
    show_heading,
    show_json,
    show_table,
)
from penstock.cli.waiting import waiting_line
from penstock.errors import NotAllowed, Refused
from penstock.kernel import dead_letters, executions, jobs, reads
from penstock.kernel.connection import Connection
from penstock.kernel.dead_letters import DeadLetter
from penstock.kernel.executions import Question
from penstock.kernel.reads import Happening
from penstock.model import JobView, Json

app = typer.Typer(no_args_is_help=True, help="Jobs: what was asked, what became of it, and why.")


@app.command("list")
def list_command(
    status: Annotated[Status | None, typer.Option(help="Only jobs in this state.")] = None,
    kind: Annotated[str | None, typer.Option(help="Only jobs of this kind.")] = None,
    pool: Annotated[str | None, typer.Option(help="Only jobs of this pool.")] = None,
    before: Annotated[
        int | None, typer.Option(min=1, max=LARGEST_ID, help="Only jobs with a lower id: the next page.")
    ] = None,
    limit: Limit = 50,
    json: AsJson = False,
) -> None:
    """Show the newest jobs. Looks at 100,000 rows at most, and says where to go on.

    Example: penstock job list --status retrying --kind send_invoice
    """
    with opened("job") as connection:
        page = reads.job_list(connection, status=status, kind=kind, pool=pool, before=before, limit=limit)
    if json:
        show_json(page)
        return
    show_table(
        ("job", "kind", "status", "attempt", "pool", "lane", "priority", "enqueued", "finished"),
        [
            (
                job.job_id,
                job.job_kind,
                job.status,
                f"{job.attempt}/{job.max_attempts}",
                job.pool,
                job.lane,
                job.priority,
                job.enqueued_at,
                job.finished_at,
            )
            for job in page.jobs
        ],
        empty="no such jobs" if page.next_before is None else "no such jobs among those looked at",
    )
    if page.next_before is not None:
        typer.echo(f"there may be more: go on with --before {page.next_before}", err=True)


@app.command("show")
def show_command(job_id: JobId, json: AsJson = False) -> None:
    """Show a job whole: what was asked, where it stands and why, its result, and all that happened to it.

    Example: penstock job show 42
    """
    with opened("job") as connection:
        job = jobs.show(connection, job_id)
        trail = reads.trail(connection, job_id)
        result = _result(connection, job_id)
        letter = dead_letters.of_job(connection, job_id)
        asked = executions.question(connection, job_id)
        why = _why(job, reads.why_unserved(connection, job), letter, asked)
    if json:
        letter_id = None if letter is None else letter.id
        show_json({"job": job, "why": why, "result": result, "dead_letter_id": letter_id, "trail": trail})
        return
    show_facts({**_facts(job), "why": why, "result": result})
    show_heading("what happened")
    show_table(("when", "what", "attempt", "who", "detail"), [_happening(one) for one in trail])


@app.command("retry")
def retry_command(job_ids: JobIds, actor: Actor = None, json: AsJson = False) -> None:
    """Do not wait: scheduled and retrying jobs are ready now, dead-lettered ones are replayed as new jobs.

    Example: penstock job retry 42 43
    """

    def retry(connection: Connection, job_id: int) -> Json:
        return {"job_id": job_id, "look_at": jobs.retry(connection, job_id, actor)}

    def said(done: Json) -> str:
        again = "ready again" if done["look_at"] == done["job_id"] else f"replayed as job {done['look_at']}"
        return f"job {done['job_id']}: {again}"

    _each(job_ids, retry, said, json)


@app.command("cancel")
def cancel_command(
    job_ids: JobIds,
    reason: Annotated[str | None, typer.Option(help="Why; kept in the job's trail.")] = None,
    actor: Actor = None,
    json: AsJson = False,
) -> None:
    """Do not run these jobs. One that runs now is told, and its result is not believed.

    Example: penstock job cancel 42 --reason "ordered twice"
    """

    def cancel(connection: Connection, job_id: int) -> Json:
        return {"job_id": job_id, "status": jobs.cancel(connection, job_id, actor, reason)}

    def said(done: Json) -> str:
        held = done["status"] == "cancel_requested"
        return f"job {done['job_id']}: " + ("its worker is told to give it up" if held else "cancelled")

    _each(job_ids, cancel, said, json)


@app.command("resume")
def resume_command(
    job_id: JobId,
    result: Annotated[str | None, typer.Option(help="The answer, a JSON object: it becomes the step's result.")] = None,
    key: Annotated[str | None, typer.Option(help="Its callback key, if you were given one.")] = None,
    actor: Actor = None,
) -> None:
    """Answer a step that waits for it, such as an approval.

    Example: penstock job resume 42 --result '{"approved": true}'
    """
    with opened("job") as connection:
        status = jobs.resume(connection, job_id, key, read_object(result, "--result"), actor)
    typer.echo(f"job {job_id}: {status}")


@app.command("enqueue")
def enqueue_command(
    kind: Annotated[str, typer.Argument(help="What is to be done.", metavar="KIND")],
    payload: Annotated[str | None, typer.Option(help="A small JSON object.")] = None,
    key: Annotated[str | None, typer.Option(help="Same kind and key: same job, no new one.")] = None,
    pool: Annotated[str, typer.Option(help="Where it is served.")] = "shared",
    lane: Annotated[str | None, typer.Option(help="Jobs of one lane run one at a time, in order.")] = None,
    priority: Annotated[int, typer.Option(min=-32768, max=32767, help="Higher first.")] = 0,
    after: Annotated[datetime | None, typer.Option(help="Not before this time, UTC.")] = None,
    actor: Actor = None,
    json: AsJson = False,
) -> None:
    """Ask for one job and print its id.

    Example: penstock job enqueue send_invoice --payload '{"order": 7}'
    """
    request = {
        "kind": kind,
        "safe_payload": read_object(payload, "--payload"),
        "idempotency_key": key,
        "pool": pool,
        "lane": lane,
        "priority": priority,
        # the session's time zone is UTC
        "process_after": after,
        "actor": actor,
    }
    with opened("job") as connection:
        job_id = jobs.enqueue(connection, {name: value for name, value in request.items() if value is not None})
    if json:
        show_json({"job_id": job_id})
    else:
        typer.echo(job_id)


def _each(
    job_ids: list[int], act: Callable[[Connection, int], Json], said: Callable[[Json], str], as_json: bool
) -> None:
    """Do it to every job; a refused one stops no other, but the command has failed."""
    done: list[Json] = []
    with opened("job") as connection:
        for job_id in job_ids:
            try:
                done.append(act(connection, job_id))
            except Refused as refused:
                complain(refused)
            else:
                if not as_json:
                    typer.echo(said(done[-1]))
    if as_json:
        show_json(done)
    if len(done) < len(job_ids):
        raise typer.Exit(1)


def _result(connection: Connection, job_id: int) -> Any:
    try:
        return reads.result(connection, job_id)
    except NotAllowed:
        return None  # a producer may see its jobs, not what came of them


def _why(job: JobView, unserved: str | None, letter: DeadLetter | None, asked: Question | None) -> str | None:
    """Where the job stands, in a sentence."""
    if letter is not None:
        resolved = f"{letter.resolution} by {letter.resolved_by}"
        nothing_done = f"penstock dlq replay {letter.id} runs it again"
        return f"{letter.reason}, dead letter {letter.id}: {nothing_done if letter.resolved_at is None else resolved}"
    match job.status:
        case "ready":
            return unserved or "waits for a free worker"
        case "blocked":
            return f"waits for the jobs before it in lane {job.lane}" if job.lane else "waits for its parents"
        case "scheduled" | "retrying":
            return f"waits until {cell(job.process_after)}"
        case "leased" | "running":
            return f"held by {job.leased_by} until {cell(job.lease_until)}"
        case "awaiting":
            return waiting_line(asked) if asked else None
    return None


def _facts(job: JobView) -> dict[str, Any]:
    return {
        "job": job.job_id,
        "execution": None if job.execution_id == job.job_id else job.execution_id,
        "step": job.step,
        "playbook": job.playbook_ref,
        "subscription": job.subscription,
        "kind": job.job_kind,
        "status": job.status,
        "attempt": f"{job.attempt} of {job.max_attempts}",
        "executor": job.executor,
        "pool": job.pool,
        "lane": job.lane,
        "event domain": job.event_domain,
        "priority": job.priority,
        "payload": job.safe_payload,
        "source": job.source_ref,
        "target": job.target_ref,
        "payload at": job.payload_ref,
        "correlation": job.correlation_id,
        "caused by": job.causation_event_id,
        "trace": job.trace,
        "actor": job.actor,
        "enqueued": job.enqueued_at,
        "finished": job.finished_at,
    }


def _happening(one: Happening) -> tuple[Any, ...]:
    detail = dict(one.detail or {})
    error = detail.pop("error", None)
    rest = ", ".join(f"{name} {cell(value)}" for name, value in detail.items())
    said = error_line(error, longest=1000)
    return one.happened_at, one.happening, one.attempt, one.actor, f"{said} ({rest})" if said and rest else said or rest
