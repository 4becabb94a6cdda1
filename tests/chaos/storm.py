"""The driver: workers are killed, paused and cut off, the server crashes, and producers go on asking."""

import math
import random
import re
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event
from typing import TypeVar

from penstock.embedded import EmbeddedPostgres
from penstock.errors import DatabaseUnavailable
from penstock.kernel.connection import Connection, connect, translated
from penstock.kernel.migrate import migrate
from penstock.kernel.schedules import schedule_drop, schedule_set
from tests.acceptance.processes import PENSTOCK, WorkerProcess, until
from tests.chaos.history import History, read_notes, read_tables
from tests.chaos.producers import Producer

T = TypeVar("T")

_LOOK_S = 0.05
_LEASE_S = 4.0
_LIMIT = 3
_APP = "tests.chaos.handlers"
_SETTINGS = {
    "queue.lease_ms.default": f"{_LEASE_S * 1000:.0f}",
    # kills cost attempts, and must not be what ends a job
    "queue.retry.max_attempts.default": "50",
    "queue.retry.backoff.strategy": "fixed",
    "queue.retry.backoff.base_ms": "100",
}


@dataclass(frozen=True)
class Plan:
    """How hard it blows, and for how long."""

    seconds: float = 20
    restarts: int = 2
    pauses: int = 2
    workers: int = 4
    rate: float = 120
    calm_s: float = 120
    seed: int = 1
    breaches: Sequence[str] = ()

    @property
    def kills(self) -> int:
        """How many there are at least: on a slow machine it blows for longer."""
        return math.ceil(self.seconds / 6)


@dataclass
class Tally:
    """What the storm did, so that a quiet one is not taken for a proof."""

    kills: int = 0
    restarts: int = 0
    cuts: int = 0
    pauses: int = 0
    lost_answers: int = 0
    seconds: float = 0.0
    codes: list[int] = field(default_factory=list)


@dataclass(frozen=True)
class Sleeper:
    """A paused worker, and the jobs whose handlers it was pulled out of."""

    worker: WorkerProcess
    incarnation: str
    jobs: list[int]
    wake_at: float


