"""Which folder the server's unix socket lives in."""

import hashlib
import re
import stat
import tempfile
from pathlib import Path

from penstock.embedded.account import Account
from penstock.errors import EmbeddedPostgresError

PORT = 5432
NAME = f".s.PGSQL.{PORT}"
PATH_MAX = 103  # bytes; macOS's limit, the smallest
# A comma separates hosts for libpq and folders for the server, quotes mean something to both.
PLAIN = re.compile(r"[\w./+ -]+")


def socket_folder(data: Path) -> Path:
    """The data folder itself, or a short name derived from it when that cannot be a socket's path."""
    short = f"penstock-{hashlib.sha256(bytes(data)).hexdigest()[:16]}"
    folders = [data, Path(tempfile.gettempdir()).resolve() / short, Path("/tmp") / short]
    return next((folder for folder in folders if _fits(folder)), folders[-1])


def prepare(folder: Path, data: Path, account: Account) -> None:
    """Make the folder ready for a server that is about to start."""
    if folder != data:
        _make_private(folder, account)
    # Their process id may belong to another program by now, which would stop the server from starting.
    for name in (NAME, f"{NAME}.lock"):
        (folder / name).unlink(missing_ok=True)


def remove(folder: Path, data: Path) -> None:
    if folder != data and folder.exists() and not any(folder.iterdir()):
        folder.rmdir()


def _fits(folder: Path) -> bool:
    return len(bytes(folder / NAME)) <= PATH_MAX and PLAIN.fullmatch(str(folder)) is not None


def _make_private(folder: Path, account: Account) -> None:
    account.make_reachable(folder.parent)
    if not folder.exists():
        folder.mkdir(mode=0o700)
        account.own(folder)
    status = folder.lstat()
    # The name can be guessed: whoever owned the folder could stand in for the server.
    if not stat.S_ISDIR(status.st_mode) or status.st_uid != account.uid or status.st_mode & 0o077:
        raise EmbeddedPostgresError(
            f"{folder} is not a private folder of PostgreSQL's OS user. Remove it and try again."
        )
