"""A runtime in the foreground: the session, the signals, the jars."""

import os
import signal
import sys
from threading import Event, Thread
from types import FrameType
from typing import TYPE_CHECKING

from penstock.cli.logs import log_to_stderr
from penstock.cli.output import waiting
from penstock.client import database_url
from penstock.embedded.jars import kafka_jars, spark_options
from penstock.errors import SettingsError, SubscriptionHeld
from penstock.jobs import Job, JobFunction
from penstock.kernel import catalog, subscriptions
from penstock.kernel.connection import connect
from penstock.kernel.migrate import check
from penstock.kernel.subscriptions import SubscriptionView, not_active
from penstock.settings import read_settings

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def run_subscription(path: str, *, once: bool, master: str) -> str:
    """Run until it is over; returns the state the subscription is left in."""
    try:
        from penstock.pipeline.runtime import Runtime
        from penstock.pipeline.session import spark_session
    except ImportError as error:
        raise SettingsError(f"subscriptions need Spark: pip install 'penstock[spark]' ({error})") from error
    log_to_stderr()
    settings = read_settings()
    with waiting("starting PostgreSQL"):
        url = database_url()
    # tasks and commits are processes of their own, and find the database as this one does
    os.environ["PENSTOCK_DATABASE_URL"] = url
    with connect(url, application="penstock runtime") as connection:
        check(connection)
        _refuse_early(subscriptions.show(connection, path))
        spec = catalog.entry(connection, path, kind="Subscription").content["spec"]
        source, activation = spec["source"], spec.get("activation")
    home = settings.home.expanduser().absolute()
    with waiting("starting Spark"):
        options = spark_options(kafka_jars(home / "cache")) if source == "kafka" else {}
        spark = spark_session(master, home, options)
    # after the session: it takes Ctrl-C for itself
    stop = _stops()
    try:
        if once or activation != "scheduled":
            return Runtime(spark, url, path, once=once, stop=stop).run()
        return _drain_when_asked(spark, url, path, stop)
    finally:
        spark.stop()


def _drain_when_asked(spark: "SparkSession", url: str, path: str, stop: Event) -> str:
    """A scheduled subscription: the clock asks for drains, and this process, whose session is warm, does them."""
    from penstock.pipeline.runtime import Runtime
    from penstock.worker.loop import Worker, WorkerOptions

    def drain(_: Job) -> dict[str, str]:
        return {"state": Runtime(spark, url, path, once=True, stop=stop).run()}

    with connect(url, application="penstock runtime") as connection:
        kind = f"drain:{subscriptions.show(connection, path).subscription_id}"
    worker = Worker(WorkerOptions(url, concurrency=1), {kind: JobFunction(kind, drain, is_async=False)}, only=True)

    def heed() -> None:
        stop.wait()
        worker.stop()

    Thread(target=heed, daemon=True).start()
    worker.run()
    with connect(url, application="penstock runtime") as connection:
        return subscriptions.show(connection, path).state


def _refuse_early(one: SubscriptionView) -> None:
    """What can be known before Spark has started; the lease decides."""
    if one.state in ("REGISTERED", "DEACTIVATED"):
        raise not_active(one.path, one.state)
    if one.is_running:
        raise SubscriptionHeld(
            f"subscription {one.path} is held by another runtime until {one.lease_until:%H:%M:%S} UTC",
            "One runtime reads a subscription. Stop the other one; its place is free when its lease has ended.",
        )


def _stops() -> Event:
    """SIGTERM, SIGHUP and Ctrl-C end the runtime in order; a second one at once."""
    stop = Event()

    def heed(number: int, _: FrameType | None) -> None:
        if stop.is_set():
            sys.exit(128 + number)
        stop.set()

    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, heed)
    return stop
