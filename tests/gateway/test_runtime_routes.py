"""A runtime's whole life over HTTP: nothing staged twice, nothing by a runtime that was replaced."""

import base64
import json
from typing import Any
from uuid import uuid4

import httpx
import pytest

from penstock.kernel import runtimes, subscriptions
from penstock.model import Json
from tests.gateway.serving import Api, answer, problem
from tests.ingest.support import PLAYBOOK, playbook, subscription
from tests.sql.support import rows, value


def messages(*offsets: int, **columns: Any) -> list[Json]:
    return [
        {
            "part": "orders:0",
            "source_offset": offset,
            "identity": None,
            "message_id": f"orders:0:{offset}",
            "published_at": "2026-01-02T03:04:05.678+00:00",
            "message_key": base64.b64encode(b"\x00k").decode(),
            "body": base64.b64encode(b'{"n": 1}').decode(),
            "attributes": "[]",
            "playbook": PLAYBOOK,
            "pool": None,
            "dedup_key": None,
            "trace": None,
            "directives": None,
            "fault": None,
            "ack": f"handle-{offset}",
            **columns,
        }
        for offset in offsets
    ]


class Remote:
    """One runtime that has a token of the API, and no database."""

    def __init__(self, api: Api) -> None:
        self.api = api
        self.client = api.client("internal", actor="agent:ingest")
        # a path of several parts
        self.path = subscription(api.db, f"subscriptions/eu/orders_{uuid4().hex[:8]}")
        self.incarnation = str(uuid4())
        self.lease = answer(self.call("lease", incarnation=self.incarnation))
        self.token = self.lease["token"]
        self.stage = answer(self.call("stage", token=self.token, lane=0))["stage"]

    def call(self, name: str, **body: Any) -> httpx.Response:
        return self.client.post(f"/api/internal/runtime/{self.path}/{name}", json=body)

    def put(self, attempt: str, sent: list[Json], lane: int = 0) -> httpx.Response:
        chunk = {"subscription": self.path, "token": self.token, "lane": lane, "attempt": attempt, "messages": sent}
        return self.client.post("/api/execute/batch", json=chunk)

    def commit(self, expected: dict[str, int], following: int) -> httpx.Response:
        positions = {"orders:0": {"identity": "t1", "next": following}}
        return self.call("commit", token=self.token, positions=positions, expected=expected, lane=0)

    def staged(self) -> int:
        found = self.api.db.execute(f"select count(*) from penstock.{self.stage}".encode()).fetchone()
        assert found
        return int(found[0])


@pytest.fixture
def remote(api: Api) -> Remote:
    playbook(api.db)
    return Remote(api)


def test_messages_become_executions_and_the_ledger_moves(remote: Remote) -> None:
    assert remote.lease["state"] == "ACTIVE"
    assert remote.lease["positions"] == {}
    assert remote.lease["counts"]["batches"] == 0
    assert answer(remote.put("aa-0", messages(0, 1))) == {"staged": 2}
    assert answer(remote.put("aa-1", messages(2, body=None, message_key=None))) == {"staged": 1}
    acks = answer(remote.call("acks", token=remote.token, lane=0, attempts=["aa-0", "aa-1"]))["acks"]
    assert sorted(acks) == ["handle-0", "handle-1", "handle-2"]
    report = answer(remote.commit({"aa-0": 2, "aa-1": 1}, 3))
    assert report == {"received": 3, "executions": 3, "deduplicated": 0, "dead_lettered": 0, "replays": 0}
    assert answer(remote.call("clear", token=remote.token, lane=0)) == {"cleared": True}
    assert remote.staged() == 0
    found = rows(
        remote.api.db,
        "select body, message_key, published_at at time zone 'UTC' from penstock.ingest_message"
        " where subscription = %s order by source_offset",
        remote.path,
    )
    assert [(body, key) for body, key, _ in found] == [(b'{"n": 1}', b"\x00k")] * 2 + [(None, None)]
    assert found[0][2].isoformat() == "2026-01-02T03:04:05.678000"
    again = answer(remote.call("lease", incarnation=remote.incarnation, token=remote.token, backlog=5))
    assert again["token"] == remote.token
    assert again["positions"]["orders:0"]["next"] == 3
    assert again["counts"]["executions"] == 3
    shown = answer(remote.client.get(f"/api/internal/runtime/{remote.path}"))
    assert shown["positions"] == again["positions"]
    assert (shown["path"], shown["state"], shown["version"], shown["circuits"]) == (remote.path, "ACTIVE", 1, [])
    assert shown["content"]["spec"]["topic"] == "orders"
    assert answer(remote.call("release", token=remote.token)) == {"state": "ACTIVE"}


