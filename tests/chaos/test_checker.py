"""The checker finds each kind of violation in a history made by hand, and nothing in a history that is in order."""

import json
from dataclasses import replace
from typing import Any

import pytest

from tests.chaos.checker import check
from tests.chaos.history import Execution, History, JobRow, OutcomeRow, Request, executions_of


def _good() -> History:
    """Job 1 ran once. Job 2 lost its worker, whose zombie ended later, and succeeded at the second try, in lane `a`
    before job 3. Jobs 4, 5 and 6 are of a kind of which two run at once. Job 7 was never to succeed. Job 8 came by
    schedule, and not before its time."""
    return History(
        requests=[
            Request("k1", "quick", 1),
            Request("k2", "laned", 2, lane="a"),
            Request("k3", "laned", 3, lane="a"),
            *(Request(f"k{number}", "limited", number) for number in (4, 5, 6)),
            Request("k7", "doomed", 7, ends_as="dead_lettered"),
        ],
        jobs=[
            JobRow(1, "quick", "k1"),
            JobRow(2, "laned", "k2", lane="a"),
            JobRow(3, "laned", "k3", lane="a"),
            *(JobRow(number, "limited", f"k{number}") for number in (4, 5, 6)),
            JobRow(7, "doomed", "k7"),
            JobRow(8, "due", "schedule:every:2026-01-01T00:00:00Z", due_at=5.0),
        ],
        executions=[
            Execution(1, 1, 10, 1.0, 2.0, True),
            Execution(2, 1, 11, 1.0, 9.0, True),
            Execution(2, 2, 15, 5.0, 6.0, True),
            Execution(3, 1, 16, 7.0, 8.0, True),
            Execution(4, 1, 12, 1.0, 3.0, True),
            Execution(5, 1, 12, 1.0, 4.0, True),
            Execution(6, 1, 13, 3.5, 5.0, True),
            Execution(7, 1, 14, 1.0, 2.0, False),
            Execution(8, 1, 17, 5.5, 6.0, True),
        ],
        outcomes=[
            OutcomeRow(1, 10, 1, "succeeded", 2.1, 0.9),
            OutcomeRow(2, 11, 1, "retrying", 4.0, 0.9, "lease_expired"),
            OutcomeRow(2, 15, 2, "succeeded", 6.1, 4.9),
            OutcomeRow(3, 16, 1, "succeeded", 8.1, 6.9),
            OutcomeRow(4, 12, 1, "succeeded", 3.1, 0.9),
            OutcomeRow(5, 12, 1, "succeeded", 4.1, 0.9),
            OutcomeRow(6, 13, 1, "succeeded", 5.1, 3.4),
            OutcomeRow(7, 14, 1, "dead_lettered", 2.1, 0.9, "failed"),
            OutcomeRow(8, 17, 1, "succeeded", 6.1, 5.4),
        ],
        results={1: {"lease": 10}, 2: {"lease": 15}, 3: {"lease": 16}, 4: {"lease": 12}, 5: {"lease": 12}}
        | {6: {"lease": 13}, 8: {"lease": 17}},
        limits={"limited": 2},
    )


def _with(items: list[Any], **changes: Any) -> list[Any]:
    """The list with the item of this job and lease changed."""
    job_id, lease = changes.pop("job_id"), changes.pop("lease", None)
    return [replace(one, **changes) if one.job_id == job_id and lease in (None, one.lease) else one for one in items]


def _without(items: list[Any], job_id: int) -> list[Any]:
    return [one for one in items if one.job_id != job_id]


Broken = dict[str, tuple[str, History]]


def _broken_accounts() -> Broken:
    good = _good()
    executions, outcomes, jobs = good.executions, good.outcomes, good.jobs
    return {
        "a request without its job": (
            "lost",
            replace(good, jobs=_without(jobs, 1), outcomes=_without(outcomes, 1), executions=_without(executions, 1)),
        ),
        "one key, two jobs": ("lost", replace(good, jobs=[*jobs, JobRow(9, "quick", "k1")], live={9: "ready"})),
        "a job nobody asked for": ("lost", replace(good, jobs=[*jobs, JobRow(9, "quick", "k9")], live={9: "ready"})),
        "one planned run, two jobs": (
            "lost",
            replace(good, jobs=[*jobs, replace(jobs[-1], job_id=9)], live={9: "ready"}),
        ),
        "a job still in the queue": ("unended", replace(good, live={1: "running"})),
        "a job without a final outcome": ("unended", replace(good, outcomes=_without(outcomes, 1))),
        "two final outcomes": ("unended", replace(good, outcomes=[*outcomes, replace(outcomes[0], lease=99)])),
        "a good job in the dead letter": (
            "wrong_end",
            replace(good, outcomes=_with(outcomes, job_id=1, status="dead_lettered", reason="lease_expired")),
        ),
        "a doomed job that succeeded": (
            "wrong_end",
            replace(good, outcomes=_with(outcomes, job_id=7, status="succeeded")),
        ),
    }


