"""What a tool does for a job that is cancelled, or has run out of time, while the tool waits for an answer."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from threading import Event, Thread

from penstock.jobs import Job

_LOOK_S = 0.5


@contextmanager
def when_cancelled(job: Job, act: Callable[[], object]) -> Iterator[None]:
    """While the block runs, look whether the job is cancelled; then act, once, in a thread of its own."""
    is_over = Event()

    def watch() -> None:
        while not is_over.wait(_LOOK_S):
            if job.cancelled:
                # what cannot be told any more ends by itself
                with suppress(Exception):
                    act()
                return

    watching = Thread(target=watch, name=f"penstock-watch-{job.id}", daemon=True)
    watching.start()
    try:
        yield
    finally:
        is_over.set()
        # an act under way must not meet what comes after the block
        watching.join()
