"""Several sessions at once: statements run aside, seen to wait, or bound not to."""

from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from threading import Event
from time import monotonic
from typing import TypeVar

from penstock.kernel.connection import Connection
from tests.sql.support import value

T = TypeVar("T")

DEADLINE_S = 60.0


def wait_until(condition: Callable[[], bool], what: str, deadline_s: float = DEADLINE_S) -> None:
    """Look again and again until the condition holds, up to a deadline."""
    deadline, pause = monotonic() + deadline_s, Event()
    while not condition():
        assert monotonic() < deadline, f"never happened: {what}"
        pause.wait(0.005)


class Aside:
    """A statement that runs in another thread, on a connection of its own."""

    def __init__(self, pool: ThreadPoolExecutor, watcher: Connection) -> None:
        self._pool = pool
        self._watcher = watcher

    def run(self, connection: Connection, work: Callable[[Connection], T]) -> Future[T]:
        return self._pool.submit(work, connection)

    def run_until_it_waits(self, connection: Connection, work: Callable[[Connection], T]) -> Future[T]:
        """Begin it; back when the server says that it waits for a lock."""
        future = self.run(connection, work)
        pid = connection.info.backend_pid

        def waits() -> bool:
            assert not future.done(), f"it did not wait, but answered {future.result()!r}"
            return bool(value(self._watcher, "select cardinality(pg_blocking_pids(%s)) > 0", pid))

        wait_until(waits, "a statement waits for a lock")
        return future


@contextmanager
def aside(watcher: Connection) -> Iterator[Aside]:
    with ThreadPoolExecutor(8) as pool:
        yield Aside(pool, watcher)


def never_waits(connection: Connection) -> Connection:
    """From now on a statement of this session that has to wait for a lock fails."""
    connection.execute("set lock_timeout = '3s'")
    return connection


def answer(future: Future[T]) -> T:
    return future.result(timeout=DEADLINE_S)


def together(count: int, work: Callable[[int], T]) -> list[T]:
    """Run work(0) … work(count - 1) in as many threads, begun together."""
    begin = Event()

    def one(number: int) -> T:
        begin.wait(DEADLINE_S)
        return work(number)

    with ThreadPoolExecutor(count) as pool:
        futures = [pool.submit(one, number) for number in range(count)]
        begin.set()
        return [answer(future) for future in futures]
