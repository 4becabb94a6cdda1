"""route_deliver: takes one event to where its outbound route says."""

from collections.abc import Callable

from penstock.credentials import Credentials
from penstock.errors import RouteNotLive
from penstock.jobs import Job, JobFunction, PermanentError
from penstock.kernel import outbound
from penstock.worker.link import Link, LinkPool
from penstock.worker.webhook import ReceiverGone, Sender

KIND = "route_deliver"


def handler(open_link: Callable[[str], Link], read_credentials: Callable[[], Credentials]) -> JobFunction:
    links, sender = LinkPool(open_link, "deliver"), Sender()

    def deliver(job: Job) -> dict[str, str]:
        attempt = int(job.payload["attempt"])
        try:
            delivery = links.call(lambda c: outbound.deliver(c, attempt))
            if delivery["status"] == "queued":
                sender.post(delivery, read_credentials())
                links.call(lambda c: outbound.sent(c, attempt))
                return {"status": "sent"}
            return {"status": str(delivery["status"])}
        except (RouteNotLive, ReceiverGone) as error:
            raise PermanentError(str(error)) from error

    return JobFunction(KIND, deliver, is_async=False)
