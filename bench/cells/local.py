"""A subscription file on its own machine: a cold run to its end, and one message explained."""

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median

from bench.feeds import nats
from bench.processes import MeasurementFailed
from bench.results import Cell, cell, within
from bench.run import Bench
from penstock.model import Json

ONCE_S = within(60)
EXPLAIN_S = within(1)
EXPLAINED = 7
RUN_S = 600
PLAYBOOK = """\
apiVersion: penstock/v1
kind: Playbook
metadata: {path: bench/order}
workflow: [{step: a, tool: {kind: noop}}]
"""


def once(bench: Bench) -> list[Cell]:
    """`penstock subscribe --once` with nothing prepared: a new home, so a new PostgreSQL, and a cold Spark."""
    count = bench.sizes.local_messages
    with nats(bench.server.folder) as feed, _files(feed.spec(), feed.credential) as folder:
        feed.publish(range(count))
        bench.say(f"{count:,} messages by penstock subscribe --once, cold")
        began = time.monotonic()
        told = json.loads(_penstock(folder, "subscribe", "orders.yaml", "--once", "--events", "trail", "--json").stdout)
        took_s = time.monotonic() - began
        events = len((folder / "trail").read_bytes().splitlines())
    if (told["received"], told["executed"]) != (count, count):
        raise MeasurementFailed(f"of {count:,} messages it says {told}")
    return [cell("subscribe_once", took_s, "s", ONCE_S, detail={"messages": count, "events": events, **told})]


def explain(bench: Bench) -> list[Cell]:
    """`penstock subscription explain FILE --message FILE`: the median of several, each a process of its own."""
    with _files({"source": "kafka", "topic": "bench"}, {}) as folder:
        (folder / "message.json").write_text(json.dumps({"data": {"order": 7}, "headers": {"X-Priority": "high"}}))
        bench.say("one message explained")
        took_s = []
        for _ in range(EXPLAINED):
            began = time.monotonic()
            _penstock(folder, "subscription", "explain", "orders.yaml", "--message", "message.json")
            took_s.append(time.monotonic() - began)
    return [cell("explain", median(took_s), "s", EXPLAIN_S, detail={"rounds": took_s})]


@contextmanager
def _files(source: Json, credential: Json) -> Iterator[Path]:
    """A folder with a subscription, its playbook and its credential."""
    with tempfile.TemporaryDirectory(prefix="penstock-bench-") as name:
        folder = Path(name)
        folder.chmod(0o755)
        (folder / "playbooks.yaml").write_text(PLAYBOOK)
        (folder / "orders.yaml").write_text(json.dumps(_subscription(source)))
        (folder / "credentials.yaml").write_text(json.dumps({"bench": credential}))
        (folder / "credentials.yaml").chmod(0o600)
        yield folder


def _subscription(source: Json) -> Json:
    directives = [{"header": "X-Priority", "controls": "priority", "map": {"high": "priority"}}]
    spec = {
        "mode": "pull",
        "auth": "bench",
        "dispatch": {"playbook": "bench/order", "payload_from": "message.json"},
        "headers": {"directives": directives},
        **source,
    }
    head = {"apiVersion": "penstock/v1", "kind": "Subscription", "metadata": {"path": "subscriptions/bench"}}
    return {**head, "spec": spec}


def _penstock(folder: Path, *words: str) -> "subprocess.CompletedProcess[str]":
    others = {name: one for name, one in os.environ.items() if not name.startswith("PENSTOCK_")}
    environment = {"PENSTOCK_HOME": str(folder / "home"), "PENSTOCK_CREDENTIALS": str(folder / "credentials.yaml")}
    done = subprocess.run(
        [Path(sys.executable).parent / "penstock", *words],
        cwd=folder,
        env=others | environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=RUN_S,
    )
    if done.returncode:
        raise MeasurementFailed(f"penstock {words[0]} has ended with code {done.returncode}: {done.stderr[-2000:]}")
    return done
