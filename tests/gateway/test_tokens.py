"""Who gets in: a live token with the scope of the route, and nobody else."""

from datetime import UTC, datetime, timedelta
from uuid import UUID, uuid4

import httpx
import pytest

from penstock.errors import ActorRefused, BadRequest, NotAllowed, UnknownToken
from penstock.kernel import executions, tokens
from penstock.kernel.connection import Connection
from penstock.model import Json
from tests.gateway.serving import ACTOR, Api, answer, problem
from tests.ingest.support import PATH, PLAYBOOK, playbook, subscription
from tests.logins import Logins
from tests.sql.support import rows, value

RUNTIME = f"/api/internal/runtime/{PATH}"
# every route, with a scope that opens it
ROUTES = {
    ("POST", "/api/execute"): "execute",
    ("POST", "/api/execute/batch"): "execute",
    ("POST", "/api/events"): "events",
    ("GET", "/metrics"): "metrics",
    ("GET", RUNTIME): "internal",
    **{
        ("POST", f"{RUNTIME}/{name}"): "internal"
        for name in ("lease", "release", "said", "stage", "slice", "commit", "positions", "room", "acks", "clear")
    },
}
PUBSUB: Json = {"source": "pubsub", "subscription": "projects/p/subscriptions/orders"}
MESSAGE = {"part": "p", "source_offset": 1, "message_id": "m", "attributes": "[]"}
SCOPES = ("execute", "events", "internal", "metrics")


def _show(api: Api, header: str | None, method: str = "GET", path: str = "/metrics") -> httpx.Response:
    return httpx.request(method, api.url + path, headers={} if header is None else {"Authorization": header})


def _token(api: Api, *scopes: str) -> str:
    return tokens.create(api.db, ACTOR, list(scopes))[1]


def test_the_table_above_holds_every_route(api: Api) -> None:
    paths = answer(api.client("metrics").get("/api/openapi.json"))["paths"]
    found = {(method.upper(), path.replace("{path}", PATH)) for path, one in paths.items() for method in one}
    assert found - {("GET", "/livez"), ("GET", "/readyz")} == set(ROUTES)


@pytest.mark.parametrize(("method", "path"), ROUTES)
def test_no_route_opens_without_a_token_and_its_scope(api: Api, method: str, path: str) -> None:
    scope = ROUTES[method, path]
    refused = _show(api, None, method, path)
    problem(refused, 401, "bad_token")
    assert refused.headers["www-authenticate"] == 'Bearer realm="penstock"'
    others = [one for one in SCOPES if one != scope and not (path.endswith("/batch") and one == "internal")]
    refused = api.client(*others).request(method, path, content="{}")
    problem(refused, 403, "missing_scope")
    assert 'error="insufficient_scope"' in refused.headers["www-authenticate"]
    # in: what it says now is about what was asked
    assert api.client(scope).request(method, path, content="{}").status_code not in (401, 403)


def test_each_form_of_a_batch_wants_its_own_scope(api: Api) -> None:
    chunk = {"subscription": PATH, "token": 1, "attempt": "a", "messages": [MESSAGE]}
    problem(api.client("execute").post("/api/execute/batch", json=chunk), 403, "missing_scope")
    problem(api.client("internal").post("/api/execute/batch", json={"items": [{}]}), 403, "missing_scope")


def test_a_token_with_paths_opens_the_runtimes_of_these_subscriptions_only(api: Api) -> None:
    playbook(api.db)
    mine, others = (subscription(api.db, f"subscriptions/{name}_{uuid4().hex[:8]}") for name in ("mine", "others"))
    client = api.client("internal", paths=[mine])
    chunk = {"token": 1, "attempt": "a", "messages": [MESSAGE]}
    for (method, route), scope in ROUTES.items():
        if scope != "internal":
            continue
        for path in (others, "subscriptions/not_there", f"{mine}/x", mine.upper()):
            refused = client.request(method, route.replace(PATH, path), content="{}")
            assert path in problem(refused, 403, "path_refused")["detail"]
        assert client.request(method, route.replace(PATH, mine), content="{}").status_code != 403
    problem(client.post("/api/execute/batch", json={"subscription": others, **chunk}), 403, "path_refused")
    problem(client.post("/api/execute/batch", json={"subscription": mine, **chunk}), 409, "runtime_replaced")
    assert answer(api.client("internal").get(f"/api/internal/runtime/{others}"))["path"] == others


def test_messages_come_into_lanes_of_their_own_subscription_only(api: Api) -> None:
    playbook(api.db)
    plain, laned = (f"subscriptions/{name}_{uuid4().hex[:8]}" for name in ("plain", "laned"))
    for path, spec in ((plain, PUBSUB), (laned, PUBSUB | {"lanes": "ordering_key"})):
        subscription(api.db, path, at=spec)
    client = api.client("internal", paths=[plain, laned])

    def put(path: str, *lanes: str | None) -> httpx.Response:
        url = f"/api/internal/runtime/{path}"
        token = answer(client.post(f"{url}/lease", json={"incarnation": str(UUID(int=1))}))["token"]
        answer(client.post(f"{url}/stage", json={"token": token}))
        sent = [MESSAGE | {"source_offset": offset, "lane": lane} for offset, lane in enumerate(lanes)]
        chunk = {"subscription": path, "token": token, "attempt": "a", "messages": sent}
        return client.post("/api/execute/batch", json=chunk)

    assert answer(put(laned, f"{laned}:k", None, f"{laned}:{'k' * 400}")) == {"staged": 3}
    for lane in ("payments", f"{plain}:k", f"{laned}/x:k", laned, f"{laned.upper()}:k"):
        assert lane in problem(put(laned, f"{laned}:k", lane), 422, "bad_request")["detail"]
    problem(put(laned, f"{laned}:{'k' * 500}"), 422, "invalid")
    assert "makes no lanes" in problem(put(plain, f"{plain}:k"), 422, "bad_request")["detail"]
    assert answer(put(plain, None)) == {"staged": 1}


