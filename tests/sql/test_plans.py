"""The plans behind the hot functions, on a large queue with fresh statistics and no planner switches."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from penstock.embedded import EmbeddedPostgres
from penstock.kernel import jobs, queue
from penstock.kernel.connection import Connection, connect
from tests.concurrency.sessions import wait_until
from tests.conftest import fresh_database
from tests.sql.support import enqueue

_FILL = """
with made as (
  insert into penstock.job (job_id, enqueued_at, job_kind, executor, pool, event_domain, lane, priority, actor)
  select nextval('penstock.job_id_seq'), now(), k.kind, 'PG_worker', k.pool, nullif(k.domain, ''), k.lane, i % 3,
         'role:postgres'
    from generate_series(1, 20000) i,
         (values ('a', 'shared', '', null), ('b', 'shared', '', null), ('c', 'shared', 'kg', null),
                 ('foreign', 'shared', '', null), ('a', 'priority', '', null), ('later', 'shared', '', null),
                 ('laned', 'shared', '', 'one lane'),
                 ('laned_later', 'shared', '', 'one lane')) k(kind, pool, domain, lane)
  returning *)
insert into penstock.job_queue (
  job_id, enqueued_at, status, priority, executor, job_kind, pool, event_domain, lane, process_after)
select m.job_id, m.enqueued_at,
       (case when m.job_kind like '%later' then 'scheduled' when m.job_kind = 'laned' then 'blocked' else 'ready'
        end)::penstock.job_status,
       m.priority, m.executor, m.job_kind, m.pool, coalesce(m.event_domain, ''), m.lane,
       case when m.job_kind like '%later' then now() + interval '1 day' end
  from made m
"""


@pytest.fixture(scope="module")
def full(server: EmbeddedPostgres, template: str) -> Iterator[Connection]:
    """160,000 live jobs: five runs the executor may take and one it may not, a long lane, a far future."""
    with fresh_database(server, template) as url, connect(url) as db:
        _fill(db)
        yield db


def _fill(db: Connection) -> None:
    db.execute(_FILL)
    db.execute(
        "update penstock.job_queue set status = 'ready'"
        " where job_id = (select min(job_id) from penstock.job_queue where job_kind = 'laned')"
    )
    db.execute("select penstock.fn_job_subscription_set('default', 'PG_worker', 'foreign', p_enabled => false)")
    db.execute(
        "insert into penstock.job_outcome (job_id, finished_at, lease_token, enqueued_at, attempt, status)"
        " select job_id, now(), 1, enqueued_at, 1, 'retrying' from penstock.job_queue"
    )
    db.execute("analyze penstock.job_queue, penstock.job, penstock.job_outcome")


def _sequential_scans(connection: Connection) -> dict[str, int]:
    """Scans of tables that hold anything, made by this session and not yet in the statistics: look before and after."""
    rows = connection.execute(
        "select relname, seq_scan from pg_stat_xact_user_tables"
        " where schemaname = 'penstock' and seq_scan > 0 and pg_relation_size(relid) > 0"
        "   and (relname = 'job_queue' or relname ~ '^job_(y|outcome_y)')"
    ).fetchall()
    return dict(rows)


def _claimed(connection: Connection, limit: int) -> tuple[list[int], list[int]]:
    rows = connection.execute(
        "select job_id, lease_token from penstock.fn_job_claim('default', %s)", [limit]
    ).fetchall()
    return [row[0] for row in rows], [row[1] for row in rows]


_CALLS: dict[str, Callable[[Connection, list[int], list[int]], Any]] = {
    "claim": lambda c, ids, tokens: c.execute("select * from penstock.fn_job_claim('default', 500)"),
    "claim of one pool": lambda c, ids, tokens: c.execute(
        "select * from penstock.fn_job_claim('default', 500, p_pools => '{priority}')"
    ),
    "start": lambda c, ids, tokens: c.execute("select * from penstock.fn_job_start(%s, %s)", [ids, tokens]),
    "release": lambda c, ids, tokens: c.execute("select * from penstock.fn_job_release(%s, %s)", [ids, tokens]),
    "finish": lambda c, ids, tokens: c.execute("select * from penstock.fn_job_finish(%s, %s)", [ids, tokens]),
    "fail": lambda c, ids, tokens: c.execute("select * from penstock.fn_job_fail(%s, %s)", [ids, tokens]),
    "refused finish": lambda c, ids, tokens: c.execute(
        "select * from penstock.fn_job_finish(%s, %s)", [ids, [token + 1 for token in tokens]]
    ),
    "heartbeat": lambda c, ids, tokens: c.execute(
        "select * from penstock.fn_job_heartbeat('default', gen_random_uuid(), %s, %s)", [ids, tokens]
    ),
    "cancel": lambda c, ids, tokens: c.execute("select penstock.fn_job_cancel(%s)", [ids[0]]),
    "facts": lambda c, ids, tokens: c.execute(
        "select * from penstock.job where job_id = any(%s) and enqueued_at <= now()", [ids]
    ),
    "tick": lambda c, ids, tokens: c.execute("select penstock.fn_queue_tick()"),
    "health": lambda c, ids, tokens: c.execute("select * from penstock.v_queue_health"),
    "one job": lambda c, ids, tokens: c.execute("select * from penstock.v_job where job_id = %s", [ids[0]]),
    "enqueue": lambda c, ids, tokens: c.execute("select penstock.fn_job_enqueue('laned', p_lane => 'one lane')"),
}


@pytest.mark.parametrize("name", _CALLS)
def test_no_call_scans_the_queue_or_its_history(name: str, full: Connection) -> None:
    with full.transaction(force_rollback=True):
        ids, tokens = _claimed(full, 500)
        before = _sequential_scans(full)
        _CALLS[name](full, ids, tokens).fetchall()
        assert _sequential_scans(full) == before


def test_a_look_for_due_jobs_does_not_walk_those_that_are_not(full: Connection) -> None:
    for call in ("promote_due(100)", "lanes_next('{one lane}')"):
        full.execute(f"select penstock.{call}".encode())
        assert _touched(full, call) < 60, call


@pytest.mark.parametrize("only", ["p_kinds => '{a,z}'", "p_kinds => '{nothing}', p_pools => '{priority}'"])
def test_kinds_a_claim_does_not_want_cost_it_nothing(db: Connection, only: str) -> None:
    enqueue(db, "a")
    enqueue(db, "a", pool="priority")

    def touched() -> int:
        return _touched(db, f"fn_job_claim('default', 1, {only})")

    alone = touched()
    jobs.enqueue_many(db, [{"kind": f"kind-{n}", "pool": ("shared", "subscription")[n % 2]} for n in range(5000)])
    db.execute("analyze penstock.job_queue")
    assert touched() < alone + 100


def _touched(connection: Connection, call: str) -> int:
    """How many pages it takes, at the least: after any vacuum it is planned anew, which takes some of the catalog's."""
    pages = []
    for _ in range(3):
        with connection.transaction(force_rollback=True):
            (plan,) = connection.execute(
                f"explain (analyze, buffers, format json) select penstock.{call}".encode()
            ).fetchone() or ([],)
        pages.append(plan[0]["Plan"]["Shared Hit Blocks"] + plan[0]["Plan"]["Shared Read Blocks"])
    return int(min(pages))