def _broken_leases() -> Broken:
    good = _good()
    executions, outcomes = good.executions, good.outcomes
    return {
        "the zombie's result was kept": ("stale", replace(good, results=good.results | {2: {"lease": 11}})),
        "the zombie's finish was believed": (
            "stale",
            replace(good, outcomes=_with(outcomes, job_id=2, lease=15, ended_at=5.5)),
        ),
        "an older token ended the job": (
            "stale",
            replace(
                good,
                executions=[*executions, Execution(1, 2, 50, 1.5)],
                outcomes=[*outcomes, OutcomeRow(1, 50, 2, "retrying", 1.8, 1.4, "lease_expired")],
            ),
        ),
        "a failure after the end": (
            "stale",
            replace(good, outcomes=[*outcomes, OutcomeRow(1, 9, 0, "retrying", 3.0, 0.5, "failed")]),
        ),
        "a handler ran under a lease of which nothing is known": (
            "unrecorded",
            replace(good, executions=[*executions, Execution(3, 2, 8, 0.5, 0.6)]),
        ),
        "a handler ran before its start": (
            "unstarted",
            replace(good, outcomes=_with(outcomes, job_id=1, started_at=1.5)),
        ),
        "a handler ran and was never started": (
            "unstarted",
            replace(good, outcomes=_with(outcomes, job_id=1, started_at=None)),
        ),
    }


def _broken_turns() -> Broken:
    good = _good()
    executions, outcomes = good.executions, good.outcomes
    return {
        "two runs under one token": ("repeated", replace(good, executions=[*executions, replace(executions[0])])),
        "two runs of one attempt": ("repeated", replace(good, executions=_with(executions, job_id=2, attempt=2))),
        "a job ran before it was due": ("early", replace(good, executions=_with(executions, job_id=8, began_at=4.9))),
        "two jobs of a lane at once": (
            "overlap",
            replace(
                good,
                executions=_with(executions, job_id=3, began_at=5.5),
                outcomes=_with(outcomes, job_id=3, started_at=5.4),
            ),
        ),
        "two tries of one job at once": (
            "overlap",
            replace(good, outcomes=_with(outcomes, job_id=2, lease=11, ended_at=5.5)),
        ),
        "a lane out of order": (
            "order",
            replace(
                good,
                executions=_with(executions, job_id=3, began_at=0.1, ended_at=0.2),
                outcomes=_with(outcomes, job_id=3, started_at=0.0, ended_at=0.3),
            ),
        ),
        "three of a kind of which two may run": (
            "parallel",
            replace(
                good,
                executions=_with(executions, job_id=6, began_at=2.9),
                outcomes=_with(outcomes, job_id=6, started_at=2.8),
            ),
        ),
    }


def _broken() -> Broken:
    return _broken_accounts() | _broken_leases() | _broken_turns()


def test_a_history_in_order_has_no_violation() -> None:
    assert check(_good()) == []


@pytest.mark.parametrize("name", list(_broken()))
def test_each_violation_is_found(name: str) -> None:
    rule, history = _broken()[name]
    assert rule in {violation.rule for violation in check(history)}


def test_every_rule_has_a_history_that_breaks_it() -> None:
    import tests.chaos.checker as checker

    assert checker.__doc__ is not None
    named = {line.split()[0] for line in checker.__doc__.splitlines() if line[:1].islower() and "  " in line}
    assert named == {rule for rule, _ in _broken().values()}


def test_notes_of_a_process_become_executions() -> None:
    lines = [
        {"what": "began", "job": 1, "attempt": 1, "lease": 7, "at": 1.0},
        {"what": "began", "job": 2, "attempt": 3, "lease": 7, "at": 1.5},
        {"what": "raised", "job": 2, "attempt": 3, "lease": 7, "at": 2.0},
        {"what": "returned", "job": 1, "attempt": 1, "lease": 7, "at": 2.5},
        {"what": "began", "job": 3, "attempt": 1, "lease": 8, "at": 3.0},
    ]
    assert executions_of(json.dumps(line) for line in lines) == [
        Execution(2, 3, 7, 1.5, 2.0, False),
        Execution(1, 1, 7, 1.0, 2.5, True),
        Execution(3, 1, 8, 3.0),
    ]
