"""The batches of a query as Spark tells of them, each with what its commit came to."""

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from pyspark.sql.streaming.query import StreamingQuery

from penstock.kernel.runtimes import Counts
from penstock.model import Json


@dataclass(frozen=True)
class Batch:
    """One batch with messages. `committed` is the database's word on it, empty where that is gone."""

    number: int
    rows: int
    began: datetime
    duration_ms: int
    parts_ms: dict[str, int]
    committed: Json

    @classmethod
    def of(cls, progress: Any) -> "Batch":
        parts = {name: int(ms) for name, ms in progress["durationMs"].items()}
        return cls(
            number=int(progress["batchId"]),
            rows=int(progress["numInputRows"]),
            began=datetime.fromisoformat(progress["timestamp"]),
            duration_ms=parts.pop("triggerExecution", int(progress["batchDuration"])),
            parts_ms=parts,
            committed={},
        )


class Batches:
    """Follows one query. Its n-th batch with messages is its token's n-th commit: no other token commits meanwhile."""

    def __init__(self, query: StreamingQuery, counts: Counts) -> None:
        self._query = query
        self._looked_at: str | None = None
        self._last = -1
        self._commits = counts.batches
        self._waiting: deque[Batch] = deque()

    def ended(self) -> list[Batch]:
        """Those that ended since the last look."""
        fresh = [Batch.of(one) for one in self._progress() if one["batchId"] > self._last and one["numInputRows"]]
        if fresh:
            self._last = fresh[-1].number
        self._waiting.extend(fresh)
        return fresh

    def judged(self, counts: Counts, *, is_over: bool = False) -> Iterator[Batch]:
        """Those whose commit is in these counts; once all is over, also those whose commit nobody will tell of."""
        commits = {one["batch"]: one for one in counts.recent}
        while self._waiting and (counts.batches > self._commits or is_over):
            self._commits += 1
            yield replace(self._waiting.popleft(), committed=commits.get(self._commits, {}))

    def _progress(self) -> list[Any]:
        """The newest first asked for alone: all of them are a hundred, and dear."""
        last = self._query.lastProgress
        if last is None or last["timestamp"] == self._looked_at:
            return []
        self._looked_at = last["timestamp"]
        return [last] if last["batchId"] <= self._last + 1 else list(self._query.recentProgress)
