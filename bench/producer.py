"""Penstock's producer under measurement; its arguments are those of every party's (see party.py), `keyed` is ours."""

import json
import random
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress

from penstock import Client
from penstock.errors import UnknownJob
from penstock.model import Json

POUR_S = 0.02
POUR_MOST = 5000


def main() -> None:
    """Run the command of the first argument, with the numbers that follow."""
    command, *numbers = sys.argv[1:]
    commands: dict[str, Callable[..., None]] = {"enqueue": enqueue, "keyed": keyed, "produce": produce, "pour": pour}
    with Client() as client:
        # a look at no job: connected before the clock starts
        with suppress(UnknownJob):
            client.job(0)
        commands[command](client, *map(int, numbers))


def enqueue(client: Client, n: int, batch: int) -> None:
    """n jobs in transactions of `batch`."""
    _enqueue_all(client, (_request(i) for i in range(n)), batch)


def keyed(client: Client, n: int, batch: int) -> None:
    """As enqueue, each job with an idempotency key."""
    _enqueue_all(client, (_request(i) | {"idempotency_key": f"order-{i}"} for i in range(n)), batch)


def produce(client: Client, n: int, ms: int, jitter_ms: int) -> None:
    """n lone jobs, one every `ms`, up to `jitter_ms` later."""
    chance = random.Random(7)
    for i in range(n):
        client.enqueue("noop", _payload(i))
        time.sleep((ms + chance.uniform(0, jitter_ms)) / 1000)


def pour(client: Client, rate: int, seconds: int) -> None:
    """`rate` jobs a second, in a call every 20 ms; a call that lasted longer is made up for by the next."""
    began = time.monotonic()
    sent = 0
    while (elapsed := time.monotonic() - began) < seconds:
        due = min(POUR_MOST, int(elapsed * rate) - sent)
        if due:
            client.enqueue_many([_request(sent + i) for i in range(due)])
            sent += due
        time.sleep(POUR_S)
    print("SENT", sent, flush=True)


def _enqueue_all(client: Client, requests: Iterator[Json], batch: int) -> None:
    began = time.monotonic_ns()
    client.enqueue_many(requests, batch=batch)
    print("ENQUEUED", json.dumps((time.monotonic_ns() - began) / 1e9), flush=True)


def _request(i: int) -> Json:
    return {"kind": "noop", "safe_payload": _payload(i)}


def _payload(i: int) -> Json:
    """About 100 bytes of JSON, as the peers'."""
    return {"t": time.monotonic_ns(), "i": i, "pad": "x" * 58}


if __name__ == "__main__":
    main()
