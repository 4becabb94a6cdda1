"""One worker process drains no-op jobs: against the peers, against our bare statements, and in bytes of log."""

from dataclasses import asdict

from bench.results import Cell, at_least, cell, within
from bench.run import RAW, Bench, Rounds

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
            rounds.best_drain(bench.ours.name).drained.per_s,
            "jobs/s",
            OF_RAW,
            against=rounds.best_drain(RAW).drained.per_s,
            baseline="our claim and finish statements alone, one session, 1,000 a time",
            detail={"jobs": rounds.jobs, "rounds": _all_rounds(rounds, bench.ours.name, RAW)},
        )
    ]


def wal(bench: Bench) -> list[Cell]:
    """The worst round counts."""
    rounds = bench.rounds(bench.sizes.drain, bench.sizes.batches)
    written = {name: max(one.drained.wal_bytes_per_job for one in all_of) for name, all_of in rounds.of.items()}
    ours = written.pop(bench.ours.name)
    return [cell("wal_bytes_per_job", ours, "bytes", WAL, beside=written, detail={"jobs": rounds.jobs})]


def _drain(bench: Bench, name: str, rounds: Rounds) -> list[Cell]:
    ours = rounds.best_drain(bench.ours.name).drained
    peers = {peer.name: rounds.best_drain(peer.name).drained for peer in bench.peers if peer.name in rounds.of}
    rates = {peer: drained.per_s for peer, drained in peers.items()}
    settings = {party.name: party.setting for party in (bench.ours, *bench.peers)}
    detail = {
        "jobs": rounds.jobs,
        "settings": settings,
        "rounds": _all_rounds(rounds, bench.ours.name, *peers),
    }
    fastest = max(rates, key=lambda peer: rates[peer]) if rates else None
    reason = bench.no_peers or (str(rounds.failed) if rounds.failed else None)
    return [
        cell(
            name,
            ours.per_s,
            "jobs/s",
            AHEAD,
            against=None if fastest is None else rates[fastest],
            baseline=fastest,
            beside=rates,
            detail=detail,
            reason=reason,
        ),
        cell(
            f"{name}_cpu_postgres",
            ours.postgres_us_per_job,
            "µs/job",
            beside={peer: drained.postgres_us_per_job for peer, drained in peers.items()},
        ),
        cell(
            f"{name}_cpu_worker",
            ours.worker_us_per_job,
            "µs/job",
            beside={peer: drained.worker_us_per_job for peer, drained in peers.items()},
        ),
    ]


def _all_rounds(rounds: Rounds, *names: str) -> dict[str, list[dict[str, float]]]:
    return {
        name: [{what: round(value, 2) for what, value in asdict(one.drained).items()} for one in rounds.of[name]]
        for name in names
    }
