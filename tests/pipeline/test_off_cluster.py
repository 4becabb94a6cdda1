"""A runtime that reaches the source and the API, and no database."""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import LiteralString
from urllib.parse import parse_qs, urlsplit

import pytest

from penstock.kernel import catalog, runtimes, subscriptions, tokens
from penstock.kernel.connection import Connection
from tests.concurrency.sessions import wait_until
from tests.gateway.conftest import own
from tests.gateway.serving import PENSTOCK, Api
from tests.ingest.support import PATH, Runtime
from tests.parts.jumping_clock import JumpingClock
from tests.parts.nats import Nats
from tests.parts.other_network import OtherNetwork
from tests.parts.processes import Part, free_ports, listens
from tests.parts.shop import Shop
from tests.parts.terminal import on_a_terminal, rows_of
from tests.pipeline.processes import RuntimeProcess
from tests.pipeline.subscribing import Subscribe, subscribe
from tests.sql.support import rows, value
from tests.tree import ROOT, text

__all__ = ["own", "subscribe"]

MESSAGES = 300
_RUN_S = 240
ENTRY = ROOT / "deploy" / "cloud-run" / "entry.sh"
CONTAINER = ROOT / "deploy" / "cloud-run" / "Containerfile"
_BUILD_S = 600

Off = Callable[..., tuple[int, str]]


@pytest.fixture
def broker(tmp_path: Path) -> Iterator[Nats]:
    folder = tmp_path / "nats"
    folder.mkdir()
    with Nats(folder) as server:
        server.add_stream("orders")
        server.add_consumer("orders", "penstock")
        yield server


@pytest.fixture
def there(database: str) -> Iterator[OtherNetwork]:
    """Without the folder of PostgreSQL's socket: that would be a way around the network."""
    sockets = Path(parse_qs(urlsplit(database).query)["host"][0])
    with OtherNetwork([sockets]) as network:
        yield network


