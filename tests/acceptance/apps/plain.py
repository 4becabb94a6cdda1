"""Handlers that do what they are asked."""

import asyncio
from typing import Any

from penstock import Job, job
from tests.acceptance.apps.notes import note


@job("greet")
def greet(job: Job) -> dict[str, Any]:
    note(job, "ran")
    return {"hello": job.payload["name"]}


@job("greet_async")
async def greet_async(job: Job) -> dict[str, Any]:
    await asyncio.sleep(0)
    note(job, "ran")
    return {"hello": job.payload["name"]}


@job("tell")
def tell(job: Job) -> dict[str, Any]:
    job.log.info("telling")
    return {
        "source": job.source_ref,
        "target": job.target_ref,
        "payload": job.payload_ref,
        "trace": job.trace,
        "correlation": job.correlation_id,
        "actor": job.actor,
        "domain": job.event_domain,
        "lane": job.lane,
        "kind": job.kind,
        "attempt": job.attempt,
    }


@job("note")
def take_note(job: Job) -> None:
    note(job, "ran")
