"""A dry run of one message through a subscription's rules, in plain Python. Nothing is written."""

import json
from dataclasses import dataclass, field
from datetime import UTC, datetime

from penstock.catalog.cases import BAD_JSON, GONE, UNREADABLE
from penstock.catalog.source import KafkaOptions, NatsOptions, PubsubOptions
from penstock.catalog.steps import Step
from penstock.catalog.subscription import DEFAULT_POOL, SubscriptionSpec
from penstock.cli.subjects import Subject
from penstock.cli.words import decided, own_pool
from penstock.directives.headers import Attribute, Headers, attributes_to_json, normalise
from penstock.directives.jsonbody import is_json
from penstock.directives.lanes import lane_of
from penstock.directives.plan import Applied, Ignored, Plan, outcomes_of, plan
from penstock.directives.rules import POOL, PRIORITY, Rule
from penstock.directives.trace import identity_of
from penstock.jobs import PermanentError
from penstock.kernel.executions import IngestMessage
from penstock.model import Json
from penstock.routing import rules_of
from penstock.worker.envelope import envelope


@dataclass(frozen=True)
class Rehearsal:
    """A message to try; without a body it is a tombstone. Where it stands is read from its id, if nobody knows."""

    message_id: str
    headers: list[Attribute]
    body: bytes | None
    key: bytes | None = None
    part: str | None = None
    offset: int | None = None
    published_at: datetime | None = None


@dataclass(frozen=True)
class RuleOutcome:
    """One rule of the subscription, and what it came to for one message.

    `verdict` is applied, ignored (with its reason), overruled by another rule that applied, or not_sent.
    """

    header: str
    controls: str
    verdict: str
    value: str | None = None
    reason: str | None = None


@dataclass(frozen=True)
class Rehearsed:
    """What would become of it. A dead letter runs nothing, so it has no payload."""

    subscription: str
    message_id: str
    playbook: str
    pool: str
    lane: str | None
    dedup_key: str | None
    trace: str | None
    dead_letter: str | None
    reasons: list[str]
    directives: Json | None
    payload: Json | None
    rules: list[RuleOutcome] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)


def rehearse(subject: Subject, sample: Rehearsal) -> Rehearsed:
    """The same rules, in the same order, as a batch goes through."""
    spec = subject.spec
    part, offset = _position(spec, sample)
    headers = normalise(sample.headers)
    found = plan(rules_of(spec), headers, identity_of(spec.path, part, sample.message_id))
    kept = found.to_json()
    directives: Json | None = None if kept is None else json.loads(kept)
    playbook = found.playbook or spec.dispatch.playbook
    first = subject.playbooks[playbook].first if playbook in subject.playbooks else None
    of_playbook = first.pool if first else None
    lane, why_lane = _lane(spec, sample, first)
    payload, fault = _given(subject, playbook, _message(spec, sample, part, offset, directives))
    return Rehearsed(
        subscription=spec.path,
        message_id=sample.message_id,
        playbook=playbook,
        pool=found.pool or subject.pool or of_playbook or DEFAULT_POOL,
        lane=lane,
        dedup_key=_dedup_key(spec, found, sample.message_id),
        trace=found.trace.traceparent if found.trace else None,
        dead_letter=fault,
        reasons=decided(directives or {}, spec.dispatch.playbook, own_pool(subject.pool, of_playbook)) + why_lane,
        directives=directives,
        payload=payload,
        rules=_rule_by_rule(spec, headers),
        remarks=_remarks(subject, playbook),
    )


def _position(spec: SubscriptionSpec, sample: Rehearsal) -> tuple[str, int]:
    """The part and the offset of a message, or what its id stands for."""
    if sample.part is not None:
        return sample.part, sample.offset or 0
    message_id = sample.message_id
    if isinstance(spec.options, KafkaOptions):
        part, _, offset = message_id.rpartition(":")
        return part, int(offset) if offset.isdecimal() else 0
    part = spec.source
    if isinstance(spec.options, NatsOptions):
        part = spec.options.stream
    if isinstance(spec.options, PubsubOptions):
        part = spec.options.subscription
    return part, int(message_id) if message_id.isdecimal() else 0


