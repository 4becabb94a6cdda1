"""A network of its own that reaches a few ports of this host and nothing else; the files of some folders are hidden."""

import os
import shlex
import shutil
import socket
import subprocess
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from threading import Thread
from types import TracebackType
from typing import Self
from uuid import uuid4

from tests.parts.missing import missing

_CHUNK = 65536
_COMMAND_S = 30


class OtherNetwork:
    """A network namespace joined to this one by a cable; what is lent can be reached over it at `address`."""

    def __init__(self, hidden: Sequence[Path] = ()) -> None:
        if os.geteuid() != 0 or shutil.which("ip") is None or shutil.which("unshare") is None:
            missing("a network namespace needs root, ip and unshare")
        name = uuid4().hex[:8]
        self._name, self._cable, self._hidden = f"ps-{name}", f"ps{name[:6]}", list(hidden)
        net = f"10.{int(name[:2], 16)}.{int(name[2:4], 16)}"
        self.address, self._inner = f"{net}.1", f"{net}.2"
        self._relays: list[socket.socket] = []

    def __enter__(self) -> Self:
        inside = ["netns", "exec", self._name, "ip"]
        _ip("netns", "add", self._name)
        _ip("link", "add", self._cable, "type", "veth", "peer", "name", "outside", "netns", self._name)
        _ip("addr", "add", f"{self.address}/24", "dev", self._cable)
        _ip("link", "set", self._cable, "up")
        _ip(*inside, "addr", "add", f"{self._inner}/24", "dev", "outside")
        _ip(*inside, "link", "set", "outside", "up")
        _ip(*inside, "link", "set", "lo", "up")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for relay in self._relays:
            relay.close()
        # its end of the cable goes with it
        _ip("netns", "del", self._name)

    def lend(self, port: int) -> str:
        """Let this port of our own loopback be reached from there, at the same number."""
        relay = socket.create_server((self.address, port))
        self._relays.append(relay)
        Thread(target=_accept, args=[relay, port], daemon=True).start()
        return f"{self.address}:{port}"

    def run(self, command: Sequence[str], environment: Mapping[str, str], timeout_s: float) -> tuple[int, str]:
        """There, with this environment and no more; returns the code, and all that was said."""
        covers = "".join(f"mount -t tmpfs tmpfs {shlex.quote(str(one))} && " for one in self._hidden)
        ran = subprocess.run(
            ["ip", "netns", "exec", self._name, "unshare", "-m", "sh", "-c", f"{covers}exec {shlex.join(command)}"],
            env=dict(environment) | {"PATH": os.environ["PATH"]},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=timeout_s,
        )
        return ran.returncode, ran.stdout


def _ip(*words: str) -> None:
    subprocess.run(["ip", *words], check=True, capture_output=True, timeout=_COMMAND_S)


def _accept(relay: socket.socket, port: int) -> None:
    while True:
        try:
            near, _ = relay.accept()
        except OSError:
            return
        try:
            far = socket.create_connection(("127.0.0.1", port))
        except OSError:
            near.close()
            continue
        Thread(target=_join, args=[near, far], daemon=True).start()


def _join(near: socket.socket, far: socket.socket) -> None:
    """Both ways, until one side has ended."""
    with near, far, ThreadPoolExecutor(2) as ways:
        ways.submit(_pass_on, near, far)
        ways.submit(_pass_on, far, near)


def _pass_on(source: socket.socket, target: socket.socket) -> None:
    try:
        while chunk := source.recv(_CHUNK):
            target.sendall(chunk)
    except OSError:
        # the other side has gone
        return
    finally:
        for one in (source, target):
            with suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
