"""What a playbook's step can call: one file per tool. The job kind of a step is `tool:` and the tool's name."""

from collections.abc import Callable

from penstock.jobs import JobFunction
from penstock.worker.link import Link
from penstock.worker.tools import noop, python
from penstock.worker.tools.steps import Steps


def tools(open_link: Callable[[str], Link]) -> dict[str, JobFunction]:
    """The tools' handlers, by job kind."""
    steps = Steps(open_link)
    return {noop.KIND: noop.handler(), python.KIND: python.handler(steps)}
