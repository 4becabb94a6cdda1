"""The embedded NATS server beside a command, and the alias that opens it."""

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import structlog

from penstock.cli.output import waiting
from penstock.credentials import Credentials, read_credentials
from penstock.embedded import EmbeddedNats
from penstock.settings import Settings

log = structlog.get_logger("penstock.up")

NATS_ALIAS = "embedded_nats"


@contextmanager
def nats_beside(home: Path, settings: Settings) -> Iterator[None]:
    """For as long as the block lasts, also for other terminals: a file has the credential that opens it."""
    with _running(home) as (url, file):
        log.info("NATS listens", url=url, credential=NATS_ALIAS, file=str(file))
        if settings.credentials is None:
            # for ourselves, and for the tasks of Spark
            os.environ["PENSTOCK_CREDENTIALS"] = str(file)
            log.info(f"in other terminals: export PENSTOCK_CREDENTIALS={file}")
        elif NATS_ALIAS not in read_credentials(settings.credentials):
            log.warning(f"copy {NATS_ALIAS} from {file} into {settings.credentials}: it is not there")
        yield


@contextmanager
def credentials_of(alias: str | None, settings: Settings) -> Iterator[Credentials]:
    """Those of the file; where none is named and this alias is asked for, the embedded server runs meanwhile."""
    if alias != NATS_ALIAS or settings.credentials is not None:
        yield read_credentials(settings.credentials)
        return
    with _running(settings.home.expanduser().absolute()) as (_, file):
        yield read_credentials(file)


@contextmanager
def _running(home: Path) -> Iterator[tuple[str, Path]]:
    server = EmbeddedNats(home / "nats")
    with waiting("starting NATS"):
        url = server.start()
    try:
        yield url, _credential_file(home, server)
    finally:
        server.leave()


def _credential_file(home: Path, server: EmbeddedNats) -> Path:
    """Beside, then renamed: nobody reads half of it, and nobody else reads it at all."""
    file = home / "nats.credentials.yaml"
    new = file.with_suffix(".new")
    new.unlink(missing_ok=True)
    with open(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as output:
        json.dump({NATS_ALIAS: server.credential()}, output)
    new.rename(file)
    return file
