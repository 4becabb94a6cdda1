"""What the tool `subscription` needs of a source: a bounded poll, and an answer to each message it handed over."""

from collections.abc import Callable, Generator, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from penstock.errors import SourceUnfit
from penstock.sources.contract import Message, Queue


@dataclass(frozen=True, slots=True)
class Polled:
    """One message, and the handle it is answered by: text that works from any process."""

    id: str
    part: str
    offset: int
    published_at: datetime | None
    key: bytes | None
    # of a tombstone None
    body: bytes | None
    attributes: Sequence[tuple[str, bytes | None]]
    handle: str
    # how often it was handed over, this time too; None where the source does not count
    deliveries: int | None
    # how many before it were gone before anybody polled them
    lost: int = 0
    # what names it there for ever, unlike its id: a place that was made anew gives the same ids to other messages
    identity: str = ""


# how many more; 0: none
Wanted = Callable[[], int]


class Drain(Protocol):
    """A source as steps of a playbook use it. Every method raises a SourceError when it cannot do its work."""

    @property
    def in_order(self) -> bool:
        """Whether a message can be acknowledged only after all before it."""

    @property
    def is_sure(self) -> bool:
        """Whether a poll that got fewer than it may have has got all that were there."""

    def hold_s(self) -> float | None:
        """How long a handle is good from the poll on; None: as long as the source keeps the message."""

    def poll(self, limit: int, wait_s: float, wanted: Wanted) -> Generator[Polled]:
        """Those that are there, or if none are, the first to come within `wait_s`. What is not taken comes again.

        Where that costs a message something, no more are fetched than `wanted` says, which is asked before each fetch.
        """

    def acknowledge(self, handles: Sequence[str]) -> None:
        """These are done. Once more is no mistake."""

    def give_back(self, handles: Sequence[str]) -> None:
        """These are to come again, at once."""

    def terminate(self, handles: Sequence[str]) -> None:
        """These are never to come again, though nobody has done them."""

    def settled(self, handles: Iterable[str]) -> set[str]:
        """Which of these the source certainly waits for no more."""

    def close(self) -> None: ...


class QueueDrain:
    """Of a source that hands out messages one by one, each for a time."""

    def __init__(self, source: Queue, hold_s: float, least_wait_s: float = 0, *, is_sure: bool = True) -> None:
        self.in_order = False
        self.is_sure = is_sure
        self._source = source
        self._hold_s = hold_s
        self._least_wait_s = least_wait_s

    def hold_s(self) -> float:
        return self._hold_s

    def poll(self, limit: int, wait_s: float, wanted: Wanted) -> Generator[Polled]:
        """A few, then more: one that is fetched and given back was delivered, and has only so many deliveries."""
        left, wait_s = limit, max(wait_s, self._least_wait_s)
        while left > 0 and (asked := min(left, wanted())) > 0:
            got = yield from self._fetch(asked, wait_s)
            if got < asked:
                return
            left, wait_s = left - got, 0

    def _fetch(self, limit: int, wait_s: float) -> Generator[Polled, None, int]:
        """How many there were."""
        got = 0
        fetching = self._source.fetch(limit, wait_s)
        try:
            for one in fetching:
                yield polled(one)
                got += 1
        finally:
            # so that it gives back now what was not taken
            if isinstance(fetching, Generator):
                fetching.close()
        return got

    def acknowledge(self, handles: Sequence[str]) -> None:
        done = self._source.acknowledge(handles)
        if done < len(handles):
            raise SourceUnfit(
                f"{len(handles) - done} of {len(handles)} handles have expired: their messages come again."
            )

    def give_back(self, handles: Sequence[str]) -> None:
        self._source.give_back(handles)

    def terminate(self, handles: Sequence[str]) -> None:
        raise SourceUnfit("This source cannot drop a message: acknowledge it, or leave it to its dead-letter policy.")

    def settled(self, handles: Iterable[str]) -> set[str]:
        return set()

    def close(self) -> None:
        self._source.close()


def polled(one: Message) -> Polled:
    return Polled(
        id=one.id,
        part=one.part,
        offset=one.offset,
        published_at=one.published_at,
        key=one.key,
        body=one.body,
        attributes=one.attributes,
        handle=one.ack,
        # Pub/Sub says 0 where it does not count
        deliveries=one.deliveries or None,
        identity=f"{one.part}/{one.id}/{'' if one.published_at is None else one.published_at.isoformat()}",
    )
