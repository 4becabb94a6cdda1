"""How long a lone job takes from the enqueue call to its handler, with wake-ups and without."""

from statistics import median

from bench.measure import latencies_ms, percentile
from bench.party import Penstock
from bench.peers import prompt
from bench.processes import MeasurementFailed
from bench.results import Cell, cell, within
from bench.run import Bench
from penstock.kernel.connection import connect

P50_MS = within(4)
P99_MS = within(10)
POLL_MS = 100
POLL_LINE_MS = within(POLL_MS + 10)
# without it the jobs would always meet the same moment of the poll
POLL_JITTER_MS = 300
BRIDGE_OFF = "select penstock.fn_config_set('queue.notify.bridge_enabled', 'false')"


def wake_p50(bench: Bench) -> list[Cell]:
    return [_wake(bench, "latency_wake_p50", 50)]


def wake_p99(bench: Bench) -> list[Cell]:
    return [_wake(bench, "latency_wake_p99", 99)]


def poll(bench: Bench) -> list[Cell]:
    """The bridge off: polling alone, every 100 ms."""
    ours = Penstock(poll_ms=POLL_MS)
    sizes = bench.sizes
    bench.say(f"latency of {sizes.lone_jobs} lone jobs, polling every {POLL_MS} ms")
    url = ours.create(bench.server)
    with connect(url) as connection:
        connection.execute(BRIDGE_OFF)
    found = latencies_ms(bench.server, ours, url, sizes.lone_jobs, sizes.lone_ms, POLL_JITTER_MS)
    detail = {"jobs": len(found), "poll_ms": POLL_MS, "p50": round(percentile(found, 50), 2)}
    return [cell("latency_poll", found[-1], "ms, longest", POLL_LINE_MS, detail=detail)]


def _wake(bench: Bench, name: str, percent: int) -> Cell:
    measured = bench.once("wake", lambda: _measure(bench))
    rounds = {party: [percentile(found, percent) for found in all_of] for party, all_of in measured.items()}
    shares = {party: median(each) for party, each in rounds.items()}
    detail = {
        "jobs": bench.sizes.lone_jobs,
        "every_ms": bench.sizes.lone_ms,
        "rounds": {party: [round(one, 2) for one in each] for party, each in rounds.items()},
        "longest": [round(found[-1], 2) for found in measured[bench.ours.name]],
    }
    line = P50_MS if percent == 50 else P99_MS
    return cell(name, shares.pop(bench.ours.name), "ms", line, beside=shares, detail=detail)


def _measure(bench: Bench) -> dict[str, list[list[float]]]:
    sizes = bench.sizes
    found: dict[str, list[list[float]]] = {}
    for number in range(1, sizes.lone_rounds + 1):
        for party in (bench.ours, *map(prompt, bench.peers)):
            bench.say(f"latency of {sizes.lone_jobs} lone jobs, round {number}, woken: {party.name}")
            try:
                url = party.create(bench.server)
                each = latencies_ms(bench.server, party, url, sizes.lone_jobs, sizes.lone_ms)
                found.setdefault(party.name, []).append(each)
            except MeasurementFailed as error:
                if party is bench.ours:
                    raise
                bench.say(str(error))
    return found
