"""Where `penstock subscription run` answers Prometheus."""

import socket

from penstock.kernel.connection import Connection
from tests.acceptance.conftest import Penstock
from tests.ingest.support import playbook, subscription


def test_a_port_that_is_taken_is_refused_before_spark_is_started(penstock: Penstock, db: Connection) -> None:
    playbook(db)
    path = subscription(db)
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        said = penstock.refuses("subscription", "run", path, "--metrics-port", port)
    assert f"metrics cannot be served at 127.0.0.1:{port}" in said
    assert "starting Spark" not in said


def test_a_port_that_cannot_be_is_wrong_usage(penstock: Penstock) -> None:
    assert "--metrics-port" in penstock.refuses("subscription", "run", "orders", "--metrics-port", 70000, code=2)
