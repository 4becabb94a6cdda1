"""Signal, not data: what a job and an event may carry."""

from collections.abc import Callable
from typing import Any

import pytest
from psycopg.types.json import Jsonb

from penstock.errors import ForbiddenPayload, PayloadTooLarge
from penstock.kernel import jobs
from penstock.kernel.connection import Connection
from tests.sql.support import configure, contents, enqueue, value

FORBIDDEN = ["body", "content", "raw", "vector", "embedding", "secret", "token", "password", "ssn", "personal_data"]

HIDDEN: dict[str, Any] = {
    "nested": {"a": {"b": {"password": 1}}},
    "in a list": {"a": [1, [{"token": 1}]]},
    "in capitals": {"BODY": 1},
    "in mixed case": {"Personal_Data": 1},
    "behind others": {"a": 1, "b": "x", "ssn": None},
    "with an empty value": {"raw": {}},
    "after a text that ends in a backslash": {"a": "\\", "vector": 1},
    "after a text with quotes": {"a": 'say "hi"', "secret": 1},
}

HARMLESS: dict[str, Any] = {
    "as a value": {"what": "body", "more": ["token", "password"]},
    "in a longer key": {"body_ref": 1, "raw_count": 2, "mytoken": 3, "passwords": 4, "content-type": 5},
    "as a text that looks like json": {"note": '{"body": 1}', "also": '"token":'},
    "as a key with spaces around": {" body ": 1},
    "as a prefix": {"bod": 1, "vec": 2},
}


def _enqueue_one(db: Connection, payload: Any) -> None:
    enqueue(db, safe_payload=payload)


def _enqueue_among_others(db: Connection, payload: Any) -> None:
    jobs.enqueue_many(
        db, [{"kind": "work", "safe_payload": {"n": 1}}, {"kind": "work", "safe_payload": payload}, {"kind": "work"}]
    )


def _emit(db: Connection, payload: Any) -> None:
    value(
        db,
        "select penstock.fn_iu_emit_event('system', 'queue_worker_silent', null, null, null, %s, null)",
        Jsonb(payload),
    )


CARRIERS: dict[str, Callable[[Connection, Any], None]] = {
    "a job": _enqueue_one,
    "a job among others": _enqueue_among_others,
    "an event": _emit,
}


@pytest.mark.parametrize("carrier", CARRIERS)
def test_no_job_or_event_carries_a_forbidden_key_wherever_it_hides(carrier: str, db: Connection) -> None:
    before = contents(db)
    for payload in [*({key: 1} for key in FORBIDDEN), *HIDDEN.values()]:
        with pytest.raises(ForbiddenPayload):
            CARRIERS[carrier](db, payload)
    assert contents(db) == before


@pytest.mark.parametrize("carrier", CARRIERS)
def test_a_forbidden_word_that_is_not_a_key_passes(carrier: str, db: Connection) -> None:
    for payload in HARMLESS.values():
        CARRIERS[carrier](db, payload)


def test_fields_named_like_a_forbidden_key_are_not_payload(db: Connection) -> None:
    made = jobs.enqueue_many(db, [{"kind": "body", "lane": '"token":', "target_ref": '{"secret": 1}'}])
    assert jobs.show(db, made[0].job_id).target_ref == '{"secret": 1}'


def test_the_refused_job_of_a_batch_is_named(db: Connection) -> None:
    with pytest.raises(ForbiddenPayload, match="job 2"):
        _enqueue_among_others(db, {"body": 1})


@pytest.mark.parametrize("carrier", CARRIERS)
def test_a_payload_over_the_limit_is_refused(carrier: str, db: Connection) -> None:
    CARRIERS[carrier](db, {"note": "x" * 8000})
    before = contents(db)
    with pytest.raises(PayloadTooLarge, match="8192"):
        CARRIERS[carrier](db, {"note": "x" * 8192})
    assert contents(db) == before


def test_the_operator_sets_the_limit_and_the_forbidden_keys(db: Connection) -> None:
    configure(db, "queue.safe_payload.max_bytes", "100")
    configure(db, "queue.forbidden_keys", "iban, a.b,c+")
    with pytest.raises(PayloadTooLarge):
        enqueue(db, safe_payload={"note": "x" * 100})
    for key in ("iban", "IBAN", "a.b", "c+"):
        with pytest.raises(ForbiddenPayload):
            enqueue(db, safe_payload={key: 1})
    enqueue(db, safe_payload={"body": 1, "axb": 2, "cc": 3})
