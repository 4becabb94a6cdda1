"""The Kafka client against a real broker."""

from collections.abc import Sequence
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from uuid import uuid4

import pytest
from confluent_kafka import Consumer

from penstock.catalog.source import Start
from penstock.errors import SourceMissing, SourceRefused, SourceUnavailable, SourceUnfit
from penstock.sources.contract import Attributes, Span
from penstock.sources.kafka import KafkaSource
from penstock.sources.kafka_credential import SECRET_OPTIONS
from penstock.sources.kafka_drain import KafkaDrain
from tests.concurrency.sessions import wait_until
from tests.parts.kafka import PASSWORD, USER, Kafka
from tests.sources.conformance import WRONG_PASSWORD, PeekConformance, SourceConformance


class KafkaRig:
    def __init__(self, broker: Kafka) -> None:
        self.broker = broker
        self.topic = f"t-{uuid4().hex[:10]}"
        self.broker.add_topic(self.topic, partitions=2)

    def source(self) -> KafkaSource:
        return KafkaSource(self.broker.credential, topic=self.topic)

    def peeking(self) -> KafkaSource:
        return self.source()

    def source_elsewhere(self) -> KafkaSource:
        return KafkaSource(self.broker.credential, topics=[self.topic, "nowhere"])

    def source_with(self, password: str) -> KafkaSource:
        return KafkaSource(self.broker.secure_credential(password=password), topic=self.topic)

    def publish(self, bodies: Sequence[bytes], headers: Attributes = ()) -> None:
        for number, body in enumerate(bodies):
            self.broker.publish(self.topic, [(None, body, headers)], partition=number % 2)

    def make_again(self) -> None:
        self.broker.delete_topic(self.topic)
        self.broker.add_topic(self.topic, partitions=2)

    def stop_server(self) -> None:
        self.broker.stop()

    def start_server(self) -> None:
        self.broker.start()

    def group_offsets(self, group: str) -> dict[int, int]:
        with closing(KafkaDrain(self.broker.credential, topics=[self.topic], pattern=None, group=group)) as drain:
            return {
                part: offset for (_, part), offset in drain.group_offsets([(self.topic, 0), (self.topic, 1)]).items()
            }


@pytest.fixture
def rig(kafka_broker: Kafka) -> KafkaRig:
    return KafkaRig(kafka_broker)


class TestKafkaConforms(SourceConformance):
    pass


def test_topics_are_named_with_their_ids_and_partitions(rig: KafkaRig) -> None:
    with rig.source() as source:
        (topic,) = source.topics()
        assert (topic.name, topic.partitions) == (rig.topic, (0, 1))
        rig.broker.add_partitions(rig.topic, 4)
        (grown,) = source.topics()
        assert (grown.id, grown.partitions) == (topic.id, (0, 1, 2, 3))


def test_a_pattern_takes_topics_whose_whole_name_matches_and_may_match_none(rig: KafkaRig) -> None:
    rig.broker.add_topic(f"{rig.topic}-more")
    found = {}
    for pattern in (rig.topic, f"{rig.topic}.*", "no-such-.*", ".*"):
        with KafkaSource(rig.broker.credential, pattern=pattern) as source:
            found[pattern] = [topic.name for topic in source.topics()]
    assert found[rig.topic] == [rig.topic]
    assert found[f"{rig.topic}.*"] == [rig.topic, f"{rig.topic}-more"]
    assert found["no-such-.*"] == []
    assert not [name for name in found[".*"] if name.startswith("__")]


def test_offsets_are_asked_for_by_place_and_by_time(rig: KafkaRig) -> None:
    rig.publish([b"x"] * 3)
    with rig.source() as source:
        assert source.offsets("earliest") == {(rig.topic, 0): 0, (rig.topic, 1): 0}
        assert source.offsets("latest") == {(rig.topic, 0): 2, (rig.topic, 1): 1}
        assert source.offsets(datetime.now(UTC) - timedelta(hours=1)) == source.offsets("earliest")
        assert source.offsets(datetime.now(UTC) + timedelta(hours=1)) == source.offsets("latest")


def test_the_offsets_of_a_group_are_published(rig: KafkaRig) -> None:
    rig.publish([b"x"] * 6)
    with rig.source() as source:
        source.publish_group_offsets("g-" + rig.topic, {(rig.topic, 0): 3, (rig.topic, 1): 1})
        source.publish_group_offsets("g-" + rig.topic, {(rig.topic, 1): 2})
        source.publish_group_offsets("g-" + rig.topic, {})
    assert rig.group_offsets("g-" + rig.topic) == {0: 3, 1: 2}


def test_a_group_that_others_consume_with_is_unfit(rig: KafkaRig) -> None:
    group = "busy-" + rig.topic
    options = {"bootstrap.servers": rig.broker.credential["bootstrap_servers"], "group.id": group}
    consumer = Consumer(options | {"auto.offset.reset": "earliest"})
    rig.publish([b"x"])
    consumer.subscribe([rig.topic])
    try:
        assert consumer.poll(60) is not None
        with rig.source() as source, pytest.raises(SourceUnfit, match="a group of its own"):
            source.publish_group_offsets(group, {(rig.topic, 0): 1})
    finally:
        consumer.close()


@pytest.mark.parametrize("mechanism", ["PLAIN", "SCRAM-SHA-512"])
def test_tls_and_a_login_are_spoken(rig: KafkaRig, mechanism: str) -> None:
    rig.publish([b"x"])
    with KafkaSource(rig.broker.secure_credential(mechanism), topic=rig.topic) as source:
        assert sum(source.offsets("latest").values()) == 1


