"""Bulk enqueue, against COPY of the same rows into the same tables, and against the peers."""

from statistics import median

from bench.measure import enqueue
from bench.raw import KEYED_TABLES, Rows, copy_in, rows_of
from bench.results import Cell, at_least, cell, missing
from bench.run import RAW, Bench, Rounds, paired
from penstock.kernel.connection import connect

LINE = at_least(0.5)
AHEAD = at_least(1.0)


def bulk(bench: Bench) -> list[Cell]:
    """Jobs without keys."""
    rounds = bench.rounds(bench.sizes.drain, bench.sizes.batches)
    rates = {name: median(rounds.enqueued(name)) for name in rounds.of}
    ours = rates[bench.ours.name]
    peers = {name: rate for name, rate in rates.items() if name not in (bench.ours.name, RAW)}
    against_copy = cell(
        "enqueue_bulk",
        ours,
        "jobs/s",
        LINE,
        against=rates[RAW],
        ratio=paired(rounds.enqueued(bench.ours.name), rounds.enqueued(RAW)),
        baseline="COPY into job and job_queue",
        detail={"jobs": rounds.jobs, "rounds": _all_rounds(rounds)},
    )
    if not peers:
        return [against_copy, missing("enqueue_bulk_vs_peers", "jobs/s", bench.no_peers or str(rounds.failed))]
    fastest = max(peers, key=lambda name: peers[name])
    ahead = cell(
        "enqueue_bulk_vs_peers",
        ours,
        "jobs/s",
        AHEAD,
        against=peers[fastest],
        ratio=paired(rounds.enqueued(bench.ours.name), rounds.enqueued(fastest)),
        baseline=fastest,
        beside=peers,
        reason=str(rounds.failed) if rounds.failed else None,
    )
    return [against_copy, ahead]


def keyed(bench: Bench) -> list[Cell]:
    """Jobs with idempotency keys."""
    n = bench.sizes.drain
    ours: list[float] = []
    copied: list[float] = []
    rows: Rows | None = None
    for number, batch in enumerate(bench.sizes.batches, 1):
        bench.say(f"{n:,} jobs with keys, round {number} of {len(bench.sizes.batches)}")
        url = bench.ours.create(bench.server)
        ours.append(enqueue(bench.server, bench.ours, url, n, batch, "keyed"))
        if rows is None:
            with connect(url) as connection:
                rows = rows_of(connection, KEYED_TABLES)
        with connect(bench.server.fresh("bench_raw", migrated=True)) as connection:
            copied.append(n / copy_in(connection, rows))
    return [
        cell(
            "enqueue_keyed",
            median(ours),
            "jobs/s",
            LINE,
            against=median(copied),
            ratio=paired(ours, copied),
            baseline="COPY into job, job_queue and once_key",
            detail={"jobs": n, "rounds": {bench.ours.name: _rounded(ours), RAW: _rounded(copied)}},
        )
    ]


def _all_rounds(rounds: Rounds) -> dict[str, list[int]]:
    return {name: _rounded(rounds.enqueued(name)) for name in rounds.of}


def _rounded(rates: list[float]) -> list[int]:
    return [round(rate) for rate in rates]
