"""Runs a step of a playbook: look whether it is to run, call its tools, decide where it goes on."""

import secrets
from collections.abc import Mapping
from typing import Any

from penstock.catalog.steps import Step
from penstock.jobs import Awaiting, Job, Outcome, PermanentError
from penstock.model import Json
from penstock.worker.tools.context import Context, listed
from penstock.worker.tools.contract import Call, Services, Tool
from penstock.worker.tools.steps import Place, Steps


class Engine:
    def __init__(self, services: Services, tools: Mapping[str, Tool]) -> None:
        self._services = services
        self._tools = tools
        self._steps = Steps(services.links)

    def run(self, job: Job) -> Outcome | Awaiting:
        """The whole of a step, as a job's handler."""
        place = self._steps.place(job)
        step = place.step
        job.timeout_s = step.timeout_s
        context = Context(self._steps, job, place)
        if place.item < 0:
            return Outcome(None, self._decision(place, context, job))
        if place.item == 0:
            if not context.holds(step.when):
                return Outcome(None, {"skipped": True} if job.step is not None else None)
            if step.loop is not None:
                return Outcome(None, {"items": listed(context.value(step.loop.items), f"`in` of {step.step}")})
        else:
            assert step.loop is not None
            item = self._steps.item(job)
            context.add(**{"iter": item, step.loop.iterator: item})
        result = self._call(step, context, job)
        if isinstance(result, Awaiting):
            return result
        if place.item > 0 or job.step is None:
            return Outcome(result)
        context.add(**{step.step: result})
        return Outcome(result, self._decision(place, context, job))

    def _call(self, step: Step, context: Context, job: Job) -> Any:
        args = context.args()
        if len(step.tools) == 1:
            return self._call_one(step, 0, args, context, job, None)
        key = secrets.token_urlsafe(24) if step.tool.kind == "approve" else None
        context.add(callback={"job": job.id, "key": key})
        results: Json = {}
        for nth, tool in enumerate(step.tools):
            context.add(**{step.step: results})
            result = self._call_one(step, nth, args, context, job, key)
            if isinstance(result, Awaiting):
                return result
            results[tool.name or tool.kind] = result
        return results

    def _call_one(self, step: Step, nth: int, args: Json | None, context: Context, job: Job, key: str | None) -> Any:
        tool = step.tools[nth]
        settings = {**tool.settings, **context.value(tool.templates)} if tool.settings else {}
        if key is not None and tool.kind == "approve":
            settings = {**settings, "callback_key": key}
        if args is None:
            args = {} if tool.kind in _NEED_NO_ARGS else context.input
        return self._tools[tool.kind](Call(job, settings, args, self._services, tool.name))

    def _decision(self, place: Place, context: Context, job: Job) -> Json | None:
        """Where it goes on, if that takes a look: None where it always goes the same way."""
        step = place.step
        if not any(edge.is_conditional for edge in place.spec.graph.out[step.step]):
            return None
        spent: list[str] = []
        for arc in step.next:
            if not context.holds(arc.when):
                continue
            if arc.max_times and self._steps.times_taken(job.execution_id, step.step, arc.step) >= arc.max_times:
                spent.append(f"to {arc.step} {arc.max_times} times")
                continue
            return {"next": [arc.step]}
        if spent:
            raise PermanentError(
                f"{step.step} has gone {', '.join(spent)}, as often as it may, and no other way on holds: "
                "raise max_times, or add an arc without a condition"
            )
        return {"next": []}


_NEED_NO_ARGS = frozenset(("noop", "http", "playbook", "event", "wait", "approve", "email"))
