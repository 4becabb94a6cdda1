"""A real `penstock serve` as a login that is the gateway and nothing else, and clients with tokens of their own."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event, Thread
from typing import Any
from uuid import uuid4

import httpx
from starlette.types import ASGIApp

from penstock.gateway.app import GatewayOptions, make_app
from penstock.gateway.connections import Waits
from penstock.gateway.limits import Limits
from penstock.gateway.server import Address, serve
from penstock.kernel import tokens
from penstock.kernel.connection import Connection
from penstock.model import Json
from tests.acceptance.processes import until
from tests.logins import Logins
from tests.parts.certificates import Certificates
from tests.parts.processes import Part, free_ports, listens

PENSTOCK = Path(sys.executable).with_name("penstock")
_MAIN = "from penstock.cli.main import main; main()"
ACTOR = "user:ada"
_START_S = 60


class Api:
    """One server on a port it keeps, however often it is started."""

    def __init__(self, db: Connection, database: str, folder: Path) -> None:
        self.db = db
        self._environment = {"PENSTOCK_DATABASE_URL": database}
        self._folder = folder
        self._clients: list[httpx.Client] = []
        (self.port,) = free_ports(1)
        self.url = f"http://127.0.0.1:{self.port}"
        self.process = self.start()

    def start(self, *options: str, before: str | None = None) -> Part:
        """With `before` as what its process does first."""
        program = [str(PENSTOCK)] if before is None else [sys.executable, "-c", f"{before}; {_MAIN}"]
        command = [*program, "serve", "--port", str(self.port), *options]
        self.process = Part(command, self._folder / f"serve-{uuid4().hex[:6]}.log", self._environment)
        self.process.until(lambda: self.status("/livez") == 200, "the server answers", _START_S)
        return self.process

    def status(self, path: str) -> int | None:
        """The status of a plain GET; None when nobody answers."""
        try:
            return httpx.get(self.url + path, timeout=10).status_code
        except httpx.TransportError:
            return None

    def client(
        self, *scopes: str, actor: str = ACTOR, token: str | None = None, paths: list[str] | None = None
    ) -> httpx.Client:
        """Asks with a new token of these scopes, or with the one given."""
        text = token or tokens.create(self.db, actor, list(scopes), paths=paths)[1]
        made = httpx.Client(base_url=self.url, headers={"Authorization": f"Bearer {text}"}, timeout=30)
        self._clients.append(made)
        return made

    def close(self) -> None:
        for client in self._clients:
            client.close()
        self.process.stop()


@contextmanager
def served(db: Connection, database: str, logins: Logins, folder: Path) -> Iterator[Api]:
    login = logins.make("penstock_gateway")
    api = Api(db, database.replace("//postgres@", f"//{login}@"), folder)
    try:
        yield api
    finally:
        api.close()


@contextmanager
def serving(
    url: str,
    limits: Limits | None = None,
    wrapped: Callable[[ASGIApp], ASGIApp] = lambda app: app,
    waits: Waits | None = None,
    certificates: Certificates | None = None,
) -> Iterator[int]:
    """A server in this process, with other limits than the usual ones, or with TLS; on which port."""
    (port,) = free_ports(1)
    stop = Event()
    app = wrapped(make_app(GatewayOptions(url, limits=limits or Limits())))
    files = (certificates.certificate, certificates.key) if certificates else ()
    thread = Thread(target=serve, args=[app, Address("127.0.0.1", port, *files), stop, waits])
    thread.start()
    try:
        until(lambda: listens(port), "the server listens")
        yield port
    finally:
        stop.set()
        thread.join()


def answer(response: httpx.Response) -> Any:
    """What it says, when it must be well."""
    assert response.status_code == 200, response.text
    return response.json()


def problem(response: httpx.Response, status: int, code: str) -> Json:
    """What it says, when it must be this problem."""
    assert response.headers["content-type"] == "application/problem+json", response.text
    said: Json = response.json()
    assert (response.status_code, said["code"], said["status"]) == (status, code, status), response.text
    assert said["type"] == f"urn:penstock:problem:{code}"
    assert said["title"]
    assert said["detail"]
    return said
