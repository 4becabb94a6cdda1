"""A worker that is killed once, at the place FAULT names, the NTH time it comes there."""

import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

from penstock import Job, job
from penstock.kernel import jobs as kernel
from penstock.sources.drain import QueueDrain
from penstock.sources.kafka_drain import KafkaDrain
from penstock.worker.tools.engine import Engine

_WHERE = os.environ.get("FAULT", "")
_LEFT = [int(os.environ.get("NTH", "1"))]


@job("nothing")
def nothing(_: Job) -> None:
    """A worker needs a handler of its own."""


def _reached(where: str) -> None:
    if where != _WHERE:
        return
    _LEFT[0] -= 1
    if _LEFT[0] == 0:
        (Path(os.environ["GATES"]) / "killed.gate").touch()
        os.kill(os.getpid(), signal.SIGKILL)


def _around(name: str, function: Callable[..., Any], *, is_statement: bool = False) -> Callable[..., Any]:
    def faulty(first: Any, *arguments: Any, **more: Any) -> Any:
        _reached(f"before_{name}")
        if is_statement and f"during_{name}" == _WHERE:
            # the statement has done its work, and nobody has committed it
            with first.transaction():
                function(first, *arguments, **more)
                _reached(f"during_{name}")
        answer = function(first, *arguments, **more)
        _reached(f"after_{name}")
        return answer

    return faulty


setattr(Engine, "run", _around("run", Engine.run))  # noqa: B010
for _name in ("finish", "fail", "wait", "child", "child_ended", "start"):
    setattr(kernel, _name, _around(_name, getattr(kernel, _name), is_statement=True))
if _WHERE.endswith("_ack"):
    for _drain in (QueueDrain, KafkaDrain):
        setattr(_drain, "acknowledge", _around("ack", _drain.acknowledge))  # noqa: B010
