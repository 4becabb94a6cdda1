"""penstock demo"""

import os
import shlex
import shutil
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated
from uuid import UUID

import typer

from penstock.cli.demo import plan
from penstock.cli.demo.changes import HOOK, Changed, change, write_secret
from penstock.cli.demo.verdict import problems
from penstock.cli.demo.workers import Workers, working
from penstock.cli.explanation import Explanation, explained, show_explanation
from penstock.cli.options import AsJson
from penstock.cli.output import Counter, complain, show_heading, show_json, show_table, waiting
from penstock.client import Client, embedded_database
from penstock.embedded import EmbeddedPostgres
from penstock.kernel import admin, databases, reads
from penstock.kernel.connection import Connection, connect
from penstock.kernel.reads import KindTally
from penstock.settings import Settings, read_settings

if TYPE_CHECKING:
    from penstock.cli.demo.ingest import Ingested

DATABASE = "penstock_demo"
DEMO_SUBSCRIPTION = "demo/orders"
_WORKERS = 2
_JOBS = 20_000
# for another demo to end
_TURN_S = 180.0
# for the workers of a killed demo to notice that it is gone
_PATIENCE_S = 15.0
_STALL_S = 60.0
_LOOK_S = 0.2


@dataclass(frozen=True)
class Outcome:
    tallies: list[KindTally]
    seconds: float
    problems: list[str]
    commands: list[str]
    changes: Changed
    messages: "Ingested | str"
    explanation: Explanation | None


def demo_command(
    jobs: Annotated[int, typer.Option(min=100, max=200_000, hidden=True, help="How many jobs to run.")] = _JOBS,
    messages: Annotated[int, typer.Option(max=200_000, hidden=True, help="How many messages; 0 for none.")] = _JOBS,
    json: AsJson = False,
) -> None:
    """Run 20,000 jobs, change a table, send 20,000 messages from NATS through Spark, and show what became of them.

    Uses the embedded servers and a database of its own, made anew each time: your own jobs are left alone.

    Example: penstock demo
    """
    settings = read_settings()
    with _fresh_database(settings) as url:
        outcome = _run(url, jobs, messages, settings.home.expanduser().absolute() / "demo")
    if json:
        show_json({"jobs": jobs, "workers": _WORKERS, "rate_per_s": round(jobs / outcome.seconds), **asdict(outcome)})
    else:
        _show(outcome, jobs)
    for problem in outcome.problems:
        complain(problem)
    if outcome.problems:
        raise typer.Exit(1)


@contextmanager
def _fresh_database(settings: Settings) -> Iterator[str]:
    """An empty, migrated database for this demo alone."""
    server = EmbeddedPostgres(settings.data_folder)
    with waiting("starting PostgreSQL"):
        server.start()
    with ExitStack() as held:
        connection = held.enter_context(connect(server.url(), application="penstock demo"))
        with waiting("waiting for another demo to end"):
            held.enter_context(databases.alone(connection, "demo", patience_s=_TURN_S))
        with waiting("making the demo's database"):
            databases.drop(connection, DATABASE, patience_s=_PATIENCE_S)
            url = embedded_database(server, DATABASE)
        yield url


def _run(url: str, jobs: int, count: int, folder: Path) -> Outcome:
    with connect(url, application="penstock demo") as connection:
        for key, value in plan.CONFIG.items():
            admin.config_set(connection, key, value)
        requests = plan.requests(jobs)
        with waiting("enqueuing"), Client(url) as client:
            enqueued = client.enqueue_many(requests)
        shown = next(
            made.job_id for made, asked in zip(enqueued, requests, strict=True) if asked["kind"] == plan.FLAKY.name
        )
        began = time.monotonic()
        with working(url, _WORKERS, folder, write_secret(folder)) as workers:
            with Counter("jobs done", jobs) as counter:
                _watch(connection, workers, jobs, counter)
            seconds = time.monotonic() - began
            tallies = reads.tally(connection)
            lanes = reads.lane_results(connection)
            changes = change(connection, workers)
            messages = _messages(connection, url, count, folder, workers)
        wanted = plan.expected(jobs)
        differing = problems(tallies, wanted, lanes, wanted[plan.BOOKING.name].jobs)
        routed = 0 if isinstance(messages, str) else messages.routed
        explanation = explained(connection, routed) if routed else None
    differing += changes.problems + ([] if isinstance(messages, str) else messages.problems)
    commands = _commands(shown, changes.example, routed)
    return Outcome(tallies, seconds, differing, commands, changes, messages, explanation)


