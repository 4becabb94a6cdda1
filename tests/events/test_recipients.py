"""Who reads an event: held against a model that was written from the words, not from the SQL."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import product
from typing import Any
from uuid import UUID

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from penstock.errors import ActorRefused, BadRequest, UnknownEventDomain, UnknownEventType
from penstock.kernel import events
from penstock.kernel.connection import Connection
from penstock.model import Json
from tests.events.support import DOMAIN, TYPE, emit, known
from tests.logins import Logins
from tests.sql.support import configure, rows, value

RECIPIENTS = ("role:reader", "agency:sysop", "user:ann", "agent:crawler")
TYPES = {"grew": "update", "shrank": "alert"}
TABLES = (None, "node", "edge")
PAYLOADS: tuple[Json | None, ...] = (None, {}, {"size": 1}, {"size": 1, "deep": {"a": 1, "b": 2}})
FILTERS: tuple[Json, ...] = ({}, {"size": 1}, {"deep": {"a": 1}}, {"size": 2})


@dataclass(frozen=True)
class Row:
    recipient: str
    event_type: str | None
    stream: str | None
    table: str | None
    filter_at: int
    mute: bool

    def matches(self, event_type: str, table: str | None, payload: Json | None) -> bool:
        return (
            self.event_type in (None, event_type)
            and self.stream in (None, TYPES[event_type])
            and self.table in (None, table)
            and _holds(payload or {}, FILTERS[self.filter_at])
        )

    @property
    def rule(self) -> str:
        if self.event_type and self.stream:
            return "exact"
        if self.stream:
            return "type_wildcard"
        return "stream_wildcard" if self.event_type else "domain_only"

    @property
    def exactness(self) -> tuple[int, bool, bool]:
        ladder = ("exact", "type_wildcard", "stream_wildcard", "domain_only")
        return (ladder.index(self.rule), not (self.table or FILTERS[self.filter_at]), not self.mute)


def _holds(payload: Json, wanted: Json) -> bool:
    return all(
        key in payload and (_holds(payload[key], part) if isinstance(part, dict) else payload[key] == part)
        for key, part in wanted.items()
    )


def _expected(given_rows: list[Row], event_type: str, table: str | None, payload: Json | None) -> dict[str, str]:
    decided: dict[str, Row] = {}
    for row in sorted(given_rows, key=lambda one: one.exactness):
        if row.matches(event_type, table, payload):
            decided.setdefault(row.recipient, row)
    readers = {recipient: row.rule for recipient, row in decided.items() if not row.mute}
    if readers:
        return readers
    return {row.recipient: "broadcast" for row in given_rows if row.recipient not in decided}


def _row() -> st.SearchStrategy[Row]:
    kinds: list[tuple[str | None, str | None]] = [(kind, stream) for kind, of in TYPES.items() for stream in (of, None)]
    kinds += [(None, "update"), (None, "alert"), (None, None)]
    return st.builds(
        lambda recipient, kind, table, at, mute: Row(recipient, kind[0], kind[1], table, at, mute),
        st.sampled_from(RECIPIENTS),
        st.sampled_from(kinds),
        st.sampled_from(TABLES),
        st.integers(0, len(FILTERS) - 1),
        st.booleans(),
    )


@contextmanager
def _undone(db: Connection) -> Iterator[None]:
    with db.transaction(force_rollback=True):
        yield


@pytest.fixture
def bare(db: Connection) -> Connection:
    """Without the rows a new database has."""
    db.execute("delete from penstock.event_subscription")
    for event_type, stream in TYPES.items():
        known(db, event_type, stream)
    return db


@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    wanted=st.lists(_row(), max_size=8, unique_by=lambda r: (r.recipient, r.event_type, r.stream, r.table, r.filter_at))
)
def test_the_most_exact_row_decides_and_nobodys_event_is_a_broadcast(bare: Connection, wanted: list[Row]) -> None:
    with _undone(bare):
        for row in wanted:
            _subscribe(bare, row)
        told: dict[UUID, dict[str, str]] = {}
        for event_type, table, payload in product(TYPES, TABLES, PAYLOADS):
            event = events.emit(bare, DOMAIN, event_type, subject_table=table, payload=payload)
            told[event] = _expected(wanted, event_type, table, payload)
            assert events.recipients(bare, event) == told[event], (event_type, table, payload)
        for recipient in {row.recipient for row in wanted}:
            inbox = {letter.event_id: letter.rule for letter in events.inbox(bare, recipient, 1000)}
            assert inbox == {event: rules[recipient] for event, rules in told.items() if recipient in rules}


def _subscribe(db: Connection, row: Row) -> None:
    events.subscription_set(
        db,
        row.recipient,
        DOMAIN,
        event_type=row.event_type,
        stream=row.stream,
        mute=row.mute,
        subject_table=row.table,
        payload=FILTERS[row.filter_at],
    )


def _counted(db: Connection) -> list[tuple[Any, ...]]:
    events.tick(db)
    value(db, "select penstock.broadcasts_count()")
    return rows(
        db,
        "select event_domain || '.' || event_type, broadcast_events_24h, events_24h"
        " from penstock.v_subscription_broadcast_used order by 1",
    )


def test_broadcasts_are_counted_exactly_when_nothing_matches(bare: Connection) -> None:
    _subscribe(bare, Row("user:ann", "grew", None, None, 1, False))
    for payload in ({"size": 1}, {"size": 1}, {"size": 2}, None):
        events.emit(bare, DOMAIN, "grew", payload=payload)
    events.emit(bare, DOMAIN, "shrank")
    assert _counted(bare) == [("kg.grew", 2, 4), ("kg.shrank", 1, 1)]


def test_many_broadcasts_become_one_warning_a_day(bare: Connection) -> None:
    _subscribe(bare, Row("user:ann", "grew", None, None, 0, False))
    for _ in range(20):
        events.emit(bare, DOMAIN, "grew")
    events.emit(bare, DOMAIN, "shrank")
    _counted(bare)
    events.emit(bare, DOMAIN, "shrank")
    _counted(bare)
    warnings = rows(
        bare, "select subject_ref, payload from penstock.event_outbox where event_type = 'subscription_broadcast'"
    )
    assert warnings == [("kg.shrank", {"broadcast_events_24h": 1, "events_24h": 1})]


def test_switched_off_everything_is_a_broadcast(bare: Connection) -> None:
    _subscribe(bare, Row("user:ann", "grew", None, None, 0, False))
    _subscribe(bare, Row("role:reader", "grew", None, None, 0, True))
    _subscribe(bare, Row("agency:sysop", "shrank", None, None, 0, False))
    event = emit(bare)
    assert events.recipients(bare, event) == {"user:ann": "stream_wildcard"}
    configure(bare, "queue.subscription_resolution.enabled", "false")
    assert events.recipients(bare, event) == {"user:ann": "broadcast", "agency:sysop": "broadcast"}


def test_a_new_database_has_six_muted_rows(db: Connection) -> None:
    assert value(db, "select count(*) from penstock.event_subscription where mute and set_by = 'system:migrate'") == 6


def test_what_was_read_is_not_shown_again(bare: Connection) -> None:
    _subscribe(bare, Row("user:ann", None, None, None, 0, False))
    _subscribe(bare, Row("user:ann", "shrank", None, None, 0, True))
    first, second, muted = emit(bare), emit(bare), emit(bare, event_type="shrank")
    assert [one.event_id for one in events.inbox(bare, "user:ann")] == [second, first]
    assert events.mark_read(bare, "user:ann", [first, muted]) == 1
    assert events.mark_read(bare, "user:ann", [first]) == 0
    assert [one.event_id for one in events.inbox(bare, "user:ann")] == [second]


def test_what_was_not_read_does_not_fall_out_behind_what_is_for_others(bare: Connection) -> None:
    events.subscription_set(bare, "user:ada", DOMAIN, event_type=TYPE)
    events.subscription_set(bare, "user:bob", DOMAIN)
    events.type_register(bare, DOMAIN, "busy", "update")
    mine = emit(bare, "mine")
    bulk = "insert into penstock.event_outbox (event_domain, event_type, event_stream, subject_ref, actor)"
    given = [DOMAIN, "busy", "update", 12_000]
    bare.execute(f"{bulk} select %s, %s, %s, n::text, 'user:ada' from generate_series(1, %s) n".encode(), given)
    assert [one.event_id for one in events.inbox(bare, "user:ada")] == [mine]
    # nor behind those of its own type that it has read
    given = [
        DOMAIN,
        TYPE,
        value(bare, "select event_stream from penstock.event_outbox where event_id = %s", mine),
        12_000,
    ]
    bare.execute(f"{bulk} select %s, %s, %s, n::text, 'user:ada' from generate_series(1, %s) n".encode(), given)
    bare.execute(
        "insert into penstock.event_read (recipient_ref, event_id)"
        " select 'user:ada', event_id from penstock.event_outbox where event_type = %s and event_id <> %s",
        [TYPE, mine],
    )
    assert [one.event_id for one in events.inbox(bare, "user:ada")] == [mine]
    assert len(events.inbox(bare, "user:bob", 1000)) == 1000


def test_a_recipient_reads_no_inbox_but_its_own(bare: Connection, logins: Logins) -> None:
    reader = logins.member("penstock_reader")
    _subscribe(bare, Row("role:penstock_reader", None, None, None, 0, False))
    event = emit(bare)
    assert [one.event_id for one in events.inbox(reader, "role:penstock_reader")] == [event]
    for call in (events.inbox, lambda db, who: events.mark_read(db, who, [event])):
        with pytest.raises(ActorRefused):
            call(reader, "role:workflow_admin")


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ({"recipient": "ann"}, ActorRefused),
        ({"recipient": "consumer:x"}, ActorRefused),
        ({"recipient": "system:x"}, ActorRefused),
        ({"domain": "nowhere"}, UnknownEventDomain),
        ({"event_type": "unheard"}, UnknownEventType),
        ({"event_type": TYPE, "stream": "alert"}, UnknownEventType),
    ],
)
def test_what_cannot_be_a_subscription_is_refused(
    bare: Connection, arguments: dict[str, Any], error: type[Exception]
) -> None:
    with pytest.raises(error):
        events.subscription_set(bare, **{"recipient": "user:ann", "domain": DOMAIN, **arguments})
    with pytest.raises(BadRequest):
        events.inbox(bare, "user:ann", 0)
    assert value(bare, "select count(*) from penstock.event_subscription") == 0