def _plan(connection: Connection, pools: str, below: bool) -> str:
    (query,) = connection.execute(
        "select penstock.claim_query('PG_worker', penstock.claim_runs(e, null, %s), 500, true, %s)"
        " from penstock.executor e where e.executor_id = 'default'",
        [pools, below],
    ).fetchone() or ("",)
    return "\n".join(row[0] for row in connection.execute(f"explain {query}".encode()).fetchall())


@pytest.mark.parametrize(("below", "runs"), [(False, 4), (True, 5)])
def test_several_runs_are_merged_without_a_sort(full: Connection, below: bool, runs: int) -> None:
    plan = _plan(full, "{shared,priority}", below)
    assert "Merge Append" in plan
    assert "Sort  " not in plan
    assert plan.count("job_queue_ready") == runs


@pytest.mark.parametrize("below", [False, True])
def test_a_single_run_is_one_ordered_index_scan(full: Connection, below: bool) -> None:
    plan = _plan(full, "{priority}", below)
    assert "Index Scan using job_queue_ready" in plan
    assert "Sort" not in plan
    assert "Append" not in plan


def test_a_plan_made_for_an_empty_queue_is_not_kept_for_a_full_one(db: Connection) -> None:
    db.execute("vacuum analyze penstock.job_queue")
    for _ in range(10):
        assert _claimed(db, 500) == ([], [])
    db.execute(_FILL)

    def is_known() -> bool:
        queue.tick(db)
        known = (
            "select pg_relation_size(c.oid) / 8192 <= 64 + 2 * c.relpages"
            " from pg_class c where c.oid = 'penstock.job_queue'::regclass"
        )
        return db.execute(known).fetchone() == (True,)

    # a tick leaves it to the next one while a vacuum works on the queue
    wait_until(is_known, "the queue's statistics are of the full one")
    with db.transaction():
        before = _sequential_scans(db)
        assert len(_claimed(db, 500)[0]) == 500
        assert _sequential_scans(db) == before
