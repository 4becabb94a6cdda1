"""What the demo's playbooks call: what a user's own module looks like."""

from typing import Any


def ship(payload: dict[str, Any]) -> dict[str, Any]:
    """The keys of the message's JSON stand beside `message`, `subscription` and `source`."""
    return {"shipped": payload["order"]}


def check_fraud(payload: dict[str, Any]) -> dict[str, Any]:
    return {"order": payload["order"], "suspicious": payload["order"] % 7 == 0}
