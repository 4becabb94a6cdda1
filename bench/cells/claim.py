"""What a claim of 100 jobs costs in a full queue: buffers touched and time, against an almost empty queue."""

from dataclasses import dataclass
from statistics import median
from typing import Any
from uuid import uuid4

from bench.processes import MeasurementFailed
from bench.results import Cell, at_most, cell
from bench.run import Bench
from penstock.kernel import jobs
from penstock.kernel.connection import Connection, connect

BUFFERS = at_most(1.3)
TIME = at_most(2.0)
LIMIT = 100
WARM_UP_CLAIMS = 3
# ids of what stands in the way come first
OWN_FROM = 50_000_001

CLAIM = (
    "explain (analyze, buffers, timing off, format json)"
    " select * from penstock.fn_job_claim(%(executor)s, %(limit)s, null, %(pools)s::text[], %(incarnation)s, true)"
)
HELD = (
    "select job_id, lease_token from penstock.job_queue"
    " where status in ('leased', 'running') and leased_by = %(incarnation)s"
)
LOAD_JOB = (
    "insert into penstock.job (job_id, enqueued_at, job_kind, executor, pool, lane, event_domain, priority, actor)"
    " select i, now(), %(kind)s, 'PG_worker', %(pool)s, %(lane)s, nullif(%(domain)s, ''), %(priority)s, 'system:bench'"
    " from generate_series(%(first)s::bigint, %(last)s::bigint) i"
)
LOAD_QUEUE = (
    "insert into penstock.job_queue"
    " (job_id, enqueued_at, process_after, status, priority, executor, job_kind, pool, event_domain, lane)"
    " select i, now(), now() + %(due)s::interval, %(status)s::penstock.job_status, %(priority)s, 'PG_worker', %(kind)s,"
    " %(pool)s, %(domain)s, %(lane)s from generate_series(%(first)s::bigint, %(last)s::bigint) i"
)
LOAD_OUTCOME = (
    "insert into penstock.job_outcome (job_id, finished_at, lease_token, enqueued_at, attempt, status)"
    " select i, now(), i, now(), 1, 'succeeded' from generate_series(%(first)s::bigint, %(last)s::bigint) i"
)
SQL = {"claim": CLAIM, "load_job": LOAD_JOB, "load_queue": LOAD_QUEUE, "load_outcome": LOAD_OUTCOME}


@dataclass(frozen=True)
class Jobs:
    """Jobs of one sort to load."""

    count: int
    status: str = "ready"
    kind: str = "noop"
    pool: str = "shared"
    domain: str = ""
    lane: str | None = None
    priority: int = 0
    due: str | None = None


@dataclass(frozen=True)
class Scope:
    """Who claims, from which pools, and the rule that says which kind and domain it may take."""

    executor: str = "default"
    pools: list[str] | None = None
    kind: str | None = None
    domain: str | None = None


@dataclass(frozen=True)
class Cost:
    """The median claim."""

    buffers_per_job: float
    ms: float


@dataclass(frozen=True)
class Comparison:
    name: str
    full: Cost
    empty: Cost

    @property
    def buffers_ratio(self) -> float:
        return self.full.buffers_per_job / self.empty.buffers_per_job

    @property
    def time_ratio(self) -> float:
        return self.full.ms / self.empty.ms


def backlog(bench: Bench) -> list[Cell]:
    """1M ready, 1M scheduled, 5M finished."""
    sizes = bench.sizes
    others = [
        Jobs(sizes.finished, status="succeeded"),
        Jobs(sizes.scheduled, status="scheduled", due="1 day"),
        Jobs(sizes.ready),
    ]
    compared = _compare(bench, "backlog", Scope(), Jobs(0), others)
    return _cells(
        "claim_backlog", [compared], {"ready": sizes.ready, "scheduled": sizes.scheduled, "finished": sizes.finished}
    )


def foreign(bench: Bench) -> list[Cell]:
    """1M ready jobs, older and more urgent, of a kind, domain or pool this executor may not take."""
    n = bench.sizes.foreign
    compared = [
        _compare(bench, "kind", Scope("narrow", kind="noop"), Jobs(0), [Jobs(n, kind="other", priority=10)]),
        _compare(
            bench,
            "domain",
            Scope("narrow", domain="health"),
            Jobs(0, domain="health"),
            [Jobs(n, domain="kg", priority=10)],
        ),
        _compare(bench, "pool", Scope(pools=["shared"]), Jobs(0), [Jobs(n, pool="priority", priority=10)]),
    ]
    return _cells("claim_foreign", compared, {"foreign": n})


