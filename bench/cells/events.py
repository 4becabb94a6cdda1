"""From a table's change to a job: what a route costs its writers, how fast events are dispatched, and how soon."""

import json
import time
from collections.abc import Sequence
from statistics import median

from bench.measure import SETTLE_S, START_S, WARM_UP_JOBS, log_of, percentile
from bench.processes import MeasurementFailed, Process
from bench.results import Cell, Line, at_most, cell, reaching, within
from bench.run import Bench
from penstock.kernel import consumers, events, sql_routes
from penstock.kernel.connection import Connection, connect

UPDATE, INSERT = at_most(1.3), at_most(1.5)
ONE, THREE = reaching(25_000), reaching(10_000)
FLAT = at_most(1.25)
P50_MS = within(50)
ROUNDS = 5
PAGE = 5000
DOMAIN, TYPE = "kg", "changed"
TABLES = (
    "create table {0} (id bigint primary key, status text, total numeric, note text);"
    " insert into {0} select g, 'new', g, md5(g::text) from generate_series(1, {1}) g; vacuum analyze {0}"
)
EVENT = "(event_domain, event_type, event_stream, subject_table, subject_ref, payload, actor, causation_depth)"
VALUES = (
    "'kg', 'changed', 'update', 'public.routed', {0}.id::text,"
    " jsonb_build_object('status', {0}.status, 'total', {0}.total), 'system:bench', 0"
)
UPDATED = "update {0} set status = %s"
BARE_EVENTS = f"insert into penstock.event_outbox {EVENT} select {VALUES.format('p')} from plain p"
ROUTED_INSERT = "insert into routed values (%s, 'new', 1, 'note')"
BARE_INSERT = (
    "with p as (insert into plain values (%s, 'new', 1, 'note') returning *)"
    f" insert into penstock.event_outbox {EVENT} select {VALUES.format('p')} from p"
)
LOADED = (
    "insert into penstock.event_outbox"
    " (event_domain, event_type, event_stream, subject_table, subject_ref, payload, actor)"
    " select 'kg', %s, 'update', 'node', g::text, jsonb_build_object('size', g), 'system:bench'"
    " from generate_series(1, %s) g"
)
SQL = {"update": UPDATED.format("plain"), "bare_events": BARE_EVENTS, "bare_insert": BARE_INSERT}


def update(bench: Bench) -> list[Cell]:
    """An UPDATE of many rows with a live route, against the same UPDATE and a bare insert of the same events."""
    rows = bench.sizes.routed
    bench.say(f"an update of {rows:,} rows with a route, {ROUNDS} rounds")
    with connect(bench.server.fresh("bench_events", migrated=True)) as db:
        _tables(db, rows, "update")
        routed, bare = [], []
        for number in range(ROUNDS + 1):
            _swept(db)
            routed.append(_timed(db, rows, (UPDATED.format("routed"), [f"r{number}"])))
            _swept(db)
            bare.append(_timed(db, rows, (UPDATED.format("plain"), [f"r{number}"]), (BARE_EVENTS, [])))
    # the first of each has plans and pages to warm
    return [_against("trigger_update", routed[1:], bare[1:], UPDATE, "the same update and a bare insert of its events")]


def insert(bench: Bench) -> list[Cell]:
    """Single-row inserts with a live route, against the insert and a bare insert of its event, as one statement."""
    rows = bench.sizes.routed_inserts
    bench.say(f"{rows:,} single-row inserts with a route, {ROUNDS} rounds")
    with connect(bench.server.fresh("bench_events", migrated=True)) as db:
        _tables(db, 0, "insert")
        routed, bare = [], []
        for number in range(ROUNDS + 1):
            ids = range(number * rows, (number + 1) * rows)
            routed.append(_timed(db, rows, *((ROUTED_INSERT, [one]) for one in ids)))
            bare.append(_timed(db, rows, *((BARE_INSERT, [one]) for one in ids)))
    return [_against("trigger_insert", routed[1:], bare[1:], INSERT, "the insert and a bare insert of its event")]


def dispatch(bench: Bench) -> list[Cell]:
    """Events to jobs: to one consumer, and to three."""
    count = bench.sizes.events
    found = []
    for name, wanted, line in (("dispatch_one", 1, ONE), ("dispatch_three", 3, THREE)):
        bench.say(f"{count:,} events to {wanted} consumers")
        rates = [count / _dispatched(bench, count, consumers_wanted=wanted) for _ in range(3)]
        detail = {"events": count, "page": PAGE, "rounds": [round(one) for one in rates]}
        found.append(cell(name, median(rates), "events/s", line, detail=detail))
    return found


def flat(bench: Bench) -> list[Cell]:
    """The cost of an event in a log of a million, with a writer's transaction open, against one of ten thousand."""
    few, many, count = bench.sizes.events // 10, bench.sizes.logged_events, bench.sizes.events
    bench.say(f"{count:,} events in a log of {many:,}, a transaction open")
    small = median([_dispatched(bench, count, before=few) for _ in range(2)])
    large = median([_dispatched(bench, count, before=many, held=True) for _ in range(2)])
    return [
        cell(
            "dispatch_flat",
            large / count * 1e6,
            "µs/event",
            FLAT,
            against=small / count * 1e6,
            baseline=f"a log of {few:,}, and nobody open",
        )
    ]


