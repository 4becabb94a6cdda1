"""python: a step that calls a function of the user's, by its import path `pkg.mod:function`.

The function gets the execution's input, and the job too if it has a parameter of that name.
"""

import asyncio
import importlib
import inspect
from collections.abc import Callable
from functools import cache
from typing import Any

from penstock.jobs import Job, JobFunction, PermanentError
from penstock.worker.tools.steps import Steps

KIND = "tool:python"


def handler(steps: Steps) -> JobFunction:
    def call(job: Job) -> Any:
        step, payload = steps.of(job)
        job.timeout_s = step.timeout_s
        function, wants_job = _function(step.tool.function or "")
        result = function(payload, job=job) if wants_job else function(payload)
        return asyncio.run(_awaited(result)) if inspect.isawaitable(result) else result

    return JobFunction(KIND, call, is_async=False)


@cache
def _function(path: str) -> tuple[Callable[..., Any], bool]:
    module_name, _, name = path.partition(":")
    try:
        function = getattr(importlib.import_module(module_name), name)
    except (ImportError, AttributeError) as error:
        # retried: the next release of the user's code may have it
        raise LookupError(f"the function {path} cannot be imported by this worker: {error}") from error
    if not callable(function):
        raise PermanentError(f"{path} is a {type(function).__name__}, not a function")
    return function, "job" in inspect.signature(function).parameters


async def _awaited(result: Any) -> Any:
    return await result
