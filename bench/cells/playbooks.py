"""Executions of playbooks: how fast they are started, how fast steps follow one another, and a wide loop."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from statistics import median

from bench.measure import START_S, drain, enqueue, percentile
from bench.processes import MeasurementFailed, Process
from bench.results import Cell, at_least, at_most, cell, within
from bench.run import Bench
from penstock.catalog.entry import read
from penstock.credentials import Credentials
from penstock.kernel import executions
from penstock.kernel.connection import Connection, connect
from penstock.kernel.registration import register

EXECUTE, STEPS, FAN = at_least(0.5), at_least(0.4), at_most(5)
LATENCY_MS = within(8)
MEMORY = at_most(1.25)
ROUNDS = 3
LENGTH = 10
BATCH = 1000
HEAD = "apiVersion: penstock/v1\nkind: Playbook\nmetadata: {{path: {}}}\nworkflow:\n"
PAYLOAD = {"customer": "c" * 80, "order": 7, "note": "n" * 90}
LIVE = "select count(*) from penstock.job_workflow where finished_at is null"
ENDED = "select count(*) from penstock.job_workflow where finished_at is not null"
# from the end of a step to the start of the next one
GAPS = (
    "select extract(epoch from (n.started_at - o.finished_at)) * 1000 from penstock.job_step t"
    " join penstock.job j on j.job_id = t.job_id join penstock.job_outcome n on n.job_id = t.job_id"
    " join penstock.job_outcome o on j.source_ref = 'penstock://result/' || o.job_id"
)
TAKEN = (
    "select extract(epoch from (o.finished_at - o.started_at)) * 1000 from penstock.job_step t"
    " join penstock.job_outcome o on o.job_id = t.job_id where t.item > 0 and t.job_id > %s"
)


def execute(bench: Bench) -> list[Cell]:
    """One-step executions with a small input, 1,000 a call, against the kernel's bulk enqueue in calls of as many."""
    count = bench.sizes.executions
    ours, bulk = [], []
    for number in range(1, ROUNDS + 1):
        bench.say(f"{count:,} executions of one step, round {number} of {ROUNDS}")
        with connect(bench.server.fresh("bench_playbooks", migrated=True)) as db:
            _register(db, "one", "  - {step: a, tool: {kind: noop}}")
            ours.append(count / _started(db, "one", count, payload=PAYLOAD))
        url = bench.ours.create(bench.server)
        bulk.append(enqueue(bench.server, bench.ours, url, count, 5000))
    return [
        cell(
            "playbook_execute",
            median(ours),
            "executions/s",
            EXECUTE,
            against=median(bulk),
            ratio=median(one / other for one, other in zip(ours, bulk, strict=True)),
            baseline="the kernel's bulk enqueue, 5,000 a call",
            detail={"executions": count, "rounds": [round(one) for one in ours]},
        )
    ]


def steps(bench: Bench) -> list[Cell]:
    """A line of ten no-ops, one worker, against the drain of as many plain jobs."""
    count = bench.sizes.lines
    ours, drained = [], []
    for number in range(1, ROUNDS + 1):
        bench.say(f"{count:,} executions of {LENGTH} steps, round {number} of {ROUNDS}")
        with _lines(bench) as (db, url):
            _started(db, "line", count)
            db.execute("analyze")
            with _worker(bench, url):
                began = time.monotonic()
                _until(db, LIVE, 0)
                ours.append(count * LENGTH / (time.monotonic() - began))
        url = bench.ours.create(bench.server)
        enqueue(bench.server, bench.ours, url, bench.sizes.drain, 5000)
        drained.append(drain(bench.server, bench.ours, url, bench.sizes.drain).per_s)
    return [
        cell(
            "playbook_steps",
            median(ours),
            "steps/s",
            STEPS,
            against=median(drained),
            ratio=median(one / other for one, other in zip(ours, drained, strict=True)),
            baseline="the drain of plain jobs",
            detail={"executions_per_s": round(median(ours) / LENGTH), "rounds": [round(one) for one in ours]},
        )
    ]


