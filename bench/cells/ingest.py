"""From a source to committed executions: rates, the cost over a long backlog, starts, and the way to the handler."""

import time
from dataclasses import dataclass
from statistics import median

from bench.ingest import START_S, Batch, Ingest, copy_and_merge, fed, steady_per_s
from bench.latency import Arrivals, arrivals
from bench.measure import percentile
from bench.processes import Process
from bench.results import Cell, at_least, at_most, cell, reaching, within
from bench.run import Bench

BATCH = 50_000
KAFKA = reaching(20_000)
OF_COPY = at_least(0.4)
NATS = reaching(5_000)
API = reaching(5_000)
PUBSUB = reaching(3_000)
FLAT = at_most(1.25)
COLD, WARM = within(40), within(10)
P50_S, P99_S = within(1.2), within(2.5)
DRAIN_S = 600


@dataclass(frozen=True)
class Poured:
    """A backlog read by one runtime."""

    cold_s: float
    warm_s: float
    batches: list[Batch]
    merged_per_s: list[float]

    @property
    def per_s(self) -> float:
        return steady_per_s(self.batches)


def kafka(bench: Bench) -> list[Cell]:
    poured = _kafka(bench)
    merged = median(poured.merged_per_s)
    detail = {"messages": bench.sizes.messages, "batches": len(poured.batches), "merged": poured.merged_per_s}
    return [
        cell("ingest_kafka", poured.per_s, "messages/s", KAFKA, detail=detail),
        cell(
            "ingest_kafka_vs_copy",
            poured.per_s,
            "messages/s",
            OF_COPY,
            against=merged,
            baseline="COPY and fn_ingest_commit of the same rows, one session, without Spark",
        ),
    ]


def flat(bench: Bench) -> list[Cell]:
    """The last tenth of the backlog against the first; the first commit is left out."""
    batches = _kafka(bench).batches
    share = max(2, len(batches) // 10)
    first, last = steady_per_s(batches[: share + 1]), steady_per_s(batches[-share - 1 :])
    return [
        cell(
            "ingest_flat",
            1e6 / last,
            "µs/message",
            FLAT,
            against=1e6 / first,
            baseline=f"the first {sum(one.messages for one in batches[: share + 1]):,} messages",
            detail={"per_s": [round(steady_per_s(batches[n : n + 2])) for n in range(len(batches) - 1)]},
        )
    ]


def starts(bench: Bench) -> list[Cell]:
    poured = _kafka(bench)
    return [
        cell("ingest_cold_start", poured.cold_s, "s", COLD, detail={"from": "the command, to its first commit"}),
        cell("ingest_warm_start", poured.warm_s, "s", WARM, detail={"from": "a resume, to the next commit"}),
    ]


def nats(bench: Bench) -> list[Cell]:
    with fed(bench.server, "nats") as ingest, ingest.running() as process:
        bench.say(f"{bench.sizes.nats_messages:,} messages from NATS")
        batches = _pour(ingest, process, bench.sizes.nats_messages)
    detail = {"messages": bench.sizes.nats_messages, "batches": [one.messages for one in batches]}
    return [cell("ingest_nats", steady_per_s(batches), "messages/s", NATS, detail=detail)]


def api(bench: Bench) -> list[Cell]:
    """From Kafka, by a runtime without a database connection."""
    sizes = bench.sizes
    with fed(bench.server, "kafka", runtime={"batch": sizes.api_batch}) as ingest:
        ingest.publish(1)
        with ingest.running_over_api() as process:
            ingest.until_received(START_S, process)
            bench.say(f"{sizes.api_messages:,} messages from Kafka over the API")
            batches = _pour(ingest, process, sizes.api_messages)
    detail = {"messages": sizes.api_messages, "batches": [one.messages for one in batches]}
    return [cell("ingest_api", steady_per_s(batches), "messages/s", API, detail=detail)]


def pubsub(bench: Bench) -> list[Cell]:
    sizes = bench.sizes
    runtime = {"batch": sizes.pubsub_batch, "timeout_ms": 1000}
    with fed(bench.server, "pubsub", runtime=runtime) as ingest, ingest.running() as process:
        bench.say(f"{sizes.pubsub_messages:,} messages from Pub/Sub")
        batches = _pour(ingest, process, sizes.pubsub_messages)
    detail = {"messages": sizes.pubsub_messages, "batches": [one.messages for one in batches], "server": "pstest"}
    return [cell("ingest_pubsub", steady_per_s(batches), "messages/s", PUBSUB, detail=detail)]


def latency(bench: Bench) -> list[Cell]:
    found = arrivals(bench.server, bench.sizes.paced_per_s, bench.sizes.paced_s)
    return [_latency("ingest_latency_p50", found, 50), _latency("ingest_latency_p99", found, 99)]


def _latency(name: str, found: Arrivals, percent: int) -> Cell:
    detail = {"messages": len(found.seconds), "per_s": found.per_s, "longest": round(found.seconds[-1], 2)}
    line = P50_S if percent == 50 else P99_S
    return cell(name, percentile(found.seconds, percent), "s", line, detail=detail)


def _kafka(bench: Bench) -> Poured:
    return bench.once("ingest kafka", lambda: _measure_kafka(bench))


def _measure_kafka(bench: Bench) -> Poured:
    sizes = bench.sizes
    with fed(bench.server, "kafka", runtime={"batch": sizes.batch}) as ingest:
        ingest.publish(1)
        began = time.monotonic()
        with ingest.running() as process:
            bench.say("the runtime's first commit")
            ingest.until_received(START_S, process)
            cold_s = time.monotonic() - began
            bench.say(f"{sizes.messages:,} messages from Kafka")
            batches = _pour(ingest, process, sizes.messages)
            ingest.move("pause")
            ingest.until_stopped(process)
            ingest.publish(1)
            began = time.monotonic()
            ingest.move("resume")
            ingest.until_received(START_S, process)
            warm_s = time.monotonic() - began
        bench.say("the same rows without Spark")
        return Poured(cold_s, warm_s, batches, copy_and_merge(bench.server, ingest, sizes.batch, 6 * sizes.batch))


def _pour(ingest: Ingest, process: Process, messages: int) -> list[Batch]:
    """A backlog that is there before the first of it is read, on a runtime that has run before."""
    ingest.publish(1000)
    ingest.until_received(START_S, process)
    warmed = sum(one.messages for one in ingest.batches())
    ingest.move("pause")
    ingest.until_stopped(process)
    ingest.publish(messages)
    ingest.move("resume")
    ingest.until_received(DRAIN_S, process)
    return ingest.batches(beyond=warmed)
