"""Did the demo's jobs end as they must?"""

from itertools import groupby, pairwise
from operator import attrgetter

from penstock.cli.demo.plan import Expected
from penstock.kernel.reads import KindTally, LaneResult


def problems(
    tallies: list[KindTally], wanted: dict[str, Expected], lanes: list[LaneResult], lane_jobs: int
) -> list[str]:
    """What differs from what must be, in words; empty when all is well."""
    return [*_wrong_numbers(tallies, wanted), *_wrong_lanes(lanes, lane_jobs)]


def _wrong_numbers(tallies: list[KindTally], wanted: dict[str, Expected]) -> list[str]:
    found = {tally.job_kind: tally for tally in tallies}
    said = []
    for kind, must in wanted.items():
        tally = found.get(kind)
        if tally is None:
            said.append(f"{kind}: no job is there, {must.jobs} must be")
            continue
        for name in ("jobs", "succeeded", "retried", "dead_lettered", "attempts"):
            is_, must_be = getattr(tally, name), getattr(must, name)
            if is_ != must_be:
                said.append(f"{kind}: {name} is {is_}, and must be {must_be}")
    return said + [f"{kind}: nobody asked for such jobs" for kind in found if kind not in wanted]


def _wrong_lanes(results: list[LaneResult], lane_jobs: int) -> list[str]:
    said = [] if len(results) == lane_jobs else [f"{len(results)} lane jobs have a result, and {lane_jobs} must"]
    for lane, jobs in groupby(results, key=attrgetter("lane")):
        for before, after in pairwise(jobs):
            if after.result["began_ns"] < before.result["ended_ns"]:
                said.append(f"lane {lane}: job {after.job_id} began before job {before.job_id} had ended")
    return said
