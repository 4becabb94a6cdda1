"""Several sessions on one database, each with a thread of its own, and an observer that knows who waits for whom."""

from __future__ import annotations

from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from time import monotonic
from typing import Any

import psycopg
from psycopg.pq import TransactionStatus

from penstock.kernel.connection import Connection, connect
from tests.concurrency.model_queue import Executor, Observed, Rule

# Long enough for a statement that does not wait; how long it takes decides nothing but when we ask the server.
_PATIENCE_S = 0.03
_DEADLINE_S = 60.0

_SETTINGS = {
    # time passes only when the clock is moved by hand
    "queue.lease_ms.default": "86400000",
    "queue.timeout_ms.default": "500000000",
    "queue.retry.backoff.base_ms": "86400000",
    "queue.retry.backoff.cap_ms": "86400000",
    "queue.retry.max_attempts.default": "3",
    "queue.retry.max_attempts.pack": "2",
    "queue.result.max_bytes": "500",
}

_Terms = tuple[str | None, str | None, int | None, int | None, bool]

# Per executor its kind and rules: job kind, event domain, priority floor, max_parallel, enabled.
_EXECUTORS: dict[str, tuple[str, list[_Terms]]] = {
    "default": ("PG_worker", []),
    "narrow": ("PG_worker", [("mail", None, None, 2, True), ("pack", None, None, None, False)]),
    "wide": (
        "PG_worker",
        [
            (None, None, None, 3, True),
            (None, "iu", None, None, False),
            ("pack", None, 1, 1, True),
            ("pack", "iu", None, None, True),
        ],
    ),
    "agent": ("Agent", [(None, None, None, None, True), ("mail", None, None, 1, True)]),
    "idle": ("PG_worker", [(None, None, None, None, False)]),
}

# Every change of a job's state, so that the moves can be held against job_move.
_MOVES = """
create table public.move (job_id bigint, was penstock.job_status, became penstock.job_status);
create function public.note_move() returns trigger language plpgsql as $$
begin
  if tg_op = 'DELETE' then
    insert into public.move values (old.job_id, old.status, null);
  elsif tg_op = 'INSERT' then
    insert into public.move values (new.job_id, null, new.status);
  elsif old.status <> new.status then
    insert into public.move values (new.job_id, old.status, new.status);
  end if;
  return null;
end $$;
create trigger note_move after insert or update or delete on penstock.job_queue
  for each row execute function public.note_move();
"""

# A row that was deleted moved to the state its last outcome names.
_ILLEGAL_MOVES = """
select m.job_id, m.was::text, coalesce(m.became, o.status)::text
  from public.move m
  left join penstock.job_outcome o on m.became is null and o.job_id = m.job_id
   and o.status in ('succeeded', 'dead_lettered', 'cancelled')
 where not exists (select from penstock.job_move l where l.from_status is not distinct from m.was
                      and l.to_status = coalesce(m.became, o.status))
"""

_LOST = """
select j.job_id, (select count(*) from penstock.job_queue q where q.job_id = j.job_id),
       (select count(*) from penstock.job_outcome o
         where o.job_id = j.job_id and o.status in ('succeeded', 'dead_lettered', 'cancelled'))
  from penstock.job j
"""

_OBSERVE = """
select
  (select jsonb_agg(jsonb_build_array(q.job_id, q.status, q.attempt, q.lease_token, q.rule, q.leased_by,
     q.cancel_requested, q.reaped,
     case when q.lease_until < clock_timestamp() then 'ended'
          when q.lease_until < clock_timestamp() + interval '12 hours' then 'short'
          when q.lease_until is not null then 'long' end,
     case when q.status in ('scheduled', 'retrying') then q.process_after <= clock_timestamp() end))
     from penstock.job_queue q),
  (select jsonb_agg(jsonb_build_array(o.job_id, o.lease_token, o.attempt, o.status, o.reason))
     from penstock.job_outcome o),
  (select jsonb_agg(jsonb_build_array(d.job_id, d.reason, d.resolution, d.replay_job_id))
     from penstock.job_dead_letter d),
  (select jsonb_agg(r.job_id) from penstock.job_result r),
  (select jsonb_agg(jsonb_build_array(k.scope, k.key, k.ref)) from penstock.once_key k where k.expires_at > now()),
  (select jsonb_agg(jsonb_build_array(j.job_id, j.job_kind, j.executor, j.pool, j.lane, j.event_domain, j.priority,
     j.max_attempts)) from penstock.job j)
"""

_EMPTY = """
delete from penstock.job_queue; delete from penstock.job_outcome; delete from penstock.job_result;
delete from penstock.job_dead_letter; delete from penstock.once_key; delete from penstock.execution_event;
delete from penstock.lane_check; delete from penstock.queue_heartbeat; delete from penstock.job;
delete from public.move;
"""

