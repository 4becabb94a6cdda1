"""Functions that playbooks of tests call, and what they note outside the database."""

import time
from typing import Any

from penstock import Job
from penstock.jobs import PermanentError
from tests.acceptance.apps.notes import note, wait_at

_TAKES_S = 0.05


def echo(args: dict[str, Any]) -> dict[str, Any]:
    return args


def noted(args: dict[str, Any], job: Job) -> dict[str, Any]:
    note(job, "ran", step=job.step, execution=job.execution_id, args=args)
    return args


def held(args: dict[str, Any], job: Job) -> dict[str, Any]:
    note(job, "held", step=job.step)
    wait_at("held")
    return args


def large(_: dict[str, Any]) -> str:
    return "x" * 70_000


def unkept(_: dict[str, Any]) -> str:
    return "a\0b"


def fails(args: dict[str, Any], job: Job) -> None:
    note(job, "failed", step=job.step)
    raise RuntimeError(args.get("words", "it does not work"))


def behaves(args: dict[str, Any], job: Job) -> dict[str, Any]:
    """Notes that it was called, and fails if it is to: for good, or the first time. It takes a while."""
    note(job, "called", step=job.step, execution=job.execution_id, item=job.payload.get("item", 0))
    wait_at("storm")
    time.sleep(_TAKES_S)
    if args["fails"]:
        raise PermanentError("it was to fail")
    if args["shaky"] and job.attempt == 1:
        raise RuntimeError("it was to be tried again")
    return args
