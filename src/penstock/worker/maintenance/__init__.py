"""Job kinds every worker serves: one file per service."""

from collections.abc import Callable

from penstock.jobs import JobFunction
from penstock.worker.link import Link
from penstock.worker.maintenance import reaper


def services(open_link: Callable[[str], Link]) -> dict[str, JobFunction]:
    """The maintenance handlers, by kind."""
    return {reaper.KIND: reaper.handler(open_link)}
