"""Whose turn it is with a group of Kafka: from a poll until its messages are acknowledged no other one may begin.

All there is to know what was polled is the group's offset. A poll that began before the last one's acknowledgement
would give the same messages, and of two acknowledgements one would undo the other.
"""

from collections.abc import Iterable
from contextlib import ExitStack

from penstock.catalog.tools import Tool
from penstock.errors import DatabaseUnavailable, PenstockError, Refused
from penstock.jobs import Pledge, Snooze
from penstock.kernel import databases, health
from penstock.kernel.connection import Connection
from penstock.worker.link import LinkPool

_PATIENCE_S = 0.3
_AGAIN_S = 1.0


def take_turns(tools: Iterable[Tool], links: LinkPool, pledges: list[Pledge]) -> "list[Turn]":
    """With every group that a step's tools name, until what the step owes is settled.

    Before the first tool runs: a step that is put off must have done nothing.
    """
    turns: list[Turn] = []
    for group in sorted({tool.settings["group"] for tool in tools if "group" in tool.settings}):
        turn = Turn(links, group)
        pledges.append(Pledge(turn.end, turn.end, always=True))
        turns.append(turn)
    return turns


class Turn:
    """A lock over all workers. It ends with the connection that holds it, so that no dead worker keeps it."""

    def __init__(self, links: LinkPool, group: str) -> None:
        """Wait for it a little; then the job is put off, and holds no worker."""
        self._links = links
        self._link = links.taken()
        self._held = ExitStack()
        self._holder: Connection | None = None
        what = f"poll or acknowledgement for the Kafka group {group}"

        def hold(connection: Connection) -> None:
            self._held.enter_context(databases.alone(connection, what, patience_s=_PATIENCE_S))
            self._holder = connection

        try:
            self._link.call(hold)
        except PenstockError as error:
            links.give_back(self._link)
            if isinstance(error, DatabaseUnavailable | Refused):
                raise
            raise Snooze(_AGAIN_S) from None

    def check(self) -> None:
        """Raise if it ended meanwhile, with its connection: another step may have polled the same messages."""
        self._link.call(self._is_held_by)

    def _is_held_by(self, connection: Connection) -> None:
        if connection is not self._holder:
            raise DatabaseUnavailable("the connection that held a Kafka group for this step is gone: it polls again")
        health.server_time(connection)

    def end(self) -> None:
        try:
            self._held.close()
        except PenstockError:
            # the server has ended it, too
            self._link.close()
        self._links.give_back(self._link)