def first_id(spec: SubscriptionSpec) -> str:
    """An id such as the source gives."""
    if isinstance(spec.options, KafkaOptions):
        return f"{spec.options.topics[0] if spec.options.topics else 'topic'}:0:0"
    return "1"


def _given(subject: Subject, playbook: str, message: IngestMessage) -> tuple[Json | None, str | None]:
    """What the playbook gets, or why it gets nothing: the commit's reasons first, then the worker's."""
    spec = subject.spec
    if subject.version is not None and playbook not in subject.playbooks:
        return None, GONE
    if spec.dispatch.payload_from == "message.json" and message.body is not None and not is_json(message.body):
        return None, BAD_JSON
    defaults = subject.playbooks[playbook].workload if playbook in subject.playbooks else {}
    try:
        return {**defaults, **envelope(message, spec)}, None
    except PermanentError:
        return None, UNREADABLE


def _lane(spec: SubscriptionSpec, sample: Rehearsal, first: Step | None) -> tuple[str | None, list[str]]:
    """The lane of the execution's first job, and why: the message's own goes before its playbook's."""
    by_key = lane_of(spec.path, sample.key) if spec.makes_lanes else None
    if by_key is not None:
        return by_key, ["its ordering key makes the lane: it waits for those of the same key that came before"]
    if first is not None and first.lane is not None:
        return first.lane, ["the lane is that of the playbook's first step"]
    return None, ["without an ordering key it has no lane: it waits for no other"] if spec.makes_lanes else []


def _dedup_key(spec: SubscriptionSpec, found: Plan, message_id: str) -> str | None:
    return (found.idempotency_key or message_id) if spec.dedup.enabled else None


def _rule_by_rule(spec: SubscriptionSpec, headers: Headers) -> list[RuleOutcome]:
    rules = rules_of(spec)
    outcomes = outcomes_of(rules, headers)
    # of one control the later rule wins
    winners = {one.controls: nth for nth, one in enumerate(outcomes) if isinstance(one, Applied)}
    return [
        _outcome(rule, one, winners.get(rule.controls) == nth and not (rule.controls == PRIORITY and POOL in winners))
        for nth, (rule, one) in enumerate(zip(rules.directives, outcomes, strict=True))
    ]


def _outcome(rule: Rule, one: Applied | Ignored | None, wins: bool) -> RuleOutcome:
    match one:
        case None:
            return RuleOutcome(rule.header, rule.controls, "not_sent")
        case Ignored():
            return RuleOutcome(rule.header, rule.controls, "ignored", one.value, one.reason)
    return RuleOutcome(rule.header, rule.controls, "applied" if wins else "overruled", one.value)


def _message(
    spec: SubscriptionSpec, sample: Rehearsal, part: str, offset: int, directives: Json | None
) -> IngestMessage:
    now = datetime.now(UTC)
    return IngestMessage(
        execution_id=0,
        ingested_at=now,
        subscription=spec.path,
        version=0,
        message_id=sample.message_id,
        part=part,
        source_offset=offset,
        published_at=sample.published_at or now,
        message_key=sample.key,
        body=sample.body,
        attributes=json.loads(attributes_to_json(sample.headers)),
        directives=directives,
    )


def _remarks(subject: Subject, playbook: str) -> list[str]:
    """What a dry run cannot know."""
    said = []
    if playbook not in subject.playbooks and subject.version is None:
        said.append(
            f"{playbook} is neither in the file nor beside it: its defaults, its pool and its lane are left out"
        )
    if subject.spec.dedup.enabled:
        said.append("whether the key was seen before is decided at the commit")
    return said