def latency(bench: Bench) -> list[Cell]:
    """From the end of a step to the start of the next, in executions that are alone."""
    lone = bench.sizes.lone_jobs
    bench.say(f"{lone} lone executions of {LENGTH} steps")
    with _lines(bench) as (db, url), _worker(bench, url):
        for number in range(lone):
            _started(db, "line", 1)
            _until(db, ENDED, number + 1)
        gaps = sorted(float(row[0]) for row in db.execute(GAPS.encode()).fetchall() if row[0] is not None)
    return [cell("playbook_latency_p50", median(gaps), "ms", LATENCY_MS, detail={"p99": percentile(gaps, 99)})]


def fan(bench: Bench) -> list[Cell]:
    """A loop of many items and what waits for all of them: the slowest steps against the median."""
    items = bench.sizes.fan
    bench.say(f"a loop of {items:,} items")
    url = bench.server.fresh("bench_playbooks", migrated=True)
    with connect(url) as db:
        loop = 'loop: {in: "{{ workload.items }}", mode: parallel}, next: b}'
        _register(db, "fan", f"  - {{step: a, tool: {{kind: noop}}, {loop}\n  - {{step: b, tool: {{kind: noop}}}}")
        with _worker(bench, url) as worker:
            # a tenth first: what the worker holds must not grow with the loop
            _started(db, "fan", 1, payload={"items": list(range(items // 10))})
            before = _peak(db, worker)
            first = db.execute("select max(job_id) from penstock.job").fetchone()
            _started(db, "fan", 1, payload={"items": list(range(items))})
            began = time.monotonic()
            peak = _peak(db, worker)
            seconds = time.monotonic() - began
        taken = sorted(float(row[0]) for row in db.execute(TAKEN.encode(), first).fetchall() if row[0] is not None)
        after = db.execute("select count(*) from penstock.v_execution_step where step = 'b'").fetchone()
    if len(taken) != items or after != (2,):
        raise MeasurementFailed(f"of {items:,} items {len(taken):,} were counted, and what comes after ran {after}")
    return [
        cell(
            "playbook_fan_memory",
            peak / 2**20,
            "MiB",
            MEMORY,
            against=before / 2**20,
            baseline=f"the worker's peak at a loop of {items // 10:,} items",
        ),
        cell(
            "playbook_fan_p99",
            percentile(taken, 99),
            "ms",
            FAN,
            against=median(taken),
            baseline="the median step",
            detail={"items": items, "seconds": round(seconds, 2)},
        ),
    ]


def _register(db: Connection, path: str, workflow: str) -> None:
    register(db, read(HEAD.format(path) + workflow, path), Credentials(None, {}))


def _started(db: Connection, path: str, count: int, **request: object) -> float:
    """Start so many executions; how long it took."""
    began = time.monotonic()
    for first in range(0, count, BATCH):
        asked = [{"playbook": path, **request} for _ in range(min(BATCH, count - first))]
        refused = [one for one in executions.execute_batch(db, asked) if one.status != "started"]
        if refused:
            raise MeasurementFailed(f"an execution was not started: {refused[0].error}")
    return time.monotonic() - began


@contextmanager
def _lines(bench: Bench) -> Iterator[tuple[Connection, str]]:
    url = bench.server.fresh("bench_playbooks", migrated=True)
    with connect(url) as db:
        arcs = [f"  - {{step: s{n}, tool: {{kind: noop}}, next: s{n + 1}}}" for n in range(LENGTH - 1)]
        _register(db, "line", "\n".join([*arcs, f"  - {{step: s{LENGTH - 1}, tool: {{kind: noop}}}}"]))
        yield db, url


def _peak(db: Connection, worker: Process) -> int:
    """The most memory the worker has until all is done."""
    seen = [worker.rss_bytes()]
    _until(db, LIVE, 0, lambda: seen.append(worker.rss_bytes()))
    return max(seen)


@contextmanager
def _worker(bench: Bench, url: str) -> Iterator[Process]:
    """One real worker, from its first claim on."""
    command = bench.ours.worker(url, "work", 1)
    with Process(command, bench.server.folder / "playbooks.log") as worker:
        worker.await_line("START", START_S)
        yield worker


def _until(db: Connection, query: str, wanted: int, look: Callable[[], object] = lambda: None) -> None:
    give_up_at = time.monotonic() + 600
    while (row := db.execute(query.encode()).fetchone()) != (wanted,):
        if time.monotonic() > give_up_at:
            raise MeasurementFailed(f"executions do not end: {row}")
        look()
        time.sleep(0.02)
