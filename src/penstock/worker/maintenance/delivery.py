"""route_deliver: takes one event to where its outbound route says."""

from collections.abc import Callable

from penstock.credentials import Credentials
from penstock.errors import RouteNotLive
from penstock.jobs import Job, JobFunction, PermanentError
from penstock.kernel import outbound
from penstock.worker import webhook
from penstock.worker.link import Link

KIND = "route_deliver"


def handler(open_link: Callable[[str], Link], read_credentials: Callable[[], Credentials]) -> JobFunction:
    def deliver(job: Job) -> dict[str, str]:
        attempt = int(job.payload["attempt"])
        link = open_link("deliver")
        try:
            delivery = link.call(lambda c: outbound.deliver(c, attempt))
            if delivery["status"] == "queued":
                webhook.post(delivery, read_credentials())
                link.call(lambda c: outbound.sent(c, attempt))
                return {"status": "sent"}
            return {"status": str(delivery["status"])}
        except (RouteNotLive, webhook.ReceiverGone) as error:
            raise PermanentError(str(error)) from error
        finally:
            link.close()

    return JobFunction(KIND, deliver, is_async=False)
