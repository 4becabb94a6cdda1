"""python -m bench.soak: a held snapshot under load beside a peer, a worker's memory, and a runtime's."""

import argparse
import sys
import time
from dataclasses import asdict
from pathlib import Path
from typing import Any

from bench import machine, results
from bench.party import Party, Penstock
from bench.peers import peers, steady
from bench.peers.install import PeersMissing, install
from bench.processes import ROOT, MeasurementFailed
from bench.results import Cell, at_most, cell
from bench.server import BenchServer, ending_in_order, running_server
from bench.soak.ingest import Kept, kept
from bench.soak.memory import Memory, memory
from bench.soak.snapshot import RATE_PER_S, Soaked, soak
from bench.table import table

KEPT = ROOT / "bench" / "results"
PASSING = ROOT / ".work" / "bench"
PARTS = ("kernel", "ingest")
PEERS = {"graphile": "graphile-worker", "pgboss": "pg-boss"}
MINUTES = 5.0
JOBS = 1_000_000
INGEST_MINUTES = 30.0
FLAT = at_most(1.1)


def main() -> None:
    options = _options()
    for part in options.parts:
        {"kernel": _kernel, "ingest": _ingest}[part](options)


def _kernel(options: argparse.Namespace) -> None:
    ours = Penstock()
    parties: list[Party] = [ours, *_peer(options.peer)]
    with running_server() as server:
        about = machine.about(server)
        soaked = _soak_all(server, parties, round(options.minutes * 60))
        _say(f"a worker's memory over {options.jobs:,} jobs")
        remembered = memory(server, ours, options.jobs)
    cells = [*_snapshot_cells(ours, soaked), *_memory_cells(remembered, options.jobs)]
    series = {
        "snapshot": {name: asdict(one) for name, one in soaked.items()},
        "memory_mb": remembered.mb,
        "held_s": round(options.minutes * 60),
        "peer_settings": {party.name: party.setting for party in parties},
    }
    _write(options, "soak.json", options.minutes >= MINUTES and options.jobs >= JOBS, about | series, cells)


def _ingest(options: argparse.Namespace) -> None:
    with running_server() as server:
        about = machine.about(server)
        _say(f"a runtime's memory over {options.ingest_minutes:g} minutes")
        found = kept(server, options.ingest_minutes)
    whole = options.ingest_minutes >= INGEST_MINUTES
    _write(options, "soak-ingest.json", whole, about | {"memory_mb": found.mb}, [_ingest_cell(found)])


def _write(options: argparse.Namespace, name: str, whole: bool, about: dict[str, Any], cells: list[Cell]) -> None:
    """Only what has run its whole length is worth keeping."""
    path = (options.results or (KEPT if whole else PASSING)) / name
    results.write([path], about, cells)
    print(f"{table(cells)}\n\nThe series over time: {path}")


def _soak_all(server: BenchServer, parties: list[Party], seconds: int) -> dict[str, Soaked]:
    soaked: dict[str, Soaked] = {}
    for party in parties:
        _say(f"{party.name}: {RATE_PER_S:,} jobs/s, a snapshot held for {seconds} s")
        try:
            soaked[party.name] = soak(server, party, seconds)
        except MeasurementFailed as error:
            if isinstance(party, Penstock):
                raise
            _say(f"{party.name} is left out: {error}")
    return soaked


def _snapshot_cells(ours: Party, soaked: dict[str, Soaked]) -> list[Cell]:
    shown = (
        ("soak_rate", "jobs/s", "rate_per_s"),
        ("soak_p99", "ms", "p99_ms"),
        ("soak_p99_last_minute", "ms", "p99_last_minute_ms"),
        ("soak_dead_rows", "rows", "dead_rows"),
    )
    cells: list[Cell] = []
    for name, unit, field in shown:
        figures = {party: float(getattr(one, field)) for party, one in soaked.items()}
        cells.append(cell(name, figures.pop(ours.name), unit, beside=figures))
    return cells


def _memory_cells(found: Memory, jobs: int) -> list[Cell]:
    detail = {"jobs": jobs, "seconds": round(found.seconds, 1)}
    against = "the same worker after a tenth of the jobs"
    return [cell("soak_memory", found.end_mb, "MB", against=found.settled_mb, baseline=against, detail=detail)]


def _ingest_cell(found: Kept) -> Cell:
    detail = {"messages": found.messages, "seconds": round(found.seconds), "per_s": found.per_s}
    against = "the same processes in the second third of the time"
    return cell(
        "soak_ingest_memory", found.end_mb, "MB", FLAT, against=found.settled_mb, baseline=against, detail=detail
    )


def _peer(name: str) -> list[Party]:
    if name == "none":
        return []
    try:
        return [steady(peer) for peer in peers(install()) if peer.name == PEERS[name]]
    except PeersMissing as error:
        _say(f"the peers are not there: {error}")
        return []


def _say(what: str) -> None:
    print(f"{time.strftime('%H:%M:%S')} {what}", file=sys.stderr, flush=True)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.soak", description="The long runs.")
    parser.add_argument("--minutes", type=float, default=MINUTES, help="how long the snapshot is held")
    parser.add_argument("--jobs", type=int, default=JOBS, help="how many jobs the memory is watched over")
    parser.add_argument("--ingest-minutes", type=float, default=INGEST_MINUTES, help="how long messages are read")
    parser.add_argument("--peer", choices=[*PEERS, "none"], default="graphile", help="who runs beside")
    parser.add_argument("--results", type=Path, metavar="FOLDER", help="where to write; bench/results for a whole run")
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=PARTS, help="which of them")
    return parser.parse_args()


if __name__ == "__main__":
    ending_in_order(main)
