"""The thinnest path through the kernel: enqueue, claim, finish."""

from penstock.kernel import jobs
from penstock.kernel.connection import Connection


def test_a_job_is_enqueued_claimed_finished_and_seen_whole(db: Connection) -> None:
    job_id = jobs.enqueue(db, {"kind": "greet", "safe_payload": {"name": "Ada"}, "target_ref": "user/1"})
    assert jobs.show(db, job_id).status == "ready"
    (claim,) = jobs.claim(db, "default", 10, start=True)
    assert (claim.job_id, claim.job_kind, claim.attempt, claim.started) == (job_id, "greet", 1, True)
    assert jobs.facts(db, [claim])[job_id].safe_payload == '{"name": "Ada"}'
    assert jobs.finish(db, [job_id], [claim.lease_token]) == []
    view = jobs.show(db, job_id)
    assert (view.status, view.attempt, view.execution_id) == ("succeeded", 1, job_id)
    assert view.finished_at is not None