_CLOCK = {
    "due": "update penstock.job_queue q set process_after = '2020-01-01'::timestamptz + %s * interval '1 ms'"
    " where q.status in ('scheduled', 'retrying') and ",
    "short": "update penstock.job_queue q set lease_until = clock_timestamp() + interval '6 hours'"
    " where q.status in ('leased', 'running') and %s is not null and ",
    "ended": "update penstock.job_queue q set lease_until = clock_timestamp() - interval '6 hours'"
    " where q.status in ('leased', 'running') and %s is not null and ",
    "overdue": "update penstock.job_queue q set started_at = clock_timestamp() - interval '500001 seconds',"
    " lease_until = clock_timestamp() - interval '0.5 seconds' where q.status = 'running' and %s is not null and ",
}


@dataclass(frozen=True)
class Failure:
    """A statement that ended in an error."""

    sqlstate: str
    message: str


Answer = list[tuple[Any, ...]] | Failure


@dataclass
class Session:
    """One connection and the thread that waits for it."""

    connection: Connection
    thread: ThreadPoolExecutor = field(default_factory=lambda: ThreadPoolExecutor(1))
    running: Future[Answer] | None = None

    @property
    def pid(self) -> int:
        return self.connection.info.backend_pid

    def submit(self, text: str, arguments: list[Any]) -> None:
        assert self.running is None
        self.running = self.thread.submit(_perform, self.connection, text, arguments)

    def close(self) -> None:
        self.connection.close()
        self.thread.shutdown()


def _perform(connection: Connection, text: str, arguments: list[Any]) -> Answer:
    try:
        cursor = connection.execute(text.encode(), arguments)
        return cursor.fetchall() if cursor.description is not None else []
    except psycopg.Error as error:
        return Failure(error.sqlstate or "", str(error))


