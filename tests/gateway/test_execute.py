"""Executions over HTTP: one, many, and whose they are."""

import json

import pytest

from penstock.kernel import executions
from tests.gateway.serving import ACTOR, Api, answer, problem
from tests.ingest.support import PLAYBOOK, playbook
from tests.sql.support import value


@pytest.fixture(scope="module", autouse=True)
def _playbook(api: Api) -> None:
    playbook(api.db)


def _jobs(api: Api) -> int:
    found: int = value(api.db, "select count(*) from penstock.job")
    return found


def test_an_execution_is_started_once_for_its_key(api: Api) -> None:
    client = api.client("execute")
    request = {
        "playbook": PLAYBOOK,
        "payload": {"order": 7},
        "idempotency_key": "first",
        "pool": "priority",
        "trace": "t",
    }
    first = answer(client.post("/api/execute", json=request))
    assert first["started"] is True
    again = answer(client.post("/api/execute", json=request))
    assert again == {"execution_id": first["execution_id"], "started": False}
    seen = executions.show(api.db, first["execution_id"])
    assert (seen.actor, seen.pool, seen.trace) == (ACTOR, "priority", "t")
    assert executions.execution_input(api.db, first["execution_id"]) == {"order": 7}


def test_a_token_speaks_for_its_actor_and_nobody_else(api: Api) -> None:
    client = api.client("execute")
    own = answer(client.post("/api/execute", json={"playbook": PLAYBOOK, "actor": ACTOR}))
    assert executions.show(api.db, own["execution_id"]).actor == ACTOR
    for other in ("user:eve", "role:penstock_gateway", "system:runtime", "role:workflow_admin", ""):
        problem(client.post("/api/execute", json={"playbook": PLAYBOOK, "actor": other}), 403, "actor_refused")
    said = answer(client.post("/api/execute/batch", json={"items": [{"playbook": PLAYBOOK, "actor": "user:eve"}]}))
    assert said["results"][0]["status"] == "refused"
    assert said["results"][0]["error"].startswith("PS004: ")
    assert value(api.db, "select array_agg(distinct actor::text) from penstock.job") == [ACTOR]


def test_a_bad_request_of_a_batch_stops_no_other(api: Api) -> None:
    client = api.client("execute")
    before = _jobs(api)
    good = {"playbook": PLAYBOOK, "idempotency_key": "k"}
    items = [
        good,
        {"playbook": "domain/missing"},
        7,
        {"playbook": PLAYBOOK, "payload": {"text": "a\0b"}},
        {"playbook": PLAYBOOK, "colour": "red"},
        {"playbook": PLAYBOOK, "payload": {"n": 10**4000}},
        {"playbook": PLAYBOOK, "pool": "nowhere"},
        {"playbook": PLAYBOOK},
        good,
    ]
    results = answer(client.post("/api/execute/batch", content=json.dumps({"items": items})))["results"]
    assert [one["ordinal"] for one in results] == list(range(1, 10))
    statuses = [one["status"] for one in results]
    assert statuses == ["started", *["refused"] * 6, "started", "known"]
    codes = [one["error"].split(":")[0] for one in results[1:7]]
    assert codes == ["PS016", "PS011", "22P05", "PS011", "PS011", "PS003"]
    assert results[8]["execution_id"] == results[0]["execution_id"]
    assert _jobs(api) == before + 2


def test_a_thousand_fit_into_a_batch_and_no_more(api: Api) -> None:
    client = api.client("execute")
    items = [{"playbook": PLAYBOOK}] * 1000
    assert len(answer(client.post("/api/execute/batch", json={"items": items}))["results"]) == 1000
    problem(client.post("/api/execute/batch", json={"items": [*items, items[0]]}), 422, "invalid")
    problem(client.post("/api/execute/batch", json={"items": []}), 422, "invalid")


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        ('{"playbook": "domain/missing"}', 404, "unknown_playbook"),
        (f'{{"playbook": "{PLAYBOOK}", "pool": "nowhere"}}', 404, "unknown_pool"),
        (f'{{"playbook": "{PLAYBOOK}", "colour": "red"}}', 422, "invalid"),
        (f'{{"playbook": "{PLAYBOOK}", "priority": "7"}}', 422, "invalid"),
        (f'{{"playbook": "{PLAYBOOK}", "payload": [1]}}', 422, "invalid"),
        (f'{{"playbook": "{PLAYBOOK}", "process_after": "soon"}}', 422, "invalid"),
        (f'{{"playbook": "{PLAYBOOK}", "payload": {{"a": "\\u0000"}}}}', 422, "bad_text"),
        ("{", 400, "malformed_json"),
        ("", 400, "malformed_json"),
        (f'{{"playbook": "{PLAYBOOK}", "payload": {{"a": NaN}}}}', 422, "bad_request"),
        ("[" * 100_000, 400, "malformed_json"),
        ("[]", 422, "invalid"),
        ("null", 422, "invalid"),
    ],
)
def test_what_cannot_be_taken_is_a_problem_with_a_code(api: Api, body: str, status: int, code: str) -> None:
    client = api.client("execute")
    problem(client.post("/api/execute", content=body), status, code)
    if status == 400:
        problem(client.post("/api/execute/batch", content=body), 400, code)


def test_a_large_input_is_refused_by_the_kernel(api: Api) -> None:
    request = {"playbook": PLAYBOOK, "payload": {"text": "x" * 2_000_000}}
    problem(api.client("execute").post("/api/execute", json=request), 413, "payload_too_large")


def test_what_was_sent_is_not_repeated(api: Api) -> None:
    said = api.client("execute").post("/api/execute", json={"playbook": 7, "payload": {"password": "hunter2"}})
    problem(said, 422, "invalid")
    assert "hunter2" not in said.text
    assert "hunter2" not in api.process.log()