def _messages(connection: Connection, url: str, count: int, folder: Path, workers: Workers) -> "Ingested | str":
    """The second half, or why it is left out."""
    if not count:
        return "messages are left out: none were asked for"
    if shutil.which("java") is None and not os.environ.get("JAVA_HOME"):
        return "messages are left out: Spark needs Java 17 or later, and there is none on the PATH"
    try:
        from penstock.cli.demo.ingest import ingest
    except ImportError as error:
        return f"messages are left out: pip install 'penstock[spark]' ({error})"
    return ingest(connection, url, count, folder, workers)


def _watch(connection: Connection, workers: Workers, jobs: int, counter: Counter) -> None:
    """Count until all jobs have ended; raise when they stop ending."""
    left, moved_at = jobs, time.monotonic()
    while left:
        workers.check()
        now_left = reads.live_jobs(connection)
        if now_left != left:
            left, moved_at = now_left, time.monotonic()
            counter.at(jobs - left)
        elif time.monotonic() - moved_at > _STALL_S:
            raise workers.failure(f"{left:,} jobs are left, and none has ended for {_STALL_S:.0f} s")
        time.sleep(_LOOK_S)


def _show(outcome: Outcome, jobs: int) -> None:
    described = {kind.name: kind.what for kind in plan.KINDS}
    show_table(
        ("kind", "they …", "jobs", "succeeded", "retried", "dead-lettered", "attempts"),
        [
            (
                tally.job_kind,
                described.get(tally.job_kind),
                f"{tally.jobs:,}",
                f"{tally.succeeded:,}",
                f"{tally.retried:,}",
                f"{tally.dead_lettered:,}",
                f"{tally.attempts:,}",
            )
            for tally in outcome.tallies
        ],
    )
    rate = f"{jobs / outcome.seconds:,.0f} jobs/s, the workers' start included"
    typer.echo(f"\n{jobs:,} jobs in {outcome.seconds:.1f} s through {_WORKERS} workers: {rate}")
    _show_changes(outcome.changes)
    if isinstance(outcome.messages, str):
        typer.echo(outcome.messages)
    else:
        _show_messages(outcome.messages)
    if not outcome.problems:
        typer.echo(f"checked: every job has ended as it must, and each of the {plan.LANES} lanes ran in order")
    if outcome.explanation:
        show_heading(f"one message that a header routed: execution {outcome.explanation.execution.execution_id}")
        show_explanation(outcome.explanation)
    show_heading("look further")
    for command in outcome.commands:
        typer.echo(f"  {command}")


def _show_changes(found: Changed) -> None:
    show_heading("one UPDATE of a table")
    show_table(
        ("rows changed", "events", "jobs of the consumer, succeeded", "signed requests, received"),
        [(found.rows, found.events, found.jobs, found.delivered)],
    )
    typer.echo(
        f"\neach row became one event, one job and one signed request, all within {found.seconds:.1f} s of the update"
    )


def _show_messages(found: "Ingested") -> None:
    one = found.subscription
    show_heading(f"{one.received:,} messages from NATS, through Spark")
    show_table(
        ("playbook", "pool", "status", "executions"),
        [(playbook, pool, status, f"{count:,}") for playbook, pool, status, count in found.executions],
    )
    rate = one.received / found.seconds
    typer.echo(
        f"\n{one.received:,} received, {one.executions:,} executions, {one.deduplicated:,} deduplicated, "
        f"{one.dead_lettered:,} dead-lettered, in {found.seconds:.1f} s: {rate:,.0f} messages/s, handlers included"
    )


def _commands(job_id: int, event: UUID, execution: int) -> list[str]:
    """The commands to look further, as they can be pasted into the shell this was started from."""
    words = ["dlq list", "job list --status dead_lettered", f"job show {job_id}"]
    words += [f"event show {event}", f"route review {HOOK} --outbound"]
    words += [f"subscription show {DEMO_SUBSCRIPTION}", f"explain {execution}"] if execution else []
    prefix = {"PENSTOCK_DATABASE": DATABASE}
    if os.environ.get("PENSTOCK_HOME"):
        prefix["PENSTOCK_HOME"] = os.environ["PENSTOCK_HOME"]
    if os.environ.get("PENSTOCK_DATABASE_URL"):
        prefix["PENSTOCK_DATABASE_URL"] = ""
    environment = " ".join(f"{name}={shlex.quote(value) if value else ''}" for name, value in prefix.items())
    return [f"{environment} {_program()} {command}" for command in words]


def _program() -> str:
    """How this program was called: by name when the shell finds it, else by its path."""
    called = Path(sys.argv[0])
    if called.name != "penstock":
        return f"{shlex.quote(sys.executable)} -m penstock.cli.main"
    found = shutil.which("penstock")
    if found is not None and called.exists() and Path(found).samefile(called):
        return "penstock"
    return shlex.quote(str(called))