@pytest.fixture(params=["here", pytest.param("built", marks=pytest.mark.long)])
def app(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """An environment with Penstock: that of the tests, or what the image would hold."""
    if request.param == "here":
        return Path(sys.executable).parent.parent
    sources, made = _context(tmp_path / "src"), tmp_path / "app"
    before = sorted(sources.rglob("*"))
    command = [str(sources / "deploy" / "cloud-run" / "build.sh"), str(made)]
    ran = subprocess.run(command, cwd=sources, capture_output=True, text=True, timeout=_BUILD_S)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert sorted(sources.rglob("*")) == before
    held = {one.name.partition("-")[0] for one in made.glob("lib/*/site-packages/*.dist-info")}
    assert {"penstock", "pyspark"} <= held
    assert held.isdisjoint({"pytest", "mypy", "schemathesis", "hypothesis", "ruff"})
    return made


def _context(folder: Path) -> Path:
    """What the container file copies of the repository, and nothing else."""
    copied = re.findall(r"^COPY (?!--from)(.+) \S+$", text(CONTAINER), re.MULTILINE)
    for one in " ".join(copied).split():
        (folder / one).parent.mkdir(parents=True, exist_ok=True)
        if (ROOT / one).is_dir():
            shutil.copytree(ROOT / one, folder / one, ignore=shutil.ignore_patterns("__pycache__", "*.egg-info"))
        else:
            shutil.copy2(ROOT / one, folder / one)
    return folder


def _secrets(folder: Path, api: Api, broker: Nats, there: OtherNetwork) -> Path:
    source = broker.credential
    source["servers"] = "nats://" + there.lend(int(source["servers"].rpartition(":")[2]))
    token = tokens.create(api.db, "agent:edge", ["internal"])[1]
    file = folder / "secret.yaml"
    # as platforms mount them: for everybody to read
    file.write_text(json.dumps({"main": source, "server": {"token": token, "allow_http": True}}))
    file.chmod(0o644)
    return file


def _environment(folder: Path, secret: Path, url: str) -> dict[str, str]:
    return {
        "HOME": str(folder),
        "PENSTOCK_HOME": str(folder / "home"),
        "PENSTOCK_APP": str(Path(sys.executable).parent.parent),
        "PENSTOCK_SECRET": str(secret),
        "PENSTOCK_SUBSCRIPTION": PATH,
        "PENSTOCK_SERVER_URL": url,
        "PENSTOCK_ONCE": "1",
        "SPARK_LOCAL_IP": "127.0.0.1",
    }


def test_the_entry_point_reads_a_source_where_no_database_can_be_reached(
    own: Api,
    database: str,
    db: Connection,
    broker: Nats,
    subscribe: Subscribe,
    there: OtherNetwork,
    app: Path,
    tmp_path: Path,
) -> None:
    """deploy/cloud-run's own, in a clean environment, in a network that has the API and the broker."""
    subscribe(broker.credential, source="nats", stream="orders", consumer="penstock")
    broker.publish("orders.new", [(b'{"n": %d}' % number, []) for number in range(MESSAGES)])
    secret = _secrets(tmp_path, own, broker, there)
    url = "http://" + there.lend(own.port)
    environment = _environment(tmp_path, secret, url) | {"PENSTOCK_APP": str(app)}
    reach = [str(PENSTOCK), "job", "list"]
    code, said = there.run(reach, {"PENSTOCK_DATABASE_URL": database, "HOME": str(tmp_path)}, _RUN_S)
    assert (code, "cannot connect to PostgreSQL" in said) == (1, True), said
    code, said = there.run([str(ENTRY)], environment, _RUN_S)
    assert code == 0, said
    assert value(db, "select count(*) from penstock.job") == MESSAGES
    assert value(db, "select count(distinct message_id) from penstock.ingest_message") == MESSAGES


def test_what_the_entry_point_lacks_it_says(tmp_path: Path, there: OtherNetwork) -> None:
    environment = _environment(tmp_path, tmp_path / "none.yaml", "http://127.0.0.1:9")
    code, said = there.run([str(ENTRY)], environment, _RUN_S)
    assert (code, "there is no file of credentials at" in said) == (2, True), said
    del environment["PENSTOCK_SUBSCRIPTION"]
    code, said = there.run([str(ENTRY)], environment, _RUN_S)
    assert (code, "PENSTOCK_SUBSCRIPTION: is not set" in said) == (2, True), said


def test_the_runtime_of_a_new_revision_waits_until_the_old_one_has_stopped(
    own: Api, db: Connection, broker: Nats, subscribe: Subscribe, tmp_path: Path
) -> None:
    """It answers the platform's probe meanwhile: else the old one would not be stopped."""
    subscribe(broker.credential, source="nats", stream="orders", consumer="penstock")
    broker.publish("orders.new", [(b'{"n": %d}' % number, []) for number in range(20)])
    old = Runtime(db)
    token = tokens.create(db, "agent:edge", ["internal"])[1]
    secret = tmp_path / "secret.yaml"
    secret.write_text(json.dumps({"main": broker.credential, "server": {"token": token}}))
    (port,) = free_ports(1)
    environment = _environment(tmp_path, secret, own.url) | {"PENSTOCK_ONCE": "", "PORT": str(port)}
    new = Part([str(ENTRY)], tmp_path / "new.log", environment)
    try:
        _until_it_waits(new, old)
        assert (listens(port), value(db, "select count(*) from penstock.job")) == (True, 0)
        runtimes.release(db, PATH, old.lease.token)
        new.until(lambda: value(db, "select count(*) from penstock.job") == 20, "the new one reads", _RUN_S)
    finally:
        new.stop()


def _until_it_waits(new: Part, old: Runtime) -> None:
    """The old one goes on holding its place."""

    def waits() -> bool:
        runtimes.lease(old.db, PATH, old.incarnation, old.lease.token)
        return "waits for its place" in new.log()

    new.until(waits, "the new one waits", _RUN_S)


def test_the_page_is_followed_as_it_stands(
    own: Api, database: str, db: Connection, broker: Nats, subscribe: Subscribe, tmp_path: Path
) -> None:
    """docs/off-cluster.md, but for the port, which somebody else may have."""
    subscribe(broker.credential, source="nats", stream="orders", consumer="penstock")
    broker.publish("orders.new", [(b'{"n": %d}' % number, []) for number in range(MESSAGES)])
    page = text(ROOT / "docs" / "off-cluster.md")
    serve, create, run = re.findall(r"^```sh\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    (written,) = re.findall(r"^```\n(server: .*?)^```", page, re.MULTILINE | re.DOTALL)
    (port,) = free_ports(1)
    outside = {name: one for name, one in os.environ.items() if not name.startswith("PENSTOCK_")}
    outside |= {"PATH": f"{PENSTOCK.parent}:{os.environ['PATH']}", "PENSTOCK_HOME": str(tmp_path / "home")}
    inside = outside | {"PENSTOCK_DATABASE_URL": database}
    server = Part(shlex.split(serve.replace("8080", str(port))), tmp_path / "serve.log", inside)
    try:
        server.until(lambda: listens(port), "the server listens", _RUN_S)
        token = re.search(r"pst_\w+_[\w-]+", _shell(create, inside, tmp_path))
        assert token is not None
        source = broker.credential
        filled = written.replace("…", token[0], 1).replace("…", source["password"], 1)
        (tmp_path / "credentials.yaml").write_text(
            filled.replace("nats://broker:4222", source["servers"]).replace("nats_main", "main")
        )
        (tmp_path / "credentials.yaml").chmod(0o600)
        said = _shell(run.replace("8080", str(port)), outside, tmp_path)
    finally:
        server.stop()
    assert f"{PATH} is ACTIVE" in said
    assert value(db, "select count(*) from penstock.job") == MESSAGES


def _shell(commands: str, environment: dict[str, str], folder: Path) -> str:
    ran = subprocess.run(
        ["bash", "-euc", commands], cwd=folder, env=environment, capture_output=True, text=True, timeout=_RUN_S
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return ran.stdout


def test_a_clock_that_jumps_changes_nothing(
    own: Api, db: Connection, broker: Nats, subscribe: Subscribe, tmp_path: Path
) -> None:
    """By more than a year, forward and back: leases, tokens and identities are the server's, and here are seconds."""
    subscribe(broker.credential, source="nats", stream="orders", consumer="penstock")
    token = tokens.create(db, "agent:edge", ["internal"], expires_at=datetime.now(UTC) + timedelta(days=1))[1]
    (tmp_path / "credentials.yaml").write_text(json.dumps({"main": broker.credential, "server": {"token": token}}))
    (tmp_path / "credentials.yaml").chmod(0o600)
    clock = JumpingClock(tmp_path / "clock")
    homes = {"PENSTOCK_HOME": str(tmp_path / "home"), "PENSTOCK_CREDENTIALS": str(tmp_path / "credentials.yaml")}
    options = ("--server-url", own.url, "--token-alias", "server")
    with RuntimeProcess(PATH, clock.environment | homes, tmp_path / "run.log", *options) as runtime:
        for jumps, days in enumerate((400, -400, 0), 1):
            clock.jump(timedelta(days=days))
            broker.publish("orders.new", [(b"%d:%d" % (days, number), []) for number in range(MESSAGES)])
            _until(runtime, db, "select count(*) from penstock.job", jumps * MESSAGES)
            # a query of Spark's begins anew, by the clock as it is now
            begun = _begun(runtime)
            _newer(db, jumps)
            _until(runtime, db, "select version from penstock.subscription_runtime", jumps + 1)
            _until_it_reads(runtime, begun + 1)
        assert runtime.end() == 0, runtime.log()
    years = set(re.findall(r"^(\d{4})-\S+Z .* reads ", runtime.log(), re.MULTILINE))
    assert len(years) > 2, runtime.log()
    made = "select count(*), count(distinct body) from penstock.ingest_message"
    assert rows(db, made) == [(3 * MESSAGES, 3 * MESSAGES)]
    assert [one.happening for one in subscriptions.history(db, PATH) if "loss" in one.happening] == []


def _begun(runtime: RuntimeProcess) -> int:
    return runtime.log().count(" reads ")


def _until_it_reads(runtime: RuntimeProcess, wanted: int) -> None:
    wait_until(lambda: _begun(runtime) >= wanted or not runtime.is_alive, "its query has begun anew", _RUN_S)
    assert runtime.is_alive, runtime.log()


def _until(runtime: RuntimeProcess, db: Connection, query: LiteralString, wanted: int) -> None:
    wait_until(lambda: value(db, query) >= wanted or not runtime.is_alive, f"{query} is {wanted}", _RUN_S)
    assert runtime.is_alive, runtime.log()


def _newer(db: Connection, number: int) -> None:
    """Another version of the subscription, which its runtime takes up by itself."""
    content = value(db, "select content from penstock.catalog where path = %s order by version desc limit 1", PATH)
    catalog.register(
        db, PATH, "Subscription", content | {"spec": content["spec"] | {"runtime": {"batch": 100 + number}}}, ""
    )


def test_a_file_is_read_here_and_run_there(
    own: Api, db: Connection, broker: Nats, subscribe: Subscribe, tmp_path: Path
) -> None:
    subscribe(broker.credential, source="nats", stream="orders", consumer="penstock")
    broker.publish("orders.new", [(b'{"n": %d}' % number, []) for number in range(20)])
    content = value(db, "select content from penstock.catalog where kind = 'Subscription'")
    outside = _with_file(db, broker.credential, tmp_path)
    command = f"{PENSTOCK} subscribe orders.yaml --server-url {own.url} --token-alias server"
    told = json.loads(_shell(f"{command} --max-messages 5 --json", outside, tmp_path))
    # how they end is known there, and not said here
    assert told == {"received": 5, "executions": 5, "deduplicated": 0, "dead_lettered": 0, "known_already": 0}
    assert value(db, "select count(*) from penstock.job") == 5
    code, said = on_a_terminal([*shlex.split(command), "--once"], outside, tmp_path, _RUN_S)
    rows = rows_of(said)
    assert code == 0, rows
    assert "received 15 · executions 15 · deduplicated 0 · dead-lettered 0" in {row[2:] for row in rows}
    summary = ["received 15", "executions 15", "deduplicated 0", "dead-lettered 0"]
    assert [" ".join(row.split()) for row in rows[-4:]] == summary
    assert "[spark" not in said.decode()
    (tmp_path / "orders.yaml").write_text(json.dumps({**content, "spec": {**content["spec"], "start": "earliest"}}))
    refused = {
        "": "Register it there",
        "--nats": "--nats:",
        "--concurrency 10": "--concurrency:",
        "--events x": "--events:",
    }
    for more, words in refused.items():
        ran = subprocess.run(
            shlex.split(f"{command} --once {more}"),
            cwd=tmp_path,
            env=outside,
            capture_output=True,
            text=True,
            timeout=_RUN_S,
        )
        assert (ran.returncode, words in ran.stderr) == (1, True), ran


def test_a_source_beside_a_file_is_found(
    own: Api, db: Connection, shop: Shop, outbox: str, subscribe: Subscribe, tmp_path: Path
) -> None:
    subscribe(shop.credential, source="outbox:OutboxQueue", options={"table": outbox})
    shop.publish(outbox, [b"%d" % number for number in range(5)])
    outside = _with_file(db, shop.credential, tmp_path)
    shutil.copy(ROOT / "examples" / "own_source" / "outbox.py", tmp_path)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    command = f"{PENSTOCK} subscribe ../orders.yaml --server-url {own.url} --token-alias server --once --json"
    assert json.loads(_shell(command, outside, elsewhere))["executions"] == 5


def _with_file(db: Connection, credential: dict[str, str], folder: Path) -> dict[str, str]:
    """The subscription in orders.yaml, with what opens its source and the API; the environment that names it."""
    content = value(db, "select content from penstock.catalog where kind = 'Subscription'")
    (folder / "orders.yaml").write_text(json.dumps(content))
    token = tokens.create(db, "agent:edge", ["internal"])[1]
    (folder / "credentials.yaml").write_text(json.dumps({"main": credential, "server": {"token": token}}))
    (folder / "credentials.yaml").chmod(0o600)
    outside = {name: one for name, one in os.environ.items() if not name.startswith("PENSTOCK_")}
    return outside | {
        "PENSTOCK_HOME": str(folder / "home"),
        "PENSTOCK_CREDENTIALS": str(folder / "credentials.yaml"),
    }
