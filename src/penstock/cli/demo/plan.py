"""Which jobs the demo runs, and what must become of them."""

import random
from collections import Counter
from dataclasses import dataclass

from penstock.cli.demo.handlers import FAILS_BEFORE_IT_SUCCEEDS
from penstock.model import Json

DOOMED_ATTEMPTS = 3
LANES = 50

# what a user would not set: the demo is not to wait seconds between attempts
CONFIG = {
    "queue.retry.backoff.strategy": "fixed",
    "queue.retry.backoff.base_ms": "100",
    "queue.retry.max_attempts.demo.doomed": str(DOOMED_ATTEMPTS),
}


@dataclass(frozen=True)
class Kind:
    """A job kind, how many of a thousand jobs are of it, and how each of them ends."""

    name: str
    what: str
    per_thousand: float
    succeeds: bool = True
    attempts: int = 1


QUICK = Kind("demo.quick", "done at once", 0)
URGENT = Kind("demo.urgent", "enqueued last, with a higher priority", 25)
FLAKY = Kind("demo.flaky", "fail twice, then succeed", 20, attempts=FAILS_BEFORE_IT_SUCCEEDS + 1)
BOOKING = Kind("demo.booking", f"in {LANES} lanes, one at a time each", 50)
KINDS = (
    QUICK,
    Kind("demo.slow", "take 20 to 50 ms", 15),
    Kind("demo.async", "async, and return something", 75),
    BOOKING,
    URGENT,
    FLAKY,
    Kind("demo.doomed", "always fail", 2, succeeds=False, attempts=DOOMED_ATTEMPTS),
    Kind("demo.refused", "say that trying again is no use", 1, succeeds=False),
)


@dataclass(frozen=True)
class Expected:
    """What must have become of all jobs of one kind."""

    jobs: int
    succeeded: int
    retried: int
    dead_lettered: int
    attempts: int


def counts(jobs: int) -> dict[Kind, int]:
    """How many jobs of each kind make up this many."""
    others = {kind: max(1, round(jobs * kind.per_thousand / 1000)) for kind in KINDS if kind is not QUICK}
    return {QUICK: jobs - sum(others.values()), **others}


def expected(jobs: int) -> dict[str, Expected]:
    return {
        kind.name: Expected(
            jobs=count,
            succeeded=count if kind.succeeds else 0,
            retried=count if kind.attempts > 1 else 0,
            dead_lettered=0 if kind.succeeds else count,
            attempts=count * kind.attempts,
        )
        for kind, count in counts(jobs).items()
    }


def requests(jobs: int) -> list[Json]:
    """The jobs to enqueue: all kinds mixed, the same mix every time, the urgent ones last."""
    kinds = [kind for kind, count in counts(jobs).items() for _ in range(count) if kind is not URGENT]
    random.Random(jobs).shuffle(kinds)
    kinds += [URGENT] * counts(jobs)[URGENT]
    seen: Counter[Kind] = Counter()
    made = []
    for kind in kinds:
        seen[kind] += 1
        made.append(_request(kind, seen[kind]))
    return made


def _request(kind: Kind, number: int) -> Json:
    request: Json = {"kind": kind.name, "safe_payload": {"number": number}}
    if kind is BOOKING:
        request["lane"] = f"account-{number % LANES}"
    if kind is URGENT:
        request["priority"] = 10
    return request
