"""What is asked for ahead of a batch, and nobody wants any more when it comes."""

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from threading import Event

from penstock.pipeline.readers.peek import Peek
from penstock.sources.contract import Message, Span
from tests.concurrency.sessions import wait_until

MESSAGE = Message("part", 1, "1", datetime(2026, 1, 1, tzinfo=UTC), None, b"x", (), "handle", 1)


class Late:
    """A source that answers when it is told to."""

    def __init__(self) -> None:
        self.answers = Event()
        self.given_back: list[str] = []

    def answer(self, limit: int, wait_s: float) -> list[Message]:
        self.answers.wait(wait_s)
        return [MESSAGE]

    def give_back(self, handles: Iterable[str]) -> None:
        self.given_back += handles

    def close(self) -> None: ...
    def check(self) -> None: ...
    def backlog(self) -> None: ...
    def spans(self) -> tuple[Span, ...]:
        return ()

    def floors(self) -> dict[str, int]:
        return {}

    def fetch(self, limit: int, wait_s: float) -> Iterator[Message]:
        yield from self.answer(limit, wait_s)

    def acknowledge(self, handles: Iterable[str]) -> int:
        return 0


def test_an_answer_that_comes_after_the_end_is_given_back() -> None:
    source = Late()
    peek = Peek(source, 10, 60)
    assert not peek.look(0)
    peek.close()
    assert source.given_back == []
    source.answers.set()
    wait_until(lambda: source.given_back == ["handle"], "it is given back")


def test_what_was_found_and_never_read_is_given_back() -> None:
    source = Late()
    peek = Peek(source, 10, 60)
    assert not peek.look(0)
    source.answers.set()
    wait_until(lambda: peek.look(0), "it is there")
    assert peek.found == (MESSAGE,)
    peek.close()
    assert source.given_back == ["handle"]
