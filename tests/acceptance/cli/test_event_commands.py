"""penstock event, route, consumer, inbox: from a table to a job, as docs/events.md goes."""

import json

from penstock.kernel.connection import Connection
from tests.acceptance import processes
from tests.acceptance.cli.conftest import Penstock
from tests.acceptance.processes import Crew

crew = processes.crew

DEFINITION = json.dumps(
    {
        "source_schema": "public",
        "source_table": "orders",
        "sql_event": "update",
        "target_event_domain": "shop",
        "target_event_type": "order_paid",
        "payload_contract": {"keep_refs": ["status", "total"]},
        "source_filter": {"changed": ["status"]},
    }
)


def _orders(db: Connection) -> None:
    db.execute("create table orders (id bigint primary key, status text, total numeric)")
    db.execute("insert into orders select g, 'new', 10 * g from generate_series(1, 9) g")


def _pay(db: Connection, order: int) -> None:
    db.execute("update orders set status = 'paid' where id = %s", [order])


def test_a_table_change_becomes_an_event_and_a_job(penstock: Penstock, db: Connection, crew: Crew) -> None:
    _orders(db)
    assert "Next: penstock event register shop TYPE" in penstock.ok("event", "domain", "shop")
    assert penstock.ok("event", "register", "shop", "order_paid") == "shop.order_paid is registered in stream update\n"
    assert "Next: penstock route enable orders.paid --dry-run" in penstock.ok("route", "set", "orders.paid", DEFINITION)
    assert "nobody has reviewed" in penstock.refuses("route", "enable", "orders.paid")
    penstock.ok("route", "enable", "orders.paid", "--dry-run")
    _pay(db, 7)
    reviewed = penstock.json("route", "review", "orders.paid", "--by", "user:ann")
    assert (reviewed["route"]["state"], reviewed["route"]["reviewed_by"]) == ("dry_run", "user:ann")
    (note,) = reviewed["notes"]
    assert (note["events"], note["sample"][0]["payload"]) == (1, {"status": "paid", "total": 70})
    assert penstock.ok("route", "enable", "orders.paid") == "orders.paid: live.\n"

    register = ("consumer", "register", "receipts", "shop.order_paid", "tell")
    penstock.ok(*register, "--payload-ref", "orders/{event_subject_ref}")
    assert "Next: penstock consumer review receipts" in penstock.ok("consumer", "enable", "receipts", "--dry-run")
    crew.start("plain")
    _pay(db, 8)
    processes.until(lambda: penstock.json("consumer", "review", "receipts")["dispatches"], "the dry run is noted")
    shown = penstock.ok("consumer", "review", "receipts", "--by", "user:ann")
    assert "dry_run" in shown
    assert "orders/8" in shown
    assert penstock.ok("consumer", "enable", "receipts") == "receipts: live.\n"

    _pay(db, 9)
    processes.until(lambda: penstock.json("job", "list", "--kind", "tell")["jobs"], "a job was made")
    (made,) = penstock.json("job", "list", "--kind", "tell")["jobs"]
    processes.until(
        lambda: penstock.json("job", "show", made["job_id"])["job"]["status"] == "succeeded", "its handler has run"
    )
    row = db.execute("select result from penstock.job_result").fetchone()
    assert row is not None
    (event,) = penstock.json("event", "list", "--domain", "shop", "--limit", 1)
    assert (row[0]["payload"], row[0]["target"], row[0]["source"]) == ("orders/9", "9", f"event/{event['event_id']}")
    assert event["payload"] == {"status": "paid", "total": 90}
    assert penstock.json("event", "show", event["event_id"]) == event


