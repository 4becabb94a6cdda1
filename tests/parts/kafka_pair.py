"""A Kafka cluster of two brokers, for tests in which the leader of a partition moves."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka.cimpl import NewTopic

from tests.parts.certificates import Certificates
from tests.parts.kafka import Kafka, properties_of
from tests.parts.processes import free_ports

_MOVE_S = 60


class KafkaPair(Kafka):
    """The first broker is the controller as well, and stays; the second may be killed."""

    def __init__(self, folder: Path, jars: list[Path]) -> None:
        (self._second_port,) = free_ports(1)
        super().__init__(folder, jars)
        self._second_properties = folder / "second.properties"
        self._second_properties.write_text(self._second_settings())
        self._format(self._second_properties)
        self.start_second()

    @property
    def credential(self) -> dict[str, Any]:
        return {"bootstrap_servers": f"127.0.0.1:{self._open_port},127.0.0.1:{self._second_port}"}

    def add_topic(self, name: str, partitions: int = 1, **config: str) -> None:
        """On both brokers, led by the second."""
        topic = NewTopic(name, partitions, replica_assignment=[[2, 1]] * partitions, config=config)
        self._ask(lambda admin: admin.create_topics([topic]))
        self.until_led_by(2, name)

    def until_led_by(self, broker: int, topic: str) -> None:
        self._part.until(lambda: self._leader(topic) == broker, f"broker {broker} leads {topic}", _MOVE_S)

    def until_both_have(self, topic: str) -> None:
        self._part.until(lambda: self._in_sync(topic) == {1, 2}, f"both brokers have {topic}", _MOVE_S)

    def start_second(self) -> None:
        self._second = self._launched(self._second_properties, self._folder / "second.log")
        self._part.until(lambda: len(self._admin().list_topics(timeout=5).brokers) == 2, "both are there", _MOVE_S)

    def kill_second(self) -> None:
        self._second.kill()

    def stop(self) -> None:
        self._second.kill()
        super().stop()

    def _leader(self, topic: str) -> int:
        found = self._admin().list_topics(topic, timeout=5).topics[topic].partitions
        return int(found[0].leader) if 0 in found else -1

    def _in_sync(self, topic: str) -> set[int]:
        found = self._admin().list_topics(topic, timeout=5).topics[topic].partitions
        return set(found[0].isrs) if 0 in found else set()

    def _settings(self, certificates: Certificates) -> str:
        # a broker that is silent for so long is taken for dead
        return super()._settings(certificates) + "broker.session.timeout.ms=3000\nbroker.heartbeat.interval.ms=500\n"

    def _second_settings(self) -> str:
        address = f"PLAINTEXT://127.0.0.1:{self._second_port}"
        return properties_of(
            {
                "process.roles": "broker",
                "node.id": "2",
                "controller.quorum.voters": f"1@127.0.0.1:{self._controller_port}",
                "listeners": address,
                "advertised.listeners": address,
                "controller.listener.names": "CONTROLLER",
                "inter.broker.listener.name": "PLAINTEXT",
                "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT",
                "log.dirs": str(self._folder / "second"),
            }
        )


@pytest.fixture
def kafka_pair(broker_jars: list[Path], tmp_path: Path) -> Iterator[KafkaPair]:
    pair = KafkaPair(tmp_path, broker_jars)
    yield pair
    pair.stop()
