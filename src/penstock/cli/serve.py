"""penstock serve"""

from pathlib import Path
from typing import Annotated

import typer

from penstock.cli.logs import log_to_stderr
from penstock.cli.output import waiting
from penstock.cli.signals import leave, stopped_by_signals
from penstock.client import database_url


def serve_command(
    host: Annotated[str, typer.Option(help="The address to listen at.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="The port; 0 lets the system choose.")] = 8080,
    tls_cert: Annotated[
        Path | None, typer.Option(exists=True, dir_okay=False, help="The server's certificate, PEM.")
    ] = None,
    tls_key: Annotated[Path | None, typer.Option(exists=True, dir_okay=False, help="Its key, PEM.")] = None,
    sessions: Annotated[int, typer.Option(min=1, max=200, help="At most this many sessions with PostgreSQL.")] = 10,
) -> None:
    """Answer the HTTP API until SIGTERM, SIGHUP or Ctrl-C; a second one ends it at once.

    Example: penstock serve --host 0.0.0.0 --port 8443 --tls-cert server.pem --tls-key server.key
    """
    if (tls_cert is None) != (tls_key is None):
        raise typer.BadParameter("--tls-cert and --tls-key go together", param_hint="--tls-cert")
    # slow to import, and no other command needs it
    from penstock.gateway.app import GatewayOptions, make_app
    from penstock.gateway.server import Address, serve

    log_to_stderr()
    with waiting("starting PostgreSQL"):
        url = database_url()
    serve(make_app(GatewayOptions(url, sessions)), Address(host, port, tls_cert, tls_key), stopped_by_signals())
    # a thread may still wait for the database, which gives a commit ten minutes
    leave(0)
