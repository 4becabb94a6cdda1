"""Bodies: read whole within the limits, weighed, then parsed in a thread.

A parser lets no other thread go on meanwhile. So what it would make of a body is counted first, and too much of it is
refused: others wait for a fraction of a second at most."""

from collections.abc import Callable
from typing import Annotated, Any, TypeVar

from fastapi import Depends, Request
from pydantic import BaseModel, ConfigDict, Field
from starlette.requests import ClientDisconnect

from penstock.gateway.limits import taken_body
from penstock.gateway.problems import Problem

Positive = Annotated[int, Field(ge=1, le=2**63 - 1)]
Whole = Annotated[int, Field(ge=-(2**63), le=2**63 - 1)]
Name = Annotated[str, Field(min_length=1, max_length=500)]
Text = Annotated[str, Field(max_length=2000)]
# names a chunk of messages
Attempt = Annotated[str, Field(min_length=1, max_length=200, pattern=r"^[A-Za-z0-9_.:-]+$")]


class Body(BaseModel):
    """What a route takes: these keys and no others, of these types and no similar ones."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


T = TypeVar("T", bound=Body)


async def raw(request: Request) -> bytes:
    """The whole of it, which parsing makes no more of than the limits allow."""
    try:
        sent = await request.body()
    except ClientDisconnect:
        raise Problem(400, "cut_off", "The connection ended before the body did.") from None
    await taken_body(request).weigh(sent)
    return sent


def body(model: type[T]) -> Callable[[bytes], T]:
    """A dependency: the request's body as this model."""

    def read(sent: Annotated[bytes, Depends(raw)]) -> T:
        return model.model_validate_json(sent)

    return read


def takes(*models: type[Body]) -> dict[str, Any]:
    """For the OpenAPI document: what the body must be."""
    refs = [{"$ref": f"#/components/schemas/{model.__name__}"} for model in models]
    schema = refs[0] if len(refs) == 1 else {"oneOf": refs}
    return {"requestBody": {"required": True, "content": {"application/json": {"schema": schema}}}}
