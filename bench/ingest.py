"""A subscription under measurement: a real `penstock subscription run`, fed by a broker, watched in its database."""

import json
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import uuid4

import pyarrow as pa
from adbc_driver_postgresql import dbapi
from tests.parts.processes import free_ports, listens

from bench.feeds import FEEDS, Feed
from bench.processes import Command, MeasurementFailed, Process
from bench.server import BenchServer
from penstock.kernel import catalog, runtimes, subscriptions, tokens
from penstock.kernel.connection import Connection, connect
from penstock.model import Json
from penstock.settings import read_settings

PATH = "subscriptions/bench"
PLAYBOOKS = ("bench/order", "bench/fraud")
DIRECTIVES = [
    {"header": "X-Route", "controls": "dispatch.playbook", "allowed": ["bench/fraud"]},
    {"header": "X-Priority", "controls": "priority", "map": {"high": "priority"}},
]
START_S = 180
LOOK_S = 0.05
STILL_S = 3.0
_INCARNATION = uuid4()
_PENSTOCK = str(Path(sys.executable).with_name("penstock"))
# the columns of a staged row, as the baseline copies them
STAGED = {
    "attempt": pa.string(), "part": pa.string(), "source_offset": pa.int64(), "message_id": pa.string(),
    "published_at": pa.timestamp("us", "UTC"), "message_key": pa.binary(), "body": pa.binary(),
    "attributes": pa.string(), "playbook": pa.string(), "pool": pa.string(), "trace": pa.string(),
    "directives": pa.string(),
}  # fmt: skip
SQL = {
    "copy_and_merge": "copy penstock.ingest_stage_N from stdin (format binary); select penstock.fn_ingest_commit(…)"
    " -- the same staged rows, batch by batch, one session, without Spark and without a source",
}


@dataclass(frozen=True)
class Batch:
    """One commit: when its transaction began, and its messages."""

    at_s: float
    messages: int


class Ingest:
    """One feed, one database, one runtime; started when asked to."""

    def __init__(self, server: BenchServer, feed: Feed, tool: dict[str, str], **spec: Any) -> None:
        self.feed = feed
        self.url = server.fresh("bench_ingest", migrated=True)
        self._folder = server.folder
        self._log = server.folder / f"ingest-{feed.name}.log"
        self.published = 0
        with connect(self.url) as connection:
            register(connection, feed.spec(), tool, **spec)

    @contextmanager
    def running(self) -> Iterator[Process]:
        with Process(Command([_PENSTOCK, "subscription", "run", PATH], self._environment()), self._log) as process:
            yield process
            process.end(START_S)

    @contextmanager
    def running_over_api(self) -> Iterator[Process]:
        """The runtime has no database: it goes over a `penstock serve`, on the loopback."""
        with connect(self.url) as connection:
            token = tokens.create(connection, "agent:bench", ["internal"])[1]
        environment = self._environment(server={"token": token})
        database = environment.pop("PENSTOCK_DATABASE_URL")
        (port,) = free_ports(1)
        serve = Command([_PENSTOCK, "serve", "--port", str(port)], {**environment, "PENSTOCK_DATABASE_URL": database})
        options = ["--server-url", f"http://127.0.0.1:{port}", "--token-alias", "server"]
        with Process(serve, self._folder / "serve.log") as server:
            self._until(lambda: listens(port), START_S, server)
            command = Command([_PENSTOCK, "subscription", "run", PATH, *options], environment)
            with Process(command, self._log) as process:
                yield process
                process.end(START_S)
            server.end(START_S)

    def publish(self, count: int, at_ns: int = 0) -> None:
        self.feed.publish(range(self.published, self.published + count), at_ns)
        self.published += count

    def until_received(self, within_s: float, process: Process) -> None:
        """Everything published so far is committed."""
        with connect(self.url) as connection:
            self._until(lambda: subscriptions.show(connection, PATH).received >= self.published, within_s, process)

    def move(self, action: str) -> None:
        with connect(self.url) as connection:
            subscriptions.move(connection, PATH, action)

    def until_stopped(self, process: Process) -> None:
        """Paused, and no batch was committed for a while: what was under way has ended."""
        with connect(self.url) as connection:
            since: dict[int, float] = {}

            def is_still() -> bool:
                batches = subscriptions.show(connection, PATH).batches
                return time.monotonic() - since.setdefault(batches, time.monotonic()) > STILL_S

            self._until(is_still, START_S, process)

    def batches(self, beyond: int = 0) -> list[Batch]:
        """In their order, without the messages that came first."""
        with connect(self.url) as connection:
            rows = connection.execute(
                "select extract(epoch from ingested_at)::float8, count(*) from penstock.ingest_message"
                " where execution_id > (select coalesce(max(execution_id), 0) from (select execution_id"
                " from penstock.ingest_message order by execution_id limit %s) f) group by 1 order by 1",
                [beyond],
            ).fetchall()
        return [Batch(at_s, messages) for at_s, messages in rows]

    def _until(self, ready: Callable[[], bool], within_s: float, process: Process) -> None:
        give_up_at = time.monotonic() + within_s
        while not ready():
            if not process.lives() or time.monotonic() > give_up_at:
                log = self._log.read_text(errors="replace")[-2000:]
                raise MeasurementFailed(f"the runtime did not get there within {within_s:g} s\n{log}")
            time.sleep(LOOK_S)

    def _environment(self, **more: Json) -> dict[str, str]:
        credentials = self._folder / "credentials.yaml"
        credentials.write_text(json.dumps({"main": self.feed.credential, **more}))
        credentials.chmod(0o600)
        home = self._folder / "home"
        home.mkdir(exist_ok=True)
        if not (home / "cache").exists():
            (home / "cache").symlink_to(read_settings().home.expanduser().absolute() / "cache")
        return {
            "PENSTOCK_DATABASE_URL": self.url,
            "PENSTOCK_CREDENTIALS": str(credentials),
            "PENSTOCK_HOME": str(home),
        }


