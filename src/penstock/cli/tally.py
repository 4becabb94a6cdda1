"""What has become of the messages of one run."""

from collections.abc import Mapping
from dataclasses import dataclass

from penstock.kernel.local import UNTOLD, Standing
from penstock.kernel.subscriptions import SubscriptionView

# these go on by themselves; an execution that waits for an answer or a time does not
_BUSY = ("ready", "leased", "running", "retrying", "cancelling", UNTOLD)
_FAILED = ("dead_lettered", "failed")
# while Spark makes its first plans, and for as long as the source has nothing
NOTHING_YET = "reads · nothing received yet: the first batch takes a while"


@dataclass(frozen=True)
class Tally:
    """`received` is what was committed, without what was known already; every message of it is in one of the others.

    `executed` have succeeded, `dead_lettered` made no execution or one that failed, `pending` have not ended.
    """

    received: int
    executed: int
    deduplicated: int
    dead_lettered: int
    pending: int
    cancelled: int
    known_already: int

    def in_words(self) -> str:
        """On one line, for as long as it goes on."""
        if not (self.received or self.known_already):
            return NOTHING_YET
        return (
            f"received {self.received:,} · executed {self.executed:,} · deduplicated {self.deduplicated:,}"
            f" · dead-lettered {self.dead_lettered:,} · pending {self.pending:,}"
        )


def tally(before: SubscriptionView, now: SubscriptionView, standing: Mapping[str, int]) -> Tally:
    """Of the messages that came between the two."""
    deduplicated = now.deduplicated - before.deduplicated
    unfit = now.dead_lettered - before.dead_lettered
    failed = sum(standing.get(status, 0) for status in _FAILED)
    succeeded, cancelled = standing.get("succeeded", 0), standing.get("cancelled", 0)
    return Tally(
        received=sum(standing.values()) + deduplicated + unfit,
        executed=succeeded,
        deduplicated=deduplicated,
        dead_lettered=unfit + failed,
        pending=sum(standing.values()) - succeeded - failed - cancelled,
        cancelled=cancelled,
        known_already=now.replays - before.replays,
    )


@dataclass(frozen=True)
class Sent:
    """Of messages that were read here and went to a server: what it has made of them. How that ends is known there."""

    received: int
    executions: int
    deduplicated: int
    dead_lettered: int
    known_already: int

    def in_words(self) -> str:
        if not (self.received or self.known_already):
            return NOTHING_YET
        return (
            f"received {self.received:,} · executions {self.executions:,} · deduplicated {self.deduplicated:,}"
            f" · dead-lettered {self.dead_lettered:,}"
        )


def sent(before: Mapping[str, int], now: Mapping[str, int]) -> Sent:
    """Between two looks at the server's counts."""
    made = {name: now[name] - before[name] for name in now}
    return Sent(
        received=made["executions"] + made["deduplicated"] + made["dead_lettered"],
        executions=made["executions"],
        deduplicated=made["deduplicated"],
        dead_lettered=made["dead_lettered"],
        known_already=made["replays"],
    )


def is_busy(standing: Standing) -> bool:
    """Whether anything is left that a worker will run without being asked."""
    return any(standing.own.get(status) or standing.children.get(status) for status in _BUSY)