def test_what_is_wrong_is_said(penstock: Penstock, db: Connection) -> None:
    _orders(db)
    penstock.ok("event", "domain", "shop")
    assert "event type shop.order_paid is not registered" in penstock.refuses("event", "emit", "shop", "order_paid")
    penstock.ok("event", "register", "shop", "order_paid")
    assert "colour is nothing a route has" in penstock.refuses("route", "set", "r", '{"colour": 1}')
    assert "not a JSON object" in penstock.refuses("route", "set", "r", "[]", code=2)
    assert "there is no SQL route" in penstock.refuses("route", "review", "r")
    assert "is not of the form DOMAIN.TYPE" in penstock.refuses("consumer", "register", "c", "shop", "tell", code=2)
    said = penstock.refuses("consumer", "register", "c", "shop.order_paid", "tell", "--key", "{body}")
    assert "{body}, which is no field of an event" in said
    assert "It may use {event_id}" in said
    assert "there is no consumer" in penstock.refuses("consumer", "disable", "c")
    assert "there is no event" in penstock.refuses("event", "show", "0b6f1c1e-7a1d-4f0c-9d63-1f3e8f0f8a11")


def test_a_route_whose_table_is_gone_fails_its_verification(penstock: Penstock, db: Connection) -> None:
    _orders(db)
    penstock.ok("event", "domain", "shop")
    penstock.ok("event", "register", "shop", "order_paid")
    penstock.ok("route", "set", "orders.paid", DEFINITION)
    penstock.ok("route", "enable", "orders.paid", "--dry-run")
    assert penstock.ok("route", "verify", "orders.paid") == "orders.paid: dry_run.\n"
    db.execute("drop table orders")
    ran = penstock.run("route", "verify", "orders.paid")
    assert (ran.code, ran.out) == (1, "orders.paid: table_missing.\n")
    assert "table_missing" in penstock.ok("route", "list")
    assert penstock.ok("route", "disable", "orders.paid") == "orders.paid: disabled.\n"


def test_an_inbox_shows_what_was_not_read(penstock: Penstock) -> None:
    penstock.ok("event", "domain", "shop")
    penstock.ok("event", "register", "shop", "order_paid")
    said = penstock.ok("event", "subscribe", "user:ann", "shop", "--type", "order_paid")
    assert said == "user:ann reads shop.order_paid\n"
    event = penstock.ok("event", "emit", "shop", "order_paid", "--subject-ref", "7", "--key", "k").strip()
    assert penstock.ok("event", "emit", "shop", "order_paid", "--key", "k").strip() == event
    (letter,) = penstock.json("inbox", "user:ann", "--read")
    assert (letter["event_id"], letter["rule"]) == (event, "stream_wildcard")
    assert penstock.ok("inbox", "user:ann") == "nothing unread\n"
    (row,) = penstock.json("event", "subscriptions", "--recipient", "user:ann")
    assert (row["event_domain"], row["event_type"], row["mute"]) == ("shop", "order_paid", False)
    assert penstock.ok("event", "subscriptions").count("mutes") == 6
    assert penstock.ok("consumer", "list").count("disabled") == 6
    assert penstock.json("event", "rebase") == {"base": 0}


def test_readers_workers_and_contracts_are_shown_and_set(penstock: Penstock) -> None:
    penstock.ok("event", "domain", "shop")
    told = penstock.json(
        "event", "register", "shop", "order_paid", "--keep", "status", "--keep", "total", "--forbid", "iban"
    )
    assert told["payload_contract"] == {"keep_refs": ["status", "total"], "forbid_keys": ["iban"]}
    said = penstock.refuses("event", "emit", "shop", "order_paid", "--payload", '{"colour": "red"}')
    assert "holds the key 'colour', which the contract of shop.order_paid does not allow" in said
    readers = {one["cursor_name"]: one for one in penstock.json("event", "cursors")}
    assert readers["consumers"]["is_live"]
    assert "switched off" in penstock.ok("event", "cursors")
    said = penstock.ok("route", "worker", "shop_out", "--domain", "shop")
    assert said == "shop_out delivers events of shop\n"
    assert "shop_out" in penstock.run("route", "verify", "--outbound").out
    open_one = ("--fail-open", "--notes", "try it")
    told = penstock.json("consumer", "register", "receipts", "shop.order_paid", "tell", *open_one)
    assert (told["fail_closed"], told["notes"]) == (False, "try it")
