"""For a source that does not say how much waits: a few messages, fetched ahead of the batch that they begin."""

from collections.abc import Iterator
from concurrent.futures import Future, InvalidStateError
from contextlib import suppress
from itertools import accumulate
from threading import Thread

from penstock.errors import SourceError
from penstock.sources.contract import Message, Queue, Uncounted

# they travel with the plan of the batch: more than any answer of Pub/Sub holds, and little for Spark
_MOST_BYTES = 16 * 2**20


class Peek:
    """Asks in the background, so that nobody need wait as long as an answer may take."""

    def __init__(self, queue: Queue, limit: int, wait_s: float) -> None:
        self._queue = queue
        self._limit = limit
        self._wait_s = wait_s
        self._asked: Future[tuple[Message, ...]] | None = None
        self.found: tuple[Message, ...] = ()

    def look(self, within_s: float | None) -> bool:
        """Whether a message is there, as far as the source has said within this time; None: until it has said."""
        if self.found:
            return True
        if self._asked is None:
            self._asked = self._ask()
        try:
            self.found = self._asked.result(within_s)
        except TimeoutError:
            return False
        self._asked = None
        return bool(self.found)

    def forget(self) -> None:
        """What was found is read by now."""
        self.found = ()

    def close(self) -> None:
        """What was found and not read is handed out again at once; the source is closed."""
        asked, self._asked = self._asked, None
        with suppress(SourceError):
            is_answered = asked is not None and not asked.cancel()
            left = asked.result(0) if asked is not None and is_answered else self.found
            self._queue.give_back(one.ack for one in left)
        self._queue.close()

    def _ask(self) -> Future[tuple[Message, ...]]:
        asked: Future[tuple[Message, ...]] = Future()
        Thread(target=self._answer, args=[asked], name="penstock-peek", daemon=True).start()
        return asked

    def _answer(self, asked: Future[tuple[Message, ...]]) -> None:
        found: tuple[Message, ...] = ()
        try:
            found = self._fetched()
            asked.set_result(found)
        except InvalidStateError:
            # closed meanwhile
            with suppress(SourceError):
                self._queue.give_back(one.ack for one in found)
            self._queue.close()
        except Exception as error:
            with suppress(InvalidStateError):
                asked.set_exception(error)

    def _fetched(self) -> tuple[Message, ...]:
        """All of one answer: of one ordering key the next may come only after these are acknowledged."""
        if not isinstance(self._queue, Uncounted):
            return tuple(self._queue.fetch(1, self._wait_s))
        answer = self._queue.answer(self._limit, self._wait_s)
        kept = max(1, sum(held <= _MOST_BYTES for held in accumulate(_sizes(answer))))
        if kept < len(answer):
            self._queue.give_back(one.ack for one in answer[kept:])
        return tuple(answer[:kept])


def _sizes(messages: list[Message]) -> Iterator[int]:
    for one in messages:
        yield len(one.body) + sum(len(key) + len(value) for key, value in one.attributes)
