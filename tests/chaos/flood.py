"""A flood: messages pour in while the runtime's processes are killed, and the servers on both sides crash.

Each round publishes its share, waits until a batch is in flight, and does one harm.
"""

import json
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event, Thread
from typing import TypeVar

import psutil

from penstock.embedded import EmbeddedPostgres
from penstock.errors import DatabaseUnavailable, PenstockError
from penstock.kernel import catalog, subscriptions
from penstock.kernel.connection import Connection, connect, translated
from penstock.kernel.migrate import migrate
from penstock.model import Json
from tests.chaos.conservation import Fates, read_fates
from tests.chaos.outlets import KEY, Letter, Outlet, Seen
from tests.ingest.support import PATH, PLAYBOOK, playbook
from tests.parts.jars import cache
from tests.pipeline.processes import RuntimeProcess

T = TypeVar("T")

DATABASE, COPY = "flood", "flood_copy"
_LOOK_S = 0.02
_UP_S = 240
_CALM_S = 300
_LEASE_MS = "3000"
# of every so many messages one shares its key with its neighbour, and one is not JSON
_TWIN, _BROKEN = 10, 50
_COUNTS = ("received", "executions", "deduplicated", "dead_lettered", "replays", "batches")


@dataclass(frozen=True)
class Plan:
    """How many messages, and which harms, in which order. A restore needs a copy before it."""

    messages: int
    harms: Sequence[str]
    batch: int
    options: Sequence[str] = ()
    environment: dict[str, str] = field(default_factory=dict)
    # of the runtime, besides what opens the source
    credentials: Json = field(default_factory=dict)
    # without a database: it has to find another way
    is_off_cluster: bool = False


@dataclass
class Tally:
    """What was done, so that a calm run is not taken for a proof."""

    harms: Counter[str] = field(default_factory=Counter)
    in_flight: int = 0
    between: Counter[str] = field(default_factory=Counter)
    started: int = 0
    counts: Counter[str] = field(default_factory=Counter)
    redeliveries: int = 0
    seconds: float = 0.0

    def report(self, name: str, messages: int) -> str:
        counted = ", ".join(f"{self.counts[one]} {one}" for one in _COUNTS)
        harms = ", ".join(f"{times} x {harm}" for harm, times in sorted(self.harms.items()))
        return (
            f"{name}: {messages} messages in {self.seconds:.0f} s; {harms}; "
            f"{self.in_flight} of them with a batch in flight, {self.between.total()} between staging and commit; "
            f"{self.started} runtimes; {counted}; {self.redeliveries} redeliveries"
        )


