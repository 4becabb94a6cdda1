"""A dry run of one message through a subscription's rules, in plain Python. Nothing is written."""

import json
from dataclasses import dataclass
from datetime import UTC, datetime

from penstock.catalog.source import KafkaOptions, NatsOptions
from penstock.catalog.subscription import DEFAULT_POOL, SubscriptionSpec
from penstock.cli.subjects import Subject
from penstock.cli.words import decided
from penstock.directives.headers import Attribute, attributes_to_json, normalise
from penstock.directives.jsonbody import is_json
from penstock.directives.plan import Plan, plan
from penstock.directives.trace import identity_of
from penstock.kernel.executions import IngestMessage
from penstock.model import Json
from penstock.routing import rules_of
from penstock.worker.tools.steps import envelope


@dataclass(frozen=True)
class Sample:
    """A message made up; without a body it is a tombstone."""

    message_id: str
    headers: list[Attribute]
    body: bytes | None


@dataclass(frozen=True)
class Rehearsed:
    """What would become of it. A dead letter runs nothing, so it has no payload."""

    subscription: str
    message_id: str
    playbook: str
    pool: str
    dedup_key: str | None
    trace: str | None
    dead_letter: str | None
    reasons: list[str]
    directives: Json | None
    payload: Json | None
    remarks: list[str]


def rehearse(subject: Subject, sample: Sample) -> Rehearsed:
    """The same rules, in the same order, as a batch goes through."""
    spec = subject.spec
    part, offset = _position(spec, sample.message_id)
    found = plan(rules_of(spec), normalise(sample.headers), identity_of(spec.path, part, sample.message_id))
    kept = found.to_json()
    directives: Json | None = None if kept is None else json.loads(kept)
    playbook = found.playbook or spec.dispatch.playbook
    own_pool = _own_pool(subject, playbook)
    fault = _fault(subject, playbook, sample.body)
    message = _message(spec, sample, part, offset, directives)
    defaults = subject.playbooks[playbook].workload if playbook in subject.playbooks else {}
    return Rehearsed(
        subscription=spec.path,
        message_id=sample.message_id,
        playbook=playbook,
        pool=found.pool or own_pool,
        dedup_key=_dedup_key(spec, found, sample.message_id),
        trace=found.trace.traceparent if found.trace else None,
        dead_letter=fault,
        reasons=decided(directives or {}, spec.dispatch.playbook, own_pool),
        directives=directives,
        payload=None if fault else {**defaults, **envelope(message, spec)},
        remarks=_remarks(subject, playbook),
    )


def _position(spec: SubscriptionSpec, message_id: str) -> tuple[str, int]:
    """The part and the offset that a message's id stands for."""
    if isinstance(spec.options, KafkaOptions):
        part, _, offset = message_id.rpartition(":")
        return part, int(offset) if offset.isdecimal() else 0
    part = spec.options.stream if isinstance(spec.options, NatsOptions) else spec.source
    return part, int(message_id) if message_id.isdecimal() else 0


def first_id(spec: SubscriptionSpec) -> str:
    """An id such as the source gives."""
    if isinstance(spec.options, KafkaOptions):
        return f"{spec.options.topics[0] if spec.options.topics else 'topic'}:0:0"
    return "1"


def _own_pool(subject: Subject, playbook: str) -> str:
    """As the commit has it: the subscription's, else the playbook's."""
    if subject.pool is not None:
        return subject.pool
    known = subject.playbooks.get(playbook)
    return (known.workflow[0].pool if known else None) or DEFAULT_POOL


def _fault(subject: Subject, playbook: str, body: bytes | None) -> str | None:
    if subject.version is not None and playbook not in subject.playbooks:
        return "playbook_gone"
    if subject.spec.dispatch.payload_from == "message.json" and body is not None and not is_json(body):
        return "bad_json"
    return None


def _dedup_key(spec: SubscriptionSpec, found: Plan, message_id: str) -> str | None:
    return (found.idempotency_key or message_id) if spec.dedup.enabled else None


def _message(spec: SubscriptionSpec, sample: Sample, part: str, offset: int, directives: Json | None) -> IngestMessage:
    now = datetime.now(UTC)
    return IngestMessage(
        execution_id=0,
        ingested_at=now,
        subscription=spec.path,
        version=0,
        message_id=sample.message_id,
        part=part,
        source_offset=offset,
        published_at=now,
        message_key=None,
        body=sample.body,
        attributes=json.loads(attributes_to_json(sample.headers)),
        directives=directives,
    )


def _remarks(subject: Subject, playbook: str) -> list[str]:
    """What a dry run cannot know."""
    said = []
    if playbook not in subject.playbooks and subject.version is None:
        said.append(f"{playbook} is not in the file: its defaults (workload) and its pool are left out")
    if subject.spec.dedup.enabled:
        said.append("whether the key was seen before is decided at the commit")
    return said
