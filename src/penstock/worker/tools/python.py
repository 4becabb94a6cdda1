"""python: a step that calls a function of the user's, by its import path `pkg.mod:function`.

The function gets the step's args, or the execution's input where there are none, and the job too if it has a parameter
of that name.
"""

import asyncio
import importlib
import inspect
from collections.abc import Callable
from functools import cache
from typing import Any

from penstock.jobs import PermanentError
from penstock.worker.tools.contract import Call


def run(call: Call) -> Any:
    function, wants_job = _function(call.settings["function"])
    result = function(call.args, job=call.job) if wants_job else function(call.args)
    return asyncio.run(_awaited(result)) if inspect.isawaitable(result) else result


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