def test_the_entry_is_read_at_the_version_that_is_asked_for(remote: Remote) -> None:
    subscription(remote.api.db, remote.path, active=False, topic="others")
    url = f"/api/internal/runtime/{remote.path}"
    assert answer(remote.client.get(url))["content"]["spec"]["topic"] == "others"
    old = answer(remote.client.get(url, params={"version": 1}))
    assert (old["version"], old["content"]["spec"]["topic"]) == (1, "orders")
    problem(remote.client.get(url, params={"version": 9}), 404, "unknown_subscription")
    problem(remote.client.get(url, params={"version": "new"}), 422, "invalid")


def test_a_chunk_sent_twice_is_staged_once(remote: Remote) -> None:
    sent = messages(0, 1, 2)
    assert [answer(remote.put("aa-0", sent)) for _ in range(3)] == [{"staged": 3}] * 3
    assert remote.staged() == 3
    assert answer(remote.commit({"aa-0": 3}, 3))["executions"] == 3


def test_a_message_in_slices_is_judged_and_counted_as_a_chunk_of_one(remote: Remote) -> None:
    text = json.dumps(messages(0)[0])
    first = {"token": remote.token, "attempt": "aa-0", "start": 0, "slice": text[:50], "whole": len(text)}
    last = first | {"start": 50, "slice": text[50:]}
    problem(remote.call("slice", **last), 409, "staging_mismatch")
    for _ in range(2):
        assert answer(remote.call("slice", **first)) == {"staged": 0}
    for _ in range(2):
        assert answer(remote.call("slice", **last)) == {"staged": 1}
    problem(remote.call("slice", **first | {"attempt": "aa-1", "slice": "x" * len(text)}), 422, "bad_request")
    problem(remote.call("slice", **first | {"attempt": "aa-1", "whole": 49}), 422, "bad_request")
    problem(remote.call("slice", **first | {"attempt": "aa-1", "whole": 2**27 + 1}), 422, "bad_request")
    assert remote.staged() == 1
    assert answer(remote.commit({"aa-0": 1}, 1))["executions"] == 1


def test_a_chunk_of_another_size_under_the_same_name_is_refused(remote: Remote) -> None:
    answer(remote.put("aa-0", messages(0, 1, 2)))
    problem(remote.put("aa-0", messages(0, 1)), 409, "staging_mismatch")
    assert remote.staged() == 3


def test_a_name_is_free_again_when_the_table_was_cleared(remote: Remote) -> None:
    answer(remote.put("aa-0", messages(0)))
    answer(remote.call("clear", token=remote.token, lane=0))
    answer(remote.put("aa-0", messages(0, 1)))
    assert remote.staged() == 2


def test_a_commit_of_other_counts_changes_nothing(remote: Remote) -> None:
    answer(remote.put("aa-0", messages(0, 1)))
    problem(remote.commit({"aa-0": 3}, 3), 409, "staging_mismatch")
    assert subscriptions.positions(remote.api.db, remote.path) == []


def test_a_chunk_with_one_bad_message_stages_none(remote: Remote) -> None:
    bad: list[Json] = [
        {"body": "not base64!"},
        {"message_id": "a\0b"},
        {"published_at": "2026-13-01"},
        {"published_at": "now"},
        {"source_offset": 2**63},
        {"source_offset": "1"},
        {"message_id": None},
        {"colour": "red"},
        {"job_id": 1},
    ]
    for columns in bad:
        refused = remote.put("aa-0", [*messages(0, 1), messages(2)[0] | columns])
        assert refused.status_code == 422, (columns, refused.text)
    assert remote.staged() == 0
    assert answer(remote.put("aa-0", messages(0, 1))) == {"staged": 2}


def test_a_chunk_has_a_thousand_messages_at_most(remote: Remote) -> None:
    assert answer(remote.put("aa-0", messages(*range(1000)))) == {"staged": 1000}
    problem(remote.put("aa-1", messages(*range(1001))), 422, "invalid")
    problem(remote.put("aa-1", []), 422, "invalid")


