"""Events: facts of a registered type, recorded once, in the caller's transaction."""

from typing import Any
from uuid import UUID, uuid4

import psycopg
import pytest
from psycopg.types.json import Jsonb

from penstock.errors import ActorRefused, BadRequest, BadText, UnknownEventDomain, UnknownEventType
from penstock.kernel.connection import Connection, translated
from tests.sql.support import configure, contents, enqueue, rows, value

DOMAINS = {"iu", "piece", "staging", "birth_registry", "governance", "tac", "kg", "system", "dot", "health", "iu_sql"}


def _register(db: Connection, domain: str = "kg", event_type: str = "grew", stream: str = "update") -> None:
    value(db, "select penstock.fn_event_type_register(%s, %s, %s)::text", domain, event_type, stream)


def _emit(db: Connection, domain: str = "kg", event_type: str = "grew", stream: str | None = None, **more: Any) -> UUID:
    arguments = {
        "p_event_domain": domain,
        "p_event_type": event_type,
        "p_event_stream": stream,
        "p_subject_table": None,
        "p_subject_ref": None,
        "p_payload": None,
        "p_actor": None,
        **{f"p_{name}": given for name, given in more.items()},
    }
    named = ", ".join(f"{name} => %({name})s" for name in arguments)
    with translated():
        row = db.execute(f"select penstock.fn_iu_emit_event({named})".encode(), arguments).fetchone()
    assert row is not None
    event: UUID = row[0]
    return event


def test_an_event_keeps_everything_it_says(db: Connection) -> None:
    _register(db)
    cause = uuid4()
    event = _emit(
        db,
        subject_table="node",
        subject_ref="n/7",
        payload=Jsonb({"size": 7}),
        actor="user:ann",
        correlation_id="c",
        causation_event_id=cause,
        trace="t",
    )
    kept = rows(
        db,
        "select event_id, event_domain, event_type, event_stream, subject_table, subject_ref, payload, actor::text,"
        " correlation_id, causation_event_id, causation_depth, trace, tx_id is not null, seq > 0"
        " from penstock.event_outbox",
    )
    assert kept == [
        (event, "kg", "grew", "update", "node", "n/7", {"size": 7}, "user:ann", "c", cause, 1, "t", True, True)
    ]


def test_an_event_is_part_of_the_callers_transaction(db: Connection) -> None:
    _register(db)
    before = contents(db)
    with db.transaction(force_rollback=True):
        _emit(db, idempotency_key="k")
    assert contents(db) == before


def test_events_of_one_transaction_share_its_id_and_count_up(db: Connection) -> None:
    _register(db)
    with db.transaction():
        _emit(db)
        with db.transaction():
            _emit(db)
        current = value(db, "select pg_current_xact_id()::text")
    found = rows(db, "select tx_id::text from penstock.event_outbox order by seq")
    assert found == [(current,), (current,)]


def test_an_event_that_is_not_registered_so_is_refused(db: Connection) -> None:
    _register(db)
    before = contents(db)
    wrong = [("kg", "shrank", None), ("tac", "grew", None), ("nowhere", "grew", None), ("kg", "grew", "birth")]
    for domain, event_type, stream in [*wrong, ("kg", "Grew", None)]:
        with pytest.raises(UnknownEventType):
            _emit(db, domain, event_type, stream, idempotency_key="k")
    assert contents(db) == before


def test_bad_actors_and_text_are_refused(db: Connection) -> None:
    _register(db)
    before = contents(db)
    with pytest.raises(ActorRefused):
        _emit(db, actor="nobody")
    with pytest.raises(BadText):
        _emit(db, payload=Jsonb({"a": "\x00"}))
    with pytest.raises(BadText):
        _emit(db, subject_ref="\x00")
    assert contents(db) == before


def test_the_same_type_and_key_is_the_same_event(db: Connection) -> None:
    _register(db)
    _register(db, event_type="shrank")
    first = _emit(db, idempotency_key="k", subject_ref="a")
    assert _emit(db, idempotency_key="k", subject_ref="b") == first
    assert _emit(db, event_type="shrank", idempotency_key="k") != first
    assert _emit(db, idempotency_key="l") != first
    assert value(db, "select count(*) from penstock.event_outbox") == 3


