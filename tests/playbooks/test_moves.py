"""Moves of whole executions: what each does to jobs in every state, and who may."""

import pytest

from penstock.errors import ActorRefused, IllegalMove, UnknownJob
from penstock.kernel import executions, jobs
from penstock.kernel.connection import Connection
from tests.logins import Logins
from tests.playbooks.support import claimed, driven, finished, playbook, started, state, steps_of

LINE = """
  - {step: a, tool: {kind: noop}, next: b}
  - {step: b, tool: {kind: noop}, next: c}
  - {step: c, tool: {kind: noop}}
"""
WIDE = """
  - {step: a, tool: {kind: noop}, loop: {in: "{{ workload.n }}", mode: parallel, max_in_flight: 2}, next: b}
  - {step: b, tool: {kind: noop}}
"""
KEY = "a key of sixteen or more"


def _statuses(db: Connection, execution: int) -> list[str]:
    return [one[3] for one in steps_of(db, execution)]


def test_a_running_step_ends_during_a_pause_and_what_comes_after_waits(db: Connection) -> None:
    playbook(db, LINE)
    execution = started(db)
    claims = claimed(db)
    executions.move(db, execution, "pause")
    assert not finished(db, claims)
    assert _statuses(db, execution) == ["succeeded", "blocked"]
    assert claimed(db) == []
    executions.move(db, execution, "resume")
    assert driven(db) == ["b", "c"]
    assert state(db, execution) == ("succeeded", 0, 0)


def test_a_job_given_back_or_failed_during_a_pause_waits(db: Connection) -> None:
    playbook(db, LINE)
    for end in ("release", "fail", "reap"):
        execution = started(db)
        ((_, claim),) = claimed(db)
        executions.move(db, execution, "pause")
        if end == "release":
            jobs.release(db, [claim.job_id], [claim.lease_token])
        elif end == "fail":
            jobs.fail(db, [claim.job_id], [claim.lease_token], [{"type": "Told"}])
        else:
            db.execute(
                "update penstock.job_queue set lease_until = now() - interval '1 second' where lease_until > now()"
            )
            db.execute("select penstock.leases_reap()")
        assert _statuses(db, execution) == ["blocked"], end
        executions.move(db, execution, "resume")
        executions.move(db, execution, "cancel")


def test_the_id_of_a_steps_job_is_answered_with_that_of_its_execution(db: Connection) -> None:
    playbook(db, LINE)
    execution = started(db)
    finished(db, claimed(db))
    ((_, second),) = claimed(db)
    for action in ("cancel", "pause", "resume", "retry"):
        with pytest.raises(UnknownJob, match=f"a job of execution {execution}, of the step b"):
            executions.move(db, second.job_id, action)
    with pytest.raises(UnknownJob, match=f"a job of execution {execution}, of the step b"):
        executions.show(db, second.job_id)
    assert state(db, execution) == ("running", 1, 0)


def test_items_of_a_loop_wait_through_a_pause_and_keep_their_order(db: Connection) -> None:
    playbook(db, WIDE)
    execution = started(db)
    finished(db, claimed(db), lambda *_: {"items": [1, 2, 3, 4, 5]})
    first = claimed(db)
    assert len(first) == 2
    executions.move(db, execution, "pause")
    assert not finished(db, first)
    assert claimed(db) == []
    executions.move(db, execution, "resume")
    assert driven(db) == ["a", "a", "a", "b"]
    assert state(db, execution) == ("succeeded", 0, 0)


def test_a_cancel_takes_back_what_waits_for_an_answer_and_its_key(db: Connection) -> None:
    playbook(db, LINE)
    execution = started(db)
    ((_, claim),) = claimed(db)
    jobs.wait(db, claim.job_id, claim.lease_token, callback_key=KEY)
    assert executions.move(db, execution, "cancel") == "cancelled"
    with pytest.raises(IllegalMove):
        jobs.resume(db, claim.job_id, KEY)
    assert db.execute("select count(*) from penstock.job_await").fetchone() == (0,)


