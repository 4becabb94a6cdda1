"""The peers: other queues on the same server, beside ours. Their scripts and pinned versions stand in this folder."""

import json
from dataclasses import dataclass, replace
from pathlib import Path

from bench.party import Party
from bench.peers.install import Installed
from bench.processes import Command, Process
from bench.server import BenchServer

HERE = Path(__file__).resolve().parent
SETUP_S = 60


@dataclass(frozen=True)
class Peer(Party):
    """A queue whose producer and worker are one script for node."""

    name: str
    setting: str
    done: str
    live_tables: str
    script: str
    knobs: dict[str, str]
    installed: Installed

    def create(self, server: BenchServer) -> str:
        url = server.fresh(f"bench_{self.name.replace('-', '_')}")
        with Process(self.producer(url, "setup"), server.folder / f"{self.name}.log") as setup:
            setup.await_end(SETUP_S)
        return url

    def producer(self, url: str, *arguments: object) -> Command:
        words = [str(self.installed.node), str(HERE / self.script), *map(str, arguments)]
        return Command(words, {"PEER_URL": url, "PEER_NPM": str(self.installed.packages), **self.knobs})

    def worker(self, url: str, mode: str, n: int) -> Command:
        return self.producer(url, mode, n)

    def tuned(self, setting: str, **knobs: int) -> "Peer":
        """The same queue with other knobs."""
        return replace(self, setting=setting, knobs={f"PEER_{name}": str(value) for name, value in knobs.items()})


def peers(installed: Installed) -> list[Peer]:
    """Each at the settings that drain fastest."""
    graphile = Peer(
        name="graphile-worker",
        setting="",
        done="select not exists (select from graphile_worker._private_jobs)",
        live_tables="graphile_worker._private_jobs",
        script="graphile.cjs",
        knobs={},
        installed=installed,
    )
    pgboss = Peer(
        name="pg-boss",
        setting="",
        done="select count(*) = %(n)s from pgboss.job where name = 'bench' and state = 'completed'",
        live_tables="pgboss.",
        script="pgboss.mjs",
        knobs={},
        installed=installed,
    )
    return [
        graphile.tuned("24 jobs, localQueue 2000, delay 0", LOCALQ=2000),
        pgboss.tuned("2 workers x 5000, burst", CONC=2, BATCH=5000),
    ]


def prompt(peer: Peer) -> Peer:
    """The peer as it answers a lone job soonest: a local queue or a large batch would delay it."""
    settings = {"graphile-worker": "24 jobs, no local queue", "pg-boss": "1 worker x 10, notify"}
    return peer.tuned(settings[peer.name])


def steady(peer: Peer) -> Peer:
    """The peer under a steady load of many small batches."""
    if peer.name == "graphile-worker":
        return peer.tuned("24 jobs, localQueue 500, delay 0", LOCALQ=500)
    return peer.tuned("2 workers x 500, notify", CONC=2, BATCH=500)


def versions() -> dict[str, str]:
    """The pinned versions."""
    pinned: dict[str, str] = json.loads((HERE / "package.json").read_text())["dependencies"]
    return pinned