class Flood:
    """One flood, from one source, over one server."""

    def __init__(
        self,
        server: EmbeddedPostgres,
        outlet: Outlet,
        folder: Path,
        plan: Plan,
        executors: Callable[[], list[psutil.Process]] | None = None,
        more_harms: Mapping[str, Callable[[], None]] | None = None,
    ) -> None:
        self.tally = Tally()
        self._server = server
        self._url = server.url(DATABASE)
        self._outlet = outlet
        self._folder = folder
        self._plan = plan
        self._executors = executors
        self._runtime: RuntimeProcess | None = None
        self._harms = {
            "python": self._kill_python,
            "jvm": self._kill_jvm,
            "tasks": self._kill_tasks,
            "postgres": lambda: self._server.restart("immediate"),
            "broker": self._outlet.restart,
            "copy": self._copy,
            "restore": self._restore,
            **(more_harms or {}),
        }

    def run(self) -> tuple[list[Seen], Fates]:
        began_at = time.monotonic()
        self._prepare()
        letters = _letters(self._plan.messages)
        rounds = len(self._plan.harms)
        share = -(-len(letters) // rounds)
        try:
            for number, harm in enumerate(self._plan.harms):
                self._ensure_running()
                self._round(letters[number * share : (number + 1) * share], harm, between=number % 2 == 0)
            seen = self._calm()
        finally:
            self._leave_runtime()
        self.tally.redeliveries = self._outlet.redeliveries()
        self.tally.seconds = time.monotonic() - began_at
        with connect(self._url) as db:
            self._count(db)
            return seen, read_fates(db, PATH)

    def _prepare(self) -> None:
        if not self._plan.is_off_cluster:
            with connect(self._server.url()) as db:
                db.execute(f"create database {DATABASE}".encode())
        with connect(self._url) as db:
            migrate(db)
            db.execute("select penstock.fn_config_set('subscription.lease_ms', %s)", [_LEASE_MS])
            playbook(db)
            spec = {
                "mode": "pull",
                "auth": "main",
                "dispatch": {"playbook": PLAYBOOK, "payload_from": "message.json"},
                "headers": {"directives": [{"header": KEY, "controls": "idempotency_key"}]},
                "dedup": {"window_s": 86400},
                "runtime": {"batch": self._plan.batch, "trigger_ms": 100},
                **self._outlet.spec(),
            }
            content = {"apiVersion": "penstock/v1", "kind": "Subscription", "metadata": {"path": PATH}, "spec": spec}
            catalog.register(db, PATH, "Subscription", content, "")
            subscriptions.move(db, PATH, "activate")
        (self._folder / "home").mkdir()
        (self._folder / "home" / "cache").symlink_to(cache())
        self._credentials = self._folder / "credentials.yaml"
        self._credentials.write_text(json.dumps({"main": self._outlet.credential, **self._plan.credentials}))
        self._credentials.chmod(0o600)

    def _round(self, letters: Sequence[Letter], harm: str, *, between: bool) -> None:
        """Publish, wait until a batch is in flight, and do it. `between`: with the commit held up by a lock."""
        publisher = Thread(target=self._outlet.publish, args=[letters])
        publisher.start()
        try:
            if harm in ("copy", "broker"):
                publisher.join()
            with self._held_up(harm) if between else self._staged():
                self._harms[harm]()
        finally:
            publisher.join()
        if harm == "jvm":
            # it must not hang without its other half, and say why it ends
            assert self._running().wait(_UP_S) == 1, self._running().log()
            assert "Spark's JVM has ended by itself" in self._running().log()
        self.tally.harms[harm] += 1

    @contextmanager
    def _staged(self) -> Iterator[None]:
        """Rows are staged: before the commit, in it, or until what it committed is acknowledged."""
        self._until(self._is_staged, "rows are staged")
        self.tally.in_flight += 1
        yield

    @contextmanager
    def _held_up(self, harm: str) -> Iterator[None]:
        """A commit waits for the runtime's row, its rows staged."""
        db = connect(self._url, application="flood lock")
        try:
            db.execute("set idle_in_transaction_session_timeout = 0")
            while True:
                self._until(self._is_staged, "rows are staged")
                db.execute("begin")
                db.execute("select from penstock.subscription_runtime where path = %s for update", [PATH])
                if self._waits(_LOOK_S * 100):
                    break
                db.execute("rollback")
            self.tally.in_flight += 1
            self.tally.between[harm] += 1
            yield
        finally:
            # the server may be another one by now: nothing to be ended there
            db.close()

    def _waits(self, within_s: float) -> bool:
        give_up_at = time.monotonic() + within_s
        while time.monotonic() < give_up_at:
            if self._ask(_is_commit_waiting):
                return True
            Event().wait(_LOOK_S)
        return False

    def _is_staged(self) -> bool:
        self._ensure_running()
        return self._ask(_staged_rows) > 0

    def _kill_python(self) -> None:
        self._running().kill_alone()

    def _kill_jvm(self) -> None:
        jvm = self._running().jvm()
        assert jvm is not None
        jvm.kill()

    def _kill_tasks(self) -> None:
        """The processes that fetch and stage: on a cluster its executors, else Spark's Python workers."""
        victims = self._executors() if self._executors else self._running().task_processes()
        for victim in victims:
            # it may have ended since it was listed
            with suppress(psutil.NoSuchProcess):
                victim.kill()

    def _copy(self) -> None:
        self._running().kill()
        with connect(self._server.url()) as db:
            _cut_off(db)
            db.execute(f"create database {COPY} template {DATABASE}".encode())

    def _restore(self) -> None:
        """An older copy takes the place of the database: the source is ahead of it now."""
        self._running().kill()
        with connect(self._url) as db:
            self._count(db)
        with connect(self._server.url()) as db:
            db.execute(f"drop database {DATABASE} with (force)".encode())
            db.execute(f"alter database {COPY} rename to {DATABASE}".encode())
        with connect(self._url) as db:
            # what the copy had counted was counted above
            self._count(db, -1)

    def _count(self, db: Connection, sign: int = 1) -> None:
        one = subscriptions.show(db, PATH)
        for name in _COUNTS:
            self.tally.counts[name] += sign * getattr(one, name)

    def _calm(self) -> list[Seen]:
        """Nothing is disturbed any more: all that the source holds must be accounted for."""
        self._ensure_running()
        seen = self._outlet.everything()
        self._until(lambda: self._is_accounted(len(seen)), f"all {len(seen)} messages are accounted for")
        assert self._running().end() == 0, self._running().log()
        return seen

    def _is_accounted(self, messages: int) -> bool:
        self._ensure_running()
        Event().wait(1)
        return self._ask(_accounted) >= messages

    def _running(self) -> RuntimeProcess:
        assert self._runtime is not None
        return self._runtime

    def _ensure_running(self) -> None:
        """As a supervisor would: start it again, once its place is free."""
        if self._runtime is not None and self._runtime.is_alive:
            return
        self._until_free()
        self._leave_runtime()
        self.tally.started += 1
        environment = {
            **({} if self._plan.is_off_cluster else {"PENSTOCK_DATABASE_URL": self._url}),
            "PENSTOCK_CREDENTIALS": str(self._credentials),
            "PENSTOCK_HOME": str(self._folder / "home"),
        }
        log = self._folder / f"runtime-{self.tally.started:03}.log"
        self._runtime = RuntimeProcess(PATH, environment | self._plan.environment, log, *self._plan.options)

    def _leave_runtime(self) -> None:
        """Nothing of it is left behind."""
        if self._runtime is not None:
            self._runtime.__exit__(None, None, None)

    def _until_free(self) -> None:
        give_up_at = time.monotonic() + _UP_S
        while self._ask(lambda db: subscriptions.show(db, PATH).is_running):
            assert time.monotonic() < give_up_at, "the lease of a killed runtime does not end"
            Event().wait(_LOOK_S)

    def _until(self, ready: Callable[[], bool], what: str) -> None:
        give_up_at = time.monotonic() + _CALM_S
        while not ready():
            if time.monotonic() > give_up_at:
                raise AssertionError(f"never: {what}\n{self._running().log()[-6000:]}")
            Event().wait(_LOOK_S)

    def _ask(self, question: Callable[[Connection], T]) -> T:
        """On a connection of its own, again while the server is away."""
        give_up_at = time.monotonic() + _UP_S
        while True:
            try:
                with translated(), connect(self._url, application="flood") as db:
                    return question(db)
            except DatabaseUnavailable:
                if time.monotonic() > give_up_at:
                    raise
                Event().wait(_LOOK_S)


def _letters(count: int) -> list[Letter]:
    """Every tenth has its predecessor's key; every fiftieth is no JSON, and has no key."""
    return [Letter(number, _key(number), number % _BROKEN != _BROKEN - 1) for number in range(count)]


def _key(number: int) -> str | None:
    return f"key-{number // _TWIN}" if number % _TWIN in (3, 4) else None


def _staged_rows(db: Connection) -> int:
    """Of the runtime that holds the subscription now; a killed one has left its own."""
    try:
        names = db.execute(
            "select c.relname::text from penstock.subscription_runtime r join pg_class c"
            " on c.relname ~ ('^ingest_stage_[0-9]+_' || r.token || '_[01]$') where r.lease_until > now()"
        ).fetchall()
        found = 0
        for (name,) in names:
            with translated(db):
                row = db.execute(f"select count(*) from (select from penstock.{name} limit 1) s".encode()).fetchone()
            found += row[0] if row else 0
    except DatabaseUnavailable:
        raise
    except PenstockError:
        # dropped meanwhile by a runtime that begins
        return 0
    return found


def _is_commit_waiting(db: Connection) -> bool:
    row = db.execute(
        "select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'"
        " and (application_name, query ~ 'fn_ingest_commit', query ~ 'fn_runtime_once')"
        " in (('penstock commit', true, false), ('penstock serve', false, true))"
    ).fetchone()
    return row is not None


def _accounted(db: Connection) -> int:
    """Messages with a fate, whichever."""
    one = read_fates(db, PATH)
    return len({id for id, _ in one.executions} | set(one.dead) | {id for id, _ in one.duplicates})


def _cut_off(db: Connection) -> None:
    """No session but ours is left: what a killed runtime had open ends with its socket, a moment later."""
    give_up_at = time.monotonic() + _UP_S
    cut = "select pg_terminate_backend(pid) from pg_stat_activity where datname = %s and pid <> pg_backend_pid()"
    while db.execute(cut, [DATABASE]).fetchall():
        assert time.monotonic() < give_up_at, "sessions do not end"
        Event().wait(_LOOK_S)
