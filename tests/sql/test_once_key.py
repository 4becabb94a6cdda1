"""Insert once: the same kind and key is the same job, until the key expires."""

from psycopg import Rollback

from penstock.kernel import jobs
from penstock.kernel.connection import Connection
from penstock.model import Enqueued
from tests.sql.support import configure, contents, enqueue, finish, rows, take, take_one, tick, value


def _expire(db: Connection) -> None:
    db.execute("update penstock.once_key set expires_at = now() - interval '1 second'")


def test_the_same_kind_and_key_is_the_same_job(db: Connection) -> None:
    first = enqueue(db, idempotency_key="k", target_ref="a")
    before = contents(db)
    assert enqueue(db, idempotency_key="k", target_ref="b", priority=9) == first
    assert jobs.enqueue_many(db, [{"kind": "work", "idempotency_key": "k"}]) == [Enqueued(first, False)]
    assert contents(db) == before


def test_another_kind_or_key_is_another_job(db: Connection) -> None:
    made = [
        enqueue(db, "a", idempotency_key="k"),
        enqueue(db, "b", idempotency_key="k"),
        enqueue(db, "a", idempotency_key="K"),
        enqueue(db, "a", idempotency_key="k "),
        enqueue(db, "a"),
    ]
    assert len(set(made)) == 5


def test_a_key_holds_after_its_job_has_ended(db: Connection) -> None:
    first = enqueue(db, idempotency_key="k")
    finish(db, take_one(db))
    assert enqueue(db, idempotency_key="k") == first
    assert take(db) == []


def test_a_key_holds_for_30_days_or_as_configured(db: Connection) -> None:
    enqueue(db, idempotency_key="a")
    configure(db, "queue.once_key.ttl_s.job", "60")
    enqueue(db, idempotency_key="b")
    kept = (
        "select k.key, k.expires_at - j.enqueued_at"
        " from penstock.once_key k join penstock.job j on j.job_id = k.ref::bigint"
    )
    assert {key: left.total_seconds() for key, left in rows(db, kept)} == {"a": 30 * 86400, "b": 60}


def test_an_expired_key_is_taken_over_in_place(db: Connection) -> None:
    first = enqueue(db, idempotency_key="k")
    _expire(db)
    second = enqueue(db, idempotency_key="k")
    assert second != first
    assert rows(db, "select scope, key, ref, expires_at > now() from penstock.once_key") == [
        ("job:work", "k", str(second), True)
    ]
    assert enqueue(db, idempotency_key="k") == second


def test_an_expired_key_is_taken_over_in_a_batch_too(db: Connection) -> None:
    old = enqueue(db, idempotency_key="old")
    _expire(db)
    kept = enqueue(db, idempotency_key="kept")
    made = jobs.enqueue_many(db, [{"kind": "work", "idempotency_key": key} for key in ("old", "kept", "new")])
    assert [one.created for one in made] == [True, False, True]
    assert made[1].job_id == kept
    assert made[0].job_id != old


def test_duplicates_inside_one_batch_are_one_job(db: Connection) -> None:
    known = enqueue(db, idempotency_key="known")
    keys = ["a", "known", "a", None, "b", "a", None]
    made = jobs.enqueue_many(db, [{"kind": "work", "idempotency_key": key} for key in keys])
    a, b = made[0].job_id, made[4].job_id
    assert [(one.job_id, one.created) for one in made[:3]] == [(a, True), (known, False), (a, False)]
    assert (made[5].job_id, made[5].created) == (a, False)
    assert len({a, b, known, made[3].job_id, made[6].job_id}) == 5
    assert value(db, "select count(*) from penstock.job") == 5


def test_the_first_of_duplicates_is_the_one_that_is_written(db: Connection) -> None:
    (made, _) = jobs.enqueue_many(
        db,
        [
            {"kind": "work", "idempotency_key": "k", "target_ref": "first"},
            {"kind": "work", "idempotency_key": "k", "target_ref": "second"},
        ],
    )
    assert jobs.show(db, made.job_id).target_ref == "first"


def test_a_batch_of_known_keys_makes_nothing(db: Connection) -> None:
    requests = [{"kind": "work", "idempotency_key": f"k{n}", "lane": "l"} for n in range(50)]
    first = jobs.enqueue_many(db, requests)
    before = contents(db)
    again = jobs.enqueue_many(db, requests)
    assert [one.job_id for one in again] == [one.job_id for one in first]
    assert not any(one.created for one in again)
    assert contents(db) == before


def test_a_duplicate_takes_no_place_in_its_lane(db: Connection) -> None:
    head = enqueue(db, lane="l", idempotency_key="k")
    finish(db, take_one(db))
    assert enqueue(db, lane="l", idempotency_key="k") == head
    after = enqueue(db, lane="l")
    assert jobs.show(db, after).status == "ready"


def test_a_key_that_was_rolled_back_is_free(db: Connection) -> None:
    with db.transaction():
        gone = enqueue(db, idempotency_key="k")
        raise Rollback
    assert enqueue(db, idempotency_key="k") != gone


def test_the_sweeper_forgets_expired_keys_only(db: Connection) -> None:
    jobs.enqueue_many(db, [{"kind": "work", "idempotency_key": f"k{n}"} for n in range(1200)])
    _expire(db)
    enqueue(db, idempotency_key="kept")
    assert [tick(db)["once_keys"]["did"] for _ in range(3)] == [1000, 200, 0]
    assert rows(db, "select key from penstock.once_key") == [("kept",)]


def test_the_sweeper_skips_keys_that_are_in_use(db: Connection) -> None:
    enqueue(db, idempotency_key="k")
    with db.transaction():
        enqueue(db, idempotency_key="k")
        # the key was looked at: it is locked, and cannot vanish before its job is answered
        assert value(db, "select xmax <> 0 from penstock.once_key") is True


def test_any_text_of_500_characters_is_a_key(db: Connection) -> None:
    for key in ("k" * 500, "ключ", "a'b\"c\\d", "%s", "\t"):
        first = enqueue(db, idempotency_key=key)
        assert enqueue(db, idempotency_key=key) == first
        assert jobs.enqueue_many(db, [{"kind": "work", "idempotency_key": key}]) == [Enqueued(first, False)]
