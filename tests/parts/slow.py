"""A network between a client and a server: what is sent arrives later."""

import socket
import time
from contextlib import suppress
from queue import SimpleQueue
from threading import Thread

from penstock.closing import Closing

_AT_ONCE = 65536
_SOON_S = 10


class Slow(Closing):
    """A door to an address through which every byte takes `delay_s`, either way: a round trip takes twice that."""

    def __init__(self, address: str, delay_s: float) -> None:
        host, _, port = address.rpartition(":")
        self._behind = (host, int(port))
        self._delay_s = delay_s
        self._ends: list[socket.socket] = []
        self._door = socket.create_server(("127.0.0.1", 0))
        self.address = f"127.0.0.1:{self._door.getsockname()[1]}"
        self._let_in = Thread(target=self._open, daemon=True)
        self._let_in.start()

    def close(self) -> None:
        # who waits at the door is woken by this, not by its closing
        with suppress(OSError):
            self._door.shutdown(socket.SHUT_RDWR)
        self._door.close()
        self._let_in.join(_SOON_S)
        for end in self._ends:
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
            end.close()

    def _open(self) -> None:
        with suppress(OSError):
            while True:
                here, _ = self._door.accept()
                there = socket.create_connection(self._behind, _SOON_S)
                there.settimeout(None)
                self._ends += [here, there]
                self._join(here, there)
                self._join(there, here)

    def _join(self, source: socket.socket, target: socket.socket) -> None:
        on_their_way: SimpleQueue[tuple[float, bytes]] = SimpleQueue()
        Thread(target=self._take, args=[source, on_their_way], daemon=True).start()
        Thread(target=_deliver, args=[on_their_way, target], daemon=True).start()

    def _take(self, source: socket.socket, on_their_way: SimpleQueue[tuple[float, bytes]]) -> None:
        sent = b"-"
        while sent:
            try:
                sent = source.recv(_AT_ONCE)
            except OSError:
                sent = b""
            on_their_way.put((time.monotonic() + self._delay_s, sent))


def _deliver(on_their_way: SimpleQueue[tuple[float, bytes]], target: socket.socket) -> None:
    with suppress(OSError):
        while True:
            arrives_at, sent = on_their_way.get()
            time.sleep(max(0.0, arrives_at - time.monotonic()))
            if not sent:
                target.shutdown(socket.SHUT_WR)
                return
            target.sendall(sent)
