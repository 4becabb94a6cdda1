"""Functions that playbooks of tests call, and what they note outside the database."""

from typing import Any

from penstock import Job
from penstock.jobs import PermanentError
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


def behaves(args: dict[str, Any], job: Job) -> dict[str, Any]:
    """Notes that it was called, and fails if it is to."""
    note(job, "called", step=job.step, execution=job.execution_id, item=job.payload.get("item", 0))
    if args["fails"]:
        raise PermanentError("it was to fail")
    return args