def latency(bench: Bench) -> list[Cell]:
    """From just before the commit of an emit to the handler of the consumer's job, with wake-ups."""
    lone, ms = bench.sizes.lone_jobs + WARM_UP_JOBS, bench.sizes.lone_ms
    bench.say(f"latency of {lone} lone events to their handler")
    url = bench.ours.create(bench.server)
    with connect(url) as db:
        _consumers(db, 1, kind="noop")
        with Process(bench.ours.worker(url, "event", lone), log_of(bench.server, bench.ours)) as worker:
            worker.await_line("START", START_S)
            time.sleep(SETTLE_S)
            for _ in range(lone):
                events.emit(db, DOMAIN, TYPE, subject_ref=str(time.monotonic_ns()))
                time.sleep(ms / 1000)
            handled = worker.await_line("HANDLED", START_S)
    found = sorted(json.loads(handled[2])[WARM_UP_JOBS:])
    detail = {"events": len(found), "p99": round(percentile(found, 99), 2)}
    return [cell("event_latency_p50", percentile(found, 50), "ms", P50_MS, detail=detail)]


def _tables(db: Connection, rows: int, sql_event: str) -> None:
    for table in ("routed", "plain"):
        _made(db, table, rows)
    events.type_register(db, DOMAIN, TYPE, "update")
    definition = {
        "source_schema": "public",
        "source_table": "routed",
        "sql_event": sql_event,
        "target_event_domain": DOMAIN,
        "target_event_type": TYPE,
        "payload_contract": {"keep_refs": ["status", "total"]},
    }
    sql_routes.route_set(db, "bench", definition, enabled=True)
    db.execute("insert into penstock.sql_event_route_note (route_code, outcome, events) values ('bench', 'dry_run', 1)")
    state = sql_routes.route_set(db, "bench", dry_run=False, reviewed_by="user:bench")
    if state != "live":
        raise MeasurementFailed(f"the route is {state}")


def _made(db: Connection, table: str, rows: int) -> None:
    for statement in TABLES.format(table, rows).split(";"):
        db.execute(statement.encode())


def _swept(db: Connection) -> None:
    db.execute("truncate penstock.event_outbox")
    for table in ("routed", "plain"):
        db.execute(f"vacuum {table}".encode())
    db.execute("checkpoint")


def _timed(db: Connection, expected: int, *statements: tuple[str, Sequence[object]]) -> float:
    """Seconds of one transaction; the events it made are counted."""
    before = _events(db)
    began = time.monotonic()
    with db.transaction():
        for statement, values in statements:
            db.execute(statement.encode(), values)
    seconds = time.monotonic() - began
    if _events(db) - before != expected:
        raise MeasurementFailed(f"{_events(db) - before} events were made, not {expected}")
    return seconds


def _events(db: Connection) -> int:
    row = db.execute("select count(*) from penstock.event_outbox").fetchone()
    assert row is not None
    return int(row[0])


def _against(name: str, ours: list[float], bare: list[float], line: Line, baseline: str) -> Cell:
    detail = {"ours_s": [round(one, 4) for one in ours], "bare_s": [round(one, 4) for one in bare]}
    ratio = median(mine / theirs for mine, theirs in zip(ours, bare, strict=True))
    against = median(bare)
    return cell(name, ratio * against, "s", line, against=against, baseline=baseline, detail=detail)


def _consumers(db: Connection, count: int, kind: str = "work") -> None:
    events.type_register(db, DOMAIN, TYPE, "update")
    for number in range(count):
        name = f"bench{number}"
        consumers.register(db, name, DOMAIN, TYPE, f"{kind}{number or ''}", f"{{event_id}}:{name}")
        db.execute(
            "insert into penstock.consumer_dispatch (consumer_id, event_id, outcome, job_kind)"
            " values (%s, gen_random_uuid(), 'dry_run', 'work')",
            [name],
        )
        consumers.switch(db, name, enabled=True, dry_run=False, reviewed_by="user:bench")


def _dispatched(bench: Bench, count: int, *, consumers_wanted: int = 1, before: int = 0, held: bool = False) -> float:
    """Seconds to dispatch so many events, page by page, in a log that has others before them."""
    url = bench.server.fresh("bench_events", migrated=True)
    with connect(url) as db, connect(url) as other:
        _consumers(db, consumers_wanted)
        events.type_register(db, DOMAIN, "other", "update")
        if held:
            other.execute("begin")
            events.emit(other, DOMAIN, "other")
        db.execute(LOADED.encode(), ["other", before])
        events.tick(db)
        while consumers.dispatch_run(db, limit=PAGE)["more"]:
            pass
        db.execute(LOADED.encode(), [TYPE, count])
        db.execute("analyze penstock.event_outbox")
        db.execute("checkpoint")
        began = time.monotonic()
        events.tick(db)
        made = 0
        while True:
            report = consumers.dispatch_run(db, limit=PAGE)
            made += report["jobs"]
            if not report["more"]:
                break
        seconds = time.monotonic() - began
        if made != count * consumers_wanted:
            raise MeasurementFailed(f"{made} jobs were made, not {count * consumers_wanted}")
        return seconds
