"""http against a real server, well-behaved and otherwise."""

import json
from base64 import b64decode, b64encode
from typing import Any

import pytest

from penstock.jobs import PermanentError
from penstock.kernel.connection import Connection
from penstock.worker.tools import http
from tests.parts.processes import free_ports
from tests.parts.web import Reply, Web, web
from tests.sql.support import configure
from tests.tools.calling import TRACE, Caller, a_job

JSON = {"content-type": "application/json; charset=utf-8"}


def _get(caller: Caller, server: Web, path: str = "/", **settings: Any) -> Any:
    return http.run(caller({"url": server.url + path, **settings}))


def _text(caller: Caller, *replies: Reply, **settings: Any) -> str:
    """What the step fails with, for good."""
    with web(*replies) as server, pytest.raises(PermanentError) as caught:
        _get(caller, server, "/orders?key=private", **settings)
    assert "private" not in str(caught.value)
    return str(caught.value)


def test_an_answer_in_json_is_the_result(caller: Caller) -> None:
    reply = Reply(201, '{"größe": [1, 2.5, null]}'.encode(), {**JSON, "Set-Cookie": "a=b", "X-Page": "2"})
    with web(reply) as server:
        result = _get(caller, server, "/orders")
        assert (result["status"], result["json"]) == (201, {"größe": [1, 2.5, None]})
        assert result["headers"]["x-page"] == "2"
        assert "set-cookie" not in result["headers"]


def test_a_request_carries_what_the_step_says(caller: Caller) -> None:
    settings = {
        "method": "POST",
        "headers": {"X-Shop": "käse", "X-Number": 7},
        "params": {"page": 2, "q": "a&b", "open": True},
        "json": {"id": 1, "name": "ö"},
    }
    with web() as server:
        _get(caller, server, "/orders?first=1", **settings)
    (asked,) = server.asked
    assert (asked.method, asked.path) == ("POST", "/orders?first=1&page=2&q=a%26b&open=true")
    assert json.loads(asked.body) == {"id": 1, "name": "ö"}
    assert asked.headers["content-type"] == "application/json"
    assert asked.headers["x-shop"].encode("latin-1").decode() == "käse"
    assert asked.headers["x-number"] == "7"


def test_trace_and_idempotency_key_go_along_unless_the_step_sets_them(caller: Caller) -> None:
    other = TRACE.replace("b7ad", "c7ad")
    with web() as server:
        for attempt in (1, 2):
            http.run(caller({"url": server.url, "method": "POST", "body": "x"}, job=a_job(9, attempt=attempt)))
        _get(caller, server, method="PATCH", headers={"Traceparent": other, "idempotency-key": "mine"})
        _get(caller, server, method="PUT")
    first, again, own, put = (asked.headers for asked in server.asked)
    assert first["traceparent"] == TRACE
    assert first["idempotency-key"] == again["idempotency-key"] == "penstock-9"
    assert (own["traceparent"], own["idempotency-key"]) == (other, "mine")
    assert "idempotency-key" not in put


def test_the_trace_of_a_message_goes_along_without_its_baggage(caller: Caller) -> None:
    trace = json.dumps({"traceparent": TRACE, "tracestate": "shop=1", "baggage": {"user": "ann"}})
    with web() as server:
        http.run(caller({"url": server.url}, job=a_job(trace=trace)))
        http.run(caller({"url": server.url}, job=a_job(trace="no trace at all")))
    first, second = (asked.headers for asked in server.asked)
    assert (first["traceparent"], first["tracestate"]) == (TRACE, "shop=1")
    assert not {"traceparent", "baggage"} & (second.keys() | first.keys() - {"traceparent"})


@pytest.mark.parametrize(
    ("credential", "header", "value"),
    [
        ("{token: s3cr3t}", "authorization", "Bearer s3cr3t"),
        ("{username: ann, password: 'pä:ss'}", "authorization", f"Basic {b64encode('ann:pä:ss'.encode()).decode()}"),
        ("{header: X-Api-Key, value: s3cr3t}", "x-api-key", "s3cr3t"),
    ],
)
def test_a_credential_is_sent_to_a_loopback_address(caller: Caller, credential: str, header: str, value: str) -> None:
    caller.credentials(f"shop: {credential}")
    with web() as server:
        _get(caller, server, auth="shop")
    assert server.asked[0].headers[header] == value


