"""Kafka outside Spark: which topics there are, where they begin and end, and a group's offsets for lag tools."""

import logging
import re
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future, wait
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal, TypeVar

from confluent_kafka import (
    ConsumerGroupTopicPartitions,
    IsolationLevel,
    KafkaError,
    KafkaException,
    TopicCollection,
    TopicPartition,
)
from confluent_kafka.admin import AdminClient
from confluent_kafka.admin._listoffsets import OffsetSpec

from penstock.catalog.source import Start
from penstock.closing import Closing
from penstock.errors import SourceError, SourceMissing, SourceRefused, SourceUnavailable, SourceUnfit
from penstock.sources.contract import Peeked, Span
from penstock.sources.kafka_credential import KafkaCredential
from penstock.sources.kafka_peek import records

ANSWER_S = 15
LOOK_S = 0.05
AGAIN_S = 0.25
GRACE_S = 3  # a broker that restarts, or a leader that moves, is back soon
T = TypeVar("T")
Partition = tuple[str, int]
Offsets = dict[Partition, int]

REFUSED = {
    KafkaError._AUTHENTICATION,
    KafkaError._SSL,
    KafkaError.SASL_AUTHENTICATION_FAILED,
    KafkaError.TOPIC_AUTHORIZATION_FAILED,
    KafkaError.GROUP_AUTHORIZATION_FAILED,
    KafkaError.CLUSTER_AUTHORIZATION_FAILED,
    KafkaError.ILLEGAL_SASL_STATE,
    KafkaError.UNSUPPORTED_SASL_MECHANISM,
}
MISSING = {KafkaError.UNKNOWN_TOPIC_OR_PART, KafkaError._UNKNOWN_TOPIC, KafkaError._UNKNOWN_PARTITION}
# A group that somebody consumes with will not have its offsets set from outside.
TAKEN = {KafkaError.UNKNOWN_MEMBER_ID, KafkaError.NON_EMPTY_GROUP, KafkaError.REBALANCE_IN_PROGRESS}
# A group's place, or a partition's, is on its way from one broker to another, or being read.
MOVING = {
    KafkaError.NOT_LEADER_FOR_PARTITION,
    KafkaError.LEADER_NOT_AVAILABLE,
    KafkaError.COORDINATOR_LOAD_IN_PROGRESS,
    KafkaError.COORDINATOR_NOT_AVAILABLE,
    KafkaError.NOT_COORDINATOR,
}


@dataclass(frozen=True)
class Topic:
    """A topic as it is now; one that was removed and made again has another id."""

    name: str
    id: str
    partitions: tuple[int, ...]