@contextmanager
def fed(server: BenchServer, source: str, tool: dict[str, str] | None = None, **spec: Any) -> Iterator[Ingest]:
    """An ingest with its broker, which ends with the block."""
    with FEEDS[source](server.folder) as feed:
        yield Ingest(server, feed, tool or {"kind": "noop"}, **spec)


def register(connection: Connection, source: dict[str, Any], tool: dict[str, str], **spec: Any) -> None:
    """The playbooks and the subscription every ingest cell runs."""
    head: Json = {"apiVersion": "penstock/v1"}
    for path in PLAYBOOKS:
        steps = {"workflow": [{"step": "start", "tool": tool}]}
        content = head | {"kind": "Playbook", "metadata": {"path": path}} | steps
        catalog.register(connection, path, "Playbook", content, "")
    whole = {
        "mode": "pull",
        "auth": "main",
        "dispatch": {"playbook": PLAYBOOKS[0], "payload_from": "message.json"},
        "headers": {"directives": DIRECTIVES, "trace": {"propagate": "w3c"}},
        **source,
        **spec,
    }
    content = head | {"kind": "Subscription", "metadata": {"path": PATH}, "spec": whole}
    catalog.register(connection, PATH, "Subscription", content, "")
    subscriptions.move(connection, PATH, "activate")


def steady_per_s(batches: list[Batch]) -> float:
    """From the first commit to the last, without the messages of the first, which began before it."""
    whole = batches[-1].at_s - batches[0].at_s
    if len(batches) < 2 or whole <= 0:
        raise MeasurementFailed(f"{len(batches)} batches are too few for a rate")
    # a commit's time is its transaction's beginning: what the first began with took the time up to the second
    return sum(one.messages for one in batches[:-1]) / whole


def copy_and_merge(server: BenchServer, ingest: Ingest, batch: int, most: int) -> list[float]:
    """Messages per second of each batch, of the very rows the pipeline has staged, without Spark."""
    with connect(ingest.url) as connection:
        rows = connection.execute(
            "select 'a', m.part, m.source_offset, m.message_id, m.published_at, m.message_key, m.body,"
            " m.attributes::text, case when j.playbook_ref like 'bench/fraud@%%' then 'bench/fraud' end,"
            " nullif(j.pool, 'subscription'), j.trace, m.directives::text from penstock.ingest_message m"
            " join penstock.job j on j.job_id = m.execution_id order by m.source_offset, m.part limit %s",
            [most],
        ).fetchall()
    columns = [pa.array(values, kind) for values, kind in zip(zip(*rows, strict=True), STAGED.values(), strict=True)]
    table = pa.table(dict(zip(STAGED, columns, strict=True)))
    url = server.fresh("bench_merge", migrated=True)
    with connect(url) as connection:
        register(connection, ingest.feed.spec(), {"kind": "noop"})
        with dbapi.connect(url, autocommit=True) as adbc:
            return [_merged(connection, adbc, table.slice(first, batch)) for first in range(0, table.num_rows, batch)]


def _merged(connection: Connection, adbc: dbapi.Connection, rows: pa.Table) -> float:
    ends = rows.group_by("part").aggregate([("source_offset", "max")]).to_pylist()
    positions = {one["part"]: {"identity": "t", "next": one["source_offset_max"] + 1} for one in ends}
    held = runtimes.lease(connection, PATH, _INCARNATION)
    stage = runtimes.stage_open(connection, PATH, held.token)
    began = time.monotonic()
    with adbc.cursor() as cursor:
        cursor.adbc_ingest(stage, rows, mode="append", db_schema_name="penstock")
    runtimes.commit(connection, PATH, held.token, positions, {"a": rows.num_rows})
    seconds = time.monotonic() - began
    runtimes.stage_clear(connection, PATH, held.token)
    return float(rows.num_rows / seconds)
