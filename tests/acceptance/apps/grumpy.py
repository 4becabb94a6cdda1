"""A module that sets up its own logging, which cannot bear bad news."""

from collections.abc import MutableMapping
from typing import Any

import structlog

from penstock import Job, job


def _object(logger: Any, method: str, event: MutableMapping[str, Any]) -> str:
    if event["event"] in ("failed", "broken"):
        raise RuntimeError("I do not want to hear it")
    return str(event)


structlog.configure(processors=[_object])


@job("raises")
def raises(job: Job) -> None:
    raise ValueError("this went wrong")
