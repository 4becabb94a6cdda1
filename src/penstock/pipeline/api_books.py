"""The books of a runtime that holds no connection to the database: every entry is a call of the API."""

from collections.abc import Mapping, Sequence
from dataclasses import fields
from datetime import datetime
from typing import TypeVar
from uuid import UUID, uuid4

from penstock.closing import Closing
from penstock.kernel.catalog import CatalogEntry
from penstock.kernel.runtimes import Committed, Counts, Lease
from penstock.model import Json
from penstock.pipeline.api import Api, runtime_path
from penstock.pipeline.books import Server, Stage, commit_lock_ms

_LOOK_S = 5.0
# while the server is started again
_PATIENCE_S = 10.0
# for a lease of 15 s that is renewed by who asks again in a second, and for what a runtime says last
_BRIEF_S = 4.0
# for a lease, while a commit has the runtime's row: well before the answer is given up, or it would be taken unheard
_LOCK_MS = 5_000
# longer than the server gives a commit of messages
COMMIT_ANSWER_S = 630.0

T = TypeVar("T", Counts, Committed)


class ApiBooks(Closing):
    """The same as the database's, one call each; with `lock_ms` none of them is waited for long, nor made again."""

    def __init__(self, server: Server, path: str, lock_ms: int | None) -> None:
        self._at = runtime_path(path)
        self._path = path
        self._lock_ms = lock_ms
        self._api = Api(server, _PATIENCE_S) if lock_ms is None else Api(server, answer_s=_BRIEF_S)
        self._commit_s = COMMIT_ANSWER_S if lock_ms is None else _BRIEF_S

    def close(self) -> None:
        self._api.close()

    def cancel(self, timeout_s: float) -> None:
        """The server ends it by its own time limit; here nobody waits for it any more."""
        self._api.cut()

    def lease(self, incarnation: UUID, token: int | None = None, backlog: int | None = None) -> Lease:
        asked = {
            "incarnation": str(incarnation),
            "token": token,
            "backlog": backlog,
            "wait_ms": self._lock_ms or _LOCK_MS,
        }
        said = self._post("lease", {name: value for name, value in asked.items() if value is not None})
        return Lease(
            token=said["token"],
            lease_until=datetime.fromisoformat(said["lease_until"]),
            state=said["state"],
            version=said["version"],
            positions=said["positions"],
            counts=_made(Counts, said["counts"]),
            ledger=said.get("ledger", ""),
        )

    def release(self, token: int) -> str:
        return str(self._post("release", {"token": token})["state"])

    def state(self) -> str:
        return str(self._api.get(self._at)["state"])

    def entry(self, version: int) -> CatalogEntry:
        said = self._api.get(self._at, version=version)
        return CatalogEntry(
            path=self._path,
            version=said["version"],
            kind="Subscription",
            content=said["content"],
            source="",
            registered_by="",
            registered_at=datetime.min,
        )

    def batches(self) -> int:
        return int(self._api.get(self._at)["batches"])

    def nexts(self) -> dict[str, int]:
        return {part: int(at["next"]) for part, at in self._api.get(self._at)["positions"].items()}

    def said(self, token: int, happening: str, detail: Json) -> None:
        self._post_once("said", {"token": token, "happening": happening, "detail": detail})

    def stage_open(self, token: int, lane: int) -> Stage:
        return Stage(str(self._post("stage", {"token": token, "lane": lane})["stage"]), token, lane)

    def commit(
        self, token: int, positions: Mapping[str, Json], expected: Mapping[str, int], lane: int = 0
    ) -> Committed:
        body: Json = {"token": token, "positions": dict(positions), "expected": dict(expected), "lane": lane}
        lock_ms = commit_lock_ms(self._lock_ms, expected)
        if lock_ms is not None:
            body["wait_ms"] = lock_ms
        return _made(Committed, self._post_once("commit", body, self._commit_s if expected else None))

    def position_set(self, token: int, positions: Mapping[str, Json], reason: str, detail: Json) -> None:
        body = {"token": token, "positions": dict(positions), "reason": reason, "detail": detail}
        self._post_once("positions", body)

    def room(self, token: int, limit: int) -> int:
        return int(self._post("room", {"token": token, "limit": limit})["room"])

    def staged_acks(self, stage: Stage, attempts: Sequence[str]) -> list[str]:
        body = {"token": stage.token, "lane": stage.lane, "attempts": list(attempts)}
        return [str(one) for one in self._post("acks", body)["acks"]]

    def stage_clear(self, stage: Stage) -> None:
        self._post("clear", {"token": stage.token, "lane": stage.lane})

    def _post_once(self, what: str, body: Json, answer_s: float | None = None) -> Json:
        """Under a name: asked again, because no answer came, it is not made again, and has the answer it had."""
        return self._post(what, body | {"request": str(uuid4())}, answer_s)

    def _post(self, what: str, body: Json, answer_s: float | None = None) -> Json:
        return self._api.post(f"{self._at}/{what}", body, answer_s)


def look(server: Server, path: str) -> Json:
    """What the server says of a subscription: state, version, content, positions."""
    with Api(server, _LOOK_S) as api:
        return api.get(runtime_path(path))


def _made(kind: type[T], said: Json) -> T:
    """Of what is said, what is known here: a later server may say more."""
    return kind(**{one.name: said[one.name] for one in fields(kind) if one.name in said})
