"""Events: a fact is recorded."""

from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter, Depends

from penstock.gateway.auth import needs, speaking
from penstock.gateway.bodies import Body, Name, Text, body, takes
from penstock.gateway.state import Shared
from penstock.kernel import events
from penstock.kernel.tokens import Bearer

router = APIRouter(tags=["events"])


class EventRequest(Body):
    event_domain: Name
    event_type: Name
    event_stream: Text | None = None
    subject_table: Text | None = None
    subject_ref: Text | None = None
    payload: dict[str, Any] | None = None
    actor: Text | None = None
    correlation_id: Text | None = None
    causation_event_id: UUID | None = None
    idempotency_key: Name | None = None
    trace: Text | None = None


@router.post("/api/events", openapi_extra=takes(EventRequest))
def emit(
    caller: Annotated[Bearer, Depends(needs("events"))],
    asked: Annotated[EventRequest, Depends(body(EventRequest))],
    state: Shared,
) -> dict[str, str]:
    """Record a fact; the same type and idempotency_key again is the same event."""
    actor = speaking(caller, asked.actor)
    event_id = state.ask(
        events.emit,
        asked.event_domain,
        asked.event_type,
        stream=asked.event_stream,
        subject_table=asked.subject_table,
        subject_ref=asked.subject_ref,
        payload=asked.payload,
        actor=actor,
        correlation_id=asked.correlation_id,
        causation_event_id=asked.causation_event_id,
        idempotency_key=asked.idempotency_key,
        trace=asked.trace,
    )
    return {"event_id": str(event_id)}
