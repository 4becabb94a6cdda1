"""Who asks: every route names the scope it wants, and is not reached without a token that has it."""

from collections.abc import Awaitable, Callable
from typing import Annotated

from fastapi import Depends, Request
from fastapi.security import HTTPBearer

from penstock.errors import ActorRefused
from penstock.gateway.problems import Problem
from penstock.gateway.state import Shared
from penstock.kernel import tokens
from penstock.kernel.tokens import Bearer

# for the OpenAPI document only: its own answer would be no problem JSON
_SCHEME = HTTPBearer(auto_error=False, scheme_name="token", description="A token of `penstock token create`.")
_ADVICE = "Send Authorization: Bearer and a token. An operator makes one: penstock token create"


def bearer(request: Request, state: Shared) -> Bearer:
    """Whom the request speaks for. Asked of the database every time: a revoked token opens nothing any more."""
    scheme, _, text = request.headers.get("authorization", "").partition(" ")
    if scheme.lower() != "bearer":
        raise _unknown("The request shows no token.", "")
    shown = tokens.read(text.strip())
    found = None if shown is None else state.ask(tokens.check, shown)
    if found is None:
        raise _unknown("The token is not known.", ' error="invalid_token"')
    if found.state != "live":
        raise _unknown(f"The token is {found.state}.", f' error="invalid_token", error_description="{found.state}"')
    return found


def needs(*scopes: str) -> Callable[..., Awaitable[Bearer]]:
    """A dependency: the bearer, if its token has one of these scopes."""

    async def allowed(
        caller: Annotated[Bearer, Depends(bearer)], _: Annotated[object, Depends(_SCHEME)] = None
    ) -> Bearer:
        if not caller.scopes.intersection(scopes):
            raise lacks(*scopes)
        return caller

    return allowed


def lacks(*scopes: str) -> Problem:
    """A token that opens something, but not this."""
    wanted = " or ".join(scopes)
    header = f'Bearer realm="penstock", error="insufficient_scope", scope="{" ".join(scopes)}"'
    return Problem(403, "missing_scope", f"The token lacks the scope {wanted}.", headers={"WWW-Authenticate": header})


def reaching(caller: Bearer, path: str) -> None:
    """Refuse what the token is not for, whether or not there is such a subscription."""
    if not caller.reaches(path):
        raise Problem(403, "path_refused", f"The token is not for subscription {path}.")


async def holder(caller: Annotated[Bearer, Depends(needs("internal"))], path: str) -> Bearer:
    """A dependency: the bearer, if its token is for the runtime of the subscription that the route names."""
    reaching(caller, path)
    return caller


def speaking(caller: Bearer, actor: object) -> str:
    """The token's actor; a request may name it, and nobody else."""
    if actor not in (None, caller.actor):
        raise ActorRefused(f"the token speaks for {caller.actor}, and not for {actor}")
    return caller.actor


def _unknown(detail: str, reason: str) -> Problem:
    header = f'Bearer realm="penstock"{"," if reason else ""}{reason}'
    return Problem(401, "bad_token", detail, hint=_ADVICE, headers={"WWW-Authenticate": header})
