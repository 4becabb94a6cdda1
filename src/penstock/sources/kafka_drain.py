"""Topics of Kafka as steps of a playbook use them: read from where a group stands, which acknowledgements move.

Nobody joins the group, so any process can poll and any other acknowledge. The group's offset is all there is: a
partition's messages are acknowledged in order, and those that are not come again with the next poll.
"""

import time
from collections import defaultdict
from collections.abc import Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Self

from confluent_kafka import Consumer, KafkaError, KafkaException, TopicPartition
from confluent_kafka import Message as Record

from penstock.errors import OutOfTurn, SourceRefused, SourceUnavailable, SourceUnfit
from penstock.sources.drain import Polled, Wanted
from penstock.sources.kafka import ANSWER_S, KafkaSource, Offsets, Partition, Topic, silent

SOON_S = 0.05
_LOOK_S = 0.5


@dataclass(frozen=True)
class Mark:
    """A handle: this message, and those numbers before it that hold none (compaction and transactions leave such)."""

    topic: str
    partition: int
    first: int
    offset: int
    topic_id: str

    @classmethod
    def read(cls, handle: str) -> Self:
        try:
            topic, partition, offsets, topic_id = handle.split("/", 3)
            first, _, last = offsets.rpartition("-")
            return cls(topic, int(partition), int(first or last), int(last), topic_id)
        except ValueError:
            raise SourceUnfit(f"{handle[:100]!r} is no handle of a Kafka message.") from None

    def __str__(self) -> str:
        offsets = str(self.offset) if self.first == self.offset else f"{self.first}-{self.offset}"
        return f"{self.topic}/{self.partition}/{offsets}/{self.topic_id}"


@dataclass(frozen=True)
class Standing:
    """Where the group stands in a partition, and what that holds."""

    group: int
    first: int
    end: int

    @property
    def start(self) -> int:
        return max(self.group, self.first)


