"""What a source client is. Keep to this and the pipeline can read from it; tests/sources/conformance.py tries it."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol, runtime_checkable

from penstock.catalog.source import Start
from penstock.errors import SourceUnavailable

Attributes = tuple[tuple[str, bytes], ...]


@dataclass(frozen=True, slots=True)
class Message:
    """What a source hands over; bytes are as they were published. `deliveries` is 0 where the source does not count."""

    part: str
    offset: int
    id: str
    published_at: datetime
    key: bytes | None
    body: bytes
    attributes: Attributes
    ack: str
    deliveries: int


@dataclass(frozen=True, slots=True)
class Span:
    """What one part of a source holds: offsets from `first` to before `next`.

    `identity` changes when the part was removed and made again, since its offsets then mean other messages.
    `keeps`: a number is left out only where a message was removed, so that what lies before `first` unread is lost.
    `retention_s`: after so long a message cannot come again; None where floors say so, or nothing does.
    A source that does not number its messages gives them their time for an offset, and a `next` beyond all of them.
    """

    part: str
    identity: str
    first: int
    next: int
    keeps: bool = False
    retention_s: int | None = None


@dataclass(frozen=True, slots=True)
class Peeked:
    """A message that was looked at and not taken. One of Kafka's may have no body, and headers without a value."""

    part: str
    offset: int
    id: str
    published_at: datetime
    key: bytes | None
    body: bytes | None
    attributes: tuple[tuple[str | bytes, bytes | None], ...]


class Source(Protocol):
    """Any source: can it be used, and what does it hold. Every method raises a SourceError when it cannot answer."""

    def check(self) -> None:
        """Raise the SourceError that says why messages cannot be had from here, if they cannot."""

    def spans(self) -> tuple[Span, ...]:
        """One per part, in the order of their names."""

    def close(self) -> None:
        """Let go of the connection. May be called again."""


class Queue(Source, Protocol):
    """A source that hands out messages one by one and forgets each when it is acknowledged.

    Handles (`Message.ack`) are text and work from any process, so that one may fetch and another acknowledge.
    """

    def backlog(self) -> int | None:
        """How many messages are not acknowledged yet, handed out or not; None where the source does not say."""

    def floors(self) -> Mapping[str, int]:
        """Per part the offset up to which everything is acknowledged; nothing where the source does not know."""

    def fetch(self, limit: int, wait_s: float) -> Iterator[Message]:
        """Up to `limit` messages: those that are there now, or if none are, the first to come within `wait_s`."""

    def acknowledge(self, handles: Iterable[str]) -> int:
        """Tell the source that these are done, and return once it has said so; how many were."""

    def give_back(self, handles: Iterable[str]) -> None:
        """Let the source hand these out again at once."""


@runtime_checkable
class Uncounted(Protocol):
    """A queue that does not say how much waits: what is there is known when it is fetched."""

    def answer(self, limit: int, wait_s: float) -> list[Message]:
        """Up to `limit` messages, as many as the server gives at a time; none if none came within `wait_s`."""


class Peekable(Protocol):
    """A source whose messages can be looked at: nothing is acknowledged or moved by it, or kept from others."""

    def peek(self, limit: int, start: Start, ledger: Mapping[str, int]) -> Iterator[Peeked]:
        """Up to `limit` messages that a runtime would get next, or that the source would hand out next.

        `ledger` has the next offset of each part a runtime has read; without one, `start` says where to begin.
        """


@runtime_checkable
class Marking(Protocol):
    """A queue that does not say how far it is acknowledged, and keeps a number for us by which we can tell.

    It belongs to a ledger: the number of another one, which read here before, says nothing of ours.
    """

    def mark(self, ledger: str) -> int:
        """The number it was last given; 0 where that was not by this ledger."""

    def set_mark(self, ledger: str, number: int) -> None:
        """Keep this number, if that is wanted."""

    def rewind(self) -> bool:
        """Hand out again all that it still holds, acknowledged or not; False where it holds only what is not."""


def all_or_given_back(batch: Sequence[Message], give_back: Callable[[Iterator[str]], None]) -> Iterator[Message]:
    """Those the caller did not want in the end are handed out again at once, not after their time."""
    taken = 0
    try:
        for message in batch:
            taken += 1
            yield message
    finally:
        if taken < len(batch):
            # else they come again when their time is over
            with suppress(SourceUnavailable):
                give_back(message.ack for message in batch[taken:])
