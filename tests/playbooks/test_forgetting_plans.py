"""The plans behind the sweep, among many executions that stay."""

from collections.abc import Iterator

import pytest

from penstock.embedded import EmbeddedPostgres
from penstock.kernel.connection import Connection, connect
from tests.conftest import fresh_database
from tests.playbooks.support import playbook
from tests.sql.support import configure

LINE = "  - {step: a, tool: {kind: noop}, next: b}\n  - {step: b, tool: {kind: noop}}"

# of 40,000 executions of two steps the first 4,000 ended 40 days ago, all but those that wait
_FILL = """
with made as (
  select i * 3 as id, now() - case when i <= 4000 then interval '40 days' else interval '1 day' end as at,
         i % 10 = 0 as is_live
    from generate_series(1, 40000) i
), flows as (
  insert into penstock.job_workflow (
    execution_id, started_at, finished_at, playbook_ref, status, open, priority, actor, answer_job)
  select m.id, m.at, case when not m.is_live then m.at end, 'flow@1',
         case when m.is_live then 'running' else 'succeeded' end, m.is_live::integer,
         0, 'role:postgres', case when m.id % 1000 = 0 then m.id + 2 end from made m
), inputs as (
  insert into penstock.execution_input (execution_id, input, created_at) select m.id, '{}', m.at from made m
), queued as (
  insert into penstock.job_queue (
    job_id, enqueued_at, status, priority, executor, job_kind, pool, event_domain, execution_id, step_id, visit, item)
  select m.id + 1, m.at, 'awaiting', 0, 'PG_worker', 'tool:wait', 'shared', '', m.id, s.step_id, 1, 0
    from made m join penstock.playbook_step s on s.step = 'b' where m.is_live
), joins as (
  insert into penstock.job_join (execution_id, step_id, remaining) select m.id, 1, 0 from made m
), loops as (
  insert into penstock.job_loop (execution_id, step_id, visit, items, remaining) select m.id, 1, 1, 1, 0 from made m
), steps as (
  insert into penstock.job_step (execution_id, step_id, visit, item, job_id, enqueued_at)
  select m.id, s.step_id, 1, 0, m.id + s.ordinal, m.at from made m cross join penstock.playbook_step s
), items as (
  insert into penstock.job_item (job_id, item) select m.id, '1' from made m
)
insert into penstock.job_result (job_id, result, created_at)
select m.id + n, '{}', m.at from made m cross join (values (0), (2)) k(n)
"""
_TABLES = ("job_workflow", "job_step", "job_item", "job_join", "job_loop", "job_result", "execution_input", "job_queue")


@pytest.fixture(scope="module")
def full(server: EmbeddedPostgres, template: str) -> Iterator[Connection]:
    with fresh_database(server, template) as url, connect(url) as db:
        playbook(db, LINE)
        db.execute(_FILL)
        db.execute("analyze")
        configure(db, "execution.keep_days", "30")
        yield db


def _whole_reads(db: Connection) -> dict[str, int]:
    rows = db.execute(
        "select relname, seq_scan from pg_stat_xact_user_tables where schemaname = 'penstock' and relname = any(%s)",
        [list(_TABLES)],
    ).fetchall()
    return dict(rows)


@pytest.mark.parametrize(
    ("call", "gone"),
    [
        ("penstock.workflows_forget(penstock.history_begins(), 200)", 200),
        ("penstock.steps_forget(1000)", 300),
        ("(penstock.inputs_forget(penstock.history_begins(), 0, 200)).gone", 0),
        ("(penstock.results_forget(penstock.history_begins(), 0, 200)).gone", 100),
        ("penstock.parents_told(500)", 0),
    ],
)
def test_no_part_of_the_sweep_reads_a_whole_table(full: Connection, call: str, gone: int) -> None:
    with full.transaction(force_rollback=True):
        if "steps_forget" in call:
            full.execute("select penstock.workflows_forget(penstock.history_begins(), 150)")
        before = _whole_reads(full)
        (did,) = full.execute(f"select {call}".encode()).fetchone() or (-1,)
        assert (_whole_reads(full), did) == (before, gone)
