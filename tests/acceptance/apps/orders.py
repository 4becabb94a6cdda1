"""Functions that playbooks call."""

from typing import Any


def process(payload: dict[str, Any]) -> dict[str, Any]:
    """The input comes back as the result."""
    return payload


async def process_later(payload: dict[str, Any], job: Any) -> dict[str, Any]:
    return {"attempt": job.attempt, "order": payload["order"]}