class KafkaDrain:
    def __init__(
        self, credential: Mapping[str, Any], *, topics: Sequence[str], pattern: str | None, group: str
    ) -> None:
        self._source = KafkaSource(credential, topics=tuple(topics), pattern=pattern)
        self._group = group
        self._consumer: Consumer | None = None

    @property
    def in_order(self) -> bool:
        return True

    @property
    def is_sure(self) -> bool:
        return True

    def hold_s(self) -> None:
        return None

    def poll(self, limit: int, wait_s: float, wanted: Wanted) -> Generator[Polled]:
        """What is read and not taken costs nothing here: the group stands where it stood."""
        topics = self._source.topics()
        standing = self._standing(topics)
        self._refuse_ahead(standing)
        if not standing:
            return
        consumer = self._consuming()
        ids = {topic.name: topic.id for topic in topics}
        consumer.assign([TopicPartition(*part, one.start) for part, one in standing.items()])
        try:
            reached = {part: one.group for part, one in standing.items()}
            for record in self._records(consumer, standing, limit, wait_s):
                part, offset = _place(record)
                mark = Mark(*part, reached[part], offset, ids[part[0]])
                lost = max(0, standing[part].first - reached[part])
                reached[part] = offset + 1
                yield _polled(record, mark, lost)
        finally:
            # or it would go on reading ahead for nobody
            consumer.unassign()

    def acknowledge(self, handles: Sequence[str]) -> None:
        """The group goes on as far as there is no gap; what lies beyond one is refused, and may be tried again."""
        marks = self._marks(handles)
        standing = self._standing(self._source.topics())
        # of those that stay, too: Kafka forgets an offset that nobody has set for a week
        stands = {part: one.group for part, one in standing.items()}
        beyond: list[str] = []
        for part, some in marks.items():
            at = standing[part].start
            for mark in some:
                if mark.first <= at:
                    at = max(at, mark.offset + 1)
                else:
                    beyond.append(f"{mark.topic}:{mark.partition}:{mark.offset} (the group stands at {at})")
            if at > standing[part].start:
                stands[part] = at
        self._source.publish_group_offsets(self._group, stands)
        if beyond:
            raise OutOfTurn(
                f"{len(beyond)} of {len(handles)} messages come after others that the group {self._group} has not "
                f"acknowledged: {', '.join(beyond[:3])}. Kafka goes over messages in order: acknowledge those first."
            )

    def give_back(self, handles: Sequence[str]) -> None:
        """The group stays where it is: what is not acknowledged comes with the next poll."""
        self._marks(handles)

    def terminate(self, handles: Sequence[str]) -> None:
        raise SourceUnfit("Kafka cannot drop one message of a topic. Acknowledge it to go over it.")

    def settled(self, handles: Iterable[str]) -> set[str]:
        return set()

    def close(self) -> None:
        if self._consumer is not None:
            self._consumer.close()
            self._consumer = None
        self._source.close()

    def _standing(self, topics: tuple[Topic, ...]) -> dict[Partition, Standing]:
        first, end = self._source.offsets("earliest", topics), self._source.offsets("latest", topics)
        known = self.group_offsets(end) if end else {}
        # a topic may lose its head between the two questions
        return {part: Standing(known.get(part, first[part]), min(first[part], end[part]), end[part]) for part in end}

    def group_offsets(self, parts: Iterable[Partition]) -> Offsets:
        """Where the group stands; a partition it has no offset of is left out.

        A consumer is asked: librdkafka's admin client takes the process down with it when the group's place has moved.
        """
        asked = [TopicPartition(*part) for part in parts]
        found = self._source.settled(lambda: self._committed(asked))
        return {(part.topic, part.partition): part.offset for part in found if part.offset >= 0}

    def _committed(self, asked: list[TopicPartition]) -> list[TopicPartition]:
        try:
            found = self._consuming().committed(asked, timeout=ANSWER_S)
            for fault in (part.error for part in found if part.error is not None):
                raise KafkaException(fault)
        except KafkaException as error:
            raise self._source.explained(error.args[0], f"offsets of the group {self._group}") from error
        return found

    def _refuse_ahead(self, standing: Mapping[Partition, Standing]) -> None:
        for (topic, number), one in standing.items():
            if one.group > one.end:
                raise SourceUnfit(
                    f"The group {self._group} stands at {one.group} of {topic}:{number}, which ends at {one.end}: "
                    "it lost messages, or is another topic. Set the group's offset, or take another group."
                )

    def _marks(self, handles: Sequence[str]) -> dict[Partition, list[Mark]]:
        """By partition and in order; those of a topic that was removed and made again are refused."""
        topics = {topic.name: topic for topic in self._source.topics()}
        found: dict[Partition, list[Mark]] = defaultdict(list)
        for mark in map(Mark.read, handles):
            if mark.topic not in topics or mark.partition not in topics[mark.topic].partitions:
                raise SourceUnfit(f"A handle is of {mark.topic}:{mark.partition}, which this step does not poll.")
            if mark.topic_id != topics[mark.topic].id:
                raise SourceUnfit(
                    f"A handle is of a topic {mark.topic} that was removed: the one of that name now is another."
                )
            found[mark.topic, mark.partition].append(mark)
        return {part: sorted(some, key=lambda mark: mark.offset) for part, some in found.items()}

    def _records(
        self, consumer: Consumer, standing: Mapping[Partition, Standing], limit: int, wait_s: float
    ) -> Generator[Record]:
        """What is there is waited for; with nothing there, the first to come within the time, and what came with it."""
        there = {part for part, one in standing.items() if one.start < one.end}
        was_there = bool(there)
        until = time.monotonic() + (ANSWER_S if was_there else wait_s)
        got = 0
        while got < limit and not (was_there and not there):
            left_s = until - time.monotonic()
            record = consumer.poll(max(0.0, min(left_s, _LOOK_S)))
            if record is None:
                if left_s <= 0:
                    self._refuse_silence(there, got)
                    return
                continue
            part, offset = _place(record)
            if not self._is_end(record):
                yield record
                got += 1
                until = until if was_there else min(until, time.monotonic() + SOON_S)
                if offset + 1 < standing[part].end:
                    continue
            there.discard(part)
            if was_there and not there and not got:
                # what stood there were no messages: a transaction leaves such
                was_there, until = False, time.monotonic() + wait_s

    def _refuse_silence(self, there: set[Partition], got: int) -> None:
        if there and not got:
            named = ", ".join(f"{topic}:{part}" for topic, part in sorted(there)[:3])
            raise SourceUnavailable(f"Kafka gave nothing of {named} within {ANSWER_S} s, though messages are there.")

    def _is_end(self, record: Record) -> bool:
        error = record.error()
        if error is None:
            return False
        if error.code() == KafkaError._PARTITION_EOF:
            return True
        raise self._source.explained(error, str(record.topic()))

    def _consuming(self) -> Consumer:
        if self._consumer is None:
            options: dict[str, Any] = dict(self._source.client_options())
            options |= {
                "group.id": self._group,
                "enable.auto.commit": False,
                "enable.partition.eof": True,
                "isolation.level": "read_committed",
                "auto.offset.reset": "error",
                "logger": silent(),
            }
            try:
                self._consumer = Consumer(options)
            except KafkaException as error:
                raise SourceRefused(f"A credential for Kafka cannot be used: {error.args[0].str()}.") from error
        return self._consumer


def _place(record: Record) -> tuple[Partition, int]:
    return (str(record.topic()), int(record.partition() or 0)), int(record.offset() or 0)


def _polled(record: Record, mark: Mark, lost: int) -> Polled:
    kind, milliseconds = record.timestamp()
    headers: Any = record.headers() or []
    return Polled(
        id=f"{mark.topic}:{mark.partition}:{mark.offset}",
        part=f"{mark.topic}:{mark.partition}",
        offset=mark.offset,
        published_at=datetime.fromtimestamp(milliseconds / 1000, UTC) if kind else None,
        key=record.key(),
        body=record.value(),
        attributes=[(str(name), value) for name, value in headers],
        handle=str(mark),
        deliveries=None,
        lost=lost,
        identity=f"{mark.topic_id}/{mark.partition}/{mark.offset}",
    )
