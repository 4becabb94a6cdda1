"""Runs a step of a playbook: look whether it is to run, call its tools, decide where it goes on."""

from collections.abc import Mapping
from typing import Any

from penstock.catalog.steps import Step
from penstock.jobs import Awaiting, Job, Outcome, PermanentError, Pledge
from penstock.kernel import jobs
from penstock.model import Json
from penstock.worker.tools import lookups
from penstock.worker.tools.context import Context, listed
from penstock.worker.tools.contract import Call, Services, Tool
from penstock.worker.tools.steps import Place, Steps
from penstock.worker.tools.turn import take_turns


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
                most, most_bytes = lookups.loop_items(self._services), lookups.loop_bytes(self._services)
                return Outcome(None, {"items": listed(context.value(step.loop.items), step.step, most, most_bytes)})
        else:
            assert step.loop is not None
            item = self._steps.item(job)
            context.add(**{"iter": item, step.loop.iterator: item})
        pledges: list[Pledge] = []
        # no context manager: this is run for every step
        try:
            turns = take_turns(step.tools, self._services.links, pledges)
            result = self._call(step, context, job, pledges)
            # where nothing is owed the messages are acknowledged, and would be lost with the step
            if len(pledges) > len(turns):
                for turn in turns:
                    turn.check()
            if isinstance(result, Awaiting):
                # there is no result yet, and nobody is to wait for it
                _lose(pledges, job)
                return result
            if place.item > 0 or job.step is None:
                return Outcome(result, None, tuple(pledges))
            context.add(**{step.step: result})
            return Outcome(result, self._decision(place, context, job), tuple(pledges))
        except BaseException:
            _lose(pledges, job)
            raise

    def _call(self, step: Step, context: Context, job: Job, pledges: list[Pledge]) -> Any:
        args = context.args()
        if len(step.tools) == 1:
            return self._call_one(step, 0, args, context, job, None, pledges)
        key = self._callback_key(job) if step.tool.kind == "approve" else None
        context.add(callback={"job": job.id, "key": key})
        results: Json = {}
        for nth, tool in enumerate(step.tools):
            context.add(**{step.step: results})
            result = self._call_one(step, nth, args, context, job, key, pledges)
            if isinstance(result, Awaiting):
                return result
            results[tool.name or tool.kind] = result
        return results

    def _callback_key(self, job: Job) -> str:
        return self._services.links.call(lambda c: jobs.callback_key(c, job.id, job.lease_token))

    def _call_one(
        self,
        step: Step,
        nth: int,
        args: Json | None,
        context: Context,
        job: Job,
        key: str | None,
        pledges: list[Pledge],
    ) -> Any:
        tool = step.tools[nth]
        settings = {**tool.settings, **context.value(tool.templates)} if tool.settings else {}
        if key is not None and tool.kind == "approve":
            settings = {**settings, "callback_key": key}
        if args is None:
            args = {} if tool.kind in _NEED_NO_ARGS else context.input
        return self._tools[tool.kind](Call(job, settings, args, self._services, tool.settings, tool.name, pledges))

    def _decision(self, place: Place, context: Context, job: Job) -> Json | None:
        """Where it goes on, if that takes a look: None where it always goes the same way."""
        step = place.step
        if step.step not in place.spec.graph.choosing:
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


def _lose(pledges: list[Pledge], job: Job) -> None:
    """A step that fails has no result to keep: whatever was owed for it is known to be lost."""
    for pledge in reversed(pledges):
        try:
            pledge.lost()
        except Exception as error:
            # the step's own error is the one it fails with
            job.log.warning("left undone: %s", error)


_NEED_NO_ARGS = frozenset(("noop", "http", "playbook", "event", "wait", "approve", "email", "subscription"))
