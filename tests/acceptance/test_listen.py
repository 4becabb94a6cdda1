"""The worker's ear."""

from threading import Event, Thread
from time import monotonic

from penstock.kernel import queue
from penstock.kernel.connection import Connection
from penstock.worker.link import Link
from penstock.worker.listen import Listener


def test_a_domain_registered_later_is_listened_to_without_a_reconnect(db: Connection, database: str) -> None:
    woken = Event()
    listener = Listener(Link(database, "listen", queue.listen), woken.set, lambda: None, domains_s=0.1)
    thread = Thread(target=listener.run)
    thread.start()
    try:
        db.execute("select penstock.fn_event_domain_register('later')")
        deadline = monotonic() + 60
        while not woken.is_set() and monotonic() < deadline:
            db.execute("notify queue_wake_later")
            woken.wait(0.1)
    finally:
        listener.stop()
        thread.join()
    assert woken.is_set()
