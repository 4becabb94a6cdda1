"""Which step a job is, and what it was given: read when it runs, so that prefetched jobs hold no bodies in memory."""

import json
from base64 import b64encode
from typing import Any, NamedTuple

from penstock.catalog.entry import spec_of
from penstock.catalog.playbook import PlaybookSpec
from penstock.catalog.steps import Step
from penstock.catalog.subscription import SubscriptionSpec
from penstock.directives.headers import attributes_from_json, normalise
from penstock.jobs import Job, PermanentError
from penstock.kernel import catalog, executions
from penstock.kernel.connection import Connection
from penstock.kernel.executions import IngestMessage
from penstock.model import Json
from penstock.worker.link import LinkPool

MESSAGE = "penstock://message/"
INPUT = "penstock://input/"


class Place(NamedTuple):
    """Where a job stands in its playbook: item 0 is the step itself, -1 only decides where it goes on."""

    spec: PlaybookSpec
    step: Step
    visit: int = 1
    item: int = 0


class Steps:
    """Reads playbooks once (their versions are immutable), messages, inputs and results when a step needs them."""

    def __init__(self, links: LinkPool) -> None:
        self._links = links
        self._specs: dict[str, PlaybookSpec | SubscriptionSpec] = {}

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

    def results(self, execution_id: int, names: frozenset[str]) -> Json:
        """What steps have given back, by name; of a loop all its items."""
        if not names:
            return {}
        return self._links.call(lambda c: executions.results(c, execution_id, sorted(names)))

    def came_from(self, job: Job, visit: int) -> list[str]:
        """The steps whose arcs led to a step."""
        assert job.step is not None
        step = job.step
        return self._links.call(lambda c: executions.came_from(c, job.execution_id, step, visit))

    def times_taken(self, execution_id: int, source: str, target: str) -> int:
        return self._links.call(lambda c: executions.times_taken(c, execution_id, source, target))

    def item(self, job: Job) -> Any:
        return self._links.call(lambda c: executions.item(c, job.id))

    def _spec(self, ref: str) -> PlaybookSpec | SubscriptionSpec:
        if ref not in self._specs:
            self._specs[ref] = self._links.call(lambda c: _read_spec(c, ref))
        return self._specs[ref]


def _read_spec(connection: Connection, ref: str) -> PlaybookSpec | SubscriptionSpec:
    path, _, version = ref.partition("@")
    entry = catalog.entry(connection, path, int(version))
    return spec_of(entry.kind, entry.content)


def envelope(message: IngestMessage, spec: SubscriptionSpec) -> Json:
    """What a playbook gets of a message. What is merged in never covers the three names of ours."""
    attributes = attributes_from_json(json.dumps(message.attributes))
    headers = normalise(attributes) if spec.headers.normalize else {}
    data = _data(message, spec.dispatch.payload_from == "message.json")
    ours: Json = {
        "message": {
            "id": message.message_id,
            "data": data,
            "headers": headers,
            "attributes": message.attributes,
            "metadata": {
                "part": message.part,
                "offset": message.source_offset,
                "key": None if message.message_key is None else _text(message.message_key),
                "published_at": None if message.published_at is None else message.published_at.isoformat(),
                "ingested_at": message.ingested_at.isoformat(),
                "directives": message.directives,
            },
        },
        "subscription": message.subscription,
        "source": spec.source,
    }
    merged = {"message.json": data, "message.attributes": headers}.get(spec.dispatch.payload_from)
    return {**(merged if isinstance(merged, dict) else {}), **ours}


def _data(message: IngestMessage, is_json: bool) -> Any:
    if message.body is None:
        return None
    if not is_json:
        return _text(message.body)
    try:
        return json.loads(message.body)
    except (ValueError, RecursionError) as error:
        # PostgreSQL takes integers of more digits, and deeper nesting, than Python reads: another try ends the same
        raise PermanentError(
            f"the body of message {message.message_id} is JSON that Python cannot read: {error}. "
            f"To get such bodies as text, register {message.subscription} with payload_from: message.body"
        ) from error


def _text(value: bytes) -> str | dict[str, str]:
    try:
        return value.decode("utf-8")
    except UnicodeDecodeError:
        return {"base64": b64encode(value).decode("ascii")}
