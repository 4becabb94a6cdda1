"""A runtime in the foreground: one subscription, until it is over."""

from penstock.cli.driver import Driver, lend_database, need_spark
from penstock.cli.logs import log_to_stderr
from penstock.cli.output import waiting
from penstock.cli.signals import stopped_by_signals
from penstock.client import database_url
from penstock.errors import SubscriptionHeld
from penstock.kernel import subscriptions
from penstock.kernel.connection import connect
from penstock.kernel.migrate import check
from penstock.kernel.subscriptions import SubscriptionView, not_active
from penstock.settings import read_settings


def run_subscription(path: str, *, once: bool, master: str, metrics_port: int | None = None) -> str:
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
        _refuse_early(subscriptions.show(connection, path))
    with opened(metrics_port or settings.metrics_port, settings.metrics_host) as telemetry:
        driver = Driver(url, master, settings.home.expanduser().absolute(), telemetry, only=path)
        with waiting("starting Spark"):
            driver.session()
        # after the session: it takes Ctrl-C for itself
        stop = stopped_by_signals()
        try:
            return driver.run(path, stop, once=once)
        finally:
            driver.end()


def _refuse_early(one: SubscriptionView) -> None:
    """What can be known before Spark has started; the lease decides."""
    if one.state in ("REGISTERED", "DEACTIVATED"):
        raise not_active(one.path, one.state)
    if one.is_running:
        raise SubscriptionHeld(
            f"subscription {one.path} is held by another runtime until {one.lease_until:%H:%M:%S} UTC",
            "One runtime reads a subscription. Stop the other one; its place is free when its lease has ended.",
        )
