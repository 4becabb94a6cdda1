"""A runtime in this process that knows the API alone: whatever source it reads, and whatever becomes of the server."""

import json
from pathlib import Path
from uuid import uuid4

import pytest
from pyspark.sql import SparkSession

from penstock.errors import ServerUnavailable, TokenRefused
from penstock.kernel import subscriptions, tokens
from penstock.kernel.connection import Connection
from penstock.pipeline.books import Server
from penstock.pipeline.bound import Bound
from penstock.pipeline.runtime import Runtime
from tests.concurrency.sessions import wait_until
from tests.gateway.conftest import own
from tests.gateway.serving import Api
from tests.ingest.support import PATH
from tests.parts.pubsub import Pubsub
from tests.parts.troubled import Troubled
from tests.pipeline import places, subscribing
from tests.pipeline.holding import Holding
from tests.pipeline.places import Stream
from tests.pipeline.subscribing import Subscribe
from tests.sql.support import rows, value

__all__ = ["own"]

subscribe, stream = subscribing.subscribe, places.stream
_START_S = 120
# before one answer would have been given up
_SOON_S = 60


def _alone(credentials_file: Path, db: Connection) -> str:
    """Nothing but the source and the API can be opened from now on; the token's id."""
    number, token = tokens.create(db, "agent:edge", ["internal"])
    main = json.loads(credentials_file.read_text())["main"]
    credentials_file.write_text(json.dumps({"main": main, "server": {"token": token}}))
    return number


def test_messages_of_pubsub_become_executions_and_are_acknowledged(
    own: Api, spark: SparkSession, db: Connection, pubsub_server: Pubsub, subscribe: Subscribe, credentials_file: Path
) -> None:
    name = f"s-{uuid4().hex[:8]}"
    subscribe(pubsub_server.credential, source="pubsub", subscription=pubsub_server.add(name))
    pubsub_server.publish(name, [(b"%d" % number, {}, "") for number in range(20)])
    _alone(credentials_file, db)
    assert Runtime(spark, Server(own.url, "server"), PATH, once=True).run() == "ACTIVE"
    assert rows(db, "select count(*), count(distinct body) from penstock.ingest_message") == [(20, 20)]
    assert pubsub_server.unsettled(name) == []
    kept = "select count(*) from penstock.once_key where scope = %s and expires_at between now() and now() + '1 year'"
    assert value(db, kept, f"message:{PATH}") == 20


def test_a_runtime_ends_when_it_is_told_to_though_the_server_hangs(
    own: Api, spark: SparkSession, db: Connection, stream: Stream, subscribe: Subscribe, credentials_file: Path
) -> None:
    stream.publish([b"1"])
    subscribe(stream.credential, **stream.spec)
    _alone(credentials_file, db)
    with Holding(spark, Server(own.url, "server")) as holding:
        wait_until(lambda: subscriptions.show(db, PATH).executions == 1, "it reads", _START_S)
        with own.process.hung():
            holding.stop()
            wait_until(lambda: not holding.is_running, "it ends", _SOON_S)
    assert isinstance(holding.error, ServerUnavailable), holding.error


def test_as_many_as_were_asked_for_are_read_though_the_answer_of_a_commit_is_lost(
    own: Api, spark: SparkSession, db: Connection, stream: Stream, subscribe: Subscribe, credentials_file: Path
) -> None:
    stream.publish([b"%d" % number for number in range(50)])
    subscribe(stream.credential, **stream.spec, runtime={"batch": 7})
    _alone(credentials_file, db)
    with Troubled(own.port, ("lost", "well"), only="/commit") as way:
        Runtime(spark, Server(way.url, "server"), PATH, once=True, bound=Bound(20)).run()
    assert way.met["lost"] > 2
    assert rows(db, "select count(*), count(distinct body) from penstock.ingest_message") == [(20, 20)]


@pytest.mark.parametrize("is_paused", [False, True])
def test_a_runtime_that_waits_ends_when_its_token_is_revoked(
    is_paused: bool,
    own: Api,
    spark: SparkSession,
    db: Connection,
    stream: Stream,
    subscribe: Subscribe,
    credentials_file: Path,
) -> None:
    stream.publish([b"1"])
    subscribe(stream.credential, **stream.spec)
    number = _alone(credentials_file, db)
    with Holding(spark, Server(own.url, "server")) as holding:
        wait_until(lambda: subscriptions.show(db, PATH).executions == 1, "it reads", _START_S)
        if is_paused:
            subscriptions.move(db, PATH, "pause")
            wait_until(lambda: not spark.streams.active, "it has heard of the pause", _START_S)
        tokens.revoke(db, number)
        wait_until(lambda: not holding.is_running, "it ends by itself", _START_S)
    assert isinstance(holding.error, TokenRefused), holding.error
    assert "refuses the token server: The token is revoked" in str(holding.error)