class Storm:
    """One storm over one server."""

    def __init__(self, server: EmbeddedPostgres, folder: Path, plan: Plan) -> None:
        self.tally = Tally()
        self._server = server
        self._url = server.url("storm")
        self._plan = plan
        self._random = random.Random(plan.seed)
        self._notes = folder / "notes"
        self._logs = folder / "logs"
        self._workers: list[WorkerProcess] = []
        self._paused: list[Sleeper] = []
        self._started = 0

    def run(self) -> History:
        """Blow, calm down, and tell what happened."""
        began_at = time.monotonic()
        self._prepare()
        before = _offset_s()
        producers = [Producer(self._url, name, self._plan.rate / 2, self._plan.seed) for name in ("ann", "bob")]
        with self._ended_after():
            self._workers = [self._start() for _ in range(self._plan.workers)]
            for producer in producers:
                producer.start()
            self._blow()
            for producer in producers:
                producer.stop()
                producer.join(self._plan.calm_s)
                self.tally.lost_answers += producer.lost_answers
            self._calm()
        after = _offset_s()
        self.tally.seconds = time.monotonic() - began_at
        with connect(self._url) as db:
            jobs, outcomes, live, results = read_tables(db, after)
        requests = [request for producer in producers for request in producer.requests]
        slack_s = abs(after - before) + 0.001
        return History(requests, read_notes(self._notes), jobs, outcomes, live, results, {"limited": _LIMIT}, slack_s)

    def logs(self) -> list[str]:
        return [log.read_text(errors="replace") for log in sorted(self._logs.iterdir())]

    def _prepare(self) -> None:
        self._notes.mkdir(parents=True)
        self._logs.mkdir()
        with connect(self._server.url()) as db:
            db.execute("create database storm")
        with connect(self._url) as db:
            migrate(db)
            for key, value in _SETTINGS.items():
                db.execute("select penstock.fn_config_set(%s, %s)", [key, value])
            db.execute(
                "select penstock.fn_job_subscription_set('default', 'PG_worker', 'limited', p_max_parallel => %s,"
                " p_enabled => true)",
                [_LIMIT],
            )
            schedule_set(db, "every-second", {"kind": "due"}, every="1 second")
            for breach in self._plan.breaches:
                db.execute(breach.encode())

    def _start(self) -> WorkerProcess:
        self._started += 1
        command = [str(PENSTOCK), "worker", "--app", _APP, "--concurrency", "6", "--poll-ms", "200"]
        environment = {"PENSTOCK_DATABASE_URL": self._url, "STORM_NOTES": str(self._notes)}
        return WorkerProcess(command, environment, self._logs / f"{self._started:04}.log")

    def _blow(self) -> None:
        plan = self._plan
        began_at = time.monotonic()
        crises: list[tuple[float, Callable[[], bool]]] = [
            *((plan.seconds * (n + 1) / (plan.restarts + 1), self._restart) for n in range(plan.restarts)),
            *((plan.seconds * (n + 0.3) / plan.pauses, self._pause) for n in range(plan.pauses)),
        ]
        while crises or self.tally.kills < plan.kills or time.monotonic() < began_at + plan.seconds:
            elapsed = time.monotonic() - began_at
            crises = [crisis for crisis in crises if crisis[0] > elapsed or not crisis[1]()]
            self._random.choice((self._kill, self._kill, self._cut))()
            self._drift(self._random.uniform(0.8, 1.8))

    def _drift(self, seconds: float) -> None:
        """Let time pass, and wake sleepers whose moment has come."""
        until_at = time.monotonic() + seconds
        while time.monotonic() < until_at:
            for sleeper in list(self._paused):
                if self._may_wake(sleeper):
                    sleeper.worker.resume()
                    self._paused.remove(sleeper)
            Event().wait(_LOOK_S)

    def _kill(self) -> None:
        """kill -9 one of them, and start another in its place."""
        victim = self._random.choice(self._awake())
        victim.kill()
        self._workers[self._workers.index(victim)] = self._start()
        self.tally.kills += 1

    def _cut(self) -> None:
        """Terminate the sessions of all workers, or of some."""
        share = self._random.choice((0.3, 1.0))
        self._insist(
            lambda db: db.execute(
                "select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database()"
                " and pid <> pg_backend_pid() and random() <= %s",
                [share],
            )
        )
        self.tally.cuts += 1

    def _restart(self) -> bool:
        self._server.restart("immediate")
        self.tally.restarts += 1
        return True

    def _pause(self) -> bool:
        """Stop one in the middle of a slow handler, until its job runs elsewhere; False if none has such a handler."""
        worker = self._random.choice(self._awake())
        found = re.search(r"incarnation=(\S+)", worker.log())
        if found is None:
            return False
        worker.pause()
        jobs = self._insist(lambda db: _slow_jobs(db, found[1]))
        if not jobs:
            worker.resume()
            return False
        self._paused.append(Sleeper(worker, found[1], jobs, time.monotonic() + 4 * _LEASE_S))
        self.tally.pauses += 1
        return True

    def _may_wake(self, sleeper: Sleeper) -> bool:
        return self._insist(lambda db: _is_replaced(db, sleeper)) or time.monotonic() > sleeper.wake_at

    def _awake(self) -> list[WorkerProcess]:
        asleep = {id(one.worker) for one in self._paused}
        return [one for one in self._workers if id(one) not in asleep]

    def _calm(self) -> None:
        """Nothing is disturbed any more: all must end. What has not ended by then is left for the checker to find."""
        give_up_at = time.monotonic() + self._plan.calm_s
        while self._paused:
            self._drift(_LOOK_S)
        self._insist(lambda db: schedule_drop(db, "every-second"))
        while self._insist(_has_jobs) and time.monotonic() < give_up_at:
            Event().wait(_LOOK_S)
        for worker in self._workers:
            _until_it_works(worker)
            worker.terminate()
        # one that began while the server was away has said so and ended: whoever supervises it starts it again
        ended = [(worker.ended(), worker.log()) for worker in self._workers]
        began_alone = "penstock: cannot connect to PostgreSQL"
        self.tally.codes = [0 if log.startswith(began_alone) else code for code, log in ended]

    def _insist(self, ask: Callable[[Connection], T]) -> T:
        """One question on a connection of its own, again when that was cut."""
        answers: list[T] = []

        def asked() -> bool:
            try:
                with translated(), connect(self._url, application="storm driver") as db:
                    answers.append(ask(db))
            except DatabaseUnavailable:
                return False
            return True

        until(asked, "an answer of the server")
        return answers[-1]

    @contextmanager
    def _ended_after(self) -> Iterator[None]:
        try:
            yield
        finally:
            for worker in self._workers:
                worker.kill()


def _until_it_works(worker: WorkerProcess) -> None:
    """Or has ended by itself. One that still begins would die of a signal, as any program does."""
    until(lambda: "working" in worker.log() or not worker.is_alive, "the worker works")


def _slow_jobs(db: Connection, incarnation: str) -> list[int]:
    rows = db.execute(
        "select job_id from penstock.job_queue where leased_by = %s and status = 'running' and job_kind = 'slow'",
        [incarnation],
    ).fetchall()
    return [row[0] for row in rows]


def _is_replaced(db: Connection, sleeper: Sleeper) -> bool:
    """Whether another worker runs one of the sleeper's jobs by now."""
    row = db.execute(
        "select from penstock.job_queue where job_id = any(%s) and status = 'running' and leased_by <> %s",
        [sleeper.jobs, sleeper.incarnation],
    ).fetchone()
    return row is not None


def _has_jobs(db: Connection) -> bool:
    return db.execute("select from penstock.job_queue limit 1").fetchone() is not None


def _offset_s() -> float:
    """The wall clock minus the monotonic one."""
    return time.time() - time.monotonic()