class Driver:
    """The sessions under test, and one more that observes, moves the clock and cleans up."""

    def __init__(self, url: str, sessions: int) -> None:
        self.observer = connect(url)
        self.executors = self._prepare()
        self.sessions = [Session(connect(url)) for _ in range(sessions)]
        self._stuck: set[Future[Answer] | None] = set()
        for session in self.sessions:
            # two transactions that wait for each other are parted soon, not after a second
            session.connection.execute("set deadlock_timeout = '20ms'")

    def close(self) -> None:
        for session in self.sessions:
            session.close()
        self.observer.close()

    def _prepare(self) -> dict[str, Executor]:
        self.observer.execute(_MOVES)
        for key, value in _SETTINGS.items():
            self.observer.execute("select penstock.fn_config_set(%s, %s)", [key, value])
        for name, (kind, rules) in _EXECUTORS.items():
            self.observer.execute("select penstock.fn_executor_register(%s, %s)", [name, kind])
            for job_kind, domain, floor, parallel, enabled in rules:
                self.observer.execute(
                    "select penstock.fn_job_subscription_set(%s, %s, %s, %s, %s, %s, %s)",
                    [name, kind, job_kind, domain, floor, parallel, enabled],
                )
        rows = self.observer.execute(
            "select executor_id, subscription_id, job_kind, event_domain, priority_floor, max_parallel, enabled"
            " from penstock.job_subscription"
        ).fetchall()
        rules_of: dict[str, list[Rule]] = {name: [] for name in _EXECUTORS}
        for name, rule, *terms in rows:
            rules_of[name].append(Rule(rule, name, *terms))
        return {name: Executor(name, kind, tuple(rules_of[name])) for name, (kind, _) in _EXECUTORS.items()}

    # statements

    def submit(self, session: int, text: str, arguments: list[Any]) -> None:
        self.sessions[session].submit(text, arguments)

    def settle(self) -> dict[int, set[int]]:
        """Wait until every running statement has ended or waits for an idle one. Returns who waits, and for whom."""
        deadline = monotonic() + _DEADLINE_S
        waiting: dict[int, set[int]] = {}
        moving = [
            session.running for session in self.sessions if session.running and session.running not in self._stuck
        ]
        while monotonic() < deadline:
            wait(moving, _PATIENCE_S, FIRST_COMPLETED)
            running = [n for n, session in enumerate(self.sessions) if not _ended(session)]
            waiting = {n: self._blockers(n) for n in running}
            # whoever ended while we asked may have been what another waited for
            asked_in_peace = not any(_ended(self.sessions[n]) for n in running)
            # and a worker of the server's own, such as autovacuum, goes away by itself
            among_us = all(blockers and -1 not in blockers for blockers in waiting.values())
            if asked_in_peace and among_us and not _in_a_ring(waiting):
                self._stuck = {self.sessions[n].running for n in running}
                return waiting
            moving = [one.running for one in self.sessions if one.running and not _ended(one)]
        raise TimeoutError(f"after {_DEADLINE_S} s, sessions neither end nor wait for an idle one: {waiting}")

    def answers(self) -> dict[int, Answer]:
        """The answers of the statements that have ended, taken off their sessions."""
        ended: dict[int, Answer] = {}
        for n, session in enumerate(self.sessions):
            if session.running is not None and session.running.done():
                ended[n] = session.running.result()
                session.running = None
        return ended

    def _blockers(self, session: int) -> set[int]:
        by_pid = {one.pid: n for n, one in enumerate(self.sessions)}
        row = self.observer.execute("select pg_blocking_pids(%s)", [self.sessions[session].pid]).fetchone()
        assert row is not None
        return {by_pid.get(pid, -1) for pid in row[0]}

    # what the observer does

    def observe(self, session: int | None) -> Observed:
        """The tables as this idle session sees them; None: as everybody does."""
        connection = self.observer if session is None else self.sessions[session].connection
        row = connection.execute(_OBSERVE).fetchone()
        assert row is not None
        queue, outcomes, letters, results, keys, jobs = (part or [] for part in row)
        grouped: dict[int, list[Any]] = {}
        for job_id, token, attempt, status, reason in outcomes:
            grouped.setdefault(job_id, []).append((token, attempt, status, reason))
        return Observed(
            queue={row[0]: tuple(row[1:]) for row in queue},
            outcomes={job_id: tuple(sorted(rows, key=str)) for job_id, rows in grouped.items()},
            letters={row[0]: (row[1], row[2], row[3]) for row in letters},
            results=frozenset(results),
            keys={(scope.removeprefix("job:"), key): int(ref) for scope, key, ref in keys},
            jobs={row[0]: tuple(row[1:]) for row in jobs},
        )

    def in_transaction(self, session: int) -> bool:
        """Has the session a transaction open that has not failed?"""
        return self.sessions[session].connection.info.transaction_status == TransactionStatus.INTRANS

    def locked(self) -> frozenset[int]:
        """The committed jobs whose queue row somebody has locked."""
        with self.observer.transaction(force_rollback=True):
            free = self.observer.execute("select job_id from penstock.job_queue for update skip locked").fetchall()
            rows = self.observer.execute("select job_id from penstock.job_queue").fetchall()
        return frozenset(row[0] for row in rows) - frozenset(row[0] for row in free)

    def move_clock(self, what: str, job_id: int, order: int) -> bool:
        """Time passes for this job, unless somebody has it locked."""
        free = "q.job_id in (select f.job_id from penstock.job_queue f where f.job_id = %s for update skip locked)"
        rows = self.observer.execute(f"{_CLOCK[what]} {free} returning 1".encode(), [order, job_id]).fetchall()
        return bool(rows)

    def expire_key(self, kind: str, key: str) -> bool:
        """The key's time is over, unless somebody has it locked."""
        rows = self.observer.execute(
            "update penstock.once_key k set expires_at = now() - interval '1 hour' where (k.scope, k.key) in"
            " (select f.scope, f.key from penstock.once_key f where f.scope = %s and f.key = %s for update skip locked)"
            " returning 1",
            ["job:" + kind, key],
        ).fetchall()
        return bool(rows)

    def illegal_moves(self) -> list[tuple[Any, ...]]:
        return self.observer.execute(_ILLEGAL_MOVES).fetchall()

    def unaccounted(self) -> list[tuple[Any, ...]]:
        """Jobs that do not have exactly one of a queue row and a terminal outcome."""
        return [row for row in self.observer.execute(_LOST).fetchall() if row[1] + row[2] != 1]

    def drain(self) -> int:
        """Let time pass and work until nothing is left. Returns how many jobs are stuck."""
        (row,) = self.observer.execute("select count(*) from penstock.job_queue").fetchall()
        for _ in range(row[0] + 3):
            self.observer.execute(
                "update penstock.job_queue"
                " set process_after = '2020-01-01', lease_until = lease_until - interval '10 days'"
            )
            self.observer.execute("select penstock.fn_queue_tick()")
            for executor in ("default", "agent"):
                self.observer.execute(
                    "select penstock.fn_job_finish(array_agg(c.job_id), array_agg(c.lease_token))"
                    " from penstock.fn_job_claim(%s, 100, p_start => true) c having count(*) > 0",
                    [executor],
                )
        (row,) = self.observer.execute("select count(*) from penstock.job_queue").fetchall()
        return int(row[0])

    def reset(self) -> None:
        """End whatever is open and empty the queue."""
        while any(session.running is not None for session in self.sessions):
            self._roll_back_idle()
            self.settle()
            self.answers()
        self._roll_back_idle()
        self.observer.execute(_EMPTY)

    def _roll_back_idle(self) -> None:
        for session in self.sessions:
            if session.running is None and session.connection.info.transaction_status != TransactionStatus.IDLE:
                session.connection.execute("rollback")


def _ended(session: Session) -> bool:
    return session.running is None or session.running.done()


def _in_a_ring(waiting: dict[int, set[int]]) -> bool:
    """Do some of them wait for each other? Then the server is about to end one of them."""
    left = dict(waiting)
    while left:
        # who waits for somebody outside the ring will be let go
        free = [n for n, blockers in left.items() if not blockers & left.keys()]
        if not free:
            return True
        for n in free:
            del left[n]
    return False
