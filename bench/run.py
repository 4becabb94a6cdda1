"""A run of the bench: what the cells share."""

import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from statistics import median
from typing import Any, TypeVar

from bench.measure import Round, drain, enqueue
from bench.party import Party, Penstock
from bench.peers import Peer
from bench.processes import MeasurementFailed
from bench.raw import TABLES, Rows, copy_and_drain, rows_of
from bench.server import BenchServer
from penstock.kernel.connection import connect

T = TypeVar("T")
RAW = "raw"


@dataclass(frozen=True)
class Sizes:
    """How much of everything."""

    drain: int = 100_000
    long_drain: int = 300_000
    # the size of an enqueue call, round by round
    batches: tuple[int, ...] = (5000, 1000, 5000, 5000, 5000)
    long_batches: tuple[int, ...] = (5000, 5000)
    lone_jobs: int = 100
    lone_rounds: int = 3
    lone_ms: int = 200
    ready: int = 1_000_000
    scheduled: int = 1_000_000
    finished: int = 5_000_000
    foreign: int = 1_000_000
    blocked: int = 1_000_000
    claims: int = 15
    routed: int = 100_000
    routed_inserts: int = 2000
    events: int = 100_000
    logged_events: int = 1_000_000
    executions: int = 100_000
    lines: int = 5000
    fan: int = 10_000
    messages: int = 1_000_000
    nats_messages: int = 200_000
    api_messages: int = 200_000
    api_batch: int = 20_000
    # the fake looks at all that it holds a hundred times a second
    pubsub_messages: int = 60_000
    pubsub_batch: int = 10_000
    batch: int = 50_000
    local_messages: int = 1000
    paced_per_s: int = 500
    paced_s: int = 60
    documents: int = 5000
    document_bytes: int = 20_000


QUICK = Sizes(
    drain=2000,
    long_drain=3000,
    batches=(1000,),
    long_batches=(1000,),
    lone_jobs=5,
    lone_rounds=1,
    lone_ms=50,
    ready=2000,
    scheduled=2000,
    finished=5000,
    foreign=2000,
    blocked=2000,
    claims=3,
    routed=1000,
    routed_inserts=50,
    events=2000,
    logged_events=5000,
    executions=2000,
    lines=50,
    fan=500,
    messages=2000,
    nats_messages=1500,
    api_messages=1500,
    api_batch=400,
    pubsub_messages=1500,
    pubsub_batch=400,
    batch=400,
    local_messages=50,
    paced_per_s=50,
    paced_s=3,
    documents=60,
    document_bytes=5000,
)


@dataclass
class Rounds:
    """Everybody's rounds at one size; a peer that fails is left out from then on, with its reason."""

    jobs: int
    of: dict[str, list[Round]] = field(default_factory=dict)
    failed: dict[str, str] = field(default_factory=dict)

    def enqueued(self, name: str) -> list[float]:
        return [one.enqueue_per_s for one in self.of[name]]

    def drained(self, name: str, what: str = "per_s") -> list[float]:
        return [getattr(one.drained, what) for one in self.of[name]]


def paired(ours: list[float], theirs: list[float]) -> float:
    """The median of the rounds' own ratios: rounds stand minutes apart, the parties of one round seconds."""
    return median(one / other for one, other in zip(ours, theirs, strict=False))


@dataclass
class Bench:
    """The server, the parties, and what has been measured already."""

    server: BenchServer
    sizes: Sizes
    peers: list[Peer]
    # why there are none
    no_peers: str | None
    ours: Penstock = field(default_factory=Penstock)
    _known: dict[str, Any] = field(default_factory=dict)

    def once(self, key: str, measure: Callable[[], T]) -> T:
        """Measure now, or remember: cells may share a measurement."""
        if key not in self._known:
            self._known[key] = measure()
        known: T = self._known[key]
        return known

    def rounds(self, n: int, batches: tuple[int, ...]) -> Rounds:
        """Ours, the baseline and the peers in turn, round by round, so that a slow minute meets them all."""
        return self.once(f"rounds {n}", lambda: self._rounds(n, batches))

    def say(self, what: str) -> None:
        print(f"{time.strftime('%H:%M:%S')} {what}", file=sys.stderr, flush=True)

    def _rounds(self, n: int, batches: tuple[int, ...]) -> Rounds:
        rounds = Rounds(n)
        rows: Rows | None = None
        for number, batch in enumerate(batches, 1):
            here = f"{n:,} jobs, round {number} of {len(batches)}"
            self.say(f"{here}: penstock")
            url = self.ours.create(self.server)
            per_s = enqueue(self.server, self.ours, url, n, batch)
            if rows is None:
                with connect(url) as connection:
                    rows = rows_of(connection, TABLES)
            rounds.of.setdefault(self.ours.name, []).append(Round(per_s, drain(self.server, self.ours, url, n)))
            self.say(f"{here}: COPY, and the statements alone")
            rounds.of.setdefault(RAW, []).append(copy_and_drain(self.server, rows, n))
            for peer in self.peers:
                if peer.name not in rounds.failed:
                    self.say(f"{here}: {peer.name}")
                    self._peer_round(peer, n, batch, rounds)
        return rounds

    def _peer_round(self, peer: Party, n: int, batch: int, rounds: Rounds) -> None:
        try:
            url = peer.create(self.server)
            per_s = enqueue(self.server, peer, url, n, batch)
            rounds.of.setdefault(peer.name, []).append(Round(per_s, drain(self.server, peer, url, n)))
        except MeasurementFailed as error:
            self.say(str(error))
            rounds.failed[peer.name] = str(error).splitlines()[0]
