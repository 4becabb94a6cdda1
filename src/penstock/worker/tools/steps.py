"""Which step a job is, and what it was given: read when it runs, so that prefetched jobs hold no bodies in memory."""

import json
from base64 import b64encode
from collections.abc import Callable
from typing import Any

from penstock.catalog.entry import spec_of
from penstock.catalog.playbook import PlaybookSpec, Step
from penstock.catalog.subscription import SubscriptionSpec
from penstock.directives.headers import attributes_from_json, normalise
from penstock.jobs import Job, PermanentError
from penstock.kernel import catalog, executions
from penstock.kernel.connection import Connection
from penstock.kernel.executions import IngestMessage
from penstock.model import Json
from penstock.worker.link import Link, LinkPool

MESSAGE = "penstock://message/"
INPUT = "penstock://input/"


class Steps:
    """Reads playbooks once (their versions are immutable), messages and inputs for every job."""

    def __init__(self, open_link: Callable[[str], Link]) -> None:
        self._links = LinkPool(open_link, "inputs")
        self._specs: dict[str, PlaybookSpec | SubscriptionSpec] = {}

    def of(self, job: Job) -> tuple[Step, Json]:
        """The step, and the execution's input with the playbook's defaults below it."""
        return self._links.call(lambda connection: self._read(connection, job))

    def _read(self, connection: Connection, job: Job) -> tuple[Step, Json]:
        if job.playbook_ref is None:
            raise PermanentError(f"job {job.id} belongs to no playbook")
        playbook = self._spec(connection, job.playbook_ref)
        assert isinstance(playbook, PlaybookSpec)
        return playbook.workflow[0], {**playbook.workload, **self._input(connection, job)}

    def _input(self, connection: Connection, job: Job) -> Json:
        ref = job.payload_ref or ""
        if ref.startswith(INPUT):
            return executions.execution_input(connection, int(ref.removeprefix(INPUT)))
        if not ref.startswith(MESSAGE):
            return {}
        message = executions.message(connection, int(ref.removeprefix(MESSAGE)))
        if message is None:
            raise PermanentError(f"{ref} is gone: its partition was dropped")
        spec = self._spec(connection, f"{message.subscription}@{message.version}")
        assert isinstance(spec, SubscriptionSpec)
        return envelope(message, spec)

    def _spec(self, connection: Connection, ref: str) -> PlaybookSpec | SubscriptionSpec:
        if ref not in self._specs:
            path, _, version = ref.partition("@")
            entry = catalog.entry(connection, path, int(version))
            self._specs[ref] = spec_of(entry.kind, entry.content)
        return self._specs[ref]


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
