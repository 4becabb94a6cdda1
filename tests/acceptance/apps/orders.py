"""Functions that playbooks call."""

import time
from typing import Any


def process(payload: dict[str, Any]) -> dict[str, Any]:
    """The input comes back as the result."""
    return payload


async def process_later(payload: dict[str, Any], job: Any) -> dict[str, Any]:
    return {"attempt": job.attempt, "order": payload["order"]}


def linger(payload: dict[str, Any], job: Any) -> None:
    """Goes on until it is told to stop."""
    while not job.cancelled:
        time.sleep(0.01)
