"""How far a subscription is behind its source, and telling the source's own tools about it."""

import json
import time
from collections.abc import Callable, Mapping
from typing import Any, cast

import structlog
from pyspark.sql.streaming.query import StreamingQuery

from penstock.catalog.source import KafkaOptions
from penstock.catalog.subscription import SubscriptionSpec
from penstock.errors import SourceError
from penstock.model import Json
from penstock.sources.contract import Queue, Source
from penstock.sources.kafka import KafkaSource

log = structlog.get_logger("penstock.runtime")

_EVERY_S = 5.0

Lag = Callable[[Mapping[str, Json]], int | None]


class Progress:
    """What a query says of its last batch. `limit` is what a batch may hold, where a rate says that.

    `done` says which batch was committed last: Spark may have ended one more.
    """

    def __init__(self, query: StreamingQuery, limit: int | None, done: Callable[[], int]) -> None:
        self.limit = limit
        self._query = query
        self._done = done
        self._is_limited = False
        self._is_full = False
        # assigned whole: two threads look
        self._known: tuple[int | None, dict[str, int]] = (None, {})

    def ends(self) -> dict[str, int]:
        """Kafka's parts and where the last committed batch ended, as far as Spark has told.

        Beyond its last message there may be marks of transactions. Nothing for a queue, whose offsets count what was
        asked for.
        """
        last = self._query.lastProgress
        if last is not None and self._known[0] != last["batchId"] <= self._done():
            self._known = (last["batchId"], _ends(last["sources"][0]["endOffset"]))
        return self._known[1]

    def has_data(self) -> bool:
        """Whether a batch is under way that has something to read."""
        return bool(self._query.status["isDataAvailable"])

    def has_filled_up(self, is_full: bool) -> bool:
        """True once per engagement of max_in_flight."""
        was, self._is_full = self._is_full, is_full
        return is_full and not was

    def has_met_its_limit(self) -> bool:
        """True once per engagement: from the first full batch to the first that is not."""
        last = self._query.lastProgress if self.limit is not None else None
        if last is None or self.limit is None:
            return False
        was, self._is_limited = self._is_limited, int(last["numInputRows"]) >= self.limit
        return self._is_limited and not was


def _ends(said: Any) -> dict[str, int]:
    by_topic = json.loads(said) if isinstance(said, str) else said
    topics = {topic: parts for topic, parts in (by_topic or {}).items() if isinstance(parts, dict)}
    return {f"{topic}:{part}": int(at) for topic, parts in topics.items() for part, at in parts.items()}


def lag_of(spec: SubscriptionSpec, source: Source, progress: Progress) -> Lag:
    """A look at the backlog, given the ledger; None where the source was just asked."""
    if isinstance(spec.options, KafkaOptions) and isinstance(source, KafkaSource):
        return _KafkaLag(spec.options.group, source, progress)
    return _QueueLag(cast(Queue, source), progress)


class _QueueLag:
    """Of a queue that does not count, one message at least while a batch is under way: so a stall is noticed."""

    def __init__(self, source: Queue, progress: Progress) -> None:
        self._source = source
        self._progress = progress

    def __call__(self, ledger: Mapping[str, Json]) -> int | None:
        backlog = self._source.backlog()
        return int(self._progress.has_data()) if backlog is None else backlog


class _KafkaLag:
    """Asks what all partitions hold, and publishes the ledger as the group's offsets."""

    def __init__(self, group: str | None, source: KafkaSource, progress: Progress) -> None:
        self._group = group
        self._source = source
        self._progress = progress
        self._asked_at = -_EVERY_S
        self._published: dict[tuple[str, int], int] = {}

    def __call__(self, ledger: Mapping[str, Json]) -> int | None:
        if time.monotonic() - self._asked_at < _EVERY_S:
            return None
        self._asked_at = time.monotonic()
        known = {part: int(at["next"]) for part, at in ledger.items()}
        self._publish({_partition(part): offset for part, offset in known.items()})
        spans = self._source.spans()
        read = self._progress.ends()
        at = {span.part: max(span.first, known.get(span.part, 0), read.get(span.part, 0)) for span in spans}
        return sum(max(0, span.next - at[span.part]) for span in spans)

    def _publish(self, known: dict[tuple[str, int], int]) -> None:
        """For tools that watch the group. What keeps it from being published does not keep us from knowing the lag."""
        if self._group is None or known == self._published:
            return
        try:
            self._source.publish_group_offsets(self._group, known)
            self._published = known
        except SourceError as error:
            log.warning("the group's offsets could not be published", group=self._group, error=str(error))


def _partition(part: str) -> tuple[str, int]:
    topic, _, number = part.rpartition(":")
    return topic, int(number)
