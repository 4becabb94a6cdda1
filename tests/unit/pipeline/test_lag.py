"""Where a query's batches ended, as far as they are committed."""

from typing import cast

from pyspark.sql.streaming.query import StreamingQuery

from penstock.model import Json
from penstock.pipeline.lag import Progress


class _Query:
    """What Spark's query says of its last batch, without Spark."""

    lastProgress: Json | None = None  # noqa: N815

    def says(self, number: int, end: int) -> None:
        self.lastProgress = {"batchId": number, "numInputRows": 1, "sources": [{"endOffset": {"t": {"0": end}}}]}


def test_a_batch_that_is_not_committed_yet_has_no_end() -> None:
    """The ledger follows these ends: beyond what is committed it would pass messages over."""
    query, done = _Query(), [-1]
    progress = Progress(cast(StreamingQuery, query), None, lambda: done[0])
    assert progress.ends() == {}
    query.says(0, 10)
    assert progress.ends() == {}
    done[0] = 0
    assert progress.ends() == {"t:0": 10}
    query.says(1, 20)
    assert progress.ends() == {"t:0": 10}
    done[0] = 1
    assert progress.ends() == {"t:0": 20}


def test_a_batch_that_spark_has_not_told_of_yet_changes_nothing() -> None:
    query = _Query()
    progress = Progress(cast(StreamingQuery, query), None, lambda: 5)
    query.says(4, 40)
    assert progress.ends() == {"t:0": 40}
