"""The nouns, as plain values."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

Json = dict[str, Any]

TERMINAL = frozenset({"succeeded", "dead_lettered", "cancelled"})


class Claim(NamedTuple):
    """A job under a lease. A tuple, because a worker makes tens of thousands of them a second."""

    job_id: int
    lease_token: int
    job_kind: str
    attempt: int
    started: bool
    suspect: bool
    enqueued_at: datetime


class Facts(NamedTuple):
    """What was asked, as the handler sees it. The payload is JSON text: few handlers of a quick kind look at it."""

    job_id: int
    source_ref: str | None
    target_ref: str | None
    payload_ref: str | None
    safe_payload: str | None
    lane: str | None
    event_domain: str | None
    correlation_id: str | None
    causation_event_id: UUID | None
    trace: str | None
    actor: str
    playbook_ref: str | None = None
    execution_id: int | None = None
    step: str | None = None


class Answer(NamedTuple):
    """What became of one item of a fenced call."""

    job_id: int
    accepted: bool
    reason: str | None


class Enqueued(NamedTuple):
    """One job of a request: its id, and whether it was made now or known by its key."""

    job_id: int
    created: bool


@dataclass(frozen=True)
class JobView:
    """A job whole, live or finished (v_job)."""

    job_id: int
    execution_id: int
    step: str | None
    playbook_ref: str | None
    subscription: str | None
    job_kind: str
    executor: str
    pool: str
    lane: str | None
    event_domain: str | None
    priority: int
    status: str
    process_after: datetime | None
    attempt: int
    max_attempts: int
    lease_until: datetime | None
    leased_by: UUID | None
    source_ref: str | None
    target_ref: str | None
    payload_ref: str | None
    safe_payload: Json | None
    correlation_id: str | None
    causation_event_id: UUID | None
    causation_depth: int | None
    trace: str | None
    actor: str
    enqueued_at: datetime
    finished_at: datetime | None
