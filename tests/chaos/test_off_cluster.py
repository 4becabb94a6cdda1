"""Must-show: over the API, with its server killed and started again, every message still has one fate."""

import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from penstock.embedded import EmbeddedPostgres
from penstock.kernel import tokens
from penstock.kernel.connection import connect
from penstock.kernel.migrate import migrate
from tests.chaos.conservation import violations
from tests.chaos.flood import DATABASE, Flood, Plan
from tests.chaos.outlets import Outlet, an_outlet
from tests.chaos.test_conservation import Report, broker_jars, durable, report
from tests.gateway.serving import Api

__all__ = ["broker_jars", "durable", "report"]

SHORT = ("server", "postgres")
LONG = ("server", "python", "postgres", "server", "jvm", "server", "tasks", "server", "broker", "server", "postgres")


@pytest.fixture(params=["kafka", *(pytest.param(one, marks=pytest.mark.long) for one in ("nats", "pubsub"))])
def outlet(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Outlet]:
    with an_outlet(request, tmp_path) as made:
        yield made


@pytest.fixture
def api(durable: EmbeddedPostgres, tmp_path: Path) -> Iterator[Api]:
    """Its login is the gateway, and nothing else."""
    with connect(durable.url()) as admin:
        admin.execute(f"create database {DATABASE}".encode())
    with connect(durable.url(DATABASE)) as db:
        migrate(db)
        db.execute("create role off_gateway login in role penstock_gateway")
        folder = tmp_path / "api"
        folder.mkdir()
        made = Api(db, durable.url(DATABASE).replace("//postgres@", "//off_gateway@"), folder)
        yield made
        made.close()


def _plan(api: Api, durable: EmbeddedPostgres, plan: Plan) -> Plan:
    with connect(durable.url(DATABASE)) as db:
        token = tokens.create(db, "agent:edge", ["internal"])[1]
    options = ("--server-url", api.url, "--token-alias", "server")
    return replace(plan, options=options, credentials={"server": {"token": token}}, is_off_cluster=True)


def _check(api: Api, durable: EmbeddedPostgres, outlet: Outlet, folder: Path, plan: Plan, report: Report) -> None:
    def killed() -> None:
        api.process.kill()
        api.start()

    flood = Flood(durable, outlet, folder, _plan(api, durable, plan), more_harms={"server": killed})
    seen, fates = flood.run()
    report(flood.tally.report(f"{outlet.name} over the API", len(seen)))
    assert len(seen) >= plan.messages
    assert violations(seen, fates)[:20] == []
    assert flood.tally.between["server"] > 0, "no server was killed between staging and commit"


def test_a_short_flood_over_the_api_is_conserved(
    api: Api, durable: EmbeddedPostgres, outlet: Outlet, tmp_path: Path, report: Report
) -> None:
    _check(api, durable, outlet, tmp_path, Plan(messages=4000, harms=SHORT, batch=500), report)


@pytest.mark.long
def test_a_long_flood_over_the_api_is_conserved(
    api: Api, durable: EmbeddedPostgres, outlet: Outlet, tmp_path: Path, report: Report
) -> None:
    messages = int(os.environ.get("FLOOD_MESSAGES", "200000")) // 4
    _check(api, durable, outlet, tmp_path, Plan(messages, LONG, batch=3000), report)
