"""The application: every route, what they share, and the limits around them."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from importlib.metadata import version
from typing import Any

from fastapi import Depends, FastAPI
from fastapi.openapi.utils import get_openapi
from pydantic.json_schema import models_json_schema
from starlette.types import ASGIApp

from penstock.gateway.auth import bearer
from penstock.gateway.bodies import Body
from penstock.gateway.limits import Bounded, Limits
from penstock.gateway.measures import Measured, Measures
from penstock.gateway.problems import answer_problems
from penstock.gateway.routes import events, execute, health, runtime
from penstock.gateway.state import GatewayState
from penstock.kernel.pool import Pool

_ROUTERS = (health.router, execute.router, events.router, runtime.router)

_TEXTS = ("type", "title", "detail", "code", "hint")
_PROBLEM: dict[str, Any] = {
    "description": "A problem (RFC 9457); `code` says which.",
    "content": {
        "application/problem+json": {
            "schema": {
                "type": "object",
                "required": ["type", "title", "status", "detail", "code"],
                "properties": {"status": {"type": "integer"}, **{name: {"type": "string"} for name in _TEXTS}},
            }
        }
    },
}
_PROBLEMS: dict[int | str, dict[str, Any]] = {"4XX": _PROBLEM, "5XX": _PROBLEM}


@dataclass(frozen=True)
class GatewayOptions:
    database_url: str
    sessions: int = 10
    limits: Limits = field(default_factory=Limits)


def make_app(options: GatewayOptions) -> ASGIApp:
    """The application as a server runs it. It begins to connect when it is started, and waits for nothing."""
    pool = Pool(
        options.database_url,
        size=options.sessions,
        application="penstock serve",
        statement_s=options.limits.time_s,
    )
    measures = Measures()

    @asynccontextmanager
    async def life(app: FastAPI) -> AsyncIterator[None]:
        pool.open()
        try:
            yield
        finally:
            pool.close()

    app = FastAPI(title="Penstock", version=version("penstock"), lifespan=life, openapi_url=None)
    app.state.gateway = GatewayState(pool, measures, options.limits.commit_s)
    for router in _ROUTERS:
        app.include_router(router, responses=dict(_PROBLEMS))
    answer_problems(app)

    @app.get("/api/openapi.json", dependencies=[Depends(bearer)], include_in_schema=False)
    def openapi() -> dict[str, Any]:
        return document(app)

    bounded = Bounded(app, options.limits)
    measures.watch(lambda: bounded.requests, lambda: bounded.held_bytes)
    return Measured(bounded, measures)


def document(app: FastAPI) -> dict[str, Any]:
    """The OpenAPI document, with the bodies that the routes read by themselves."""
    said = get_openapi(title=app.title, version=app.version, routes=app.routes)
    bodies = [(one, "validation") for one in _bodies(Body) if one.__module__.startswith("penstock.gateway.routes.")]
    _, schemas = models_json_schema(bodies, ref_template="#/components/schemas/{model}")  # type: ignore[arg-type]
    said["components"].setdefault("schemas", {}).update(schemas["$defs"])
    return said


def _bodies(model: type[Body]) -> list[type[Body]]:
    return [below for one in model.__subclasses__() for below in (one, *_bodies(one))]
