"""One server process: a socket, uvicorn, and an end in good order."""

import asyncio
import socket
import ssl
from dataclasses import dataclass
from math import ceil
from pathlib import Path
from threading import Event, Thread

import structlog
import uvicorn
from starlette.types import ASGIApp

from penstock.errors import SettingsError
from penstock.gateway.connections import Waits, timed
from penstock.gateway.handshakes import secured

_LOOK_S = 0.5
_GRACE_S = 30
_LOCAL = ("127.", "::1", "localhost")


@dataclass(frozen=True)
class Address:
    host: str
    port: int
    certificate: Path | None = None
    key: Path | None = None

    @property
    def is_open(self) -> bool:
        """Whether others than this machine can listen in."""
        return self.certificate is None and not self.host.startswith(_LOCAL)


def serve(app: ASGIApp, address: Address, stop: Event, waits: Waits | None = None) -> None:
    """Answer until told to stop; requests in hand are ended first."""
    log = structlog.get_logger("penstock.gateway")
    listening = _listen(address)
    server = uvicorn.Server(_config(app, address, waits or Waits()))
    # not in the main thread: there uvicorn would take the signals
    thread = Thread(target=server.run, args=[[listening]], name="http")
    thread.start()
    port = listening.getsockname()[1]
    log.info("serving", url=f"{'http' if address.certificate is None else 'https'}://{address.host}:{port}")
    if address.is_open:
        log.warning("tokens can be read on the way: use --tls-cert and --tls-key, or a proxy that speaks TLS")
    while thread.is_alive() and not stop.wait(_LOOK_S):
        pass
    server.should_exit = True
    thread.join()
    if not server.started:
        raise SettingsError("the server could not be started: its log says why")
    log.info("stopped")


def _config(app: ASGIApp, address: Address, waits: Waits) -> uvicorn.Config:
    return uvicorn.Config(
        app,
        log_config=None,
        log_level="warning",
        access_log=False,
        server_header=False,
        # who a client is, a token says
        proxy_headers=False,
        ws="none",
        lifespan="on",
        # uvloop reads on when it is told to pause as a connection is made, and a handshake's first bytes would be lost
        loop="auto" if address.certificate is None else "asyncio",
        http=_protocol(address, waits),
        # beyond these a client is not even answered in words
        limit_concurrency=waits.connections + 1,
        timeout_keep_alive=ceil(waits.idle_s),
        timeout_graceful_shutdown=_GRACE_S,
    )


def _protocol(address: Address, waits: Waits) -> type[asyncio.Protocol]:
    if address.certificate is None:
        return timed(waits)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    try:
        context.load_cert_chain(address.certificate, address.key)
    except OSError as error:
        raise SettingsError(f"the certificate or its key cannot be used: {error}") from error
    # not uvicorn's own TLS: there a connection is nobody's before its handshake has ended
    return secured(timed(waits), context)


def _listen(address: Address) -> socket.socket:
    family = socket.AF_INET6 if ":" in address.host else socket.AF_INET
    try:
        return socket.create_server((address.host, address.port), family=family, backlog=256)
    except (OSError, OverflowError) as error:
        raise SettingsError(
            f"cannot listen at {address.host}:{address.port}: {error}\nChoose another with --host and --port."
        ) from error
