"""route_deliver: takes one event to where its outbound route says."""

from collections.abc import Callable

from penstock.credentials import Credentials
from penstock.errors import RouteNotLive
from penstock.jobs import Job, JobFunction, PermanentError
from penstock.kernel import outbound
from penstock.worker.link import Link, LinkPool
from penstock.worker.maintenance.turns import Turns
from penstock.worker.webhook import ReceiverGone, Sender

KIND = "route_deliver"


def handler(open_link: Callable[[str], Link], read_credentials: Callable[[], Credentials], runners: int) -> JobFunction:
    links, sender, turns = LinkPool(open_link, "deliver"), Sender(), Turns(runners)

    def deliver(job: Job) -> dict[str, str]:
        attempt, route = int(job.payload["attempt"]), str(job.payload["route"])
        try:
            with turns.taken(route):
                delivery = links.call(lambda c: outbound.deliver(c, attempt, job.lease_token))
                if delivery["status"] != "queued":
                    return {"status": str(delivery["status"])}
                sender.post(delivery, read_credentials())
            if not links.call(lambda c: outbound.sent(c, attempt, job.lease_token)):
                job.log.warning(
                    "delivered by route %s, but its attempt was not ours any more: it may be delivered again", route
                )
            return {"status": "sent"}
        except (RouteNotLive, ReceiverGone) as error:
            raise PermanentError(str(error)) from error

    return JobFunction(KIND, deliver, is_async=False)
