"""Runtimes without a database connection: what the kernel offers to the holder of a subscription, call by call."""

from collections.abc import Callable
from dataclasses import asdict
from typing import Annotated, Any, Literal
from uuid import UUID, uuid4

from fastapi import APIRouter, Depends, Query
from pydantic import Field

from penstock.gateway.auth import holder
from penstock.gateway.bodies import Attempt, Body, Name, Positive, Whole, body, takes
from penstock.gateway.state import Shared
from penstock.kernel import catalog, runtimes, subscriptions
from penstock.kernel.tokens import Bearer
from penstock.model import Json

router = APIRouter(prefix="/api/internal/runtime/{path:path}", tags=["runtime"], dependencies=[Depends(holder)])

Lane = Literal[0, 1]
Holder = Annotated[Bearer, Depends(holder)]
Detail = Annotated[dict[str, Any], Field(default_factory=dict)]
# for the runtime's row, which a commit of the holder's own may have for a while
WaitMs = Annotated[int, Field(ge=1, le=60_000)] | None


class LeaseRequest(Body):
    incarnation: UUID
    token: Positive | None = None
    backlog: Annotated[int, Field(ge=0, le=2**63 - 1)] | None = None
    wait_ms: WaitMs = None


class Held(Body):
    """The token of whoever holds the subscription."""

    token: Positive


class Once(Held):
    """Made once: the same request again has the first one's answer."""

    request: UUID = Field(default_factory=uuid4)


class Said(Once):
    happening: Name
    detail: Detail


class OneLane(Held):
    lane: Lane = 0


class LedgerPart(Body):
    identity: str
    next: Whole
    floor: Whole | None = None
    # how long messages are known by their identity; 68 years at most
    keep_s: Annotated[int, Field(ge=1, le=2**31 - 1)] | None = None


class CommitRequest(OneLane, Once):
    positions: dict[str, LedgerPart]
    expected: dict[str, Annotated[int, Field(ge=0, le=2**31 - 1)]]
    wait_ms: WaitMs = None


class PositionsRequest(Once):
    positions: dict[str, LedgerPart]
    reason: Name
    detail: Detail


class SliceRequest(OneLane):
    """Characters of a message's JSON text, from `start` on of `whole`."""

    attempt: Attempt
    start: Annotated[int, Field(ge=0, le=2**63 - 1)]
    slice: Annotated[str, Field(min_length=1)]
    whole: Positive


class RoomRequest(Held):
    limit: Annotated[int, Field(ge=1, le=2**31 - 1)]


class AcksRequest(OneLane):
    attempts: Annotated[list[Name], Field(max_length=10_000)]


@router.post("/lease", openapi_extra=takes(LeaseRequest))
def lease(path: str, asked: Annotated[LeaseRequest, Depends(body(LeaseRequest))], state: Shared) -> Json:
    """Take the subscription, or with its token go on holding it."""
    return asdict(state.ask(runtimes.lease, path, asked.incarnation, asked.token, asked.backlog, asked.wait_ms))


@router.get("")
def show(path: str, state: Shared, version: Annotated[int | None, Query(ge=1, le=2**31 - 1)] = None) -> dict[str, Any]:
    """What a runtime reads by: the entry at its newest version or another, the state, the ledger."""
    entry = state.ask(catalog.entry, path, version, kind="Subscription")
    one = state.ask(subscriptions.show, path)
    return {
        "path": path,
        "state": one.state,
        "batches": one.batches,
        "counts": {name: getattr(one, name) for name in ("executions", "deduplicated", "dead_lettered", "replays")},
        "version": entry.version,
        "content": entry.content,
        "positions": state.ask(runtimes.ledger, path),
        "circuits": [],
    }


@router.post("/release", openapi_extra=takes(Held))
def release(path: str, asked: Annotated[Held, Depends(body(Held))], state: Shared) -> Json:
    """The runtime has ended in good order."""
    return {"state": state.ask(runtimes.release, path, asked.token)}


@router.post("/said", openapi_extra=takes(Said))
def said(path: str, caller: Holder, asked: Annotated[Said, Depends(body(Said))], state: Shared) -> Json:
    """Something worth an event."""
    return _once(state.ask, path, asked, "said", caller)


@router.post("/stage", openapi_extra=takes(OneLane))
def stage(path: str, asked: Annotated[OneLane, Depends(body(OneLane))], state: Shared) -> Json:
    """Have a staging table, which chunks of messages go into."""
    return {"stage": state.ask(runtimes.stage_open, path, asked.token, asked.lane)}


@router.post("/slice", openapi_extra=takes(SliceRequest))
def stage_slice(path: str, asked: Annotated[SliceRequest, Depends(body(SliceRequest))], state: Shared) -> Json:
    """Stage a message that is too large for one body, slice by slice; the last one does it."""
    told = (asked.token, asked.lane, asked.attempt, asked.start, asked.slice, asked.whole)
    return {"staged": state.ask(runtimes.stage_slice, path, *told)}


@router.post("/commit", openapi_extra=takes(CommitRequest))
def commit(path: str, asked: Annotated[CommitRequest, Depends(body(CommitRequest))], state: Shared) -> Json:
    """Make the staged messages executions and move the ledger, all or nothing."""
    return _once(state.ask_to_commit, path, asked, "commit", wait_ms=asked.wait_ms)


@router.post("/positions", openapi_extra=takes(PositionsRequest))
def positions(
    path: str, caller: Holder, asked: Annotated[PositionsRequest, Depends(body(PositionsRequest))], state: Shared
) -> Json:
    """Put the ledger somewhere else, because the source has changed under it."""
    return _once(state.ask, path, asked, "positions", caller)


@router.post("/room", openapi_extra=takes(RoomRequest))
def room(path: str, asked: Annotated[RoomRequest, Depends(body(RoomRequest))], state: Shared) -> Json:
    """How many more messages may be under way; -1 when nobody should wait for it."""
    return {"room": state.ask(runtimes.room, path, asked.token, asked.limit)}


@router.post("/acks", openapi_extra=takes(AcksRequest))
def acks(path: str, asked: Annotated[AcksRequest, Depends(body(AcksRequest))], state: Shared) -> Json:
    """The acknowledgement handles of staged chunks."""
    return {"acks": state.ask(runtimes.stage_acks, path, asked.token, asked.lane, asked.attempts)}


@router.post("/clear", openapi_extra=takes(OneLane))
def clear(path: str, asked: Annotated[OneLane, Depends(body(OneLane))], state: Shared) -> Json:
    """Empty a staging table after a commit and its acknowledgements."""
    return {"cleared": state.ask(runtimes.stage_clear, path, asked.token, asked.lane)}


def _once(
    ask: Callable[..., Json],
    path: str,
    asked: Once,
    call: str,
    caller: Bearer | None = None,
    wait_ms: int | None = None,
) -> Json:
    """With a caller its actor is put into the detail: the event itself is the runtime's, whoever runs it."""
    given = asked.model_dump(exclude_none=True, exclude={"token", "request", "wait_ms"})
    if caller is not None:
        given["detail"] = {**given["detail"], "told_by": caller.actor}
    return ask(runtimes.once, path, asked.token, asked.request, call, given, wait_ms)
