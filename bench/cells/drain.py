"""One worker process drains no-op jobs: against the peers, against our bare statements, and in bytes of log."""

from dataclasses import asdict
from statistics import median

from bench.results import Cell, at_least, cell, within
from bench.run import RAW, Bench, Rounds, paired

AHEAD = at_least(1.0)
OF_RAW = at_least(0.6)
WAL = within(900)


def short(bench: Bench) -> list[Cell]:
    return _drain(bench, "drain_100k", bench.rounds(bench.sizes.drain, bench.sizes.batches))


def long(bench: Bench) -> list[Cell]:
    return _drain(bench, "drain_300k", bench.rounds(bench.sizes.long_drain, bench.sizes.long_batches))


def against_raw(bench: Bench) -> list[Cell]:
    rounds = bench.rounds(bench.sizes.drain, bench.sizes.batches)
    return [
        cell(
            "drain_vs_raw",
            median(rounds.drained(bench.ours.name)),
            "jobs/s",
            OF_RAW,
            against=median(rounds.drained(RAW)),
            ratio=paired(rounds.drained(bench.ours.name), rounds.drained(RAW)),
            baseline="our claim and finish statements alone, one session, 1,000 a time",
            detail={"jobs": rounds.jobs, "rounds": _all_rounds(rounds, bench.ours.name, RAW)},
        )
    ]


def wal(bench: Bench) -> list[Cell]:
    """The worst round counts."""
    rounds = bench.rounds(bench.sizes.drain, bench.sizes.batches)
    written = {name: max(rounds.drained(name, "wal_bytes_per_job")) for name in rounds.of}
    ours = written.pop(bench.ours.name)
    return [cell("wal_bytes_per_job", ours, "bytes", WAL, beside=written, detail={"jobs": rounds.jobs})]


def _drain(bench: Bench, name: str, rounds: Rounds) -> list[Cell]:
    ours = bench.ours.name
    peers = [peer.name for peer in bench.peers if peer.name in rounds.of]
    rates = {peer: median(rounds.drained(peer)) for peer in peers}
    settings = {party.name: party.setting for party in (bench.ours, *bench.peers)}
    detail = {
        "jobs": rounds.jobs,
        "settings": settings,
        "rounds": _all_rounds(rounds, ours, *peers),
    }
    fastest = max(rates, key=lambda peer: rates[peer]) if rates else None
    reason = bench.no_peers or (str(rounds.failed) if rounds.failed else None)
    return [
        cell(
            name,
            median(rounds.drained(ours)),
            "jobs/s",
            AHEAD,
            against=None if fastest is None else rates[fastest],
            ratio=None if fastest is None else paired(rounds.drained(ours), rounds.drained(fastest)),
            baseline=fastest,
            beside=rates,
            detail=detail,
            reason=reason,
        ),
        _cpu(f"{name}_cpu_postgres", rounds, "postgres_us_per_job", ours, peers),
        _cpu(f"{name}_cpu_worker", rounds, "worker_us_per_job", ours, peers),
    ]


def _cpu(name: str, rounds: Rounds, what: str, ours: str, peers: list[str]) -> Cell:
    beside = {peer: median(rounds.drained(peer, what)) for peer in peers}
    return cell(name, median(rounds.drained(ours, what)), "µs/job", beside=beside)


def _all_rounds(rounds: Rounds, *names: str) -> dict[str, list[dict[str, float]]]:
    return {
        name: [{what: round(value, 2) for what, value in asdict(one.drained).items()} for one in rounds.of[name]]
        for name in names
    }