@pytest.mark.parametrize(
    ("credential", "settings", "says"),
    [
        ("other: {token: s3cr3t}", {}, "has no credential shop"),
        ("shop: {secret: s3cr3t}", {}, "token, username and password, or header and value"),
        ("shop: {token: s3cr3t, hosts: [api.example.com]}", {}, "not for 127.0.0.1"),
        ('shop: {token: "s3cr3t\\nx: y"}', {}, "a character no header can have"),
        ("shop: {token: s3cr3t}", {"headers": {"Authorization": "x"}}, "leave one out"),
    ],
)
def test_a_credential_that_does_not_fit_sends_nothing(
    caller: Caller, credential: str, settings: dict[str, Any], says: str
) -> None:
    caller.credentials(credential)
    with web() as server, pytest.raises(PermanentError) as caught:
        _get(caller, server, auth="shop", **settings)
    assert says in str(caught.value)
    assert "s3cr3t" not in str(caught.value)
    assert server.asked == []


def test_a_credential_does_not_leave_in_the_clear(caller: Caller) -> None:
    caller.credentials("shop: {token: s3cr3t}\nopen: {token: s3cr3t, allow_http: true}")
    with pytest.raises(PermanentError, match="in the clear"):
        http.run(caller({"url": "http://shop.invalid/", "auth": "shop"}))
    with pytest.raises(http.Unanswered):
        http.run(caller({"url": "http://shop.invalid/", "auth": "open"}))


def test_text_and_bytes_come_back_as_they_are(caller: Caller) -> None:
    with web(
        Reply(200, "größer".encode("latin-1"), {"content-type": "text/plain; charset=latin-1"}),
        Reply(200, b"\xff\x00\x01"),
        Reply(200, b"<html>", JSON),
        Reply(200, b'{"a": NaN}', JSON),
        Reply(200, b'{"a": "\\u0000"}', JSON),
        Reply(200, b"[" * 60_000, JSON),
        Reply(204),
    ) as server:
        assert _get(caller, server)["text"] == "größer"
        assert b64decode(_get(caller, server)["base64"]) == b"\xff\x00\x01"
        for unreadable in ("<html>", '{"a": NaN}', '{"a": "\\u0000"}', "[" * 60_000, ""):
            assert _get(caller, server)["text"] == unreadable


@pytest.mark.parametrize("status", [400, 401, 404, 409, 410, 422])
def test_a_refusal_is_final(caller: Caller, status: int) -> None:
    said = _text(caller, Reply(status))
    assert f"/orders was answered with {status}" in said
    assert "expect" in said


@pytest.mark.parametrize("status", [408, 425, 429, 500, 502, 503, 504])
def test_a_server_that_cannot_now_is_tried_again(caller: Caller, status: int) -> None:
    with web(Reply(status)) as server, pytest.raises(http.Unanswered, match=str(status)):
        _get(caller, server)


def test_expected_answers_are_those_listed(caller: Caller) -> None:
    with web(Reply(404)) as server:
        assert _get(caller, server, expect=[200, 404])["status"] == 404
    assert "answered with 202" in _text(caller, Reply(202), expect=[200])


def test_a_redirect_is_not_followed(caller: Caller) -> None:
    with web() as other:
        assert "redirect" in _text(caller, Reply(302, headers={"location": other.url}))
        assert other.asked == []


def test_no_cookie_goes_from_one_call_to_the_next(caller: Caller) -> None:
    with web(Reply(200, headers={"set-cookie": "session=private; Path=/"})) as server:
        for _ in range(2):
            _get(caller, server)
    assert all("cookie" not in asked.headers for asked in server.asked)


@pytest.mark.parametrize(
    ("reply", "timeout_s", "says"),
    [
        (Reply(does="hang"), 1, "no answer within 1 s"),
        (Reply(does="drip", length=1000), 1, "no answer within 1 s"),
        (Reply(does="drop"), 30, "ReadError"),
        (Reply(body=b"half", length=100), 30, "RemoteProtocolError"),
    ],
)
def test_a_server_that_does_not_answer_is_tried_again(caller: Caller, reply: Reply, timeout_s: int, says: str) -> None:
    with web(reply) as server, pytest.raises(http.Unanswered, match=says):
        _get(caller, server, timeout_s=timeout_s)


