"""One data folder: make it, start its server, stop it. The caller holds the lock."""

import glob
import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Mapping
from contextlib import suppress
from functools import cached_property
from pathlib import Path

from penstock.embedded import sockets
from penstock.embedded.account import Account, server_account
from penstock.embedded.binaries import Binaries
from penstock.embedded.logfile import LogFile
from penstock.embedded.postmaster import READY, abandoned, running, stated_pid
from penstock.embedded.process import start_time, wait_for
from penstock.errors import EmbeddedPostgresError

INITDB_S = 120
START_S = 300  # a live server that recovers up to max_wal_size of log
SPAWN_S = 10
RETRY_S = 30  # for the children of a killed server to notice and go
RETRY_PAUSE_S = 0.25
STOP_S = 60

STOP_SIGNALS = {"smart": signal.SIGTERM, "fast": signal.SIGINT, "immediate": signal.SIGQUIT}
# What the server says when an earlier one is not quite gone yet.
REMAINS = (b"pre-existing shared memory block", b'lock file "postmaster.pid" already exists')
INITIALISED = "penstock.initialised"
# initdb writes none of these: the first is ours, the others say that a server ran here or a backup was restored.
COMPLETE = (INITIALISED, "postmaster.opts", "backup_label")


class Cluster:
    def __init__(self, data: Path, binaries: Binaries, settings: Mapping[str, str]) -> None:
        self.data = data
        self._log = LogFile.beside(data)
        self._binaries = binaries
        self._settings = settings

    @cached_property
    def _account(self) -> Account:
        return server_account(self.data)

    def ensure_initialised(self) -> None:
        """Have a complete data folder of our version there, made with initdb if need be."""
        if self._is_complete():
            self._check_version()
            return
        self._account.make_reachable(self.data.parent)
        self._account.make_runnable(self._binaries.folder)
        self._put_aside_what_is_incomplete()
        self._stop_abandoned()
        self._initdb()

    def ensure_running(self) -> None:
        """Return when the server accepts connections."""
        began = time.monotonic()
        while True:
            if not wait_for(lambda: running(self.data) is None or self._is_ready(), START_S):
                raise self.failure(f"A PostgreSQL server runs on {self.data} but is not ready after {START_S} s")
            if self._is_ready() or self._launch():
                return
            if time.monotonic() - began > RETRY_S:
                raise self.failure(f"PostgreSQL did not start on {self.data}, tried for {RETRY_S} s")
            time.sleep(RETRY_PAUSE_S)

    def stop(self, mode: str) -> None:
        server = running(self.data)
        if server is not None:
            with suppress(ProcessLookupError):
                os.kill(server.pid, STOP_SIGNALS[mode])
            if not wait_for(lambda: not server.lives(), STOP_S):
                raise self.failure(f"PostgreSQL, process {server.pid}, did not stop ({mode}) within {STOP_S} s")

    def shut_down(self) -> None:
        """Stop in order if that works in time, and in any case."""
        folder = self.socket_folder()
        try:
            self.stop("fast")
        except EmbeddedPostgresError:
            self.stop("immediate")
        sockets.remove(folder, self.data)

    def socket_folder(self) -> Path:
        server = running(self.data)
        return server.socket_folder if server and server.socket_folder else sockets.socket_folder(self.data)

    def failure(self, what: str) -> EmbeddedPostgresError:
        return EmbeddedPostgresError(self._log.last_words(what))

    def _is_complete(self) -> bool:
        return (self.data / "PG_VERSION").exists() and any((self.data / name).exists() for name in COMPLETE)

    def _check_version(self) -> None:
        theirs, ours = (self.data / "PG_VERSION").read_text().strip(), self._binaries.version()
        if theirs != str(ours):
            raise EmbeddedPostgresError(
                f"{self.data} holds data of PostgreSQL {theirs}, but the programs in {self._binaries.folder} are "
                f"PostgreSQL {ours}. Start it with PostgreSQL {theirs}, copy the data over with pg_dump (or use "
                f"pg_upgrade), or move the folder away to begin with an empty database."
            )

    def _put_aside_what_is_incomplete(self) -> None:
        """A killed initdb's folder is renamed, not deleted: better a spare folder than lost data."""
        if not self.data.exists() or not any(self.data.iterdir()):
            return
        if not (self.data / "global").is_dir() or not (self.data / "base").is_dir():
            raise EmbeddedPostgresError(
                f"{self.data} is not empty and holds no PostgreSQL data. Choose another folder, or empty this one."
            )
        self.data.rename(tempfile.mkdtemp(dir=self.data.parent, prefix=f"{self.data.name}.incomplete-"))

    def _stop_abandoned(self) -> None:
        """A server whose folder was removed under it would, on noticing, also remove its successor's socket."""
        left = abandoned(self.data)
        for pid in left:
            with suppress(ProcessLookupError):
                os.kill(pid, STOP_SIGNALS["immediate"])
        if not wait_for(lambda: not any(start_time(pid) for pid in left), STOP_S):
            raise self.failure(
                f"PostgreSQL, process {left}, did not stop within {STOP_S} s, though {self.data} is gone"
            )

    def _initdb(self) -> None:
        """Into a folder beside, then renamed: the data folder is there as a whole or not at all."""
        for left in self.data.parent.glob(f"{glob.escape(self.data.name)}.initdb-*"):
            shutil.rmtree(left, ignore_errors=True)
        new = Path(tempfile.mkdtemp(dir=self.data.parent, prefix=f"{self.data.name}.initdb-"))
        try:
            self._account.own(new)
            self._run_initdb(new)
            (new / INITIALISED).touch(mode=0o600)
            self._account.own(new / INITIALISED)
            new.rename(self.data)
        finally:
            shutil.rmtree(new, ignore_errors=True)

    def _run_initdb(self, folder: Path) -> None:
        options = ["--username=postgres", "--encoding=UTF8", "--locale=C", "--auth=trust", "-D", str(folder)]
        try:
            with self._log.opened() as log:
                command = [str(self._binaries.folder / "initdb"), *options]
                ran = self._account.run(command, timeout_s=INITDB_S, stdout=log, stderr=log)
        except subprocess.TimeoutExpired as error:
            raise self.failure(f"initdb did not finish within {INITDB_S} s") from error
        if ran.returncode != 0:
            raise self.failure(f"initdb could not make {self.data}")

    def _launch(self) -> bool:
        """Start a server and see it ready; False if it is worth another try."""
        self._prepare_launch()
        said_before = self._log.size_bytes()
        pid = self._spawn()
        if not wait_for(lambda: self._is_ready() or start_time(pid) is None, START_S):
            raise self.failure(
                f"PostgreSQL, process {pid}, is not ready after {START_S} s. It was left running: try again later"
            )
        if self._is_ready():
            return True
        said = self._log.said_since(said_before)
        # A server that gives up by itself takes its pid file along.
        was_killed = stated_pid(self.data) == pid
        if not was_killed and not any(remains in said for remains in REMAINS):
            raise self.failure(f"PostgreSQL did not start on {self.data}")
        return False

    def _prepare_launch(self) -> None:
        self._account.make_reachable(self.data)
        self._account.make_runnable(self._binaries.folder)
        sockets.prepare(sockets.socket_folder(self.data), self.data, self._account)
        self._log.turn()

    def _spawn(self) -> int:
        command = [str(self._binaries.folder / "postgres"), "-D", str(self.data)]
        command += ["-k", str(sockets.socket_folder(self.data)), "-p", str(sockets.PORT)]
        command += [word for name, value in self._settings.items() for word in ("-c", f"{name}={value}")]
        # Through a shell, so that the server is no child of ours: we need not reap it, and it sees none of our files.
        shell = ["/bin/sh", "-c", '"$@" >&2 & echo $!', "sh", *command]
        # The server refuses while the process id its predecessor left behind is alive. We know that one is another
        # program by now, and this is how to tell it; its check for living children of the predecessor stays.
        stale = {"PG_GRANDPARENT_PID": str(stated_pid(self.data) or 0)}
        try:
            with self._log.opened() as log:
                ran = self._account.run(shell, timeout_s=SPAWN_S, stdout=subprocess.PIPE, stderr=log, environment=stale)
        except subprocess.TimeoutExpired as error:
            raise self.failure(f"PostgreSQL could not be launched within {SPAWN_S} s") from error
        if not ran.stdout.strip():
            raise self.failure(f"PostgreSQL could not be launched: the shell ended with {ran.returncode}")
        return int(ran.stdout)

    def _is_ready(self) -> bool:
        server = running(self.data)
        return server is not None and server.status == READY