def lane(bench: Bench) -> list[Cell]:
    """1M jobs blocked in one lane, whose head is ready and more urgent than all others."""
    n = bench.sizes.blocked
    others = [
        Jobs(1, lane="narrow", priority=10),
        Jobs(n, status="blocked", lane="narrow", priority=10),
    ]
    return _cells("claim_lane", [_compare(bench, "lane", Scope(), Jobs(0), others)], {"blocked": n})


def _compare(bench: Bench, name: str, scope: Scope, own: Jobs, others: list[Jobs]) -> Comparison:
    few = Jobs(**{**vars(own), "count": LIMIT * (WARM_UP_CLAIMS + bench.sizes.claims)})
    bench.say(f"claims from an almost empty queue ({name})")
    empty = _cost_in_fresh(bench, scope, [few])
    bench.say(f"claims from a full queue ({name}): {sum(one.count for one in others):,} jobs to load")
    return Comparison(name, _cost_in_fresh(bench, scope, [*others, few]), empty)


def _cost_in_fresh(bench: Bench, scope: Scope, loads: list[Jobs]) -> Cost:
    with connect(bench.server.fresh("bench_claim", migrated=True)) as connection:
        _permit(connection, scope)
        _load(connection, loads)
        return _cost(connection, scope, bench.sizes.claims)


def _permit(connection: Connection, scope: Scope) -> None:
    if scope.kind or scope.domain:
        connection.execute("select penstock.fn_executor_register(%s, 'PG_worker')", [scope.executor])
        connection.execute(
            "select penstock.fn_job_subscription_set(%s, 'PG_worker', %s, %s, p_enabled => true)",
            [scope.executor, scope.kind, scope.domain],
        )


def _load(connection: Connection, loads: list[Jobs]) -> None:
    first = 1
    for load in loads:
        if load is loads[-1]:
            first = OWN_FROM
        values = vars(load) | {"first": first, "last": first + load.count - 1}
        connection.execute(LOAD_JOB.encode(), values)
        if load.status == "succeeded":
            connection.execute(LOAD_OUTCOME.encode(), values)
        else:
            connection.execute(LOAD_QUEUE.encode(), values)
        first += load.count
    connection.execute("vacuum (analyze) penstock.job_queue")
    connection.execute("analyze penstock.job, penstock.job_outcome")
    connection.execute("checkpoint")


def _cost(connection: Connection, scope: Scope, claims: int) -> Cost:
    values = {"executor": scope.executor, "limit": LIMIT, "pools": scope.pools, "incarnation": uuid4()}
    costs = [_claim(connection, values) for _ in range(WARM_UP_CLAIMS + claims)][WARM_UP_CLAIMS:]
    return Cost(median(one.buffers_per_job for one in costs), median(one.ms for one in costs))


def _claim(connection: Connection, values: dict[str, Any]) -> Cost:
    row = connection.execute(CLAIM.encode(), values).fetchone()
    assert row is not None
    plan = row[0][0]
    top = plan["Plan"]
    held = connection.execute(HELD.encode(), values).fetchall()
    refused = jobs.finish(connection, [job_id for job_id, _ in held], [token for _, token in held])
    if top["Actual Rows"] != LIMIT or len(held) != LIMIT or refused:
        raise MeasurementFailed(f"claimed {top['Actual Rows']} of {LIMIT} jobs, {len(refused)} could not be finished")
    buffers = top["Shared Hit Blocks"] + top["Shared Read Blocks"]
    return Cost(buffers / LIMIT, plan["Execution Time"])


def _cells(name: str, compared: list[Comparison], sizes: dict[str, int]) -> list[Cell]:
    """Of several comparisons the worst counts."""
    most = max(compared, key=lambda one: one.buffers_ratio)
    slowest = max(compared, key=lambda one: one.time_ratio)
    detail = {
        "loaded": sizes,
        "claimed_at_once": LIMIT,
        "ratios": {
            one.name: {"buffers": round(one.buffers_ratio, 3), "time": round(one.time_ratio, 3)} for one in compared
        },
    }
    return [
        cell(
            name,
            most.full.buffers_per_job,
            "buffers/job",
            BUFFERS,
            against=most.empty.buffers_per_job,
            baseline=f"an almost empty queue ({most.name})",
            detail=detail,
        ),
        cell(
            f"{name}_time",
            slowest.full.ms,
            "ms/claim",
            TIME,
            against=slowest.empty.ms,
            baseline=f"an almost empty queue ({slowest.name})",
        ),
    ]