def test_a_job_with_less_time_waits_no_longer(caller: Caller) -> None:
    with web(Reply(does="hang")) as server, pytest.raises(http.Unanswered, match=r"within 0\.5 s"):
        http.run(caller({"url": server.url}, job=a_job(timeout_s=0.5)))


def test_nobody_listens(caller: Caller) -> None:
    (port,) = free_ports(1)
    with pytest.raises(http.Unanswered, match="ConnectError"):
        http.run(caller({"url": f"http://127.0.0.1:{port}/"}))


def test_an_answer_beyond_the_limit_of_results_is_refused(caller: Caller, db: Connection) -> None:
    configure(db, "queue.result.max_bytes", "1000")
    assert "larger than 1,000 bytes" in _text(caller, Reply(200, b"x" * 1001))
    with web(Reply(200, b"x" * 1000)) as server:
        assert len(_get(caller, server)["text"]) == 1000


@pytest.mark.parametrize(
    "settings",
    [
        {"url": "ftp://shop/private"},
        {"url": "http://ann:private@shop/"},
        {"url": "http:///private"},
        {"url": "http://shop:private/"},
        {"url": "http://shop/ private"},
        {"url": 7},
        {"headers": {"X": "private\r\nY: z"}},
        {"headers": {"X": "private\0"}},
        {"headers": {"X": ["private"]}},
        {"headers": {"X Y": "private"}},
        {"headers": {"Content-Length": "5"}},
        {"params": {"a": {"private": 1}}},
        {"json": {"a": float("nan")}},
        {"body": None},
    ],
)
def test_settings_that_templates_filled_in_badly_are_refused_without_being_shown(
    caller: Caller, settings: dict[str, Any]
) -> None:
    with web() as server, pytest.raises(PermanentError, match=r"^http: ") as caught:
        http.run(caller({"url": server.url, **settings}))
    assert "private" not in str(caught.value)
    assert server.asked == []


@pytest.mark.parametrize(
    "url",
    [
        "{{ workload.url }}",
        "http://{{ workload.host }}/",
        "http://127.0.0.1{{ workload.rest }}",
        "http://127.0.0.1:{{ workload.port }}/",
        "{% if workload.x %}http://127.0.0.1/{% endif %}",
        "http://{# none #}127.0.0.1/",
    ],
)
def test_a_credential_without_hosts_goes_nowhere_a_template_leads(caller: Caller, url: str) -> None:
    caller.credentials("shop: {token: s3cr3t}\nbound: {token: s3cr3t, hosts: 127.0.0.1}")
    with web() as server:
        with pytest.raises(PermanentError, match=r"shop is not sent to 127\.0\.0\.1, .* hosts: \[") as caught:
            http.run(caller({"url": server.url, "auth": "shop"}, written={"url": url}))
        assert server.asked == []
        http.run(caller({"url": server.url, "auth": "bound"}, written={"url": url}))
        http.run(caller({"url": server.url}, written={"url": url}))
    assert "s3cr3t" not in str(caught.value)
    assert [asked.headers.get("authorization") for asked in server.asked] == ["Bearer s3cr3t", None]


@pytest.mark.parametrize("rest", ["/orders/{{ workload.order }}", "?q={{ workload.order }}", "/", ""])
def test_a_credential_without_hosts_goes_to_the_host_that_is_written(caller: Caller, rest: str) -> None:
    caller.credentials("shop: {token: s3cr3t}")
    with web() as server:
        http.run(caller({"url": server.url, "auth": "shop"}, written={"url": server.url + rest}))
    assert server.asked[0].headers["authorization"] == "Bearer s3cr3t"


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_credential_does_not_follow_a_redirect(caller: Caller, status: int) -> None:
    caller.credentials("shop: {token: s3cr3t, hosts: [127.0.0.1]}")
    with web() as other, web(Reply(status, headers={"location": other.url})) as server:
        with pytest.raises(PermanentError, match="a redirect, which is not followed"):
            _get(caller, server, auth="shop")
        assert _get(caller, server, auth="shop", expect=[status])["headers"]["location"] == other.url
    assert (len(server.asked), other.asked) == (2, [])
