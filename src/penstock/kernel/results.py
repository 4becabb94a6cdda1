"""What the steps of an execution have given back, never more of it than a worker may hold."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from penstock.errors import ResultsTooLarge
from penstock.kernel.connection import Connection, translated
from penstock.model import Json

_MAX_BYTES = 16_777_216
_RESULT_BYTES = 65_536

# the latest visit of each step that has ended there
_ENDED = (
    "select t.job_id, t.item, s.step, s.is_loop, rank() over (partition by s.step order by t.visit desc) as latest"
    " from penstock.job_step t join penstock.playbook_step s on s.step_id = t.step_id"
    " where t.execution_id = %(execution)s::bigint and s.step = any(%(steps)s)"
    " and not exists (select from penstock.job_queue q where q.job_id = t.job_id)"
)


class Results(NamedTuple):
    """By step: its result, of a loop {count, results}; and how many bytes of JSON all of it is."""

    by_step: Json
    size: int


def results(connection: Connection, execution_id: int, steps: Sequence[str], spent: int = 0) -> Results:
    """What steps have given back at their latest visit.

    With what was read for the same job before (`spent`) it is at most `execution.results.max_bytes`. The server decides
    that: of more it sends nothing but the sizes, and ResultsTooLarge says them.
    """
    with translated(connection):
        rows = connection.execute(
            f"with found as materialized (select e.step, e.is_loop, e.item, r.result,"
            f" coalesce(octet_length(r.result::text), 0) as size"
            f" from ({_ENDED}) e left join penstock.job_result r on r.job_id = e.job_id where e.latest = 1),"
            " allowed as materialized (select coalesce((select c.value::bigint from penstock.dot_config c"
            " where c.key = 'execution.results.max_bytes'), %(most)s) as most),"
            " judged as materialized (select a.most, coalesce(sum(f.size), 0) + %(spent)s <= a.most as fits"
            " from allowed a left join found f on true group by a.most)"
            " select f.step, f.is_loop, f.item, f.result, f.size::bigint, j.most from found f, judged j where j.fits"
            " union all select f.step, null, count(*), null, sum(f.size)::bigint, j.most from found f, judged j"
            " where not j.fits group by f.step, j.most order by 1, 3".encode(),
            {"execution": execution_id, "steps": list(steps), "spent": spent, "most": _MAX_BYTES},
        ).fetchall()
    if any(is_loop is None for _, is_loop, *_ in rows):
        raise ResultsTooLarge({step: size for step, _, _, _, size, _ in rows}, rows[0][5])
    found: Json = {}
    for step, is_loop, item, result, *_ in rows:
        if not is_loop:
            found[step] = result
            continue
        # the step's own is there only if it failed, and went on all the same
        loop = found.setdefault(step, {"count": 0, "results": [], **(result if item == 0 and result else {})})
        if item > 0:
            loop["count"] += 1
            loop["results"].append(result)
    return Results(found, sum(size for *_, size, _ in rows))


def measured(connection: Connection, result: str) -> tuple[int, int]:
    """How many bytes of JSON a result is as it would be kept, and how many may be."""
    with translated(connection):
        row = connection.execute(
            "select octet_length(%s::jsonb::text), coalesce((select c.value::bigint from penstock.dot_config c"
            " where c.key = 'queue.result.max_bytes'), %s)",
            [result, _RESULT_BYTES],
        ).fetchone()
    assert row is not None
    return row[0], row[1]


def counts(connection: Connection, execution_id: int, loops: Sequence[str]) -> Mapping[str, Json]:
    """Of loops that have ended only {count}: no result is read."""
    with translated(connection):
        rows = connection.execute(
            f"select e.step, count(*) filter (where e.item > 0) from ({_ENDED}) e where e.latest = 1"
            " group by e.step".encode(),
            {"execution": execution_id, "steps": list(loops)},
        ).fetchall()
    return {step: {"count": count} for step, count in rows}


def result_part(connection: Connection, execution_id: int, job_id: int, path: Sequence[str]) -> Any:
    """A part of what a step of this execution has given back; None where there is none."""
    with translated(connection):
        row = connection.execute(
            "select r.result #> %s::text[] from penstock.job_step t join penstock.job_result r on r.job_id = t.job_id"
            " where t.execution_id = %s::bigint and t.job_id = %s::bigint",
            [list(path), execution_id, job_id],
        ).fetchone()
    return None if row is None else row[0]
