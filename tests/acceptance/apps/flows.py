"""Functions that playbooks of tests call, and what they note outside the database."""

from typing import Any

from penstock import Job
from tests.acceptance.apps.notes import note, wait_at


def echo(args: dict[str, Any]) -> dict[str, Any]:
    return args


def noted(args: dict[str, Any], job: Job) -> dict[str, Any]:
    note(job, "ran", step=job.step, execution=job.execution_id, args=args)
    return args


def held(args: dict[str, Any], job: Job) -> dict[str, Any]:
    note(job, "held", step=job.step)
    wait_at("held")
    return args


def fails(args: dict[str, Any], job: Job) -> None:
    note(job, "failed", step=job.step)
    raise RuntimeError(args.get("words", "it does not work"))
