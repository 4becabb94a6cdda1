"""What is known after a storm: what producers asked for, what handlers wrote down, what the tables say.

All times are seconds of CLOCK_MONOTONIC, which every process of one machine shares. The server's clock is translated by
the offset the driver measured before and after; `slack_s` is how far that offset moved meanwhile, plus a millisecond.
"""

import json
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from penstock.kernel.connection import Connection


@dataclass(frozen=True)
class Request:
    """One job a producer asked for until it had an answer. A lane has one producer, and its requests stand in order."""

    key: str
    kind: str
    job_id: int
    lane: str | None = None
    ends_as: str = "succeeded"


@dataclass(frozen=True)
class Execution:
    """One run of a handler, from its own notes; `ended_at` is None when it never ended."""

    job_id: int
    attempt: int
    lease: int
    began_at: float
    ended_at: float | None = None
    returned: bool = False


@dataclass(frozen=True)
class JobRow:
    job_id: int
    kind: str
    key: str | None
    lane: str | None = None
    due_at: float | None = None


@dataclass(frozen=True)
class OutcomeRow:
    """How one lease of a job ended. `ended_at` is when the queue took the lease back or accepted the report."""

    job_id: int
    lease: int
    attempt: int
    status: str
    ended_at: float
    started_at: float | None = None
    reason: str | None = None

    @property
    def is_terminal(self) -> bool:
        return self.status in ("succeeded", "dead_lettered", "cancelled")


@dataclass(frozen=True)
class History:
    requests: list[Request] = field(default_factory=list)
    executions: list[Execution] = field(default_factory=list)
    jobs: list[JobRow] = field(default_factory=list)
    outcomes: list[OutcomeRow] = field(default_factory=list)
    live: dict[int, str] = field(default_factory=dict)
    results: dict[int, Any] = field(default_factory=dict)
    limits: dict[str, int] = field(default_factory=dict)
    slack_s: float = 0.001


def executions_of(lines: Iterable[str]) -> list[Execution]:
    """Pair the begin and end lines of one process's handlers."""
    running: dict[tuple[int, int], Execution] = {}
    found: list[Execution] = []
    for line in lines:
        note = json.loads(line)
        key = (note["job"], note["lease"])
        if note["what"] == "began":
            if key in running:
                found.append(running[key])
            running[key] = Execution(note["job"], note["attempt"], note["lease"], note["at"])
        else:
            found.append(replace(running.pop(key), ended_at=note["at"], returned=note["what"] == "returned"))
    return found + list(running.values())


def read_notes(folder: Path) -> list[Execution]:
    """The executions of all processes, one file each; what a killed process did not finish writing is no line."""
    found: list[Execution] = []
    for file in sorted(folder.glob("*.notes")):
        whole, _, _ = file.read_text().rpartition("\n")
        found.extend(executions_of(whole.splitlines()))
    return found


def read_tables(
    db: Connection, offset_s: float
) -> tuple[list[JobRow], list[OutcomeRow], dict[int, str], dict[int, Any]]:
    """The queue's own account; `offset_s` is the wall clock minus the monotonic one."""
    jobs = db.execute(
        "select job_id, job_kind, idempotency_key, lane, extract(epoch from process_after)::float8 - %s"
        " from penstock.job order by job_id",
        [offset_s],
    ).fetchall()
    outcomes = db.execute(
        "select job_id, lease_token, attempt, status::text, extract(epoch from finished_at)::float8 - %s,"
        " extract(epoch from started_at)::float8 - %s, reason from penstock.job_outcome order by finished_at",
        [offset_s, offset_s],
    ).fetchall()
    live = db.execute("select job_id, status::text from penstock.job_queue").fetchall()
    results = db.execute("select job_id, result from penstock.job_result").fetchall()
    return (
        [JobRow(*row) for row in jobs],
        [OutcomeRow(*row) for row in outcomes],
        dict(live),
        dict(results),
    )
