"""The API as runtimes and tasks call it. The token is found by its alias on the host that calls."""

import logging
import re
import socket
import time
from contextlib import suppress
from threading import Event
from typing import Any
from urllib.parse import quote

import httpx

from penstock import hosts
from penstock.closing import Closing
from penstock.credentials import may_be_sent
from penstock.errors import (
    BY_SQLSTATE,
    Busy,
    CredentialError,
    PayloadTooLarge,
    PenstockError,
    Refused,
    ServerUnavailable,
    SettingsError,
    StagingLost,
    TokenRefused,
)
from penstock.model import Json
from penstock.pipeline.books import Server

_CONNECT_S = 10.0
_ANSWER_S = 15.0
_FIRST_WAIT_S = 0.1
_LONGEST_WAIT_S = 2.0
_SHOWN = 300
_BY_CODE: dict[str, type[Refused]] = {
    re.sub(r"(?<!^)(?=[A-Z])", "_", one.__name__).lower(): one for one in BY_SQLSTATE.values()
} | {"staging_mismatch": StagingLost}

# a line for each call, and a runtime that waits makes one every second
logging.getLogger("httpx").setLevel(logging.WARNING)


class Api(Closing):
    """Calls that are all safe to make twice: one whose answer got lost is made again, for as long as it is told to."""

    def __init__(self, server: Server, patience_s: float = 0.0, answer_s: float = _ANSWER_S) -> None:
        self._server = server
        self._patience_s = patience_s
        self._cut = Event()
        # of the connection that is open, as httpx has it
        self._stream: Any = None
        if not re.fullmatch(r"https?://[^/?#@\s]+/?", server.url):
            raise SettingsError(f"--server-url: {server.url!r} is no address such as https://penstock.example.com")
        self._client = httpx.Client(
            base_url=server.url.rstrip("/"),
            headers={"authorization": f"Bearer {_token(server)}"},
            verify=_trust(server),
            timeout=httpx.Timeout(answer_s, connect=min(answer_s, _CONNECT_S)),
            # what is not our server's own answer is none
            follow_redirects=False,
        )

    def close(self) -> None:
        self._client.close()

    def cut(self) -> None:
        """From another thread: the call under way ends now, without an answer, and none is made any more."""
        self._cut.set()
        self._shut()

    def get(self, path: str, **query: Any) -> Json:
        return self._called("GET", path, params=query)

    def post(self, path: str, body: Json, answer_s: float | None = None) -> Json:
        longer = {} if answer_s is None else {"timeout": httpx.Timeout(answer_s, connect=_CONNECT_S)}
        return self._called("POST", path, json=body, **longer)

    def _called(self, method: str, path: str, **more: Any) -> Json:
        # from the first failure on: a call may have taken its time before its answer got lost
        give_up_at: float | None = None
        wait_s = _FIRST_WAIT_S
        while True:
            self._check()
            try:
                return self._once(method, path, **more)
            except ServerUnavailable:
                now = time.monotonic()
                give_up_at = now + self._patience_s if give_up_at is None else give_up_at
                if now + wait_s > give_up_at:
                    raise
            self._cut.wait(wait_s)
            wait_s = min(2 * wait_s, _LONGEST_WAIT_S)

    def _once(self, method: str, path: str, **more: Any) -> Json:
        try:
            answer = self._client.request(method, path, extensions={"trace": self._notice}, **more)
        except (httpx.TransportError, httpx.InvalidURL) as error:
            said = str(error) or type(error).__name__
            raise ServerUnavailable(f"the server {self._server.url} does not answer: {said}") from error
        if answer.is_success:
            return _object(answer, self._server.url)
        raise _refusal(answer, self._server)

    def _notice(self, event: str, info: Json) -> None:
        """What httpx does, step by step: the connection it opens is noticed, and nothing is sent once it is cut off."""
        if event in ("connection.connect_tcp.complete", "connection.start_tls.complete"):
            self._stream = info["return_value"]
            if self._cut.is_set():
                self._shut()
        elif event == "http11.send_request_headers.started":
            self._check()

    def _check(self) -> None:
        if self._cut.is_set():
            raise ServerUnavailable(f"a call of the server {self._server.url} was cut off")

    def _shut(self) -> None:
        if self._stream is not None:
            # the plain socket's: one with TLS would first change what its reader looks at
            with suppress(OSError):
                socket.socket.shutdown(self._stream.get_extra_info("socket"), socket.SHUT_RDWR)


def runtime_path(subscription: str) -> str:
    return f"/api/internal/runtime/{quote(subscription, safe='/')}"


def _token(server: Server) -> str:
    credential = hosts.credentials().get(server.token_alias)
    token = credential.get("token")
    if not token:
        raise CredentialError(f"the credential {server.token_alias} has no `token`: penstock token create makes one")
    url = httpx.URL(server.url)
    if not may_be_sent(credential, url.scheme, url.host):
        raise CredentialError(
            f"the credential {server.token_alias} is not sent to {server.url} in the clear\n"
            "Use https, or add allow_http: true to the credential where nobody else is on the way."
        )
    text = str(token).strip()
    if not re.fullmatch("[!-~]+", text):
        # without it: whatever it is, it may be a secret with something beside it
        raise CredentialError(
            f"the credential {server.token_alias}: `token` is none, as it has blanks or other than ASCII in it\n"
            "penstock token create shows a token once: put that there, and nothing else."
        )
    return text


def _trust(server: Server) -> Any:
    """The hosts' own authorities, or the file `ca` of the credential."""
    ca = hosts.credentials().get(server.token_alias).get("ca")
    if not ca:
        return True
    import ssl

    try:
        return ssl.create_default_context(cafile=str(ca))
    except (OSError, ssl.SSLError) as error:
        raise CredentialError(f"the credential {server.token_alias}: `ca` cannot be read: {error}") from error


def _object(answer: httpx.Response, url: str) -> Json:
    try:
        found = answer.json()
    except ValueError:
        found = None
    if not isinstance(found, dict):
        raise ServerUnavailable(f"{url} does not answer as Penstock does: is it the right address?")
    return found


def _refusal(answer: httpx.Response, server: Server) -> PenstockError:
    """The error it stands for, by its code."""
    try:
        said = answer.json()
        problem = said if isinstance(said, dict) else {}
    except ValueError:
        problem = {}
    detail = str(problem.get("detail") or problem.get("title") or answer.reason_phrase)[:_SHOWN]
    code = str(problem.get("code", ""))
    if code in _BY_CODE:
        return _BY_CODE[code](detail, problem.get("hint"))
    if code == "busy":
        return Busy(detail)
    if answer.status_code == 413:
        # a proxy's, too, which knows no code
        return PayloadTooLarge(f"the server {server.url} takes no body so large: {detail}")
    if answer.status_code in (401, 403):
        return TokenRefused(
            f"the server {server.url} refuses the token {server.token_alias}: {detail}\n"
            "penstock token list shows which are good, and for what."
        )
    if answer.status_code in (408, 425, 429) or answer.status_code >= 500:
        return ServerUnavailable(f"the server {server.url} cannot do it now ({answer.status_code}): {detail}")
    return PenstockError(f"the server {server.url} refuses it ({answer.status_code}): {detail}")
