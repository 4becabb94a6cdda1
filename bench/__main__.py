"""python -m bench: measure, print the table, keep the results."""

import argparse
import time
from collections.abc import Iterable
from pathlib import Path

import psycopg

from bench import machine, raw, results
from bench.cells import CELLS, claim
from bench.peers import Peer, peers
from bench.peers.install import PeersMissing, install
from bench.processes import ROOT, MeasurementFailed
from bench.results import Cell
from bench.run import QUICK, Bench, Sizes
from bench.server import ending_in_order, running_server
from bench.table import table
from penstock.errors import PenstockError

KEPT = ROOT / "bench" / "results"
PASSING = ROOT / ".work" / "bench"
BUSY = 1.0


def main() -> None:
    options = _options()
    wanted = options.only or list(CELLS)
    found, why_none = _peers(options.peers)
    # Only a whole run at full size is worth keeping.
    folder = options.results or (PASSING if options.only or options.quick or not options.peers else KEPT)
    with running_server() as server:
        bench = Bench(server, QUICK if options.quick else Sizes(), found, why_none)
        about = {"quick": options.quick, **machine.about(server), "baselines": raw.SQL | claim.SQL}
        if about["machine"]["load_before"] > BUSY:
            bench.say(f"the machine is busy (load {about['machine']['load_before']}): the figures will be noise")
        cells = list(_measure(bench, wanted))
    path = results.dated(folder, machine.name())
    results.write([path, folder / "latest.json"], about, cells)
    print(table(cells))
    judged = [one for one in cells if one.ok is not None]
    print(f"\n{sum(1 for one in judged if one.ok)} of {len(judged)} lines kept. Written to {path}")


def _measure(bench: Bench, wanted: Iterable[str]) -> Iterable[Cell]:
    for name in wanted:
        began = time.monotonic()
        try:
            yield from CELLS[name](bench)
        except (MeasurementFailed, PenstockError, psycopg.Error) as error:
            bench.say(f"{name} failed: {error}")
            yield Cell(name, None, "", None, None, None, False, reason=str(error).splitlines()[0])
        bench.say(f"{name} measured in {time.monotonic() - began:.0f} s")


def _peers(wanted: bool) -> tuple[list[Peer], str | None]:
    if not wanted:
        return [], "the peers were left out (--no-peers)"
    try:
        return peers(install()), None
    except PeersMissing as error:
        return [], f"the peers are not there: {error}"


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench", description="Measure Penstock beside its peers.")
    parser.add_argument("--only", type=_cell_names, metavar="CELL,…", help=f"of: {', '.join(CELLS)}")
    parser.add_argument("--quick", action="store_true", help="small sizes: shows that it works, measures nothing")
    parser.add_argument("--no-peers", dest="peers", action="store_false", help="without graphile-worker and pg-boss")
    parser.add_argument("--results", type=Path, metavar="FOLDER", help="where to write; bench/results for a whole run")
    return parser.parse_args()


def _cell_names(text: str) -> list[str]:
    names = [name.strip() for name in text.split(",") if name.strip()]
    unknown = [name for name in names if name not in CELLS]
    if unknown:
        raise argparse.ArgumentTypeError(f"no such cell: {', '.join(unknown)}. There are: {', '.join(CELLS)}")
    return names


if __name__ == "__main__":
    ending_in_order(main)
