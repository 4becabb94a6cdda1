"""A Kafka broker of one node for a test run: an open listener, and one with TLS and a login."""

import base64
import os
import shutil
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import KafkaException, Producer, TopicPartition
from confluent_kafka.admin import AdminClient
from confluent_kafka.admin._scram import ScramCredentialInfo, ScramMechanism, UserScramCredentialUpsertion
from confluent_kafka.cimpl import NewPartitions, NewTopic

from tests.parts.certificates import Certificates, make_certificates
from tests.parts.missing import missing
from tests.parts.processes import Part, free_ports, listens

USER, PASSWORD = "reader", 'open "sesame" \\ 1001'
_START_S = 120
_FORMAT_S = 120
_ANSWER_S = 30
_JAAS = "org.apache.kafka.common.security"

Record = tuple[bytes | None, bytes | None, Sequence[tuple[str, bytes | None]]]


class Kafka:
    """The broker and, in ordinary calls, the little administration that tests need."""

    def __init__(self, folder: Path, jars: list[Path]) -> None:
        self._folder = folder
        self._classes = ":".join(str(jar) for jar in jars)
        self._open_port, self._secure_port, self._controller_port = free_ports(3)
        self.certificates = make_certificates(folder / "certificates")
        self._properties = folder / "server.properties"
        self._properties.write_text(self._settings(self.certificates))
        self._identity = base64.urlsafe_b64encode(os.urandom(16)).decode().rstrip("=")
        self._format(self._properties)
        self.start()
        info = ScramCredentialInfo(ScramMechanism.SCRAM_SHA_512, 4096)
        login = UserScramCredentialUpsertion(USER, info, PASSWORD.encode())
        self._ask(lambda admin: admin.alter_user_scram_credentials([login]))

    @property
    def credential(self) -> dict[str, Any]:
        return {"bootstrap_servers": f"127.0.0.1:{self._open_port}"}

    def secure_credential(self, mechanism: str = "SCRAM-SHA-512", password: str = PASSWORD) -> dict[str, Any]:
        """For the listener with TLS and a login."""
        return {
            "bootstrap_servers": f"127.0.0.1:{self._secure_port}",
            "security_protocol": "SASL_SSL",
            "sasl_mechanism": mechanism,
            "username": USER,
            "password": password,
            "ca_file": str(self.certificates.ca),
        }

    def add_topic(self, name: str, partitions: int = 1, **config: str) -> None:
        topic = NewTopic(name, partitions, 1, config=config)
        self._ask(lambda admin: admin.create_topics([topic], request_timeout=_ANSWER_S))
        # said by the controller; the broker hears of it a moment later
        self._part.until(lambda: self._partitions(name) == partitions, f"the topic {name} is there", _ANSWER_S)

    def topics(self) -> list[str]:
        return list(self._admin().list_topics(timeout=_ANSWER_S).topics)

    def delete_topic(self, name: str) -> None:
        self._ask(lambda admin: admin.delete_topics([name], request_timeout=_ANSWER_S))
        self._part.until(lambda: self._partitions(name) == 0, f"the topic {name} is gone", _ANSWER_S)

    def add_partitions(self, name: str, total: int) -> None:
        self._ask(lambda admin: admin.create_partitions([NewPartitions(name, total)], request_timeout=_ANSWER_S))
        self._part.until(lambda: self._partitions(name) == total, f"the topic {name} has grown", _ANSWER_S)

    def delete_records(self, topic: str, before: int, partition: int = 0) -> None:
        """Remove those before this offset, as retention does."""
        before_it = [TopicPartition(topic, partition, before)]
        self._ask(lambda admin: admin.delete_records(before_it, request_timeout=_ANSWER_S))

    def transactional(self, name: str) -> Producer:
        """A producer whose records come in transactions."""
        made = Producer(self._client_options() | {"transactional.id": name})
        made.init_transactions(_ANSWER_S)
        return made

    def publish(self, topic: str, records: Sequence[Record], partition: int = 0) -> None:
        """Keys, values and headers; None is a tombstone's value."""
        producer = Producer(self._client_options() | {"linger.ms": 5, "message.max.bytes": 16 * 2**20})
        failed: list[object] = []
        for key, value, headers in records:
            producer.produce(
                topic,
                key=key,
                value=value,
                headers=list(headers),
                partition=partition,
                on_delivery=lambda error, _: failed.append(error) if error else None,
            )
            producer.poll(0)
        assert producer.flush(_ANSWER_S) == 0
        assert not failed, failed[0]

    def start(self) -> None:
        self._part = self._launched(self._properties, self._folder / "broker.log")
        self._part.until(self._answers, "Kafka answers", _START_S)

    def stop(self) -> None:
        self._part.stop()

    def kill(self) -> None:
        self._part.kill()

    def restart(self) -> None:
        self.kill()
        self.start()

    def _launched(self, properties: Path, log: Path) -> Part:
        command = ["java", "-Xmx512m", "-Xms256m", "-XX:TieredStopAtLevel=1", "-cp", self._classes]
        return Part([*command, "kafka.Kafka", str(properties)], log)

    def _answers(self) -> bool:
        if not (listens(self._open_port) and listens(self._secure_port)):
            return False
        try:
            return bool(self._admin().list_topics(timeout=5).brokers)
        except KafkaException:
            return False

    def _partitions(self, topic: str) -> int:
        found = self._admin().list_topics(topic, timeout=_ANSWER_S).topics[topic]
        return 0 if found.error else len(found.partitions)

    def _client_options(self) -> dict[str, Any]:
        return {"bootstrap.servers": self.credential["bootstrap_servers"], "log_level": 0}

    def _admin(self) -> AdminClient:
        return AdminClient(self._client_options())

    def _ask(self, question: Callable[[AdminClient], Mapping[Any, "Future[Any]"]]) -> None:
        # held until the answers are there: a client that is let go of takes its questions with it
        admin = self._admin()
        for future in question(admin).values():
            future.result(_ANSWER_S)

    def _format(self, properties: Path) -> None:
        command = ["java", "-XX:TieredStopAtLevel=1", "-cp", self._classes]
        command += ["kafka.tools.StorageTool", "format", f"--cluster-id={self._identity}"]
        command += ["-c", str(properties)]
        ran = subprocess.run(command, capture_output=True, text=True, timeout=_FORMAT_S)
        assert ran.returncode == 0, ran.stdout + ran.stderr

    def _settings(self, certificates: Certificates) -> str:
        host, secure = "127.0.0.1", "listener.name.secure"
        addresses = f"PLAINTEXT://{host}:{self._open_port},SECURE://{host}:{self._secure_port}"
        login = f'required username="{USER}" password="{_escaped(PASSWORD)}" user_{USER}="{_escaped(PASSWORD)}";'
        return properties_of(
            {
                "process.roles": "broker,controller",
                "node.id": "1",
                "controller.quorum.voters": f"1@{host}:{self._controller_port}",
                "listeners": f"{addresses},CONTROLLER://{host}:{self._controller_port}",
                "advertised.listeners": addresses,
                "controller.listener.names": "CONTROLLER",
                "inter.broker.listener.name": "PLAINTEXT",
                "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT,SECURE:SASL_SSL",
                f"{secure}.ssl.keystore.type": "PEM",
                f"{secure}.ssl.keystore.location": str(certificates.joined),
                f"{secure}.sasl.enabled.mechanisms": "PLAIN,SCRAM-SHA-512",
                f"{secure}.plain.sasl.jaas.config": f"{_JAAS}.plain.PlainLoginModule {login}",
                f"{secure}.scram-sha-512.sasl.jaas.config": f"{_JAAS}.scram.ScramLoginModule required;",
                "log.dirs": str(self._folder / "data"),
                "offsets.topic.replication.factor": "1",
                "offsets.topic.num.partitions": "1",
                "transaction.state.log.replication.factor": "1",
                "transaction.state.log.min.isr": "1",
                "transaction.state.log.num.partitions": "1",
                "share.coordinator.state.topic.replication.factor": "1",
                "share.coordinator.state.topic.min.isr": "1",
                "group.initial.rebalance.delay.ms": "0",
                "auto.create.topics.enable": "false",
                "message.max.bytes": str(16 * 2**20),
                "log.retention.check.interval.ms": "1000",
            }
        )


@pytest.fixture(scope="session")
def kafka_broker(broker_jars: list[Path], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kafka]:
    """One broker for the run; each test takes topics of its own."""
    if shutil.which("openssl") is None:
        missing("openssl is not installed")
    broker = Kafka(tmp_path_factory.mktemp("kafka"), broker_jars)
    yield broker
    broker.stop()


def _escaped(value: str) -> str:
    return value.replace("\\", "\\\\").replace('"', '\\"')


def properties_of(settings: Mapping[str, str]) -> str:
    """As the file of them; a backslash is its own escape."""
    return "".join("{}={}\n".format(name, value.replace("\\", "\\\\")) for name, value in settings.items())
