"""Must-show: whatever is killed, every message becomes one execution, one dead letter, or one known duplicate."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from uuid import uuid4

import pytest

from penstock.embedded import Binaries, EmbeddedPostgres
from tests.chaos.conservation import Fates, violations
from tests.chaos.flood import DATABASE, Flood, Plan
from tests.chaos.outlets import Outlet, Seen, an_outlet
from tests.parts.jars import broker_jars
from tests.parts.other_host import OtherHost
from tests.parts.spark_cluster import SparkCluster, spark_home

__all__ = ["broker_jars"]

# every second harm falls between staging and commit
LONG = ("python", "jvm", "copy", "jvm", "tasks", "python", "restore", "broker", "postgres", "python", "jvm", "tasks",
        "python", "postgres", "broker", "jvm", "tasks", "python", "jvm")  # fmt: skip
CLUSTER = ("tasks", "python", "postgres", "tasks", "jvm", "tasks")
# a JVM that is killed is one that is started: of the short ones NATS's alone
SHORT = {"nats": ("postgres", "jvm"), "kafka": ("postgres", "tasks"), "pubsub": ("postgres", "tasks")}
Report = Callable[[str], None]


@pytest.fixture
def durable(scratch: Path, binaries: Binaries) -> Iterator[EmbeddedPostgres]:
    """A server of its own with fsync on, as users run it."""
    server = EmbeddedPostgres(scratch / f"flood-{uuid4().hex[:6]}", binaries=binaries)
    server.start()
    yield server
    server.leave()


@pytest.fixture(params=["nats", "kafka", "pubsub"])
def outlet(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Outlet]:
    with an_outlet(request, tmp_path) as made:
        yield made


@pytest.fixture
def report(record_property: Callable[[str, object], None]) -> Report:
    return lambda text: record_property("summary", text)


def _check(flood: Flood, outlet: Outlet, plan: Plan, report: Report) -> None:
    seen, fates = flood.run()
    report(flood.tally.report(outlet.name, len(seen)))
    assert len(seen) >= plan.messages
    assert violations(seen, fates)[:20] == []
    assert flood.tally.between["postgres"] > 0, "none was restarted between staging and commit"


def test_a_short_flood_is_conserved(durable: EmbeddedPostgres, outlet: Outlet, tmp_path: Path, report: Report) -> None:
    plan = Plan(messages=4000, harms=SHORT[outlet.name], batch=500)
    _check(Flood(durable, outlet, tmp_path, plan), outlet, plan, report)


@pytest.mark.long
def test_a_long_flood_is_conserved(durable: EmbeddedPostgres, outlet: Outlet, tmp_path: Path, report: Report) -> None:
    plan = Plan(messages=int(os.environ.get("FLOOD_MESSAGES", "200000")), harms=LONG, batch=3000)
    _check(Flood(durable, outlet, tmp_path, plan), outlet, plan, report)


@pytest.mark.long
def test_a_flood_over_a_cluster_is_conserved(
    durable: EmbeddedPostgres, outlet: Outlet, tmp_path: Path, report: Report
) -> None:
    host = OtherHost(tmp_path, {"main": outlet.credential, "penstock_database": {"url": durable.url(DATABASE)}})
    cluster = SparkCluster(tmp_path, spark_home(), host.environment)
    try:
        messages = int(os.environ.get("FLOOD_MESSAGES", "200000")) // 4
        options = ("--master", cluster.url)
        environment = {"PYSPARK_PYTHON": str(host.python), "SPARK_LOCAL_IP": "127.0.0.1"}
        plan = Plan(messages, CLUSTER, batch=3000, options=options, environment=environment)
        _check(Flood(durable, outlet, tmp_path, plan, cluster.executors), outlet, plan, report)
    finally:
        cluster.stop()


def test_the_rule_finds_what_is_lost_run_twice_or_made_up() -> None:
    seen = [Seen("1", None, True), Seen("2", "k", True), Seen("3", "k", True), Seen("4", None, False)]
    good = Fates([("1", 11), ("2", 12)], ["4"], [("3", 12)], 2)
    assert violations(seen, good) == []
    breaches = {
        "lost": Fates([("2", 12)], ["4"], [("3", 12)], 1),
        "twice": Fates([("1", 11), ("1", 13), ("2", 12)], ["4"], [("3", 12)], 3),
        "both": Fates([("1", 11), ("2", 12)], ["4", "1"], [("3", 12)], 2),
        "a key twice": Fates([("1", 11), ("2", 12), ("3", 13)], ["4"], [], 3),
        "a wrong first": Fates([("1", 11), ("2", 12)], ["4"], [("3", 11)], 2),
        "run though broken": Fates([("1", 11), ("2", 12), ("4", 14)], [], [("3", 12)], 3),
        "a stranger": Fates([("1", 11), ("2", 12), ("9", 19)], ["4"], [("3", 12)], 3),
        "a job too many": Fates([("1", 11), ("2", 12)], ["4"], [("3", 12)], 3),
    }
    assert {name for name, fates in breaches.items() if not violations(seen, fates)} == set()
