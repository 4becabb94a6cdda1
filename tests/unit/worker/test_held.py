"""What a worker may still believe about the leases it holds, and the order of its shelf."""

from datetime import UTC, datetime

from penstock.jobs import Job
from penstock.model import Claim, Facts
from penstock.worker.held import Held, Shelf

LEASE_S = 6.0


def _held(job_id: int = 1, *, attempt: int = 1, suspect: bool = False, timeout_s: float = 60) -> Held:
    claim = Claim(job_id, 7, "note", attempt, False, suspect, datetime(2026, 1, 1, tzinfo=UTC))
    facts = Facts(job_id, None, None, None, None, None, None, None, None, None, "role:postgres")
    return Held(claim, Job(claim, facts), asked_at=100.0, lease_s=LEASE_S, timeout_s=timeout_s)


def test_a_claim_is_believed_for_its_lease_from_when_it_was_asked_for() -> None:
    assert [_held().is_ours(now) for now in (105.9, 106.0)] == [True, False]


def test_a_beat_is_believed_for_half_a_lease_because_it_extends_no_lease_that_has_more() -> None:
    held = _held()
    held.confirmed(102.9)
    assert [held.is_ours(now) for now in (105.9, 106.0)] == [True, False]
    held.confirmed(104.0)
    assert [held.is_ours(now) for now in (106.9, 107.0)] == [True, False]


def test_a_lost_job_is_not_begun() -> None:
    held = _held()
    held.lost()
    assert not held.is_ours(100.0)


def test_a_handler_must_end_while_its_lease_can_still_be_extended() -> None:
    # started with its claim at 100, begun at 104: the queue extends its lease to 100 + the timeout and no further
    assert _held(timeout_s=60).deadline(began=104.0) == 160.0
    assert _held(timeout_s=1).deadline(began=104.0) == 105.0
    assert _held(timeout_s=4).deadline(began=104.0) == 106.0


def test_a_job_may_have_less_time_than_its_kind_and_never_more() -> None:
    shorter, longer = _held(timeout_s=60), _held(timeout_s=60)
    shorter.job.timeout_s, longer.job.timeout_s = 5, 500
    assert (shorter.timeout_s, longer.timeout_s) == (5, 60)
    # the lease is its kind's: a job begun late has its own time all the same
    assert shorter.deadline(began=120.0) == 125.0
    assert longer.deadline(began=104.0) == 160.0


def test_the_next_suspect_is_taken_only_when_the_one_before_is_reported() -> None:
    shelf = Shelf()
    first, second, ready = _held(1, suspect=True), _held(2, suspect=True), _held(3)
    shelf.put([first, second, ready])
    assert [shelf.take(), shelf.take(), shelf.take()] == [first, ready, None]
    assert not shelf.wants_suspects
    shelf.forget([first])
    assert shelf.take() is second
    shelf.forget([second])
    assert shelf.wants_suspects


def test_suspects_behind_a_long_one_are_given_back() -> None:
    shelf = Shelf()
    first, second = _held(1, suspect=True), _held(2, suspect=True)
    shelf.put([first, second])
    assert shelf.take() is first
    assert shelf.take_stranded(patience_s=3600) == []
    assert shelf.take_stranded(patience_s=-1) == [second]


def test_reporting_an_old_claim_does_not_forget_the_new_one_of_the_same_job() -> None:
    shelf = Shelf()
    old, new = _held(1), _held(1)
    shelf.put([old])
    shelf.put([new])
    shelf.forget([old])
    assert shelf.held == {new}


def test_only_first_attempts_are_started_ahead() -> None:
    shelf = Shelf()
    first, again, later = _held(1), _held(2, attempt=2), _held(3)
    shelf.put([first, again, later])
    assert shelf.take_unstarted(10) == [first]
    assert shelf.take() is again
