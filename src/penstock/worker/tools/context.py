"""What the templates of a step see: read only as far as they look."""

from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any

from penstock.catalog.steps import Arc, Step
from penstock.catalog.templates import evaluated, names, texts
from penstock.errors import TemplateFailed
from penstock.jobs import Job, PermanentError
from penstock.model import Json
from penstock.worker.tools.steps import MESSAGE, Place, Steps

_INPUT = frozenset(("workload", "message"))


class Context:
    """The names of one job's templates. Whatever is read is read once."""

    def __init__(self, steps: Steps, job: Job, place: Place) -> None:
        self._steps = steps
        self._job = job
        self._place = place
        self._known: Json = {
            "execution": {
                "id": job.execution_id,
                "playbook": place.spec.path,
                "job": job.id,
                "attempt": job.attempt,
                "trace": job.trace,
            }
        }
        self._input: Json | None = None

    @property
    def input(self) -> Json:
        """The execution's input, with the playbook's defaults below it."""
        if self._input is None:
            self._input = {**self._place.spec.workload, **self._steps.given(self._job)}
        return self._input

    def add(self, **more: Any) -> None:
        self._known |= more

    def value(self, data: Any) -> Any:
        """Data with its templates filled in; a template without a value fails the step for good."""
        wanted = _names(tuple(texts(data)))
        self._read(wanted)
        try:
            return evaluated(data, self._known)
        except TemplateFailed as error:
            raise PermanentError(str(error)) from error

    def holds(self, condition: str | bool | None) -> bool:
        return condition is None or bool(self.value(condition))

    def args(self) -> Json | None:
        """The step's args, and over them those of the arcs that led to it; None where there are neither."""
        step = self._place.step
        arcs = self._arcs_with_args(step)
        if not step.args and not arcs:
            return None
        given: Json = dict(self.value(step.args))
        if arcs:
            came_from = self._steps.came_from(self._job, self._place.visit)
            for source, arc in arcs:
                if source in came_from:
                    given |= self.value(arc.args)
        return given

    def _arcs_with_args(self, step: Step) -> list[tuple[str, Arc]]:
        return [
            (other.step, arc)
            for other in self._place.spec.workflow
            for arc in other.next
            if arc.step == step.step and arc.args
        ]

    def _read(self, wanted: frozenset[str]) -> None:
        missing = wanted - self._known.keys()
        if missing & _INPUT:
            workload = dict(self.input)
            # only what a subscription has put there is a message
            if (self._job.payload_ref or "").startswith(MESSAGE):
                self._known["message"] = workload.pop("message")
            self._known["workload"] = workload
        others = missing & self._place.spec.steps.keys()
        if others:
            self._known |= self._steps.results(self._job.execution_id, frozenset(others))


@cache
def _names(templates: tuple[str, ...]) -> frozenset[str]:
    return frozenset(name for text in templates for name in names(text))


def listed(value: Any, what: str) -> list[Any]:
    """A list, or the error that it is none."""
    if isinstance(value, Mapping | str) or not isinstance(value, Iterable):
        raise PermanentError(f"{what} is {_kind(value)}: a loop runs over a list")
    return list(value)


def _kind(value: Any) -> str:
    return "nothing" if value is None else f"a {type(value).__name__}"
