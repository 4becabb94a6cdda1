"""Handlers that misbehave, each in a way of its own."""

import asyncio
import sys
import time
from concurrent.futures import ThreadPoolExecutor

from penstock import Job, PermanentError, Snooze, job
from tests.acceptance.apps.notes import note, wait_at


class _Unreadable(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no message for you")


@job("raises")
def raises(job: Job) -> None:
    raise ValueError("this went wrong")


@job("raises_async")
async def raises_async(job: Job) -> None:
    raise ValueError("this went wrong")


@job("raises_permanent")
def raises_permanent(job: Job) -> None:
    raise PermanentError("this will never work")


@job("snoozes")
def snoozes(job: Job) -> str:
    # the token grows with every claim
    if job.lease_token < job.payload["until"]:
        raise Snooze(0.05)
    return "awake"


@job("raises_nul")
def raises_nul(job: Job) -> None:
    raise ValueError("before\0after \ud800")


@job("raises_unreadable")
def raises_unreadable(job: Job) -> None:
    raise _Unreadable


@job("exits")
def exits(job: Job) -> None:
    sys.exit(3)


@job("exits_async")
async def exits_async(job: Job) -> None:
    sys.exit(3)


async def _exit_soon() -> None:
    await asyncio.sleep(0.01)
    sys.exit(3)


@job("leaves_a_task_that_exits")
async def leaves_a_task_that_exits(job: Job) -> None:
    left = asyncio.create_task(_exit_soon())
    await asyncio.wait([left], timeout=0.001)


@job("returns_object")
def returns_object(job: Job) -> object:
    return object()


@job("returns_nan")
def returns_nan(job: Job) -> object:
    return {"ratio": float("nan")}


@job("returns_nul")
def returns_nul(job: Job) -> object:
    return ["before\0after"]


@job("returns_surrogate")
def returns_surrogate(job: Job) -> object:
    return {"text": "\ud800"}


@job("returns_too_much")
def returns_too_much(job: Job) -> object:
    return "x" * 200_000


@job("returns_far_too_much")
def returns_far_too_much(job: Job) -> object:
    return "x" * 70_000_000


@job("returns_backslash")
def returns_backslash(job: Job) -> object:
    return {"text": "not a NUL: \\u0000"}


@job("hangs")
def hangs(job: Job) -> None:
    """Hangs the first time only."""
    note(job, "began")
    if job.attempt == 1:
        wait_at("never")


@job("hangs_async")
async def hangs_async(job: Job) -> None:
    """Hangs the first time only."""
    note(job, "began")
    try:
        if job.attempt == 1:
            await asyncio.sleep(3600)
    except asyncio.CancelledError:
        note(job, "cancelled")
        raise


@job("babbles")
def babbles(job: Job) -> None:
    """Never ends, and prints all the time."""
    note(job, "began")
    while True:
        sys.stderr.write("babble\n" * 100)
        time.sleep(0.0001)


@job("hangs_in_a_pool")
def hangs_in_a_pool(job: Job) -> None:
    """Waits for a thread that the interpreter would wait for at its end."""
    note(job, "began")
    with ThreadPoolExecutor() as pool:
        pool.submit(wait_at, "never").result()


@job("calm")
def calm(job: Job) -> str:
    return "well"


@job("calm_async")
async def calm_async(job: Job) -> str:
    return "well"


@job("chats")
def chats(job: Job) -> str:
    """Has much to say, on every way out."""
    print("well\n" * 5000, flush=True)
    print("well\n" * 5000, file=sys.stderr, flush=True)
    job.log.warning("well")
    return "well"
