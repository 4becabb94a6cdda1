"""What the templates of a step see: read only as far as they look."""

from collections.abc import Mapping, Set
from functools import lru_cache
from typing import Any

from penstock.catalog.steps import Arc, Step
from penstock.catalog.templates import evaluated, reads, texts
from penstock.errors import ResultsTooLarge, TemplateFailed
from penstock.jobs import Job, PermanentError
from penstock.model import Json
from penstock.worker.report import UnserialisableResult, as_json
from penstock.worker.tools.steps import MESSAGE, Place, Steps

Wanted = Mapping[str, frozenset[str | None]]

_INPUT = frozenset(("workload", "message"))
_COUNT = frozenset(("count",))


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
        # loops of which only the count is known, and the bytes of all results that are
        self._counted: set[str] = set()
        self._spent = 0

    @property
    def input(self) -> Json:
        """The execution's input, with the playbook's defaults below it."""
        if self._input is None:
            self._input = {**self._place.spec.workload, **self._steps.given(self._job)}
        return self._input

    def add(self, **more: Any) -> None:
        self._known |= more
        self._counted -= more.keys()

    def value(self, data: Any) -> Any:
        """Data with its templates filled in; a template without a value fails the step for good."""
        self._read(_wanted(tuple(texts(data))))
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

    def _read(self, wanted: Wanted) -> None:
        missing = wanted.keys() - self._known.keys()
        if missing & _INPUT:
            workload = dict(self.input)
            # only what a subscription has put there is a message
            if (self._job.payload_ref or "").startswith(MESSAGE):
                self._known["message"] = workload.pop("message")
            self._known["workload"] = workload
        steps = missing & self._place.spec.steps.keys()
        counted = frozenset(one for one in steps if wanted[one] == _COUNT and self._place.spec.steps[one].loop)
        self._read_results(steps - counted | {one for one in self._counted if wanted.get(one, _COUNT) != _COUNT})
        if counted:
            self._known |= self._steps.counts(self._job.execution_id, counted)
            self._counted |= counted

    def _read_results(self, steps: Set[str]) -> None:
        if not steps:
            return
        try:
            found = self._steps.results(self._job.execution_id, frozenset(steps), self._spent)
        except ResultsTooLarge as error:
            raise PermanentError(f"{self._place.step.step}: {error}") from error
        self._spent += found.size
        self.add(**found.by_step)


@lru_cache(maxsize=4096)
def _wanted(templates: tuple[str, ...]) -> Wanted:
    """What templates look up, and of each the keys they read; None among them is all of it."""
    found: dict[str, frozenset[str | None]] = {}
    for text in templates:
        for name, keys in reads(text).items():
            found[name] = found.get(name, frozenset()) | keys
    return found


def listed(value: Any, step: str, most: int, most_bytes: int) -> list[Any]:
    """What a loop runs over, or the error that it cannot."""
    if not isinstance(value, list):
        raise PermanentError(
            f"`in` of the loop {step} gives {_kind(value)}, and a loop runs over a list: have its template give one"
        )
    if len(value) > most:
        raise PermanentError(
            f"`in` of the loop {step} gives {len(value):,} items, and a loop may have {most:,} "
            "(execution.loop.max_items): give it lists of items, or raise that setting"
        )
    size = _size(value, step)
    if size > most_bytes:
        raise PermanentError(
            f"`in` of the loop {step} gives {size:,} bytes of JSON, and the items of a loop may have {most_bytes:,} "
            "(execution.loop.max_bytes): give it addresses of what is large, or raise that setting"
        )
    return value


def _size(items: list[Any], step: str) -> int:
    try:
        return len((as_json(items, f"what `in` of the loop {step} gives") or "").encode())
    except UnserialisableResult as error:
        raise PermanentError(str(error)) from error


def _kind(value: Any) -> str:
    known = {type(None): "nothing", str: "a text", bool: "true or false", dict: "a mapping"}
    return known.get(type(value), "a number")
