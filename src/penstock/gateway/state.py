"""What the routes of one server share."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from threading import Lock
from typing import Annotated, Concatenate, ParamSpec, TypeVar

from fastapi import Depends, Request

from penstock.errors import PenstockError
from penstock.gateway.measures import Measures
from penstock.kernel.connection import Connection
from penstock.kernel.migrate import check
from penstock.kernel.pool import Pool

# anybody may ask whether we are ready: the database is asked so often at most
_LOOK_S = 1.0

P = ParamSpec("P")
R = TypeVar("R")


@dataclass
class GatewayState:
    pool: Pool
    measures: Measures
    commit_s: float
    _lock: Lock = field(default_factory=Lock)
    _looked_at: float = float("-inf")
    _fault: PenstockError | None = None

    def ask(self, call: Callable[Concatenate[Connection, P], R], *args: P.args, **named: P.kwargs) -> R:
        """Call a function of the kernel. Its connection is lent for the call alone: who holds one waits for nobody."""
        with self.pool.connection() as connection:
            return call(connection, *args, **named)

    def ask_to_commit(self, call: Callable[Concatenate[Connection, P], R], *args: P.args, **named: P.kwargs) -> R:
        """The same for what may take longer: a batch that is too large for the usual limit would be for ever."""
        with self.pool.connection(self.commit_s) as connection:
            return call(connection, *args, **named)

    def fault(self) -> PenstockError | None:
        """Why the API could not answer now: no database, or not at this version's schema."""
        with self._lock:
            if time.monotonic() - self._looked_at > _LOOK_S:
                self._fault = self._looked()
                self._looked_at = time.monotonic()
            return self._fault

    def _looked(self) -> PenstockError | None:
        try:
            self.ask(check)
        except PenstockError as error:
            return error
        return None


async def _shared(request: Request) -> GatewayState:
    state = request.app.state.gateway
    assert isinstance(state, GatewayState)
    return state


Shared = Annotated[GatewayState, Depends(_shared)]
