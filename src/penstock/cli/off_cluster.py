"""A runtime that holds no connection to the database: its place, its ledger and its commits go over the API."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from pathlib import Path
from threading import Event, Thread
from typing import TYPE_CHECKING

from penstock.cli.driver import ended, launched, need_spark
from penstock.cli.line import Line
from penstock.cli.local import LocalRun, live_line, subscription_in
from penstock.cli.logs import log_to_stderr
from penstock.cli.modules import find_modules_beside
from penstock.cli.output import waiting
from penstock.cli.runtime import patient
from penstock.cli.signals import stopped_by_signals
from penstock.cli.tally import NOTHING_YET, Sent, sent
from penstock.embedded.jars import cached_jars, kafka_jars, spark_options
from penstock.embedded.spark import is_alive
from penstock.errors import PenstockError, SettingsError
from penstock.settings import read_settings

if TYPE_CHECKING:
    from penstock.pipeline.books import Server

_LOOK_S = 1.0


def run_elsewhere(asked: LocalRun, server: "Server") -> Sent:
    """A file's subscription is read here, and its messages become executions there; what was made of them there."""
    need_spark()
    from penstock.pipeline.api_books import look

    _refuse_what_is_there(asked)
    find_modules_beside(asked.file)
    entry, spec = subscription_in(asked)
    before = look(server, spec.path)
    if before["content"] != entry.content:
        raise SettingsError(
            f"{spec.path} at {server.url} is not what {asked.file} says\n"
            f"Register it there: penstock subscription register {asked.file}"
        )

    def made() -> Sent:
        return sent(before["counts"], look(server, spec.path)["counts"])

    with live_line(read_settings().home.expanduser().absolute()) as line:
        line.says("Spark is starting")
        shown = _shown_on(line, made)
        _run(spec.path, server, once=asked.once, master=asked.master, bound=asked.most, meanwhile=shown)
    return made()


def _refuse_what_is_there(asked: LocalRun) -> None:
    """Options of a run that is all here: silently ignored, they would be taken for granted."""
    if asked.events is not None:
        raise SettingsError("--events: the trail is written where the executions are, and these are at the server")
    if asked.with_nats:
        raise SettingsError("--nats: the embedded server is for runs without --server-url; start one of your own")
    if asked.concurrency is not None:
        raise SettingsError("--concurrency: handlers run where the executions are, by the workers of the server")


@contextmanager
def _shown_on(line: Line, made: Callable[[], Sent]) -> Iterator[None]:
    """While messages are read; on a terminal only, as each look is a call of the API."""
    line.says(NOTHING_YET)
    over = Event()

    def say() -> None:
        with suppress(PenstockError):
            line.says(made().in_words())

    def look() -> None:
        while not over.wait(_LOOK_S):
            say()

    thread = Thread(target=look, name="looks")
    if line.is_shown:
        thread.start()
    try:
        yield
    finally:
        over.set()
        if line.is_shown:
            thread.join()
    # what was committed since the last look
    if line.is_shown:
        say()


def run_off_cluster(
    path: str, server: "Server", *, once: bool, master: str, metrics_port: int | None = None, wait_s: int = 0
) -> str:
    """Run until it is over; returns the state the subscription is left in."""
    need_spark()
    log_to_stderr()
    return _run(path, server, once=once, master=master, metrics_port=metrics_port, wait_s=wait_s)


def _run(
    path: str,
    server: "Server",
    *,
    once: bool,
    master: str,
    metrics_port: int | None = None,
    wait_s: int = 0,
    bound: int | None = None,
    meanwhile: AbstractContextManager[None] | None = None,
) -> str:
    from penstock.pipeline.bound import Bound
    from penstock.pipeline.runtime import Runtime
    from penstock.pipeline.telemetry import opened

    settings = read_settings()
    home = settings.home.expanduser().absolute()
    options = _spark_options(path, server, home, once=once)
    with opened(metrics_port or settings.metrics_port, settings.metrics_host) as telemetry:
        with waiting("starting Spark"):
            session = launched(master, home, options)
        # after the session: it takes Ctrl-C for itself
        stop = stopped_by_signals()
        runtime = Runtime(session, server, path, once=once, stop=stop, telemetry=telemetry, bound=Bound(bound))
        try:
            with meanwhile or nullcontext():
                return patient(runtime.run, wait_s, stop)
        except Exception as error:
            if not is_alive(session):
                raise ended() from error
            raise
        finally:
            # a JVM that is gone cannot be stopped
            if is_alive(session):
                session.stop()


def _spark_options(path: str, server: "Server", home: Path, *, once: bool) -> dict[str, str]:
    """What Spark needs for this subscription, asked of the server: whether it answers is known before Spark starts."""
    from penstock.pipeline.api_books import look

    spec = look(server, path)["content"]["spec"]
    if spec.get("activation") == "scheduled" and not once:
        raise SettingsError(
            f"{path} is read on a schedule, and away from the database nobody asks for its drains\n"
            "Run it with --once, by the clock of the platform it runs on."
        )
    if spec["source"] != "kafka":
        return {}
    cache = home / "cache"
    with waiting("fetching Kafka's connector for Spark"):
        # an image has them, and no Maven
        return spark_options(cached_jars(cache) or kafka_jars(cache))
