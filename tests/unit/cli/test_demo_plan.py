"""The demo's plan and its verdict."""

from dataclasses import replace

import pytest

from penstock.cli.demo import plan
from penstock.cli.demo.verdict import problems
from penstock.kernel.reads import KindTally, LaneResult


def _as_expected(jobs: int) -> list[KindTally]:
    return [
        KindTally(kind, one.jobs, one.succeeded, one.retried, one.dead_lettered, one.attempts)
        for kind, one in plan.expected(jobs).items()
    ]


@pytest.mark.parametrize("jobs", [100, 601, 20_000])
def test_the_plan_asks_for_as_many_jobs_as_it_was_told_of_every_kind(jobs: int) -> None:
    requests = plan.requests(jobs)
    assert len(requests) == jobs
    assert {one["kind"] for one in requests} == {kind.name for kind in plan.KINDS}


def test_a_run_as_expected_has_no_problems() -> None:
    lanes = [LaneResult("a", 1, {"began_ns": 1, "ended_ns": 2}), LaneResult("a", 2, {"began_ns": 2, "ended_ns": 3})]
    assert problems(_as_expected(600), plan.expected(600), lanes, 2) == []


def test_a_job_that_did_not_end_as_it_must_is_a_problem() -> None:
    first, *others = _as_expected(600)
    said = problems([replace(first, succeeded=first.succeeded - 1), *others], plan.expected(600), [], 0)
    assert said == [f"{first.job_kind}: succeeded is {first.jobs - 1}, and must be {first.jobs}"]


def test_a_kind_without_jobs_and_a_kind_nobody_asked_for_are_problems() -> None:
    first, *others = _as_expected(600)
    said = problems([replace(first, job_kind="other"), *others], plan.expected(600), [], 0)
    assert said == [f"{first.job_kind}: no job is there, {first.jobs} must be", "other: nobody asked for such jobs"]


def test_two_jobs_of_a_lane_at_once_are_a_problem() -> None:
    lanes = [LaneResult("a", 1, {"began_ns": 1, "ended_ns": 5}), LaneResult("a", 2, {"began_ns": 4, "ended_ns": 6})]
    assert problems(_as_expected(600), plan.expected(600), lanes, 2) == ["lane a: job 2 began before job 1 had ended"]


def test_jobs_of_different_lanes_may_run_at_once() -> None:
    lanes = [LaneResult("a", 1, {"began_ns": 1, "ended_ns": 5}), LaneResult("b", 2, {"began_ns": 4, "ended_ns": 6})]
    assert problems(_as_expected(600), plan.expected(600), lanes, 2) == []
