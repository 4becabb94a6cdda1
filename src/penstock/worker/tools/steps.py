"""Which step a job is, and what it was given: read when it runs, so that prefetched jobs hold no bodies in memory."""

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, NamedTuple

from penstock.catalog.entry import spec_of
from penstock.catalog.playbook import PlaybookSpec
from penstock.catalog.steps import Step
from penstock.catalog.subscription import SubscriptionSpec
from penstock.jobs import Job, PermanentError
from penstock.kernel import catalog, executions, results
from penstock.kernel.connection import Connection
from penstock.kernel.results import Results
from penstock.model import Json
from penstock.worker.envelope import envelope
from penstock.worker.link import LinkPool

MESSAGE = "penstock://message/"
INPUT = "penstock://input/"
_MOST_SPECS = 256
RESULT = "penstock://result/"
# a part of a step's result: its job, and the way there
_PART = re.compile(rf"{RESULT}([0-9]{{1,18}})#/([A-Za-z0-9_/]{{1,300}})", re.ASCII)


class Place(NamedTuple):
    """Where a job stands in its playbook: item 0 is the step itself, -1 only decides where it goes on."""

    spec: PlaybookSpec
    step: Step
    visit: int = 1
    item: int = 0


class Steps:
    """Reads playbooks once (their versions are immutable), messages, inputs and results when a step needs them."""

    def __init__(self, links: LinkPool, most_specs: int = _MOST_SPECS) -> None:
        self._links = links
        # those not used for longest are let go: a worker that lives for months sees many versions
        self._spec = lru_cache(maxsize=most_specs)(self._read_spec)

    def place(self, job: Job) -> Place:
        if job.playbook_ref is None:
            raise PermanentError(f"job {job.id} belongs to no playbook")
        spec = self._spec(job.playbook_ref)
        assert isinstance(spec, PlaybookSpec)
        if job.step is None:
            return Place(spec, spec.workflow[0])
        where = job.payload if job.has_payload else {}
        return Place(spec, spec.steps[job.step], where.get("visit", 1), where.get("item", 0))

    def given(self, job: Job) -> Json:
        """The execution's input, without the playbook's defaults."""
        ref = job.payload_ref or ""
        if ref.startswith(INPUT):
            return self._links.call(lambda c: executions.execution_input(c, int(ref.removeprefix(INPUT))))
        if not ref.startswith(MESSAGE):
            return {}
        message = self._links.call(lambda c: executions.message(c, int(ref.removeprefix(MESSAGE))))
        if message is None:
            raise PermanentError(f"{ref} is gone: its partition was dropped")
        spec = self._spec(f"{message.subscription}@{message.version}")
        assert isinstance(spec, SubscriptionSpec)
        return envelope(message, spec)

    def results(self, execution_id: int, names: frozenset[str], spent: int) -> Results:
        """What steps have given back, by name; of a loop all its items."""
        return self._links.call(lambda c: results.results(c, execution_id, sorted(names), spent))

    def counts(self, execution_id: int, names: frozenset[str]) -> Mapping[str, Json]:
        """How many items loops have had, by name."""
        return self._links.call(lambda c: results.counts(c, execution_id, sorted(names)))

    def came_from(self, job: Job, visit: int) -> list[str]:
        """The steps whose arcs led to a step."""
        assert job.step is not None
        step = job.step
        return self._links.call(lambda c: executions.came_from(c, job.execution_id, step, visit))

    def times_taken(self, execution_id: int, source: str, target: str) -> int:
        return self._links.call(lambda c: executions.times_taken(c, execution_id, source, target))

    def item(self, job: Job) -> Any:
        """What a job of a loop works on. Of a polled message the item is a ref: its body is read now, as `data`."""
        found = self._links.call(lambda c: executions.item(c, job.id))
        part = _PART.fullmatch(str(found.get("ref"))) if isinstance(found, dict) and "data" not in found else None
        if part is None:
            return found
        # what a message says may look like a ref, too: nothing but this execution's results is ever read
        source, path = int(part[1]), part[2].split("/")
        return {**found, "data": self._links.call(lambda c: results.result_part(c, job.execution_id, source, path))}

    def _read_spec(self, ref: str) -> PlaybookSpec | SubscriptionSpec:
        return self._links.call(lambda c: _read_spec(c, ref))


def _read_spec(connection: Connection, ref: str) -> PlaybookSpec | SubscriptionSpec:
    path, _, version = ref.partition("@")
    entry = catalog.entry(connection, path, int(version))
    return spec_of(entry.kind, entry.content)
