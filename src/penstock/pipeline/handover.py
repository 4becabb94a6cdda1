"""From the process Spark commits in to the runtime: one batch per connection, by a socket only this user can reach."""

import json
import os
import select
import socket
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from penstock.errors import NotTaken, SettingsError

_NAME = "batches"
_LAST = "-last"
# a process that was stopped in the middle of its words keeps nobody waiting for ever
_SAYS_S = 30
_LOOK_S = 0.5


@dataclass
class Share:
    """What one task attempt has put into a staging table, with the first and next offset of each part.

    `staged` has its rows by the name they stand under there: the attempt's, or one for each chunk of them.
    """

    lane: int
    staged: dict[str, int] = field(default_factory=dict)
    firsts: dict[str, int] = field(default_factory=dict)
    nexts: dict[str, int] = field(default_factory=dict)

    @property
    def rows(self) -> int:
        return sum(self.staged.values())


@dataclass(frozen=True)
class Batch:
    """What the tasks of one batch have staged; of an aborted one, what the tasks that ended have."""

    number: int
    shares: list[Share]
    is_aborted: bool = False

    @property
    def rows(self) -> int:
        return sum(one.rows for one in self.shares)


def hand_over(address: str, batch: Batch) -> None:
    """Returns once the runtime has taken the batch: it may be committed by then, or be the next to be."""
    try:
        with socket.socket(socket.AF_UNIX) as client:
            client.connect(address)
            _send(client, asdict(batch))
            # a runtime that is to stop takes its address away, whatever it is busy with
            while not select.select([client], [], [], _LOOK_S)[0]:
                os.stat(address)
            answer = _received(client)
    except OSError as error:
        raise NotTaken(f"the runtime does not take batches any more ({error.strerror or error})") from error
    if answer is None or answer.get("refused"):
        raise NotTaken((answer or {}).get("refused") or "the runtime has ended meanwhile")


def is_last(address: str) -> bool:
    """Whether the runtime wants no batch after the one under way."""
    return os.path.exists(address + _LAST)


class Inlet:
    """Where a runtime takes batches, in a folder of its own."""

    def __init__(self, folder: Path) -> None:
        self.address = str(folder / _NAME)
        self._server = socket.socket(socket.AF_UNIX)
        try:
            self._server.bind(self.address)
        except OSError as error:
            self._server.close()
            raise SettingsError(
                f"no socket can be made at {self.address}: {error.strerror or error}\nSet TMPDIR to a shorter path."
            ) from error
        self._server.listen()

    def say_last(self) -> None:
        """To readers, which ask before they hand out more."""
        # in a folder that somebody has removed there are no readers to tell
        with suppress(OSError):
            Path(self.address + _LAST).touch()

    def shut(self) -> None:
        """From any thread: those who wait for an answer go away."""
        Path(self.address).unlink(missing_ok=True)

    def close(self) -> None:
        self.shut()
        self._server.close()

    def next(self, wait_s: float, take: Callable[[Batch, "Answer"], None]) -> None:
        """Let the next batch be taken, if one comes within this time; it is refused if nobody answers it."""
        self._server.settimeout(wait_s)
        try:
            client, _ = self._server.accept()
        except TimeoutError:
            return
        with client:
            client.settimeout(_SAYS_S)
            said = _received(client)
            if said is not None:
                shares = [Share(**one) for one in said.pop("shares")]
                take(Batch(shares=shares, **said), Answer(client))


class Answer:
    """Given once."""

    def __init__(self, client: socket.socket) -> None:
        self._client: socket.socket | None = client

    def taken(self) -> None:
        self._say({})

    def refused(self, why: str) -> None:
        self._say({"refused": why})

    def _say(self, what: dict[str, str]) -> None:
        client, self._client = self._client, None
        if client is not None:
            try:
                _send(client, what)
            except OSError:
                # a query that was stopped does not wait for it
                return


def _send(client: socket.socket, what: dict[str, Any]) -> None:
    client.sendall(json.dumps(what).encode() + b"\n")


def _received(client: socket.socket) -> dict[str, Any] | None:
    """One line, or None where it does not come whole."""
    try:
        with client.makefile("rb") as lines:
            line = lines.readline()
    except OSError:
        return None
    found: dict[str, Any] | None = json.loads(line) if line.endswith(b"\n") else None
    return found
