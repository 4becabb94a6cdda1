"""One HTTP request and its answer, within a time and a size: what webhooks and the tool http have in common."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from http.cookiejar import CookieJar, DefaultCookiePolicy

import httpx

from penstock.errors import PenstockError
from penstock.worker.loops import LoopThread

_MOST_CONNECTIONS = 100
_MOST_IDLE = 20
_IDLE_S = 30


class NoAnswer(PenstockError):
    """Nothing came back, or only a part of it."""


class NotSendable(PenstockError):
    """The request cannot be sent as it is."""


class AnswerTooLarge(PenstockError):
    pass


@dataclass(frozen=True)
class Answer:
    status: int
    headers: httpx.Headers
    body: bytes
    charset: str = "utf-8"


class HttpClient:
    """Keeps connections open, and a limited number of them. Threads share it.

    It sends in a loop of its own: there a limit holds for all of an exchange, also where a byte comes every second.
    """

    def __init__(self, name: str) -> None:
        self._loop = LoopThread(name)
        self._client: httpx.AsyncClient | None = None

    def send(
        self,
        method: str,
        url: httpx.URL,
        headers: Mapping[str, str],
        body: bytes | None,
        *,
        timeout_s: float,
        most_bytes: int | None = None,
    ) -> Answer:
        """Send one request; redirects are answers. The body is read with `most_bytes` only, and up to it."""
        what = f"{method} {place(url)}"
        try:
            named = {name.encode(): value.encode() for name, value in headers.items()}
            request = httpx.Request(method, url, headers=named, content=body)
            return self._loop.call(lambda: self._sent(request, timeout_s, most_bytes))
        except TimeoutError as error:
            raise NoAnswer(f"{what}: no answer within {timeout_s:g} s") from error
        except httpx.LocalProtocolError as error:
            # its text would show the header's value
            raise NotSendable(f"{what}: a header has a name or a value that cannot be sent") from error
        except httpx.UnsupportedProtocol as error:
            raise NotSendable(f"{what}: only http:// and https:// can be called") from error
        except httpx.HTTPError as error:
            raise NoAnswer(f"{what}: {type(error).__name__}: {error}") from error
        except AnswerTooLarge as error:
            raise AnswerTooLarge(f"{what}: the answer is larger than {most_bytes:,} bytes") from error

    async def _sent(self, request: httpx.Request, timeout_s: float, most_bytes: int | None) -> Answer:
        async with asyncio.timeout(timeout_s):
            response = await self._opened().send(request, stream=True, follow_redirects=False)
            try:
                body = b"" if most_bytes is None else await _read(response, most_bytes)
            finally:
                await response.aclose()
        return Answer(response.status_code, response.headers, body, response.charset_encoding or Answer.charset)

    def _opened(self) -> httpx.AsyncClient:
        # made with the first request: it reads all the certificates of the machine
        self._client = self._client or httpx.AsyncClient(
            timeout=None,
            limits=httpx.Limits(
                max_connections=_MOST_CONNECTIONS, max_keepalive_connections=_MOST_IDLE, keepalive_expiry=_IDLE_S
            ),
            # one caller's cookie is none of another's
            cookies=CookieJar(DefaultCookiePolicy(allowed_domains=[])),
        )
        return self._client


async def _read(response: httpx.Response, most_bytes: int) -> bytes:
    body = bytearray()
    async for piece in response.aiter_bytes():
        body += piece
        if len(body) > most_bytes:
            raise AnswerTooLarge
    return bytes(body)


def place(url: httpx.URL) -> str:
    """An address without what may be secret in it."""
    host = f"[{url.host}]" if ":" in url.host else url.host
    return f"{url.scheme}://{host}{f':{url.port}' if url.port else ''}{url.path}"