def test_an_answer_during_a_pause_is_taken_and_what_comes_after_waits(db: Connection) -> None:
    playbook(db, LINE)
    execution = started(db)
    ((_, claim),) = claimed(db)
    jobs.wait(db, claim.job_id, claim.lease_token, callback_key=KEY)
    executions.move(db, execution, "pause")
    assert jobs.resume(db, claim.job_id, KEY, {"ok": True}) == "succeeded"
    assert _statuses(db, execution) == ["succeeded", "blocked"]


def test_a_callback_key_works_once_and_a_wrong_one_never(db: Connection) -> None:
    playbook(db, LINE)
    started(db)
    ((_, claim),) = claimed(db)
    jobs.wait(db, claim.job_id, claim.lease_token, callback_key=KEY)
    with pytest.raises(ActorRefused, match="not the callback key"):
        jobs.resume(db, claim.job_id, "another key of sixteen")
    assert jobs.resume(db, claim.job_id, KEY) == "succeeded"
    with pytest.raises(IllegalMove):
        jobs.resume(db, claim.job_id, KEY)


def test_one_cancelled_step_fails_the_execution_which_can_be_retried(db: Connection) -> None:
    playbook(db, LINE)
    execution = started(db)
    finished(db, claimed(db))
    (job_id,) = db.execute("select job_id from penstock.job_queue").fetchone() or (0,)
    assert jobs.cancel(db, job_id) == "cancelled"
    assert state(db, execution) == ("failed", 0, 1)
    executions.move(db, execution, "retry")
    assert driven(db) == ["b", "c"]
    assert state(db, execution) == ("succeeded", 0, 0)


def test_a_dead_letter_of_a_step_is_replayed_in_its_place(db: Connection) -> None:
    playbook(db, LINE)
    execution = started(db)
    ((_, claim),) = claimed(db)
    jobs.fail(db, [claim.job_id], [claim.lease_token], [{"permanent": True}])
    assert state(db, execution) == ("failed", 0, 1)
    again = jobs.retry(db, claim.job_id)
    assert (again != claim.job_id, state(db, execution)) == (True, ("running", 1, 0))
    assert driven(db) == ["a", "b", "c"]
    assert state(db, execution) == ("succeeded", 0, 0)


@pytest.mark.parametrize(
    ("status", "refused"),
    [
        ("succeeded", ("cancel", "pause", "resume", "retry")),
        ("paused", ("pause", "retry")),
        ("running", ("resume", "retry")),
    ],
)
def test_what_a_status_does_not_allow_is_refused(db: Connection, status: str, refused: tuple[str, ...]) -> None:
    playbook(db, LINE)
    execution = started(db)
    if status == "succeeded":
        driven(db)
    elif status == "paused":
        executions.move(db, execution, "pause")
    for action in refused:
        with pytest.raises(IllegalMove, match=f"execution {execution} is {status}"):
            executions.move(db, execution, action)
    with pytest.raises(UnknownJob):
        executions.move(db, 987654321, "cancel")


def test_others_executions_are_not_moved_and_not_answered(db: Connection, logins: Logins) -> None:
    playbook(db, LINE)
    execution = started(db)
    ((_, claim),) = claimed(db)
    jobs.wait(db, claim.job_id, claim.lease_token, approvers=["user:ann"], prompt="May it?")
    other = logins.member("penstock_producer")
    with pytest.raises(ActorRefused):
        executions.move(other, execution, "cancel")
    with pytest.raises(ActorRefused, match="was not asked"):
        jobs.resume(other, claim.job_id)
    db.execute("select penstock.fn_actor_binding_set('user:ann', 'penstock_producer')")
    assert jobs.resume(other, claim.job_id, None, {"ok": True}, "user:ann") == "succeeded"


