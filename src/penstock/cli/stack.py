"""Everything in one foreground process: the servers, a worker, and the active subscriptions."""

import os
from collections.abc import Callable
from contextlib import ExitStack
from threading import Event

import structlog

from penstock.cli.database import lend_database
from penstock.cli.driver import Driver, need_spark
from penstock.cli.fleet import Fleet
from penstock.cli.logs import log_to_stderr
from penstock.cli.nats import nats_beside
from penstock.cli.output import waiting
from penstock.cli.signals import stopped_by_signals
from penstock.cli.tended import Tended
from penstock.client import database_url
from penstock.errors import DatabaseUnavailable, SparkEnded
from penstock.kernel import subscriptions
from penstock.kernel.connection import connect
from penstock.kernel.migrate import check, migrate
from penstock.kernel.subscriptions import SubscriptionView
from penstock.settings import Settings, read_settings

log = structlog.get_logger("penstock.up")

_LOOK_S = 1.0
# Spark ends a batch under way within 30 s
_RUNTIMES_S = 60.0


def run_stack(words: list[str], *, master: str, with_nats: bool, metrics_port: int | None) -> None:
    """Until a signal ends it; `words` are the worker's."""
    need_spark()
    from penstock.pipeline.telemetry import opened

    log_to_stderr()
    settings = read_settings()
    # as it is now: the worker finds the server as we do, and is one of its users
    worker = Tended(words, dict(os.environ))
    stop = stopped_by_signals(hurry=worker.ask_to_stop)
    url = opened_database(settings)
    home = settings.home.expanduser().absolute()
    # left in the opposite order: runtimes, worker, Spark, servers
    with ExitStack() as stack:
        if with_nats:
            stack.enter_context(nats_beside(home, settings))
        telemetry = stack.enter_context(opened(metrics_port or settings.metrics_port, settings.metrics_host))
        driver = Driver(url, master, home, telemetry, told=log.info)
        stack.callback(driver.end)
        stack.enter_context(worker)
        fleet = Fleet(driver.run)
        stack.callback(_stop, fleet)
        _watch(url, fleet, stop, [worker.look, lambda: _check(driver)])
        log.info("is stopping: a second signal ends it at once")
    log.info("has stopped")


def _watch(url: str, fleet: Fleet, stop: Event, looks: list[Callable[[], None]]) -> None:
    """Until it is to stop: see to everything once a second."""
    said = ""
    while not stop.wait(_LOOK_S if said else 0):
        for look in looks:
            look()
        try:
            fleet.look(lambda: _listed(url))
            now = f"runs {', '.join(fleet.running)}" if fleet.running else "waits for an active subscription to run"
        except DatabaseUnavailable as error:
            now = f"waits for PostgreSQL: {error}"
        if now != said:
            log.info(now)
            said = now


def _listed(url: str) -> list[SubscriptionView]:
    with connect(url, application="penstock up") as connection:
        return subscriptions.listed(connection)


def _check(driver: Driver) -> None:
    if driver.is_broken():
        raise SparkEnded("Spark's JVM has ended by itself\nNothing is lost: start penstock up again.")


def _stop(fleet: Fleet) -> None:
    late = fleet.stop(_RUNTIMES_S)
    if late:
        log.warning("did not end in time; their places are free when their leases have ended", subscriptions=late)


def opened_database(settings: Settings) -> str:
    """Migrated, if it is the embedded one; a server of the user's own is left to `penstock migrate`."""
    with waiting("starting PostgreSQL"):
        url = database_url()
        with connect(url, application="penstock up") as connection:
            if settings.database_url is None:
                migrate(connection)
            else:
                check(connection)
    lend_database(url)
    return url
