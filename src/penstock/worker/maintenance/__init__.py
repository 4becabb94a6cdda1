"""Job kinds every worker serves: one file per service."""

from collections.abc import Callable

from penstock.credentials import Credentials
from penstock.jobs import JobFunction
from penstock.worker.link import Link
from penstock.worker.maintenance import delivery, reaper


def services(
    open_link: Callable[[str], Link], read_credentials: Callable[[], Credentials], runners: int
) -> dict[str, JobFunction]:
    """The maintenance handlers, by kind."""
    return {
        reaper.KIND: reaper.handler(open_link),
        delivery.KIND: delivery.handler(open_link, read_credentials, runners),
    }
