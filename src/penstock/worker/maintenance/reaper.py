"""queue_reap_stale_leases: takes back jobs whose worker has gone."""

from collections.abc import Callable

from penstock.jobs import Job, JobFunction
from penstock.kernel import queue
from penstock.worker.link import Link

KIND = "queue_reap_stale_leases"


def handler(open_link: Callable[[str], Link]) -> JobFunction:
    def reap(job: Job) -> dict[str, int]:
        link = open_link("reap")
        try:
            return {"taken_back": link.call(queue.reap_stale_leases)}
        finally:
            link.close()

    return JobFunction(KIND, reap, is_async=False)
