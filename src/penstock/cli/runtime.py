"""A runtime in the foreground: one subscription, until it is over."""

import time
from collections.abc import Callable
from threading import Event

import structlog

from penstock.cli.database import lend_database
from penstock.cli.driver import Driver, need_spark
from penstock.cli.logs import log_to_stderr
from penstock.cli.output import waiting
from penstock.cli.signals import stopped_by_signals
from penstock.client import database_url
from penstock.errors import Busy, ServerUnavailable, SubscriptionHeld
from penstock.kernel import subscriptions
from penstock.kernel.connection import connect
from penstock.kernel.migrate import check
from penstock.kernel.subscriptions import SubscriptionView, not_active
from penstock.settings import read_settings

log = structlog.get_logger("penstock.runtime")

_TRY_S = 1.0


def run_subscription(path: str, *, once: bool, master: str, metrics_port: int | None = None, wait_s: int = 0) -> str:
    """Run until it is over; returns the state the subscription is left in."""
    need_spark()
    from penstock.pipeline.telemetry import opened

    log_to_stderr()
    settings = read_settings()
    with waiting("starting PostgreSQL"):
        url = database_url()
    lend_database(url)
    with connect(url, application="penstock runtime") as connection:
        check(connection)
        _refuse_early(subscriptions.show(connection, path), waits=wait_s > 0)
    with opened(metrics_port or settings.metrics_port, settings.metrics_host) as telemetry:
        driver = Driver(url, master, settings.home.expanduser().absolute(), telemetry, only=path)
        with waiting("starting Spark"):
            driver.session()
        # after the session: it takes Ctrl-C for itself
        stop = stopped_by_signals()
        try:
            return patient(lambda: driver.run(path, stop, once=once), wait_s, stop)
        finally:
            driver.end()


def patient(run: Callable[[], str], wait_s: int, stop: Event) -> str:
    """Run it; while another runtime holds the subscription, or nobody can say, try again: so long, or until stopped."""
    give_up_at = time.monotonic() + wait_s
    is_said = False
    while True:
        try:
            return run()
        except (SubscriptionHeld, Busy, ServerUnavailable) as error:
            if time.monotonic() > give_up_at or stop.is_set():
                raise
            if not is_said:
                log.info("waits for its place", wait_s=wait_s, reason=str(error))
                is_said = True
        stop.wait(_TRY_S)


def _refuse_early(one: SubscriptionView, *, waits: bool) -> None:
    """What can be known before Spark has started; the lease decides."""
    if one.state in ("REGISTERED", "DEACTIVATED"):
        raise not_active(one.path, one.state)
    if not waits:
        refuse_held(one)


def refuse_held(one: SubscriptionView) -> None:
    """One runtime reads a subscription."""
    if one.is_running:
        raise SubscriptionHeld(
            f"subscription {one.path} is held by another runtime until {one.lease_until:%H:%M:%S} UTC",
            "One runtime reads a subscription. Stop the other one; its place is free when its lease has ended.",
        )
