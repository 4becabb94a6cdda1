"""http: a step that makes one request. What comes back is its result; redirects are not followed."""

import json
from base64 import b64encode
from collections.abc import Mapping
from typing import Any, NoReturn

import httpx

from penstock.catalog import names
from penstock.catalog.values import Unfit
from penstock.credentials import may_be_sent
from penstock.directives.trace import carried_on
from penstock.jobs import PermanentError
from penstock.model import Json
from penstock.worker.exchange import Answer, AnswerTooLarge, HttpClient, NoAnswer, NotSendable, place
from penstock.worker.report import UnserialisableResult, as_json
from penstock.worker.tools import lookups
from penstock.worker.tools.contract import Call

_TIMEOUT_S = 30.0
_PASSING = (408, 425, 429)
# what a repeated request would do again
_NOT_REPEATABLE = ("POST", "PATCH")
_OURS = ("content-length", "transfer-encoding", "connection", "upgrade", "te", "trailer")
_KINDS = "token, username and password, or header and value"
_CLIENT = HttpClient("penstock-http")


class Unanswered(Exception):
    """The server could not do it now: another try may help."""


def run(call: Call) -> Json:
    """Send the request; the status, the headers, and the body as json, text or base64."""
    url = _url(call)
    method = call.settings.get("method") or "GET"
    body, content_type = _body(call.settings)
    headers = _headers(call, method, content_type)
    if "auth" in call.settings:
        headers |= _authorised(call, url, headers)
    answer = _answer(call, method, url, headers, body)
    _expected(answer, call.settings.get("expect"), f"{method} {place(url)}")
    return {"status": answer.status, "headers": _told(answer.headers), **_content(answer)}


def _answer(call: Call, method: str, url: httpx.URL, headers: dict[str, str], body: bytes | None) -> Answer:
    most_bytes = lookups.result_bytes(call.services)
    try:
        return _CLIENT.send(method, url, headers, body, timeout_s=_timeout_s(call), most_bytes=most_bytes)
    except AnswerTooLarge as error:
        raise PermanentError(f"http: {error}, the most a step's result may hold (queue.result.max_bytes)") from error
    except NotSendable as error:
        raise PermanentError(f"http: {error}") from error
    except NoAnswer as error:
        raise Unanswered(f"http: {error}") from error


def _url(call: Call) -> httpx.URL:
    try:
        url = httpx.URL(names.request_url(call.settings["url"]))
        if not url.host:
            raise ValueError
        given = call.settings.get("params")
        return url if not given else url.copy_merge_params({key: _text("params", key, given[key]) for key in given})
    except (Unfit, httpx.InvalidURL, ValueError):
        # not shown: it may hold anything
        raise PermanentError("http: url is none that can be called, such as https://api.example.com/orders") from None


def _timeout_s(call: Call) -> float:
    wanted = float(call.settings.get("timeout_s") or _TIMEOUT_S)
    return wanted if call.job.timeout_s is None else min(wanted, call.job.timeout_s)


def _body(settings: Json) -> tuple[bytes | None, str | None]:
    if "json" in settings:
        try:
            return json.dumps(settings["json"], ensure_ascii=False, allow_nan=False).encode(), "application/json"
        except ValueError as error:
            raise PermanentError(f"http: json cannot be written as JSON: {error}") from error
    if "body" in settings:
        return _text("body", "", settings["body"]).encode(), "text/plain; charset=utf-8"
    return None, None


def _headers(call: Call, method: str, content_type: str | None) -> dict[str, str]:
    """What the step sets goes before what we would."""
    ours = {"user-agent": "penstock", "accept": "*/*", **carried_on(call.job.trace)}
    if content_type is not None:
        ours["content-type"] = content_type
    if method in _NOT_REPEATABLE:
        ours["idempotency-key"] = f"penstock-{call.key}"
    given = {}
    for name, value in (call.settings.get("headers") or {}).items():
        if name.lower() in _OURS:
            raise PermanentError(f"http: the header {name} is for the connection: leave it out")
        given[name.lower()] = _text("headers", name, value)
    if "traceparent" in given:
        # the others belong to the one that is not sent
        ours.pop("tracestate", None)
    return ours | given


