"""What a playbook's step can call: one file per tool. The job kind of a step is `tool:` and the tool's name."""

from penstock.jobs import JobFunction
from penstock.worker.tools import (
    approve,
    email,
    event,
    http,
    noop,
    playbook,
    postgres,
    python,
    spark,
    subscription,
    wait,
)
from penstock.worker.tools.contract import Services, Tool
from penstock.worker.tools.engine import Engine

TOOLS: dict[str, Tool] = {
    "noop": noop.run,
    "python": python.run,
    "http": http.run,
    "postgres": postgres.run,
    "spark": spark.run,
    "playbook": playbook.run,
    "event": event.run,
    "wait": wait.run,
    "approve": approve.run,
    "email": email.run,
    "subscription": subscription.run,
}


def tools(services: Services) -> dict[str, JobFunction]:
    """The handlers of steps, by job kind: one engine for all of them."""
    engine = Engine(services, TOOLS)
    kinds = [f"tool:{name}" for name in (*TOOLS, "list", "decide")]
    return {kind: JobFunction(kind, engine.run, is_async=False) for kind in kinds} | {
        playbook.ENDED: playbook.ended(services.links)
    }
