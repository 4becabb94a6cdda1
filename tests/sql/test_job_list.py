"""fn_job_list: the newest jobs that match, by reads that stay bounded."""

import pytest

from penstock.errors import BadRequest
from penstock.kernel import admin, jobs, reads
from penstock.kernel.connection import Connection
from tests.sql.support import enqueue, enqueue_later, fail, finish, take_one, value

WINDOW = 100_000


def _listed(db: Connection, status: str) -> list[int]:
    return [job.job_id for job in reads.job_list(db, status=status).jobs]


def test_every_state_lists_its_own_jobs(db: Connection) -> None:
    succeeded, dead, running, ready = (enqueue(db, max_attempts=1) for _ in range(4))
    cancelled, scheduled = enqueue(db), enqueue_later(db)
    head, blocked = (enqueue(db, lane="a") for _ in range(2))
    finish(db, take_one(db))
    fail(db, take_one(db))
    jobs.start(db, [running], [take_one(db).lease_token])
    jobs.cancel(db, cancelled)
    made = {
        "succeeded": [succeeded],
        "dead_lettered": [dead],
        "running": [running],
        "ready": [head, ready],
        "cancelled": [cancelled],
        "scheduled": [scheduled],
        "blocked": [blocked],
        "leased": [],
        "retrying": [],
        "awaiting": [],
    }
    assert {status: _listed(db, status) for status in made} == made


@pytest.mark.parametrize("status", [None, "ready", "succeeded", "dead_lettered"])
def test_kind_and_pool_narrow_the_list_in_every_state(db: Connection, status: str | None) -> None:
    made = [
        enqueue(db, kind, pool=pool, max_attempts=1)
        for kind, pool in (("a", "shared"), ("a", "priority"), ("b", "shared"))
    ]
    for _ in made if status != "ready" else ():
        claim = take_one(db)
        fail(db, claim) if status == "dead_lettered" else finish(db, claim)
    page = reads.job_list(db, status=status, kind="a", pool="shared")
    assert [job.job_id for job in page.jobs] == made[:1]


def test_pages_join_without_a_gap(db: Connection) -> None:
    made = [one.job_id for one in jobs.enqueue_many(db, [{"kind": "work"}] * 7)]
    seen: list[int] = []
    before: int | None = None
    while True:
        page = reads.job_list(db, before=before, limit=3)
        seen += [job.job_id for job in page.jobs]
        before = page.next_before
        if before is None:
            break
    assert seen == made[::-1]


def test_a_search_stops_after_its_window_and_says_where_to_go_on(db: Connection) -> None:
    wanted = enqueue(db, "rare")
    db.execute(
        "insert into penstock.job (job_id, enqueued_at, job_kind, executor, pool, priority, actor)"
        " select nextval('penstock.job_id_seq'), now(), 'work', 'PG_worker', 'shared', 0, 'system:test'"
        f" from generate_series(1, {WINDOW})".encode()
    )
    first = reads.job_list(db, kind="rare")
    assert (first.jobs, first.next_before) == ([], wanted + 1)
    second = reads.job_list(db, kind="rare", before=first.next_before)
    assert ([job.job_id for job in second.jobs], second.next_before) == ([wanted], None)


def test_a_list_of_an_unknown_status_or_of_too_many_is_refused(db: Connection) -> None:
    with pytest.raises(BadRequest):
        reads.job_list(db, status="done")
    for limit in (0, 1001):
        with pytest.raises(BadRequest):
            reads.job_list(db, limit=limit)


def test_a_grant_and_a_binding_are_given_and_taken(db: Connection) -> None:
    def given() -> tuple[int, int]:
        return (
            value(db, "select count(*) from penstock.executor_grant where actor = 'user:ann'"),
            value(db, "select count(*) from penstock.actor_binding where actor_ref = 'user:ann'"),
        )

    for held in (True, False):
        admin.executor_grant_set(db, "user:ann", "PG_worker", job_kind="send", granted=held)
        admin.actor_binding_set(db, "user:ann", "penstock_producer", bound=held)
        assert given() == (held, held)
