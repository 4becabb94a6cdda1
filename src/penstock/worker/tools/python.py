"""python: a step that calls a function of the user's, by its import path `pkg.mod:function`, or runs code of its own.

The function gets the step's args, or the execution's input where there are none, and the job too if it has a parameter
of that name.
"""

import asyncio
import inspect
from typing import Any

from penstock.worker.tools.code import run_code
from penstock.worker.tools.contract import Call
from penstock.worker.tools.lookups import function


def run(call: Call) -> Any:
    if "code" in call.settings:
        return run_code(call)
    called = function(call.settings["function"])
    wants_job = "job" in inspect.signature(called).parameters
    result = called(call.args, job=call.job) if wants_job else called(call.args)
    return asyncio.run(_awaited(result)) if inspect.isawaitable(result) else result


async def _awaited(result: Any) -> Any:
    return await result
