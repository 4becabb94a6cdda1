"""playbook: a step that starts an execution of another playbook, and waits for it to end unless told not to."""

from penstock.errors import DatabaseUnavailable, Refused
from penstock.jobs import Awaiting, Job, JobFunction, PermanentError, Snooze
from penstock.kernel import jobs, reads
from penstock.model import Json
from penstock.worker.link import LinkPool
from penstock.worker.tools.contract import Call

ENDED = "tool:child_ended"
_AGAIN_S = 0.5


def run(call: Call) -> Json | Awaiting:
    asked = call.settings
    waits = asked.get("wait", True)
    request = {"playbook": asked["path"], "payload": asked.get("payload"), "pool": asked.get("pool")}
    request |= {"idempotency_key": call.name}
    request |= {"trace": call.job.trace, "correlation_id": call.job.correlation_id}
    given = {name: value for name, value in request.items() if value is not None}
    job = call.job
    try:
        started = call.services.links.call(lambda c: jobs.child(c, job.id, job.lease_token, given, wait=waits))
    except DatabaseUnavailable:
        raise
    except Refused as error:
        raise PermanentError(f"{asked['path']} could not be started: {error}") from error
    return Awaiting() if waits else {"execution": started}


def ended(links: LinkPool) -> JobFunction:
    """Handles what the database asks for when an execution has ended that a job waits for."""

    def tell(job: Job) -> bool:
        child, parent = job.payload["execution"], job.payload["job"]
        if links.call(lambda c: jobs.child_ended(c, child)):
            return True
        # its worker may not have said yet that it waits
        if links.call(lambda c: reads.is_live(c, parent)):
            raise Snooze(_AGAIN_S)
        return False

    return JobFunction(ENDED, tell, is_async=False)
