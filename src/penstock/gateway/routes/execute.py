"""Executions: one is started, or many, or a runtime stages the messages that will become some."""

from math import isfinite
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, Request
from pydantic import AwareDatetime, Field
from pydantic_core import from_json

from penstock.errors import ActorRefused
from penstock.gateway.auth import lacks, needs, reaching, speaking
from penstock.gateway.bodies import Attempt, Body, Name, Positive, Text, Whole, body, raw, takes
from penstock.gateway.limits import taken_body
from penstock.gateway.problems import malformed
from penstock.gateway.state import GatewayState, Shared
from penstock.kernel import executions, runtimes
from penstock.kernel.tokens import Bearer

router = APIRouter(tags=["execute"])

_MOST = 1000
# Python writes no longer ones
_INTEGER_BITS = 10_000


class ExecuteRequest(Body):
    playbook: Name
    payload: dict[str, Any] | None = None
    idempotency_key: Name | None = None
    trace: Text | None = None
    pool: Name | None = None
    priority: Annotated[int, Field(ge=-32768, le=32767)] | None = None
    process_after: AwareDatetime | None = None
    correlation_id: Text | None = None
    actor: Text | None = None


class Items(Body):
    """Requests as for one, each judged by itself."""

    items: Annotated[list[Any], Field(min_length=1, max_length=_MOST)]


class StagedMessage(Body):
    """A row of the staging table; message_key and body are base64."""

    part: str
    source_offset: Whole
    identity: str | None = None
    message_id: str
    # text is read by PostgreSQL, which knows more years than Python does; a number is microseconds since 1970
    published_at: Annotated[str, Field(max_length=40, pattern=r"^[0-9TZ:.+ -]+$")] | Whole | None = None
    message_key: str | None = None
    body: str | None = None
    attributes: str
    playbook: str | None = None
    pool: str | None = None
    dedup_key: str | None = None
    trace: str | None = None
    directives: str | None = None
    fault: str | None = None
    ack: str | None = None
    lane: Name | None = None
    delivery_attempt: Annotated[int, Field(ge=0, le=2**31 - 1)] | None = None


class Chunk(Body):
    """Messages of one runtime, staged together or not at all."""

    subscription: Name
    token: Positive
    lane: Literal[0, 1] = 0
    attempt: Attempt
    messages: Annotated[list[StagedMessage], Field(min_length=1, max_length=_MOST)]


Batcher = Annotated[Bearer, Depends(needs("execute", "internal"))]


async def raw_batch(caller: Batcher, request: Request) -> bytes:
    """Only runtimes send large ones."""
    if "internal" not in caller.scopes:
        taken_body(request).narrow()
    return await raw(request)


def either(sent: Annotated[bytes, Depends(raw_batch)], request: Request) -> Items | Chunk:
    """Which of the two a batch is, by the key that only one of them has."""
    try:
        read = from_json(sent, allow_inf_nan=False)
    except ValueError as error:
        raise malformed(str(error)) from error
    if isinstance(read, dict) and "messages" in read:
        return Chunk.model_validate(read)
    taken_body(request).narrow()
    return Items.model_validate(read)


@router.post("/api/execute", openapi_extra=takes(ExecuteRequest))
def execute(
    caller: Annotated[Bearer, Depends(needs("execute"))],
    asked: Annotated[ExecuteRequest, Depends(body(ExecuteRequest))],
    state: Shared,
) -> dict[str, int | bool]:
    """Start an execution; the same playbook and idempotency_key again is the same one, and not started anew."""
    actor = speaking(caller, asked.actor)
    request = asked.model_dump(exclude_none=True) | {"actor": actor}
    execution_id, started = state.ask(executions.execute, request)
    return {"execution_id": execution_id, "started": started}


@router.post("/api/execute/batch", openapi_extra=takes(Items, Chunk))
def execute_batch(
    caller: Batcher,
    asked: Annotated[Items | Chunk, Depends(either)],
    state: Shared,
) -> dict[str, Any]:
    """Start up to 1,000 executions, where a bad request stops no other; or stage a runtime's chunk of messages."""
    wanted = "execute" if isinstance(asked, Items) else "internal"
    if wanted not in caller.scopes:
        raise lacks(wanted)
    if isinstance(asked, Items):
        return {"results": _started(state, caller, asked.items)}
    reaching(caller, asked.subscription)
    messages = [one.model_dump(exclude_none=True) for one in asked.messages]
    staged = state.ask(runtimes.stage_add, asked.subscription, asked.token, asked.lane, asked.attempt, messages)
    return {"staged": staged}


def _started(state: GatewayState, caller: Bearer, items: list[Any]) -> list[dict[str, Any]]:
    refusals = {ordinal: _refusal(caller, item) for ordinal, item in enumerate(items, 1)}
    good = [ordinal for ordinal, why in refusals.items() if why is None]
    requests = [items[ordinal - 1] | {"actor": caller.actor} for ordinal in good]
    answers = state.ask(executions.execute_batch, requests) if requests else []
    known = {good[one.ordinal - 1]: one for one in answers}
    return [
        {
            "ordinal": ordinal,
            "execution_id": known[ordinal].execution_id if why is None else None,
            "status": known[ordinal].status if why is None else "refused",
            "error": known[ordinal].error if why is None else why,
        }
        for ordinal, why in refusals.items()
    ]


def _refusal(caller: Bearer, item: Any) -> str | None:
    """Why a request cannot be passed on: one that PostgreSQL cannot read would take the others with it."""
    if not isinstance(item, dict):
        return "PS011: a request is no object"
    try:
        speaking(caller, item.get("actor"))
    except ActorRefused as error:
        return f"{error.sqlstate}: {error.message}"
    return _unfit(item)


def _unfit(value: Any) -> str | None:
    match value:
        case str():
            return "22P05: text with U+0000 cannot be stored" if "\0" in value else None
        case float():
            return None if isfinite(value) else "PS011: a number is too large"
        case int():
            return None if value.bit_length() <= _INTEGER_BITS else "PS011: a number is too large"
        case dict():
            parts = [*value, *value.values()]
        case list():
            parts = value
        case _:
            return None
    return next((why for one in parts if (why := _unfit(one)) is not None), None)