class KafkaSource(Closing):
    """Topics by name, or all whose whole name matches a pattern."""

    def __init__(
        self,
        credential: Mapping[str, Any],
        *,
        topic: str | None = None,
        topics: tuple[str, ...] | list[str] = (),
        pattern: str | None = None,
    ) -> None:
        self._credential = KafkaCredential.read(credential)
        self._names = ((topic,) if topic is not None else ()) + tuple(topics)
        self._pattern = pattern
        self._client: AdminClient | None = None
        self._heard: list[KafkaError] = []

    def spark_options(self) -> dict[str, str]:
        """The credential, and which topics, as options of Spark's connector."""
        chosen = {"subscribe": ",".join(self._names)} if self._names else {"subscribePattern": self._pattern or ""}
        return self._credential.spark_options() | chosen

    def client_options(self) -> dict[str, str]:
        """The credential as options of librdkafka."""
        return self._credential.client_options()

    def check(self) -> None:
        self.topics()

    def topics(self) -> tuple[Topic, ...]:
        """Every topic of the subscription, by name. A pattern may match none yet, a name must be there."""
        names = sorted(set(self._names) | set(self._matching()))
        if not names:
            return ()
        found = self._answers(lambda client: client.describe_topics(TopicCollection(names), request_timeout=ANSWER_S))
        return tuple(
            Topic(name, str(one.topic_id), tuple(sorted(part.id for part in one.partitions)))
            for name, one in sorted(found.items())
        )

    def offsets(self, at: Literal["earliest", "latest"] | datetime, topics: tuple[Topic, ...] | None = None) -> Offsets:
        """Per partition the first offset, the one after the last, or the first published at or after that time."""
        asked = {
            TopicPartition(topic.name, part): _offset_spec(at)
            for topic in (self.topics() if topics is None else topics)
            for part in topic.partitions
        }
        if not asked:
            return {}
        found = self._answers(
            lambda client: client.list_offsets(
                asked, isolation_level=IsolationLevel.READ_COMMITTED, request_timeout=ANSWER_S
            )
        )
        offsets = {(part.topic, part.partition): int(one.offset) for part, one in found.items()}
        # nothing was published since that time: begin with what comes next
        if any(offset < 0 for offset in offsets.values()):
            ends = self.offsets("latest", topics)
            offsets = {part: ends[part] if offset < 0 else offset for part, offset in offsets.items()}
        return dict(sorted(offsets.items()))

    def spans(self) -> tuple[Span, ...]:
        topics = self.topics()
        ids = {topic.name: topic.id for topic in topics}
        first, end = self.offsets("earliest", topics), self.offsets("latest", topics)
        # a topic may lose its head between the two questions
        return tuple(
            Span(f"{name}:{part}", ids[name], min(first[name, part], end[name, part]), end[name, part], keeps=True)
            for name, part in end
        )

    def peek(self, limit: int, start: Start, ledger: Mapping[str, int]) -> Iterator[Peeked]:
        """Records by offset, in no group. Where reading would begin with what comes next, the newest there are."""
        topics = self.topics()
        first, end = self.offsets("earliest", topics), self.offsets("latest", topics)
        begin = self.offsets(start.at, topics) if start.at is not None else dict(first)
        if start.position == "latest":
            begin = {part: offset - limit for part, offset in end.items()}
        known = {part: ledger.get(f"{part[0]}:{part[1]}", offset) for part, offset in begin.items()}
        return records(
            self._credential.client_options(),
            {part: max(offset, first[part]) for part, offset in known.items()},
            end,
            limit,
        )

    def publish_group_offsets(self, group: str, offsets: Mapping[Partition, int]) -> None:
        """Say how far a group is: for tools that watch its lag, and for steps that poll with it, which begin there."""
        if not offsets:
            return
        give_up_at = time.monotonic() + ANSWER_S
        while (error := self._set_group_offsets(group, offsets)) is not None:
            if error.code() not in MOVING or time.monotonic() > give_up_at:
                raise self.explained(error, f"offsets for the group {group}")
            time.sleep(AGAIN_S)

    def _set_group_offsets(self, group: str, offsets: Mapping[Partition, int]) -> KafkaError | None:
        parts = [TopicPartition(name, part, offset) for (name, part), offset in sorted(offsets.items())]
        request = [ConsumerGroupTopicPartitions(group, parts)]
        done = self._answers(lambda client: client.alter_consumer_group_offsets(request, request_timeout=ANSWER_S))
        errors = (one.error for one in done[group].topic_partitions)
        return next((error for error in errors if error is not None), None)

    def close(self) -> None:
        self._client = None

    def _matching(self) -> list[str]:
        if self._pattern is None:
            return []
        # asked first because list_topics does not notice that nobody is there before its time is up
        self._answers(lambda client: {"": client.describe_cluster(request_timeout=ANSWER_S)})
        try:
            found = self._connected().list_topics(timeout=ANSWER_S).topics
        except KafkaException as error:
            raise self.explained(error.args[0]) from error
        return [name for name in found if re.fullmatch(self._pattern, name) and not name.startswith("__")]

    def settled(self, ask: Callable[[], T]) -> T:
        """Ask, and again while what is asked for is on its way to another broker."""
        give_up_at = time.monotonic() + ANSWER_S
        while True:
            try:
                return ask()
            except SourceUnavailable as error:
                cause = error.__cause__
                is_moving = isinstance(cause, KafkaException) and cause.args[0].code() in MOVING
                if not is_moving or time.monotonic() > give_up_at:
                    raise
            time.sleep(AGAIN_S)

    def _answers(self, ask: Callable[[AdminClient], Mapping[Any, "Future[Any]"]]) -> dict[Any, Any]:
        return self.settled(lambda: self._asked(ask))

    def _asked(self, ask: Callable[[AdminClient], Mapping[Any, "Future[Any]"]]) -> dict[Any, Any]:
        """Ask, and wait for every answer, or for the first word that none will come."""
        self._heard.clear()
        client = self._connected()
        futures = ask(client)
        began = time.monotonic()
        while not all(future.done() for future in futures.values()):
            wait(futures.values(), LOOK_S)
            client.poll(0)
            self._give_up_early(time.monotonic() - began)
        client.poll(0)
        return {key: self._result(key, future) for key, future in futures.items()}

    def _give_up_early(self, waited_s: float) -> None:
        """librdkafka goes on trying where a wrong password stays wrong, and where nobody is there."""
        refused = [error for error in self._heard if error.code() in REFUSED]
        down = [error for error in self._heard if error.code() == KafkaError._ALL_BROKERS_DOWN]
        if refused or (down and waited_s > GRACE_S):
            raise self.explained((refused or down)[0])

    def _result(self, key: Any, future: "Future[Any]") -> Any:
        try:
            return future.result()
        except KafkaException as error:
            raise self.explained(error.args[0], str(key)) from error

    def _connected(self) -> AdminClient:
        if self._client is None:
            options: dict[str, Any] = dict(self._credential.client_options())
            options |= {"error_cb": self._heard.append, "logger": silent()}
            try:
                self._client = AdminClient(options)
            except KafkaException as error:
                raise SourceRefused(f"A credential for Kafka cannot be used: {error.args[0].str()}.") from error
        return self._client

    def explained(self, error: KafkaError, what: str = "") -> SourceError:
        """The named error; the next call connects anew."""
        self._client = None
        at, code = f"Kafka at {self._credential.bootstrap_servers}", error.code()
        if code in REFUSED:
            return SourceRefused(
                f"{at} refused the credential: {self._reason(error, REFUSED)}. Correct the login and the TLS files in "
                "the file of credentials, and see that it may read the topics."
            )
        if code in MISSING:
            return SourceMissing(
                f"{at} has no topic {what}. Create it, or correct the subscription's topic: nothing is created here."
            )
        if code in TAKEN:
            return SourceUnfit(
                f"{at} does not take {what}: {error.str()}. Another program consumes with that group: "
                "give the subscription a group of its own."
            )
        said = self._reason(error, {KafkaError._TRANSPORT, KafkaError._RESOLVE})
        return SourceUnavailable(f"{at} does not answer: {said}. See that the brokers run and can be reached.")

    def _reason(self, error: KafkaError, codes: set[int]) -> str:
        """What was heard from a broker says more than the time-out that follows from it."""
        heard = [one for one in self._heard if one.code() in codes]
        return (heard[-1] if heard else error).str().rstrip(".")


def _offset_spec(at: Literal["earliest", "latest"] | datetime) -> Any:
    specs: Any = OffsetSpec
    if isinstance(at, datetime):
        return specs.for_timestamp(int(at.timestamp() * 1000))
    return specs.earliest() if at == "earliest" else specs.latest()


def silent() -> logging.Logger:
    """librdkafka logs every attempt to connect; the error that comes of them is raised."""
    logger = logging.getLogger("penstock.sources.kafka.wire")
    logger.addHandler(logging.NullHandler())
    logger.propagate = False
    return logger
