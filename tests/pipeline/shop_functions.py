"""Functions of a user's own, copied beside his subscription."""

import time
from typing import Any


def process(payload: dict[str, Any]) -> dict[str, Any]:
    print("works on", payload["order"])
    if payload["order"] == 3:
        raise ValueError("three")
    return {"order": payload["order"]}


def slow(_: dict[str, Any]) -> None:
    """Takes longer than a run would go on that does not wait for it."""
    time.sleep(2)
