"""Playbooks as short texts, and executions driven by hand: claimed and finished by the functions a worker calls."""

import json
from collections.abc import Callable
from typing import Any

from penstock.catalog.entry import read
from penstock.credentials import Credentials
from penstock.kernel import executions, jobs
from penstock.kernel.connection import Connection
from penstock.kernel.registration import register
from penstock.model import Claim, Json

NO_CREDENTIALS = Credentials(None, {})
Decide = Callable[[str, Claim], Json | None]


def playbook(
    db: Connection, workflow: str, path: str = "flow", *, credentials: Credentials = NO_CREDENTIALS, **more: Any
) -> str:
    """Register the steps of a YAML text, in which APP is the module of the tests' functions; returns the path."""
    workflow = workflow.replace("APP:", "tests.acceptance.apps.flows:")
    head = {"apiVersion": "penstock/v1", "kind": "Playbook", "metadata": {"path": path}, **more}
    lines = "\n".join(f"{key}: {json.dumps(value)}" for key, value in head.items())
    register(db, read(f"{lines}\nworkflow:\n{workflow}", "playbook.yaml"), credentials)
    return path


def started(db: Connection, path: str = "flow", **request: Any) -> int:
    return executions.execute(db, {"playbook": path, **request})[0]


def steps_of(db: Connection, execution: int) -> list[tuple[str, int, int, str]]:
    """(step, visit, item, status) of every step that has begun."""
    return db.execute(
        "select step, visit, item, status from penstock.v_execution_step where execution_id = %s order by job_id",
        [execution],
    ).fetchall()


def state(db: Connection, execution: int) -> tuple[str, int, int]:
    """Its status, how many jobs it counts as live, and how many steps are stuck."""
    row = db.execute(
        "select status, open, stuck from penstock.job_workflow where execution_id = %s", [execution]
    ).fetchone()
    assert row is not None
    return row[0], row[1], row[2]


def claimed(db: Connection, limit: int = 1000) -> list[tuple[str, Claim]]:
    """What is ready now, with the names of the steps."""
    claims = jobs.claim(db, "default", limit, start=True)
    asked = jobs.facts(db, claims) if claims else {}
    return [(asked[one.job_id].step or "", one) for one in claims]


def finished(db: Connection, claims: list[tuple[str, Claim]], decide: Decide | None = None) -> list[Any]:
    """Finish these; `decide` says per step where it goes on."""
    following = [decide(step, one) if decide else None for step, one in claims]
    return jobs.finish(
        db,
        [one.job_id for _, one in claims],
        [one.lease_token for _, one in claims],
        None,
        [None if one is None else json.dumps(one) for one in following],
    )


def driven(db: Connection, decide: Decide | None = None, most: int = 100) -> list[str]:
    """Claim and finish until nothing is ready; the steps in the order they ran."""
    ran: list[str] = []
    for _ in range(most):
        claims = claimed(db)
        if not claims:
            return ran
        ran += [step for step, _ in claims]
        refused = finished(db, claims, decide)
        assert not refused, refused
    raise AssertionError(f"it does not end: {ran[:50]}")
