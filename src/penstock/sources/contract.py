"""What a source client is. Keep to this and the pipeline can read from it; tests/sources/conformance.py tries it."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

Attributes = tuple[tuple[str, bytes], ...]


@dataclass(frozen=True, slots=True)
class Message:
    """What a source hands over; bytes are as they were published."""

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
    """

    part: str
    identity: str
    first: int
    next: int
    keeps: bool = False


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

    def backlog(self) -> int:
        """How many messages are not acknowledged yet, handed out or not."""

    def floors(self) -> Mapping[str, int]:
        """Per part the offset up to which everything is acknowledged; nothing where the source does not know."""

    def fetch(self, limit: int, wait_s: float) -> Iterator[Message]:
        """Up to `limit` messages: those that are there now, or if none are, the first to come within `wait_s`."""

    def acknowledge(self, handles: Iterable[str]) -> int:
        """Tell the source that these are done, and return once it has said so; how many were."""

    def give_back(self, handles: Iterable[str]) -> None:
        """Let the source hand these out again at once."""
