"""What a client is told when it gets no answer: problem JSON (RFC 9457) with a code that stays the same."""

import re
from http import HTTPStatus

import structlog
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from pydantic import ValidationError
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, Response

from penstock import errors
from penstock.errors import PenstockError, Refused

_RETRY_AFTER_S = 2
_SHOWN = 10
_OURS = 500
_WORD = re.compile(r"(?<!^)(?=[A-Z])")

# every other refusal is the request's fault (422), under the name of its class
_STATUS: dict[type[PenstockError], int] = {
    errors.ActorRefused: 403,
    errors.ExecutorNotGranted: 403,
    errors.UnknownExecutor: 404,
    errors.UnknownPool: 404,
    errors.UnknownJob: 404,
    errors.UnknownEventDomain: 404,
    errors.UnknownEventType: 404,
    errors.UnknownDeadLetter: 404,
    errors.UnknownPlaybook: 404,
    errors.UnknownSubscription: 404,
    errors.UnknownToken: 404,
    errors.IllegalMove: 409,
    errors.RuntimeReplaced: 409,
    errors.SubscriptionHeld: 409,
    errors.StagingLost: 409,
    errors.SourceChanged: 409,
    errors.StillUnfit: 409,
    errors.NotReviewed: 409,
    errors.RouteNotLive: 409,
    errors.NotActive: 409,
    errors.PayloadTooLarge: 413,
    errors.Busy: 503,
    errors.DatabaseUnavailable: 503,
    errors.SchemaError: 503,
    errors.LogRestored: 503,
    # the login of this server lacks a right: nothing the client could mend
    errors.NotAllowed: _OURS,
}
_CODES: dict[type[PenstockError], str] = {errors.StagingLost: "staging_mismatch", errors.NotAllowed: "not_granted"}
# what PostgreSQL says of itself is for the log
_SAID_INSTEAD = {
    "database_unavailable": "The database does not answer. Nothing is known of what was asked: ask again.",
    # whose number the holder's is, only the holder is told
    "runtime_replaced": "The runtime has been replaced: another one holds its subscription now. Nothing was changed.",
    "not_granted": "The server's database login lacks a right. Its log says which.",
    "internal": "Something went wrong here. The server's log says what.",
}


class Problem(Exception):
    """An answer other than the one that was asked for."""

    def __init__(
        self,
        status: int,
        code: str,
        detail: str,
        *,
        hint: str | None = None,
        headers: dict[str, str] | None = None,
        faults: list[dict[str, str]] | None = None,
    ) -> None:
        super().__init__(detail)
        self.status = status
        self.code = code
        self.hint = hint
        self.headers = headers or {}
        self.faults = faults

    def response(self) -> Response:
        said = {
            "type": f"urn:penstock:problem:{self.code}",
            "title": HTTPStatus(self.status).phrase,
            "status": self.status,
            "detail": _SAID_INSTEAD.get(self.code, str(self)),
            "code": self.code,
            "hint": self.hint,
            "errors": self.faults,
        }
        known = {name: value for name, value in said.items() if value is not None}
        retry = {"Retry-After": str(_RETRY_AFTER_S)} if self.status == HTTPStatus.SERVICE_UNAVAILABLE else {}
        headers = {"Cache-Control": "no-store", **retry, **self.headers}
        return JSONResponse(known, self.status, headers, media_type="application/problem+json")


def problem_of(error: PenstockError) -> Problem:
    """The one problem an error of ours is."""
    kinds = [kind for kind in type(error).__mro__ if kind in _STATUS]
    if not kinds and not isinstance(error, Refused):
        return Problem(_OURS, "internal", str(error))
    status = _STATUS[kinds[0]] if kinds else 422
    code = _CODES.get(type(error), _WORD.sub("_", type(error).__name__).lower())
    if isinstance(error, Refused):
        return Problem(status, code, error.message, hint=error.hint if status < _OURS else None)
    return Problem(status, code, str(error))


def invalid(error: ValidationError) -> Problem:
    """A body that is no JSON (400), or not what the route takes (422). What was sent is not repeated."""
    found = error.errors(include_url=False, include_input=False, include_context=False)
    if found[0]["type"] == "json_invalid":
        return malformed(found[0]["msg"])
    faults = [{"path": ".".join(map(str, one["loc"])), "message": one["msg"]} for one in found[:_SHOWN]]
    return Problem(422, "invalid", "; ".join(f"{one['path']}: {one['message']}" for one in faults), faults=faults)


def malformed(why: str) -> Problem:
    return Problem(400, "malformed_json", f"The body cannot be read: {why}")


def answer_problems(app: FastAPI) -> None:
    """Let everything that can go wrong in a route be told as a problem."""
    log = structlog.get_logger("penstock.gateway")

    def answer(request: Request, problem: Problem) -> Response:
        if problem.status >= _OURS:
            route = getattr(request.scope.get("route"), "path", None)
            log.warning("not answered", route=route, code=problem.code, error=str(problem))
        return problem.response()

    @app.exception_handler(Problem)
    async def of_ours(request: Request, error: Problem) -> Response:
        return answer(request, error)

    @app.exception_handler(PenstockError)
    async def of_the_kernel(request: Request, error: PenstockError) -> Response:
        return answer(request, problem_of(error))

    @app.exception_handler(ValidationError)
    async def of_a_body(request: Request, error: ValidationError) -> Response:
        return answer(request, invalid(error))

    @app.exception_handler(RequestValidationError)
    async def of_a_query(request: Request, error: RequestValidationError) -> Response:
        faults = [{"path": ".".join(map(str, one["loc"])), "message": str(one["msg"])} for one in error.errors()]
        return answer(request, Problem(422, "invalid", faults[0]["message"], faults=faults[:_SHOWN]))

    @app.exception_handler(HTTPException)
    async def of_the_framework(request: Request, error: HTTPException) -> Response:
        code = HTTPStatus(error.status_code).phrase.lower().replace(" ", "_")
        return answer(request, Problem(error.status_code, code, error.detail, headers=dict(error.headers or {})))

    @app.exception_handler(Exception)
    async def of_anything_else(request: Request, error: Exception) -> Response:
        return answer(request, Problem(_OURS, "internal", f"{type(error).__name__}: {error}"))
