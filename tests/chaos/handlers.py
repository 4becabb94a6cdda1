"""The handlers of the storm. Each writes when it began and how it ended into its process's own file, at once."""

import json
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from penstock import Job, job

_NOTES = os.open(
    Path(os.environ["STORM_NOTES"]) / f"{os.getpid()}-{time.monotonic_ns()}.notes",
    os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_EXCL,
)
Answer = dict[str, int]


class Planned(Exception):
    """A failure the storm asked for."""


@contextmanager
def _noted(job: Job) -> Iterator[Answer]:
    _note(job, "began")
    try:
        yield {"lease": job.lease_token}
    except BaseException:
        _note(job, "raised")
        raise
    _note(job, "returned")


def _note(job: Job, what: str) -> None:
    line = {"what": what, "job": job.id, "attempt": job.attempt, "lease": job.lease_token, "at": time.monotonic()}
    os.write(_NOTES, json.dumps(line).encode() + b"\n")


@job("quick")
def quick(job: Job) -> Answer:
    with _noted(job) as answer:
        return answer


@job("slow")
def slow(job: Job) -> Answer:
    """Long enough for a kill to hit it."""
    with _noted(job) as answer:
        time.sleep(job.payload["seconds"])
        return answer


@job("flaky")
def flaky(job: Job) -> Answer:
    with _noted(job) as answer:
        if job.attempt <= job.payload["failures"]:
            raise Planned("not yet")
        return answer


@job("doomed")
def doomed(job: Job) -> Answer:
    with _noted(job):
        raise Planned("never")


@job("laned")
def laned(job: Job) -> Answer:
    with _noted(job) as answer:
        time.sleep(job.payload["seconds"])
        return answer


@job("limited")
def limited(job: Job) -> Answer:
    with _noted(job) as answer:
        time.sleep(job.payload["seconds"])
        return answer


@job("due")
def due(job: Job) -> Answer:
    with _noted(job) as answer:
        return answer