@pytest.mark.parametrize("mechanism", ["PLAIN", "SCRAM-SHA-512"])
def test_a_wrong_password_is_refused_without_waiting_for_a_time_out(rig: KafkaRig, mechanism: str) -> None:
    credential = rig.broker.secure_credential(mechanism, WRONG_PASSWORD)
    with KafkaSource(credential, pattern=".*") as source, pytest.raises(SourceRefused, match="refused the credential"):
        source.topics()


def test_an_unknown_authority_is_refused(rig: KafkaRig, tmp_path: Path) -> None:
    credential = rig.broker.secure_credential()
    del credential["ca_file"]
    with KafkaSource(credential, topic=rig.topic) as source, pytest.raises(SourceRefused, match="certificate"):
        source.check()


def test_plain_text_to_a_listener_with_tls_is_unavailable_and_says_what_may_be_wrong(rig: KafkaRig) -> None:
    servers = rig.broker.secure_credential()["bootstrap_servers"]
    with (
        KafkaSource({"bootstrap_servers": servers}, topic=rig.topic) as source,
        pytest.raises(SourceUnavailable, match=r"security\.protocol|does not answer"),
    ):
        source.check()


def test_one_missing_topic_among_others_is_named(rig: KafkaRig) -> None:
    with rig.source_elsewhere() as source, pytest.raises(SourceMissing, match="has no topic nowhere"):
        source.offsets("latest")


def _spans(source: KafkaSource) -> tuple[Span, ...] | None:
    try:
        return source.spans()
    except SourceUnavailable:
        return None


def test_a_broker_killed_and_back_is_found_again(rig: KafkaRig) -> None:
    rig.publish([b"x"] * 2)
    with rig.source() as source:
        before = source.spans()
        rig.broker.restart()
        # it answers a moment before it knows itself to be the leader
        wait_until(lambda: _spans(source) == before, "the broker is found again")


def test_the_same_credential_serves_spark_and_librdkafka(rig: KafkaRig) -> None:
    credential = rig.broker.secure_credential() | {"options": {"kafka.fetch.max.bytes": 1, "client.id": "me"}}
    source = KafkaSource(credential, topics=["a", "b"])
    spark, client = source.spark_options(), source.client_options()
    assert spark["subscribe"] == "a,b"
    assert spark["kafka.sasl.jaas.config"].endswith(
        rf'ScramLoginModule required username="{USER}" password="open \"sesame\" \\ 1001";'
    )
    assert (spark["kafka.ssl.truststore.type"], spark["kafka.fetch.max.bytes"]) == ("PEM", "1")
    assert client["sasl.password"] == PASSWORD
    assert client["client.id"] == spark["kafka.client.id"] == "me"
    assert "fetch.max.bytes" not in client
    assert [name for name, value in spark.items() if "sesame" in value] == [SECRET_OPTIONS[0]]
    assert "sesame" not in repr(source._credential)


@pytest.mark.parametrize(
    ("credential", "complaint"),
    [
        ({}, "must name its bootstrap_servers"),
        ({"bootstrap_servers": "x", "pasword": "p"}, "does not know pasword"),
        ({"bootstrap_servers": "x", "security_protocol": "TLS"}, "Choose one of PLAINTEXT, SSL"),
        ({"bootstrap_servers": "x", "security_protocol": "SASL_SSL"}, "sasl_mechanism None"),
        ({"bootstrap_servers": "x", "security_protocol": "SASL_SSL", "sasl_mechanism": "PLAIN"}, "needs a username"),
    ],
)
def test_a_credential_that_cannot_be_used_says_what_is_wrong(credential: dict[str, object], complaint: str) -> None:
    with pytest.raises(SourceRefused, match=complaint):
        KafkaSource(credential, topic="t")


def test_a_topic_removed_meanwhile_is_missing(rig: KafkaRig) -> None:
    with rig.source() as source:
        (topic,) = source.topics()
        rig.broker.delete_topic(rig.topic)
        with pytest.raises(SourceMissing):
            source.offsets("latest", (topic,))


class TestKafkaShows(PeekConformance):
    pass


def test_looking_begins_where_a_runtime_would(rig: KafkaRig) -> None:
    before = datetime.now(UTC)
    rig.publish([b"%d" % number for number in range(8)])
    rig.broker.publish(rig.topic, [(b"key", None, [("h", None)])])
    rig.broker.delete_records(rig.topic, before=1)
    with rig.source() as source:

        def shown(limit: int, start: Start, **ledger: int) -> list[str]:
            places = {f"{rig.topic}:{part[1:]}": offset for part, offset in ledger.items()}
            return sorted(one.id.partition(":")[2] for one in source.peek(limit, start, places))

        assert shown(100, Start()) == ["0:1", "0:2", "0:3", "0:4", "1:0", "1:1", "1:2", "1:3"]
        assert shown(100, Start(), p0=4, p1=4) == ["0:4"]
        assert shown(1, Start("latest"), p1=4) == ["0:4"]
        assert shown(100, Start("timestamp", before - timedelta(hours=1)), p1=4) == ["0:1", "0:2", "0:3", "0:4"]
        (last,) = source.peek(1, Start(), {f"{rig.topic}:0": 4, f"{rig.topic}:1": 4})
        assert (last.key, last.body, last.attributes) == (b"key", None, (("h", None),))
    assert rig.group_offsets("penstock-peek") == {}
