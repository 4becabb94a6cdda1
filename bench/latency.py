"""From a publish to its handler: messages at a steady rate, a runtime, a worker, a handler that looks at the clock."""

import json
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from bench.ingest import START_S, Ingest, fed
from bench.processes import Command, Process
from bench.server import BenchServer

_TICK_S = 0.05
_WARM_S = 10
HANDLER = {"kind": "python", "function": "bench.arrivals:arrived"}


@dataclass(frozen=True)
class Arrivals:
    """Seconds from just before a publish to the handler's first line, sorted."""

    per_s: int
    seconds: list[float]


def arrivals(server: BenchServer, per_s: int, seconds: int) -> Arrivals:
    """Continuous mode, NATS, one worker; the first ten seconds are left out."""
    with fed(server, "nats", HANDLER, runtime={"trigger_ms": 100}) as ingest, ingest.running() as runtime:
        ingest.publish(1)
        ingest.until_received(START_S, runtime)
        notes = server.folder / "arrivals.jsonl"
        notes.touch()
        with Process(_worker(ingest, notes), server.folder / "arrivals.log"):
            published = _pace(ingest, per_s, seconds + _WARM_S)
            ingest.until_received(START_S, runtime)
            _until_noted(notes, ingest.published, START_S)
        found = [json.loads(line) for line in notes.read_text().splitlines()]
    warm_until = published + _WARM_S * 1e9
    return Arrivals(per_s, sorted((ran - sent) / 1e9 for sent, ran in found if sent > warm_until))


def _worker(ingest: Ingest, notes: Path) -> Command:
    words = [str(Path(sys.executable).with_name("penstock")), "worker", "--concurrency", "10"]
    return Command(words, {"PENSTOCK_DATABASE_URL": ingest.url, "BENCH_ARRIVALS": str(notes)})


def _pace(ingest: Ingest, per_s: int, seconds: int) -> int:
    """Publish at this rate; when it began, in nanoseconds of the epoch."""
    began, sent = time.time_ns(), 0
    while (elapsed := (time.time_ns() - began) / 1e9) < seconds:
        due = int(elapsed * per_s) - sent
        if due:
            ingest.publish(due, time.time_ns())
            sent += due
        time.sleep(_TICK_S)
    return began


def _until_noted(notes: Path, count: int, within_s: float) -> None:
    give_up_at = time.monotonic() + within_s
    while notes.read_text().count("\n") < count and time.monotonic() < give_up_at:
        time.sleep(_TICK_S)