def test_a_stranded_execution_is_counted_anew(db: Connection) -> None:
    playbook(db, LINE)
    execution = started(db)
    driven(db)
    db.execute("update penstock.job_workflow set status = 'running', finished_at = null, open = 3")
    report = db.execute("select penstock.workflows_sweep(10)").fetchone()
    assert (report or ({},))[0]["mended"] == 1
    assert state(db, execution) == ("succeeded", 0, 0)


def test_others_single_executions_are_not_retried(db: Connection, logins: Logins) -> None:
    playbook(db, "  - {step: a, tool: {kind: noop}}")
    execution = started(db)
    ((_, claim),) = claimed(db)
    jobs.fail(db, [claim.job_id], [claim.lease_token], [{"permanent": True}])
    with pytest.raises(ActorRefused):
        executions.move(logins.member("penstock_producer"), execution, "retry")
    assert executions.move(db, execution, "retry") == f"replayed as {execution + 1}"


def test_a_step_that_could_not_decide_decides_again_and_its_dead_letter_is_closed(db: Connection) -> None:
    playbook(
        db,
        """
  - {step: a, tool: {kind: wait, seconds: 1}, next: [{step: b, when: "{{ a.x }}"}, {step: c}]}
  - {step: b, tool: {kind: noop}}
  - {step: c, tool: {kind: noop}}
""",
    )
    for way in ("retry", "replay"):
        execution = started(db)
        ((_, claim),) = claimed(db)
        jobs.wait(db, claim.job_id, claim.lease_token)
        jobs.resume(db, claim.job_id)
        ((_, decider),) = claimed(db)
        jobs.fail(db, [decider.job_id], [decider.lease_token], [{"permanent": True}])
        assert state(db, execution) == ("failed", 0, 1)
        if way == "retry":
            executions.move(db, execution, "retry")
        else:
            jobs.retry(db, decider.job_id)
        assert db.execute("select count(*) from penstock.v_job_queue_dead_letter_open").fetchone() == (0,)
        assert driven(db, lambda step, _: {"next": ["c"]} if step == "a" else None) == ["a", "c"]
        assert state(db, execution) == ("succeeded", 0, 0)
        assert [step for step, *_ in steps_of(db, execution)] == ["a", "c"]


def test_a_sequential_loop_stays_one_after_the_other_when_it_is_retried(db: Connection) -> None:
    playbook(
        db,
        """
  - {step: a, tool: {kind: noop}, loop: {in: "{{ workload.n }}"}, next: b}
  - {step: b, tool: {kind: noop}}
""",
    )
    execution = started(db)
    finished(db, claimed(db), lambda *_: {"items": [1, 2, 3]})
    for _ in range(3):
        ((_, claim),) = claimed(db)
        jobs.fail(db, [claim.job_id], [claim.lease_token], [{"permanent": True}])
    assert state(db, execution) == ("failed", 0, 3)
    executions.move(db, execution, "retry")
    for _ in range(3):
        claims = claimed(db)
        assert len(claims) == 1
        finished(db, claims)
    assert driven(db) == ["b"]


def test_cancelling_an_item_that_waits_lets_no_other_begin(db: Connection) -> None:
    playbook(
        db,
        """
  - {step: a, tool: {kind: noop}, loop: {in: "{{ workload.n }}"}, next: b}
  - {step: b, tool: {kind: noop}}
""",
    )
    started(db)
    finished(db, claimed(db), lambda *_: {"items": [1, 2, 3]})
    assert len(claimed(db)) == 1
    (waiting,) = db.execute("select max(job_id) from penstock.job_queue").fetchone() or (0,)
    jobs.cancel(db, waiting)
    assert claimed(db) == []


def test_a_key_is_a_playbooks_own_whatever_its_first_step_is(db: Connection) -> None:
    playbook(db, "  - {step: a, tool: {kind: noop}}")
    first = started(db, idempotency_key="k")
    playbook(db, LINE)
    assert started(db, idempotency_key="k") == first
    playbook(db, LINE, path="other")
    assert started(db, "other", idempotency_key="k") != first
