"""The catalog, subscriptions and executions at the command line."""

import json
from pathlib import Path

import pytest

from penstock.kernel.connection import Connection
from tests.acceptance.conftest import Penstock
from tests.sql.support import rows

PLAYBOOK = """\
apiVersion: penstock/v1
kind: Playbook
metadata: {name: process_order, path: domain/process_order}
workload: {currency: EUR}
workflow:
  - step: start
    tool: {kind: python, function: "tests.acceptance.apps.orders:process"}
"""
SUBSCRIPTION = """\
---
apiVersion: noetl.io/v1
kind: Subscription
metadata: {name: orders, path: subscriptions/orders}
spec:
  source: nats
  mode: pull
  auth: nats_main
  stream: ORDERS
  consumer: penstock
  dispatch: {playbook: domain/process_order, payload_from: message.json}
  scaling: {keda: {trigger: nats, min: 1, max: 2, lag_threshold: 5}}
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    both = tmp_path / "orders.yaml"
    both.write_text(PLAYBOOK + SUBSCRIPTION)
    return both


@pytest.fixture
def penstock(database: str, tmp_path: Path) -> Penstock:
    """With the one credential the subscription names."""
    credentials = tmp_path / "credentials.yaml"
    credentials.write_text("nats_main: {servers: 'nats://127.0.0.1:1'}\n")
    credentials.chmod(0o600)
    return Penstock(PENSTOCK_DATABASE_URL=database, PENSTOCK_CREDENTIALS=str(credentials))


def test_a_good_file_is_said_to_be_right_and_what_is_not_used_named(penstock: Penstock, file: Path) -> None:
    ran = penstock.run("validate", file)
    assert ran.code == 0
    assert "Subscription subscriptions/orders is right" in ran.out
    assert "not used yet: spec.scaling" in ran.out


def test_every_problem_of_a_bad_file_has_its_line(penstock: Penstock, file: Path) -> None:
    file.write_text(PLAYBOOK + SUBSCRIPTION.replace("mode: pull", "mode: pul").replace("consumer:", "consumr:"))
    ran = penstock.run("validate", file)
    assert ran.code == 1
    assert f"{file}:14: spec.mode" in ran.err
    assert "consumr" in ran.err


def test_a_file_is_registered_whole_or_not_at_all(penstock: Penstock, file: Path, db: Connection) -> None:
    file.write_text(PLAYBOOK + SUBSCRIPTION.replace("domain/process_order, p", "domain/unknown, p"))
    ran = penstock.run("catalog", "register", file)
    assert (ran.code, rows(db, "select path from penstock.catalog")) == (1, [])
    assert "the playbook domain/unknown is not in the catalog" in ran.err


def test_a_subscription_goes_through_its_life(penstock: Penstock, file: Path, db: Connection) -> None:
    assert "is version 1" in penstock.run("subscription", "register", file).out
    assert "is version 1, as before" in penstock.run("subscription", "register", file).out
    path = "subscriptions/orders"
    illegal = penstock.run("subscription", "pause", path)
    assert (illegal.code, "is REGISTERED: it cannot pause" in illegal.err) == (1, True)
    for action, state in [
        ("activate", "ACTIVE"),
        ("pause", "PAUSED"),
        ("resume", "ACTIVE"),
        ("deactivate", "DEACTIVATED"),
    ]:
        assert penstock.run("subscription", action, path).out == f"{path} is {state}\n"
    shown = json.loads(penstock.run("subscription", "show", path, "--json").out)
    assert shown["subscription"]["state"] == "DEACTIVATED"
    assert shown["history"][0]["happening"] == "subscription.deactivated"
    assert "DEACTIVATED" in penstock.run("subscription", "list").out


def test_a_missing_credential_is_named_at_registration(penstock: Penstock, file: Path) -> None:
    file.write_text(PLAYBOOK + SUBSCRIPTION.replace("nats_main", "nats_other"))
    ran = penstock.run("subscription", "register", file)
    assert (ran.code, "nats_other" in ran.err) == (1, True)


def test_an_execution_is_started_shown_and_explained(penstock: Penstock, file: Path) -> None:
    penstock.run("catalog", "register", file)
    started = penstock.run("exec", "domain/process_order", "--payload", '{"order": 7}', "--key", "seven")
    again = penstock.run("exec", "domain/process_order", "--key", "seven")
    assert (started.code, started.out.endswith("is started\n")) == (0, True)
    assert again.out == started.out.replace("is started", "was started before with this key")
    execution = json.loads(penstock.run("execution", "list", "--json").out)[0]["execution_id"]
    assert "domain/process_order@1" in penstock.run("execution", "show", execution).out
    assert "it was started by role:" in penstock.run("explain", execution).out
    assert (
        'function: "tests.acceptance.apps.orders:process"'
        in penstock.run("catalog", "show", "domain/process_order").out
    )
    unknown = penstock.run("exec", "domain/unknown")
    assert (unknown.code, "is not in the catalog" in unknown.err) == (1, True)
