"""What is kept of one subscription for its runtime: in the database, or behind the API for one that cannot reach it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Protocol, Self
from uuid import UUID

from penstock.closing import Closing
from penstock.errors import Busy, DatabaseUnavailable
from penstock.kernel import catalog, runtimes, subscriptions
from penstock.kernel.catalog import CatalogEntry
from penstock.kernel.connection import connect
from penstock.kernel.runtimes import Committed, Lease
from penstock.model import Json


@dataclass(frozen=True)
class Server:
    """The API, and the alias of the token that opens it; both are no secrets."""

    url: str
    token_alias: str


# a database's URL, or the API
Place = str | Server

# a commit of messages may have the runtime's row for minutes, and a move of the ledger alone is not worth them
_MOVE_MS = 10_000
# they cannot be reached, or somebody's open transaction is in the way: the next try may go well
PASSING = (DatabaseUnavailable, Busy)


@dataclass(frozen=True)
class Stage:
    """A staging table of a runtime: one of its lanes, under its token."""

    name: str
    token: int
    lane: int


class Books(Protocol):
    """One subscription's place, ledger and staging. Every write shows the token of the lease."""

    def __enter__(self) -> Self: ...
    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...
    def close(self) -> None: ...
    def cancel(self, timeout_s: float) -> None:
        """From another thread: end the call under way."""

    def lease(self, incarnation: UUID, token: int | None = None, backlog: int | None = None) -> Lease: ...
    def release(self, token: int) -> str: ...
    def state(self) -> str: ...
    def entry(self, version: int) -> CatalogEntry: ...
    def batches(self) -> int:
        """How many were committed, by whoever held it."""

    def nexts(self) -> dict[str, int]:
        """Per part of the ledger the first offset that is not read."""

    def said(self, token: int, happening: str, detail: Json) -> None: ...
    def stage_open(self, token: int, lane: int) -> Stage: ...
    def commit(
        self, token: int, positions: Mapping[str, Json], expected: Mapping[str, int], lane: int = 0
    ) -> Committed: ...
    def position_set(self, token: int, positions: Mapping[str, Json], reason: str, detail: Json) -> None: ...
    def room(self, token: int, limit: int) -> int: ...
    def staged_acks(self, stage: Stage, attempts: Sequence[str]) -> list[str]: ...
    def stage_clear(self, stage: Stage) -> None: ...


def opened(place: Place, path: str, application: str, lock_ms: int | None = None) -> Books:
    """`lock_ms`: how long lease and commit wait for a lock before they are Busy; the API has not long then, either."""
    if isinstance(place, Server):
        from penstock.pipeline.api_books import ApiBooks

        return ApiBooks(place, path, lock_ms)
    return DatabaseBooks(place, path, application, lock_ms)


def commit_lock_ms(lock_ms: int | None, expected: Mapping[str, int]) -> int | None:
    """How long a commit waits for a lock: where nothing else is said, one of messages for as long as it takes."""
    return _MOVE_MS if lock_ms is None and not expected else lock_ms


class DatabaseBooks(Closing):
    """Over a connection of its own."""

    def __init__(self, url: str, path: str, application: str, lock_ms: int | None) -> None:
        self._path = path
        self._lock_ms = lock_ms
        self._connection = connect(url, application=application)

    def close(self) -> None:
        self._connection.close()

    def cancel(self, timeout_s: float) -> None:
        self._connection.cancel_safe(timeout=timeout_s)

    def lease(self, incarnation: UUID, token: int | None = None, backlog: int | None = None) -> Lease:
        return runtimes.lease(self._connection, self._path, incarnation, token, backlog, self._lock_ms)

    def release(self, token: int) -> str:
        return runtimes.release(self._connection, self._path, token)

    def state(self) -> str:
        return subscriptions.show(self._connection, self._path).state

    def entry(self, version: int) -> CatalogEntry:
        return catalog.entry(self._connection, self._path, version, "Subscription")

    def batches(self) -> int:
        return subscriptions.show(self._connection, self._path).batches

    def nexts(self) -> dict[str, int]:
        return {at.part: at.next_offset for at in subscriptions.positions(self._connection, self._path)}

    def said(self, token: int, happening: str, detail: Json) -> None:
        runtimes.said(self._connection, self._path, token, happening, detail)

    def stage_open(self, token: int, lane: int) -> Stage:
        return Stage(runtimes.stage_open(self._connection, self._path, token, lane), token, lane)

    def commit(
        self, token: int, positions: Mapping[str, Json], expected: Mapping[str, int], lane: int = 0
    ) -> Committed:
        lock_ms = commit_lock_ms(self._lock_ms, expected)
        return runtimes.commit(self._connection, self._path, token, positions, expected, lane, lock_ms)

    def position_set(self, token: int, positions: Mapping[str, Json], reason: str, detail: Json) -> None:
        runtimes.position_set(self._connection, self._path, token, positions, reason, detail)

    def room(self, token: int, limit: int) -> int:
        return runtimes.room(self._connection, self._path, token, limit)

    def staged_acks(self, stage: Stage, attempts: Sequence[str]) -> list[str]:
        return runtimes.staged_acks(self._connection, stage.name, list(attempts))

    def stage_clear(self, stage: Stage) -> None:
        runtimes.stage_clear(self._connection, self._path, stage.token, stage.lane)