def test_the_key_of_a_job_is_no_key_of_an_event(db: Connection) -> None:
    _register(db)
    enqueue(db, "kg.grew", idempotency_key="k")
    _emit(db, idempotency_key="k")
    assert value(db, "select count(*) from penstock.event_outbox") == 1


def test_an_expired_key_records_a_new_event(db: Connection) -> None:
    _register(db)
    first = _emit(db, idempotency_key="k")
    db.execute("update penstock.once_key set expires_at = now() - interval '1 second'")
    second = _emit(db, idempotency_key="k")
    assert second != first
    assert _emit(db, idempotency_key="k") == second
    assert value(db, "select count(*) from penstock.event_outbox") == 2


def test_causes_are_counted_and_a_loop_is_refused(db: Connection) -> None:
    _register(db)
    configure(db, "queue.causation.max_depth", "3")
    cause = _emit(db)
    for _ in range(3):
        cause = _emit(db, causation_event_id=cause)
    assert rows(db, "select causation_depth from penstock.event_outbox order by seq") == [(0,), (1,), (2,), (3,)]
    before = contents(db)
    with pytest.raises(BadRequest, match="3 causes"):
        _emit(db, causation_event_id=cause, idempotency_key="k")
    assert contents(db) == before


def test_an_event_that_finds_no_partition_makes_it(db: Connection) -> None:
    _register(db)
    db.execute(
        "do $$ declare t text; begin for t in select inhrelid::regclass from pg_inherits"
        " where inhparent = 'penstock.event_outbox'::regclass loop execute 'drop table ' || t; end loop; end $$"
    )
    _emit(db)
    assert value(db, "select count(*) from penstock.event_outbox") == 1


def test_the_domains_of_the_house_are_there(db: Connection) -> None:
    assert {domain for (domain,) in rows(db, "select event_domain from penstock.event_domain")} == DOMAINS


def test_a_domain_of_the_users_own_serves_jobs_and_events(db: Connection) -> None:
    for _ in range(2):
        value(db, "select penstock.fn_event_domain_register('shop', 'user:ann')::text")
    _register(db, "shop", "sold", "birth")
    _emit(db, "shop", "sold", "birth")
    enqueue(db, event_domain="shop")
    assert rows(db, "select registered_by::text from penstock.event_domain where event_domain = 'shop'") == [
        ("user:ann",)
    ]


def test_a_name_that_cannot_be_a_domain_is_refused(db: Connection) -> None:
    for domain in ("", "Shop", "1st", "a-b", "a b", "any", "x" * 41, None, "a;drop"):
        with pytest.raises(BadRequest):
            value(db, "select penstock.fn_event_domain_register(%s)::text", domain)
    assert {known for (known,) in rows(db, "select event_domain from penstock.event_domain")} == DOMAINS


def test_types_are_refused_for_unknown_domains_and_bad_names(db: Connection) -> None:
    with pytest.raises(UnknownEventDomain):
        _register(db, "nowhere")
    for event_type, stream in (("", "update"), ("a b", "update"), ("grew", ""), ("x" * 101, "update")):
        with pytest.raises(BadRequest):
            _register(db, "kg", event_type, stream)


def test_a_type_registered_again_changes_its_stream(db: Connection) -> None:
    _register(db, stream="birth")
    _register(db, stream="alert")
    _emit(db, stream="alert")
    assert value(db, "select event_stream from penstock.event_outbox") == "alert"


def test_mot_is_no_executor_and_a_bad_actor_no_actor_in_any_column(db: Connection) -> None:
    enqueue(db)
    for table in ("job", "job_queue"):
        with pytest.raises(psycopg.errors.CheckViolation):
            db.execute(f"update penstock.{table} set executor = 'MOT'".encode())
    with pytest.raises(psycopg.errors.CheckViolation):
        db.execute("update penstock.job set actor = 'nobody'")
    with pytest.raises(psycopg.errors.CheckViolation):
        db.execute("update penstock.job_subscription set executor_kind = 'MOT'")
    with pytest.raises(psycopg.errors.CheckViolation):
        db.execute("insert into penstock.queue_heartbeat values ('mother', gen_random_uuid(), 'MOT')")