def calls_of_a_holder(remote: Remote) -> dict[str, Json]:
    """Every call that is refused to who does not hold the subscription."""
    held = {"token": remote.token}
    return {
        "lease": {"incarnation": remote.incarnation, **held},
        "release": held,
        "said": {"happening": "rate_limited", "detail": {}, **held},
        "stage": {"lane": 0, **held},
        "slice": {"attempt": "aa-2", "start": 0, "slice": "{", "whole": 9, "lane": 0, **held},
        "commit": {"positions": {}, "expected": {"aa-0": 2}, "lane": 0, **held},
        "positions": {"positions": {}, "reason": "made_again", "detail": {}, **held},
        "acks": {"lane": 0, "attempts": ["aa-0"], **held},
    }


def test_a_runtime_that_was_replaced_changes_nothing(remote: Remote) -> None:
    answer(remote.put("aa-0", messages(0, 1)))
    remote.api.db.execute(
        "update penstock.subscription_runtime set lease_until = now() - interval '1 s' where path = %s", [remote.path]
    )
    newer = runtimes.lease(remote.api.db, remote.path, uuid4())
    before = rows(remote.api.db, "select * from penstock.subscription_runtime where path = %s", remote.path)
    refusals = [remote.call(name, **body) for name, body in calls_of_a_holder(remote).items()]
    for refused in (*refusals, remote.put("aa-1", messages(2))):
        said = problem(refused, 409, "runtime_replaced")
        # the number that would let it act in the other's place
        assert str(newer.token) not in said["detail"]
    assert answer(remote.call("room", token=remote.token, limit=10)) == {"room": -1}
    assert rows(remote.api.db, "select * from penstock.subscription_runtime where path = %s", remote.path) == before
    assert runtimes.lease(remote.api.db, remote.path, uuid4(), newer.token).token == newer.token


def test_a_held_subscription_and_one_that_is_not_there(remote: Remote) -> None:
    problem(remote.call("lease", incarnation=str(uuid4())), 409, "subscription_held")
    for method, url in (("GET", "/api/internal/runtime/no/such"), ("POST", "/api/internal/runtime/no/such/lease")):
        refused = remote.client.request(method, url, json={"incarnation": str(uuid4())})
        problem(refused, 404, "unknown_subscription")
    others: dict[str, Json] = {"room": {"token": 1, "limit": 1}, "clear": {"token": 1, "lane": 0}}
    calls = calls_of_a_holder(remote) | others
    remote.path = "no/such"
    refusals = [remote.call(name, **body) for name, body in calls.items()]
    for refused in (*refusals, remote.put("aa-0", messages(0))):
        assert "no/such is not registered" in problem(refused, 404, "unknown_subscription")["detail"]


def test_a_table_that_is_gone_takes_nothing(remote: Remote) -> None:
    problem(remote.put("aa-0", messages(0), lane=1), 409, "staging_mismatch")
    answer(remote.call("stage", token=remote.token, lane=1))
    assert answer(remote.put("aa-0", messages(0), lane=1)) == {"staged": 1}


def test_what_a_runtime_says_and_where_it_puts_the_ledger(remote: Remote) -> None:
    token = remote.token
    detail = {"limit": 5, "told_by": "user:somebody_else"}
    assert answer(remote.call("said", token=token, happening="rate_limited", detail=detail)) == {}
    problem(remote.call("said", token=token, happening="bored", detail={}), 422, "bad_request")
    ledger = {"orders:0": {"identity": "t2", "next": 40}}
    moved = remote.call("positions", token=token, positions=ledger, reason="made_again", detail={"part": "orders:0"})
    assert answer(moved) == {}
    assert subscriptions.positions(remote.api.db, remote.path)[0].next_offset == 40
    happened = {one.happening: one.detail or {} for one in subscriptions.history(remote.api.db, remote.path)}
    assert happened["subscription.rate_limited"] == {"limit": 5, "told_by": "agent:ingest"}
    assert happened["subscription.data_loss"]["told_by"] == "agent:ingest"
    assert answer(remote.call("room", token=token, limit=10)) == {"room": 10}


def test_the_ledger_moves_alone(remote: Remote) -> None:
    assert answer(remote.commit({}, 7))["received"] == 0
    assert value(remote.api.db, "select next_offset from penstock.v_ingest_position where path = %s", remote.path) == 7
