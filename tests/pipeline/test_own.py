"""A source of one's own through Spark: the worked example, with the same safety as those that are built in."""

import pytest
from psycopg.sql import SQL, Identifier
from pyspark.sql import SparkSession

from penstock.errors import DataLoss
from penstock.kernel import subscriptions
from penstock.kernel.connection import Connection
from penstock.pipeline.runtime import Runtime
from tests.ingest.support import PATH
from tests.parts.shop import Shop
from tests.pipeline import subscribing
from tests.pipeline.older import as_of_an_older_copy
from tests.pipeline.subscribing import Subscribe
from tests.sql.support import rows, value

subscribe = subscribing.subscribe
SOURCE = "outbox:OutboxQueue"


def _once(spark: SparkSession, database: str) -> None:
    Runtime(spark, database, PATH, once=True).run()


def test_rows_of_a_table_become_executions_once(
    spark: SparkSession, db: Connection, database: str, shop: Shop, outbox: str, subscribe: Subscribe
) -> None:
    subscribe(shop.credential, source=SOURCE, options={"table": outbox})
    shop.publish(outbox, [b"%d" % n for n in range(600)], (("X-A", b"1"), ("x-a", b"\xff\x00")))
    _once(spark, database)
    assert (value(db, "select count(distinct source_ref) from penstock.job"), _executions(db)) == (600, 600)
    assert value(db, "select attributes from penstock.ingest_message limit 1") == [
        ["X-A", "1"],
        ["x-a", {"base64": "/wA="}],
    ]
    assert [(at.part, at.next_offset) for at in subscriptions.positions(db, PATH)] == [(outbox, 601)]
    _once(spark, database)
    assert _executions(db) == 600
    shop.publish(outbox, [b"one more"])
    _once(spark, database)
    # the floor has made the first identities superfluous
    assert (_executions(db), value(db, "select count(*) from penstock.once_key")) == (601, 1)


def test_a_table_that_is_ahead_of_a_restored_database_is_noticed_once(
    spark: SparkSession, db: Connection, database: str, shop: Shop, outbox: str, subscribe: Subscribe
) -> None:
    subscribe(shop.credential, source=SOURCE, options={"table": outbox})
    shop.publish(outbox, [b"%d" % n for n in range(60)])
    _once(spark, database)
    as_of_an_older_copy(db, 40)
    with pytest.raises(DataLoss, match=rf"{outbox} from 41 to before 61 \(acknowledged_beyond_the_ledger\)"):
        _once(spark, database)
    subscribe(shop.credential, source=SOURCE, options={"table": outbox}, on_data_loss="skip_and_record")
    for _ in range(2):
        _once(spark, database)
    assert _losses(db) == [("acknowledged_beyond_the_ledger",)]
    # the example's README says how to have them again
    with shop.connected() as connection:
        again = "update {} set done_at = null, visible_at = '-infinity' where id >= 41 and id < 61"
        connection.execute(SQL(again).format(Identifier(outbox)))
    _once(spark, database)
    assert _executions(db) == 60


def test_a_table_restored_to_an_older_copy_is_noticed_and_its_numbers_are_used_again(
    spark: SparkSession, db: Connection, database: str, shop: Shop, outbox: str, subscribe: Subscribe
) -> None:
    subscribe(shop.credential, source=SOURCE, options={"table": outbox})
    shop.publish(outbox, [b"%d" % n for n in range(9)])
    _once(spark, database)
    with shop.connected() as connection:
        connection.execute(SQL("delete from {} where id > 5").format(Identifier(outbox)))
        connection.execute(SQL("update {} set done_at = null, visible_at = '-infinity'").format(Identifier(outbox)))
        connection.execute(SQL("alter table {} alter id restart with 6").format(Identifier(outbox)))
    shop.publish(outbox, [b"new"])
    with pytest.raises(DataLoss, match=rf"{outbox} from 7 to before 10 \(source_went_back\)"):
        _once(spark, database)
    subscribe(shop.credential, source=SOURCE, options={"table": outbox}, on_data_loss="skip_and_record")
    _once(spark, database)
    assert (_losses(db), _executions(db)) == ([("source_went_back",)], 9)
    shop.publish(outbox, [b"7", b"8", b"9"])
    _once(spark, database)
    assert _executions(db) == 12


def _executions(db: Connection) -> int:
    return int(value(db, "select count(*) from penstock.job"))


def _losses(db: Connection) -> list[tuple[str, ...]]:
    return rows(db, "select detail ->> 'reason' from penstock.v_subscription_event where happening ~ 'data_loss$'")
