"""Finds what a queue must never do, in a history. Pure: it reads values, and returns every violation it finds.

A tenure is the time for which an execution holds its job: from its handler's begin line to the moment the queue ended
that lease (job_outcome.finished_at of the same job and token: the result was accepted, the failure was accepted, or the
lease was taken back because it had run out). What a handler does after its tenure is a zombie's business: it may go on
running beside its successor, and the rules below do not count it, but nothing it reports may be believed.

lost        a request without its job, or with several; a job nobody asked for
unended     a job that is still in the queue, or has no final outcome, or more than one
wrong_end   a job that ended in another way than its handler was made to end it
stale       a result accepted from anyone but the last holder: the final outcome is not of the highest token, or no
            handler had returned under its token by then, or the result kept is another holder's; or anything at all
            happened to a job after its final outcome
unrecorded  a handler that ran, and no outcome of its lease
unstarted   a handler that ran before its start was committed
repeated    two executions under one lease or one attempt
early       a handler that ran before its job was due
overlap     two tenures of one lane at the same time
order       a job of a lane that ran before an earlier one of the same lane had ended
parallel    more tenures at the same time than the rule of their kind allows
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from typing import NamedTuple, TypeVar

from tests.chaos.history import Execution, History, OutcomeRow, Request

T = TypeVar("T", Execution, OutcomeRow)


class Violation(NamedTuple):
    rule: str
    detail: str


class Tenure(NamedTuple):
    began_at: float
    ended_at: float
    job_id: int
    lease: int


def check(history: History) -> list[Violation]:
    """Everything that is wrong with a history; nothing, if all is well."""
    return [
        *_lost(history),
        *_unended(history),
        *_wrong_end(history),
        *_stale(history),
        *_unrecorded(history),
        *_repeated(history),
        *_early(history),
        *_overlap(history),
        *_order(history),
        *_parallel(history),
    ]


def _lost(history: History) -> Iterator[Violation]:
    by_key: dict[str, list[int]] = defaultdict(list)
    for job in history.jobs:
        by_key[job.key or ""].append(job.job_id)
    for request in history.requests:
        if by_key[request.key] != [request.job_id]:
            yield Violation("lost", f"{request.key} was answered with job {request.job_id}, is {by_key[request.key]}")
    asked = {request.key for request in history.requests}
    for key, job_ids in by_key.items():
        by_schedule = key.startswith("schedule:")
        if key not in asked and (not by_schedule or len(job_ids) > 1):
            yield Violation("lost", f"nobody asked for {job_ids} by the key {key!r}")


def _unended(history: History) -> Iterator[Violation]:
    final = Counter(outcome.job_id for outcome in history.outcomes if outcome.is_terminal)
    for job in history.jobs:
        if job.job_id in history.live:
            yield Violation("unended", f"job {job.job_id} is still {history.live[job.job_id]}")
        elif final[job.job_id] != 1:
            yield Violation("unended", f"job {job.job_id} has {final[job.job_id]} final outcomes")


def _wrong_end(history: History) -> Iterator[Violation]:
    wanted = {request.job_id: request.ends_as for request in history.requests}
    for outcome in history.outcomes:
        if outcome.is_terminal and outcome.status != wanted.get(outcome.job_id, "succeeded"):
            yield Violation("wrong_end", f"job {outcome.job_id} ended {outcome.status}: {outcome.reason}")


def _stale(history: History) -> Iterator[Violation]:
    executions = _by_job(history.executions)
    outcomes = _by_job(history.outcomes)
    for job_id, of_job in outcomes.items():
        final = [outcome for outcome in of_job if outcome.is_terminal]
        if len(final) != 1:
            continue
        (last,) = final
        leases = {one.lease for one in of_job} | {one.lease for one in executions[job_id]}
        if last.lease != max(leases):
            yield Violation("stale", f"job {job_id} ended under token {last.lease}, but {max(leases)} came later")
        if any(one.ended_at > last.ended_at for one in of_job if one is not last):
            yield Violation("stale", f"job {job_id} has an outcome after its final one")
        if last.status == "succeeded":
            yield from _misattributed(last, executions[job_id], history)


def _misattributed(last: OutcomeRow, executions: list[Execution], history: History) -> Iterator[Violation]:
    by_then = last.ended_at + history.slack_s
    returned = [one.ended_at for one in executions if one.lease == last.lease and one.returned]
    if not any(ended_at is not None and ended_at <= by_then for ended_at in returned):
        yield Violation(
            "stale", f"job {last.job_id} succeeded under token {last.lease}, whose handler had not returned"
        )
    kept = history.results.get(last.job_id)
    if kept != {"lease": last.lease}:
        yield Violation("stale", f"job {last.job_id} succeeded under token {last.lease}, but its result is {kept}")


def _unrecorded(history: History) -> Iterator[Violation]:
    outcomes = {(outcome.job_id, outcome.lease): outcome for outcome in history.outcomes}
    for one in history.executions:
        outcome = outcomes.get((one.job_id, one.lease))
        if outcome is None:
            yield Violation("unrecorded", f"job {one.job_id} ran under token {one.lease}, which has no outcome")
        elif outcome.started_at is None or one.began_at < outcome.started_at - history.slack_s:
            yield Violation("unstarted", f"job {one.job_id} ran under token {one.lease} before it was started")


def _repeated(history: History) -> Iterator[Violation]:
    leases = Counter((one.job_id, one.lease) for one in history.executions)
    attempts = Counter((one.job_id, one.attempt) for one in history.executions)
    for what, counted in (("token", leases), ("attempt", attempts)):
        for (job_id, number), count in counted.items():
            if count > 1:
                yield Violation("repeated", f"job {job_id} ran {count} times under {what} {number}")


def _early(history: History) -> Iterator[Violation]:
    due = {job.job_id: job.due_at for job in history.jobs if job.due_at is not None}
    for one in history.executions:
        if one.job_id in due and one.began_at < due[one.job_id] - history.slack_s:
            yield Violation("early", f"job {one.job_id} ran {due[one.job_id] - one.began_at:.3f} s before it was due")


def _overlap(history: History) -> Iterator[Violation]:
    lanes = {job.job_id: job.lane for job in history.jobs if job.lane is not None}
    by_lane: dict[str, list[Tenure]] = defaultdict(list)
    for tenure in _tenures(history):
        if tenure.job_id in lanes:
            by_lane[lanes[tenure.job_id]].append(tenure)
    for lane, tenures in by_lane.items():
        for before, after in _crowds(tenures, 1, history.slack_s):
            yield Violation("overlap", f"lane {lane}: job {after.job_id} began while job {before.job_id} was held")


def _order(history: History) -> Iterator[Violation]:
    """Lanes are asked for by one producer each, so the order of its requests is the order of the lane."""
    first_began: dict[int, float] = {}
    for one in sorted(history.executions, key=lambda one: one.began_at):
        first_began.setdefault(one.job_id, one.began_at)
    ended = {outcome.job_id: outcome.ended_at for outcome in history.outcomes if outcome.is_terminal}
    before: dict[str, Request] = {}
    for request in history.requests:
        if request.lane is None:
            continue
        earlier = before.get(request.lane)
        before[request.lane] = request
        if earlier is None or request.job_id not in first_began or earlier.job_id not in ended:
            continue
        if first_began[request.job_id] < ended[earlier.job_id] - history.slack_s:
            yield Violation("order", f"lane {request.lane}: job {request.job_id} ran before {earlier.job_id} had ended")


def _parallel(history: History) -> Iterator[Violation]:
    kinds = {job.job_id: job.kind for job in history.jobs}
    by_kind: dict[str, list[Tenure]] = defaultdict(list)
    for tenure in _tenures(history):
        if kinds.get(tenure.job_id) in history.limits:
            by_kind[kinds[tenure.job_id]].append(tenure)
    for kind, tenures in by_kind.items():
        for _, after in _crowds(tenures, history.limits[kind], history.slack_s):
            yield Violation("parallel", f"{kind}: job {after.job_id} began as one too many")


def _tenures(history: History) -> Iterator[Tenure]:
    ends = {(outcome.job_id, outcome.lease): outcome.ended_at for outcome in history.outcomes}
    for one in history.executions:
        ended_at = ends.get((one.job_id, one.lease))
        if ended_at is not None:
            yield Tenure(one.began_at, ended_at, one.job_id, one.lease)


def _crowds(tenures: Iterable[Tenure], room: int, slack_s: float) -> Iterator[tuple[Tenure, Tenure]]:
    """Each tenure that began while `room` others lasted, with the one of them that ends last."""
    lasting: list[Tenure] = []
    for tenure in sorted(tenures):
        lasting = [one for one in lasting if one.ended_at - slack_s > tenure.began_at]
        if len(lasting) >= room:
            yield max(lasting, key=lambda one: one.ended_at), tenure
        lasting.append(tenure)


def _by_job(items: Iterable[T]) -> dict[int, list[T]]:
    found: dict[int, list[T]] = defaultdict(list)
    for item in items:
        found[item.job_id].append(item)
    return found