def _text(key: str, name: str, value: Any) -> str:
    where = f"{key}.{name}" if name else key
    try:
        text = names.scalar_text(value)
        text.encode()
    except (Unfit, UnicodeEncodeError):
        raise PermanentError(f"http: {where} is no text, number, true or false") from None
    if key == "headers" and not _fits_a_header(text):
        raise PermanentError(f"http: the header {name} has a line break or another character no header can have")
    return text


def _fits_a_header(text: str) -> bool:
    return text == text.strip() and all(one == "\t" or (one >= " " and one != "\x7f") for one in text)


def _authorised(call: Call, url: httpx.URL, given: Mapping[str, str]) -> dict[str, str]:
    """The credential's headers; sent only where it may be read by nobody else."""
    alias, credential = call.settings["auth"], lookups.credential(call, "http")
    hosts = credential.get("hosts")
    if hosts is None and not names.names_its_host(call.written["url"]):
        raise PermanentError(
            f"http: the credential {alias} is not sent to {url.host}, which came out of a template: "
            "list the hosts it is for in the credential, such as hosts: [api.example.com]"
        )
    if hosts is not None and url.host not in ([hosts] if isinstance(hosts, str) else hosts):
        raise PermanentError(f"http: the credential {alias} is not for {url.host}: its hosts do not list it")
    if not may_be_sent(credential, url.scheme, url.host):
        raise PermanentError(
            f"http: the credential {alias} is not sent to {place(url)} in the clear: "
            "use https, or add allow_http: true to the credential"
        )
    name, value = _header_of(credential, alias)
    if name in given:
        raise PermanentError(f"http: the step sets the header {name} that the credential {alias} is for: leave one out")
    if not name or not value.isascii() or not _fits_a_header(value):
        raise PermanentError(f"http: the credential {alias} holds a character no header can have")
    return {name: value}


def _header_of(credential: Mapping[str, Any], alias: str) -> tuple[str, str]:
    known = {key: value for key, value in credential.items() if isinstance(value, str)}
    match known:
        case {"token": token}:
            return "authorization", f"Bearer {token}"
        case {"username": username, "password": password}:
            return "authorization", f"Basic {b64encode(f'{username}:{password}'.encode()).decode()}"
        case {"header": header, "value": value}:
            return header.lower(), value
    raise PermanentError(f"http: the credential {alias} has none of what a request can be signed with: {_KINDS}")


def _expected(answer: Answer, expect: list[int] | None, what: str) -> None:
    """Whether the answer is one the step goes on with."""
    if answer.status in expect if expect else 200 <= answer.status < 300:
        return
    said = f"http: {what} was answered with {answer.status}"
    if answer.status >= 500 or answer.status in _PASSING:
        raise Unanswered(said)
    _refused(said, answer)


def _refused(said: str, answer: Answer) -> NoReturn:
    if answer.headers.get("location") and 300 <= answer.status < 400:
        said += ", a redirect, which is not followed: call where it leads"
    raise PermanentError(f"{said}. To go on with such an answer, list the status under expect")


def _told(headers: httpx.Headers) -> dict[str, str]:
    return {name: value for name, value in headers.items() if name != "set-cookie"}


def _content(answer: Answer) -> Json:
    """As JSON if it says so and is; as text if it is any; else its bytes."""
    try:
        text = answer.body.decode(answer.charset)
    except (LookupError, UnicodeDecodeError):
        text = "\0"
    if "\0" in text:
        return {"base64": b64encode(answer.body).decode()}
    kind = answer.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind == "application/json" or kind.endswith("+json"):
        try:
            value = json.loads(text)
            as_json(value)
            return {"json": value}
        except (ValueError, RecursionError, UnserialisableResult):
            pass
    return {"text": text}
