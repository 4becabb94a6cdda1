"""A trail of what happens to one subscription and its executions: one event a line, as the server has them."""

import hashlib
import json
import os
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import Self

from penstock.cli.numbers import Numbers
from penstock.cli.output import as_json
from penstock.errors import SettingsError
from penstock.kernel import local
from penstock.kernel.connection import Connection
from penstock.kernel.local import TrailEvent


class Trail:
    """Appends to a file. Executions are followed until they end; those that were under way before it began, too."""

    def __init__(self, file: Path, subscription: str, since: datetime) -> None:
        self._path = file
        self._subscription = subscription
        self._since = since
        # what has been written of each execution that goes on
        self._open: dict[int, set[bytes]] = {}
        # what each of them has started
        self._children: dict[int, set[int]] = {}
        self._begun = Numbers()
        self._told = Numbers()

    def __enter__(self) -> Self:
        try:
            self._file = self._path.open("ab")
        except OSError as error:
            raise SettingsError(f"--events {self._path}: it cannot be written: {error.strerror}") from error
        # the end of a line that somebody was writing when he was killed
        if self._path.stat().st_size and not _ends_a_line(self._path):
            self._file.write(b"\n")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.flush()
        os.fsync(self._file.fileno())
        self._file.close()

    @property
    def remembered(self) -> int:
        """How many executions and rows it keeps in mind: those under way, and what may be read again."""
        return len(self._open) + len(self._children) + len(self._begun) + len(self._told)

    def follow(self, executions: list[int]) -> None:
        """Until they have ended."""
        for one in executions:
            self._open.setdefault(one, set())

    def look(self, connection: Connection) -> None:
        """Write what has happened since the last look. One that fails has written nothing, and the next has it all."""
        self._follow_begun(connection)
        # asked first: of those, nothing more comes after
        over = local.ended(connection, list(self._open))
        self._follow_children(connection)
        horizon, own = local.own_events(connection, self._subscription, self._told.floor, self._since)
        of_executions = self._of_executions(connection)
        found = [*(own[number] for number in self._told.unseen(own)), *(event for event, _ in of_executions)]
        for event in sorted(found, key=lambda one: one.happened_at):
            self._file.write(_line(event))
        self._file.flush()
        self._told.see(own, horizon)
        for event, mark in of_executions:
            assert event.execution_id is not None
            self._open.setdefault(event.execution_id, set()).add(mark)
        for execution_id in over:
            del self._open[execution_id]
            self._children.pop(execution_id, None)

    def _follow_begun(self, connection: Connection) -> None:
        horizon, begun = local.begun(connection, self._subscription, self._begun.floor, self._since)
        self.follow(self._begun.unseen(begun))
        self._begun.see(begun, horizon)

    def _follow_children(self, connection: Connection) -> None:
        followed = list(self._open)
        while followed:
            started = [
                (parent, child)
                for parent, child in local.children(connection, followed)
                if child not in self._children.get(parent, ())
            ]
            for parent, child in started:
                self._children.setdefault(parent, set()).add(child)
            followed = [child for _, child in started]
            self.follow(followed)

    def _of_executions(self, connection: Connection) -> list[tuple[TrailEvent, bytes]]:
        """What is not written yet of those that go on; each with its mark."""
        if not self._open:
            return []
        found = local.events(connection, self._subscription, list(self._open), self._since)
        marked = ((event, _mark(event)) for event in found)
        return [(event, mark) for event, mark in marked if mark not in self._open.get(event.execution_id or 0, ())]


def _line(event: TrailEvent) -> bytes:
    return json.dumps(as_json(event), ensure_ascii=False).encode() + b"\n"


def _mark(event: TrailEvent) -> bytes:
    """What makes it that event. Who did it is known only while it is under way."""
    told = (event.job_id, event.happening, event.attempt, event.happened_at, event.detail)
    return hashlib.blake2b(repr(told).encode(), digest_size=12).digest()


def _ends_a_line(file: Path) -> bool:
    with file.open("rb") as read:
        read.seek(-1, os.SEEK_END)
        return read.read(1) == b"\n"
