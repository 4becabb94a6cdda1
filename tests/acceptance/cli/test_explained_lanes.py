"""The lane a message would run in: said by the plan, and held by the tests of a subscription's file."""

import json
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from tests.acceptance.cli.conftest import Penstock

PATH = "subscriptions/readings"
PLAYBOOKS = """\
apiVersion: penstock/v1
kind: Playbook
metadata: {path: home/store}
workflow: [{step: store, tool: {kind: noop}}]
---
apiVersion: penstock/v1
kind: Playbook
metadata: {path: home/alarm}
start: ring
workflow:
  - {step: note, lane: notes, pool: gpu, tool: {kind: noop}}
  - {step: ring, lane: alarms, pool: priority, tool: {kind: noop}, next: note}
---
"""
SUBSCRIPTION = """\
apiVersion: penstock/v1
kind: Subscription
metadata: {path: subscriptions/readings}
spec:
  source: pubsub
  mode: pull
  subscription: projects/acme/subscriptions/readings
  auth: readings
  lanes: ordering_key
  dispatch: {playbook: home/store}
  headers:
    directives:
      - {header: X-Route, controls: dispatch.playbook, allowed: [home/alarm]}
"""
ALARM = {"headers": {"x-route": "home/alarm"}}
LONG = "k" * 201
BY_KEY = "its ordering key makes the lane"


def _hashed(key: bytes) -> str:
    return f"{PATH}:sha256={sha256(key).hexdigest()}"


@pytest.fixture
def alone() -> Penstock:
    """Without a database: whoever asks for one fails."""
    return Penstock(PENSTOCK_DATABASE_URL="postgresql://127.0.0.1:1/nothing")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    readings = tmp_path / "readings.yaml"
    readings.write_text(PLAYBOOKS + SUBSCRIPTION)
    return readings


@pytest.fixture
def message(tmp_path: Path) -> Path:
    return tmp_path / "message.json"


@pytest.mark.parametrize(
    ("sent", "lane", "why"),
    [
        ({"key": "device-7"}, f"{PATH}:device-7", BY_KEY),
        ({"key": "device-7"} | ALARM, f"{PATH}:device-7", BY_KEY),
        ({"key": LONG}, _hashed(LONG.encode()), BY_KEY),
        ({"key": {"base64": "/w=="}}, _hashed(b"\xff"), BY_KEY),
        (ALARM, "alarms", "the lane is that of the playbook's first step"),
        ({"key": ""} | ALARM, "alarms", "the lane is that of the playbook's first step"),
        ({}, None, "without an ordering key it has no lane"),
    ],
)
def test_the_plan_says_the_lane_and_where_it_comes_from(
    sent: dict[str, Any], lane: str | None, why: str, alone: Penstock, file: Path, message: Path
) -> None:
    message.write_text(json.dumps(sent))
    words = ("subscription", "explain", file, "--message", message)
    assert alone.json(*words)["lane"] == lane
    said = alone.ok(*words)
    assert why in said
    assert [line.split()[1] for line in said.splitlines() if line.startswith("lane ")] == ([lane] if lane else [])


def test_a_key_makes_no_lane_where_the_subscription_asks_for_none(alone: Penstock, file: Path, message: Path) -> None:
    file.write_text((PLAYBOOKS + SUBSCRIPTION).replace("  lanes: ordering_key\n", ""))
    message.write_text(json.dumps({"key": "device-7"}))
    plan = alone.json("subscription", "explain", file, "--message", message)
    assert (plan["lane"], [one for one in plan["reasons"] if "lane" in one]) == (None, [])


def test_pool_and_lane_are_those_of_the_step_a_playbook_starts_with(alone: Penstock, file: Path, message: Path) -> None:
    message.write_text(json.dumps(ALARM))
    plan = alone.json("subscription", "explain", file, "--message", message)
    assert (plan["pool"], plan["lane"]) == ("priority", "alarms")


TESTS = """\
tests:
  - name: readings of a device run one after the other
    message: {key: device-7, body: "21.5"}
    expect: {lane: "subscriptions/readings:device-7"}
  - name: a reading of nobody has no lane
    message: {body: "21.5"}
    expect: {lane: null}
"""


def test_a_lane_can_be_expected(alone: Penstock, file: Path) -> None:
    file.write_text(PLAYBOOKS + SUBSCRIPTION + TESTS)
    assert "2 of 2 are as expected" in alone.ok("subscription", "test", file)
    file.write_text(PLAYBOOKS + SUBSCRIPTION + TESTS.replace("{key: device-7", "{key: device-8"))
    said = alone.run("subscription", "test", file)
    assert said.code == 1
    assert f'lane: expected "{PATH}:device-7", came "{PATH}:device-8"' in said.out
