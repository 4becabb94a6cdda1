"""Whether the process lives, whether it can answer, and its numbers."""

from fastapi import APIRouter, Depends, Response
from prometheus_client import CONTENT_TYPE_LATEST
from starlette.responses import PlainTextResponse

from penstock.gateway.auth import needs
from penstock.gateway.problems import Problem, problem_of
from penstock.gateway.state import Shared

router = APIRouter(tags=["health"])


@router.get("/livez")
async def livez() -> dict[str, str]:
    """The process lives; nothing else is looked at."""
    return {"status": "ok"}


@router.get("/readyz")
def readyz(state: Shared) -> Response:
    """The database answers, and has this version's schema."""
    fault = state.fault()
    if fault is not None:
        return Problem(503, problem_of(fault).code, str(fault)).response()
    return Response('{"status":"ok"}', media_type="application/json")


@router.get("/metrics", dependencies=[Depends(needs("metrics"))], response_class=PlainTextResponse)
def metrics(state: Shared) -> Response:
    """Numbers for Prometheus."""
    return Response(state.measures.text(state.pool.counts()), media_type=CONTENT_TYPE_LATEST)
