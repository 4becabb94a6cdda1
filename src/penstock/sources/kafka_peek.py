"""Records of Kafka looked at from outside Spark: read by offset, in no group, with nothing committed."""

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from confluent_kafka import OFFSET_INVALID, Consumer, KafkaError, KafkaException, TopicPartition

from penstock.errors import SourceUnavailable
from penstock.sources.contract import Peeked

POLL_S = 0.2
SILENCE_S = 10
# librdkafka wants a name, and nothing is ever stored under it
_GROUP = "penstock-peek"
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def records(
    options: Mapping[str, Any], begin: Mapping[tuple[str, int], int], end: Mapping[tuple[str, int], int], limit: int
) -> Iterator[Peeked]:
    """Up to `limit` records from these offsets on, to before those; of each partition in order."""
    open_parts = {part for part, offset in begin.items() if offset < end.get(part, 0)}
    consumer = Consumer(
        {
            **options,
            "group.id": _GROUP,
            "enable.auto.commit": False,
            "enable.partition.eof": True,
            "isolation.level": "read_committed",
        }
    )
    try:
        consumer.assign([TopicPartition(name, part, begin[name, part]) for name, part in sorted(open_parts)])
        given, silent_s = 0, 0.0
        while open_parts and given < limit:
            found = consumer.poll(POLL_S)
            silent_s = silent_s + POLL_S if found is None else 0.0
            if silent_s > SILENCE_S:
                raise SourceUnavailable("Kafka holds records it does not send. See that all its brokers run.")
            if found is None:
                continue
            part = (str(found.topic()), int(found.partition() or 0))
            error = found.error()
            if error is None and part in open_parts and int(found.offset() or 0) < end[part]:
                given += 1
                yield _peeked(found)
            if error is not None and error.code() != KafkaError._PARTITION_EOF:
                raise SourceUnavailable(f"Kafka does not send its records: {error.str()}.")
            if error is not None or int(found.offset() or OFFSET_INVALID) + 1 >= end[part]:
                open_parts.discard(part)
    except KafkaException as error:
        raise SourceUnavailable(f"Kafka does not send its records: {error.args[0].str()}.") from error
    finally:
        consumer.close()


def _peeked(record: Any) -> Peeked:
    part, offset = f"{record.topic()}:{record.partition()}", int(record.offset())
    _, milliseconds = record.timestamp()
    return Peeked(
        part=part,
        offset=offset,
        id=f"{part}:{offset}",
        published_at=EPOCH + timedelta(milliseconds=max(milliseconds, 0)),
        key=record.key(),
        body=record.value(),
        attributes=tuple((key, value) for key, value in record.headers() or ()),
    )
