"""The demo's handlers: what a user's own module looks like."""

import asyncio
import time

from penstock.jobs import Job, PermanentError, job
from penstock.model import Json

FAILS_BEFORE_IT_SUCCEEDS = 2


@job("demo.quick")
def quick(job: Job) -> None:
    """Nothing to wait for."""


@job("demo.urgent")
def urgent(job: Job) -> None:
    """Enqueued last, claimed first: its priority is higher."""


@job("demo.slow")
def slow(job: Job) -> None:
    """Takes 20 to 50 ms."""
    time.sleep(0.02 + job.payload["number"] % 4 * 0.01)


@job("demo.async")
async def answer(job: Job) -> Json:
    """Runs in the worker's event loop, and returns something."""
    await asyncio.sleep(0.002)
    return {"doubled": job.payload["number"] * 2}


@job("demo.flaky")
def flaky(job: Job) -> None:
    """Fails twice, then succeeds."""
    if job.attempt <= FAILS_BEFORE_IT_SUCCEEDS:
        raise ConnectionError(f"the other side is down (attempt {job.attempt})")


@job("demo.doomed")
def doomed(job: Job) -> None:
    """Fails until its attempts are used up."""
    raise ValueError(f"order {job.payload['number']} has no address")


@job("demo.refused")
def refused(job: Job) -> None:
    """Says that trying again cannot help."""
    raise PermanentError(f"order {job.payload['number']} was cancelled by the customer")


@job("demo.booking")
def booking(job: Job) -> Json:
    """One at a time per account, in order; says when it ran, so that the demo can check that."""
    began_ns = time.monotonic_ns()
    time.sleep(0.001)
    return {"began_ns": began_ns, "ended_ns": time.monotonic_ns()}


@job("demo.receipt")
def receipt(job: Job) -> Json:
    """What a consumer makes of an event: the order is its subject."""
    return {"order": job.target_ref}
