"""Handlers that go on when the test opens a gate, or when their job is cancelled."""

import asyncio
import time

from penstock import Job, job
from tests.acceptance.apps.notes import gate_is_open, note, wait_at


@job("gated")
def gated(job: Job) -> dict[str, int]:
    note(job, "began")
    wait_at(job.payload.get("gate", "go"))
    note(job, "ended", cancelled=job.cancelled)
    return {"lease": job.lease_token}


@job("heeding")
def heeding(job: Job) -> None:
    """Looks whether its job is still wanted."""
    note(job, "began")
    while not job.cancelled:
        time.sleep(0.01)
    note(job, "heard")


@job("heeding_async")
async def heeding_async(job: Job) -> None:
    note(job, "began")
    try:
        await asyncio.sleep(3600)
    except asyncio.CancelledError:
        note(job, "heard")
        while not gate_is_open("tidied"):
            await asyncio.sleep(0.01)
        note(job, "tidied")
        raise


@job("quick")
def quick(job: Job) -> None:
    note(job, "ran")
