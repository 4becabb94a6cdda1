"""Which commit belongs to which batch, from what Spark and the database say at different times."""

from typing import Any, cast

from pyspark.sql.streaming.query import StreamingQuery

from penstock.kernel.runtimes import Counts
from penstock.model import Json
from penstock.pipeline.batches import Batch, Batches


class _Query:
    """What Spark's query says of its batches, without Spark."""

    def __init__(self) -> None:
        self.recentProgress: list[Json] = []

    @property
    def lastProgress(self) -> Json | None:  # noqa: N802
        return self.recentProgress[-1] if self.recentProgress else None

    def says(self, number: int, rows: int) -> None:
        at = f"2026-01-01T00:00:{len(self.recentProgress):02d}.250Z"
        durations = {"addBatch": 700, "latestOffset": 20, "triggerExecution": 800}
        self.recentProgress.append(
            {"batchId": number, "numInputRows": rows, "timestamp": at, "batchDuration": 800, "durationMs": durations}
        )


def _counts(batches: int, *recent: Json) -> Counts:
    return Counts(0, 0, 0, 0, batches, list(recent), None, None)


def _commit(number: int, executions: int) -> Json:
    return {"batch": number, "executions": executions}


def _followed(query: _Query, batches: int = 40) -> Batches:
    return Batches(cast(StreamingQuery, query), _counts(batches))


def _said(judged: Any) -> list[tuple[int, Json]]:
    return [(batch.number, batch.committed) for batch in judged]


def test_a_batch_has_its_rows_its_time_and_the_parts_of_it() -> None:
    query = _Query()
    query.says(0, 5)
    (batch,) = _followed(query).ended()
    assert (batch.rows, batch.duration_ms, batch.parts_ms) == (5, 800, {"addBatch": 700, "latestOffset": 20})
    assert batch.began.isoformat() == "2026-01-01T00:00:00.250000+00:00"


def test_a_batch_waits_for_its_commit_to_be_heard_of() -> None:
    query = _Query()
    batches = _followed(query)
    query.says(0, 5)
    batches.ended()
    assert not _said(batches.judged(_counts(40, _commit(40, 99))))
    assert _said(batches.judged(_counts(41, _commit(41, 5), _commit(40, 99)))) == [(0, _commit(41, 5))]


def test_a_commit_heard_of_before_its_batch_ended_waits_for_it() -> None:
    query = _Query()
    batches = _followed(query)
    heard = _counts(42, _commit(42, 2), _commit(41, 1))
    query.says(0, 1)
    batches.ended()
    assert _said(batches.judged(heard)) == [(0, _commit(41, 1))]
    query.says(1, 2)
    batches.ended()
    assert _said(batches.judged(heard)) == [(1, _commit(42, 2))]


def test_batches_that_ended_between_two_looks_are_all_told_of() -> None:
    query = _Query()
    batches = _followed(query)
    for number in range(3):
        query.says(number, 1)
    assert [batch.number for batch in batches.ended()] == [0, 1, 2]
    assert [number for number, _ in _said(batches.judged(_counts(43)))] == [0, 1, 2]


def test_a_trigger_without_messages_is_no_batch() -> None:
    query = _Query()
    batches = _followed(query)
    query.says(0, 1)
    batches.ended()
    for _ in range(3):
        query.says(1, 0)
        assert not batches.ended()
    query.says(1, 4)
    assert [batch.rows for batch in batches.ended()] == [4]


def test_a_batch_is_told_of_once() -> None:
    query = _Query()
    batches = _followed(query)
    query.says(0, 1)
    assert len(batches.ended()) == 1
    assert not batches.ended()


def test_a_commit_that_has_left_the_recent_ones_is_not_made_up() -> None:
    query = _Query()
    batches = _followed(query)
    query.says(0, 1)
    batches.ended()
    assert _said(batches.judged(_counts(60, _commit(60, 7)))) == [(0, {})]


def test_a_query_that_is_over_keeps_no_batch_back() -> None:
    query = _Query()
    batches = _followed(query)
    query.says(0, 1)
    batches.ended()
    assert _said(batches.judged(_counts(40), is_over=True)) == [(0, {})]


def test_a_batch_without_the_time_of_its_parts_has_its_whole_time() -> None:
    progress = {"batchId": 1, "numInputRows": 1, "timestamp": "2026-01-01T00:00:00Z", "batchDuration": 9}
    assert Batch.of({**progress, "durationMs": {}}).duration_ms == 9