def test_paths_are_kept_shown_and_checked(db: Connection) -> None:
    token_id, _ = tokens.create(db, ACTOR, ["internal", "events"], paths=["b/two", "a/one", "b/two"])
    tokens.create(db, ACTOR, ["internal"])
    assert {one.token_id == token_id: one.paths for one in tokens.listed(db)} == {True: ["a/one", "b/two"], False: None}
    wrong: list[tuple[list[str], list[str]]] = [
        (["internal"], []),
        (["internal"], ["/orders"]),
        (["internal"], ["a b"]),
        (["execute"], ["orders"]),
    ]
    for scopes, paths in wrong:
        with pytest.raises(BadRequest, match="path"):
            tokens.create(db, ACTOR, scopes, paths=paths)


@pytest.mark.parametrize("spoil", ["secret", "id", "scheme", "empty", "long", "odd", "case", "hash"])
def test_what_is_no_token_opens_nothing(api: Api, spoil: str) -> None:
    text = _token(api, "metrics")
    secret = value(
        api.db, "select encode(secret_sha256, 'hex') from penstock.api_token where token_id = %s", text[4:20]
    )
    spoilt = {
        "secret": f"Bearer {text[:-1]}{'A' if text[-1] != 'A' else 'B'}",
        "id": f"Bearer pst_{'a' * 16}{text[20:]}",
        "scheme": f"Basic {text}",
        "empty": "Bearer",
        "long": f"Bearer {text}{'a' * 4000}",
        "odd": "Bearer pst_' or true --",
        "case": f"Bearer {text.upper()}",
        "hash": f"Bearer {text[:21]}{secret[:43]}",
    }
    problem(_show(api, spoilt[spoil]), 401, "bad_token")
    assert _show(api, f"bearer {text}").status_code == 200


def test_a_revoked_token_opens_nothing_from_the_next_request_on(api: Api) -> None:
    playbook(api.db)
    token_id, text = tokens.create(api.db, "user:leaving", ["execute"])
    client = api.client(token=text)
    started = answer(client.post("/api/execute", json={"playbook": PLAYBOOK}))
    assert executions.show(api.db, started["execution_id"]).actor == "user:leaving"
    assert tokens.revoke(api.db, token_id)
    refused = client.post("/api/execute", json={"playbook": PLAYBOOK})
    assert "revoked" in problem(refused, 401, "bad_token")["detail"]
    assert 'error="invalid_token"' in refused.headers["www-authenticate"]
    assert not tokens.revoke(api.db, token_id)


def test_an_expired_token_opens_nothing(api: Api) -> None:
    soon = datetime.now(UTC) + timedelta(hours=1)
    token_id, text = tokens.create(api.db, ACTOR, ["metrics"], expires_at=soon)
    assert _show(api, f"Bearer {text}").status_code == 200
    api.db.execute("update penstock.api_token set expires_at = now() where token_id = %s", [token_id])
    assert "expired" in problem(_show(api, f"Bearer {text}"), 401, "bad_token")["detail"]


def test_no_secret_is_kept_or_logged(api: Api) -> None:
    text = _token(api, "metrics")
    _show(api, f"Bearer {text}")
    _show(api, f"Bearer {text}x", path=f"/api/nowhere?token={text}")
    assert text[21:] not in api.process.log()
    assert text[21:] not in str(rows(api.db, "select t::text from penstock.api_token t"))


def test_the_gateway_speaks_for_the_actors_of_its_live_tokens_only(db: Connection, logins: Logins) -> None:
    playbook(db)
    gateway = logins.member("penstock_gateway")
    request = {"playbook": PLAYBOOK, "actor": "user:bo"}
    with pytest.raises(ActorRefused):
        executions.execute(gateway, request)
    token_id, _ = tokens.create(db, "user:bo", ["events"])
    executions.execute(gateway, request)
    with pytest.raises(ActorRefused):
        executions.execute(logins.member("penstock_producer"), request)
    db.execute("update penstock.api_token set expires_at = now()")
    with pytest.raises(ActorRefused):
        executions.execute(gateway, request)
    db.execute("update penstock.api_token set expires_at = null")
    tokens.revoke(db, token_id)
    with pytest.raises(ActorRefused):
        executions.execute(gateway, request)


def test_only_operators_hand_out_tokens(logins: Logins) -> None:
    gateway = logins.member("penstock_gateway")
    with pytest.raises(NotAllowed):
        tokens.create(gateway, "user:eve", ["internal"])
    with pytest.raises(NotAllowed):
        tokens.listed(gateway)
    tokens.create(logins.member("workflow_admin"), "user:ada", ["internal"])


def test_a_token_that_cannot_be_is_not_made(db: Connection) -> None:
    for actor in ("system:runtime", "consumer:billing", "ada", "", "user:a b"):
        with pytest.raises(ActorRefused):
            tokens.create(db, actor, ["execute"])
    scopes: list[list[str]] = [[], ["everything"], ["execute", "root"]]
    for wrong in scopes:
        with pytest.raises(BadRequest):
            tokens.create(db, ACTOR, wrong)
    with pytest.raises(BadRequest):
        tokens.create(db, ACTOR, ["execute"], expires_at=datetime.now(UTC) - timedelta(seconds=1))
    with pytest.raises(UnknownToken):
        tokens.revoke(db, "aaaaaaaaaaaaaaaa")
    assert tokens.listed(db) == []
