"""penstock job and penstock dlq."""

from typing import Any

import pytest

from penstock.kernel import jobs
from penstock.kernel.connection import Connection
from tests.acceptance.cli.conftest import Penstock

BOOM = {"type": "Boom", "message": "no address"}


def _dead_letter(db: Connection, kind: str = "send", **fields: Any) -> int:
    """A job that ended in the dead letter, after two attempts."""
    job_id = jobs.enqueue(db, {"kind": kind, "max_attempts": 2, **fields})
    for _ in range(2):
        db.execute("update penstock.job_queue set process_after = now() where process_after is not null")
        (claim,) = jobs.claim(db, "default", 1)
        jobs.fail(db, [claim.job_id], [claim.lease_token], [BOOM])
    return job_id


def test_an_enqueued_job_is_listed(penstock: Penstock) -> None:
    job_id = int(penstock.ok("job", "enqueue", "send", "--payload", '{"order": 7}', "--priority", "3", "--lane", "a"))
    page = penstock.json("job", "list", "--kind", "send", "--status", "ready", "--pool", "shared")
    (job,) = page["jobs"]
    assert (job["job_id"], job["safe_payload"], job["priority"], job["lane"]) == (job_id, {"order": 7}, 3, "a")
    assert page["next_before"] is None


def test_a_job_is_enqueued_once_per_key_and_not_before_its_time(penstock: Penstock) -> None:
    words = ("job", "enqueue", "send", "--key", "k1", "--after", "2999-01-01T00:00:00")
    first, second = penstock.json(*words), penstock.json(*words)
    assert first == second
    assert penstock.json("job", "show", first["job_id"])["why"] == "waits until 2999-01-01 00:00:00Z"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--payload", "{"], "is not JSON"),
        (["--payload", "[1]"], "is not a JSON object"),
        (["--after", "tomorrow"], "--after"),
    ],
)
def test_a_request_that_cannot_be_read_is_a_usage_error(penstock: Penstock, words: list[str], said: str) -> None:
    assert said in " ".join(penstock.refuses("job", "enqueue", "send", *words, code=2).split())


def test_a_refused_request_is_a_failure_and_enqueues_nothing(penstock: Penstock) -> None:
    assert "pool 'nope' does not exist" in penstock.refuses("job", "enqueue", "send", "--pool", "nope")
    assert "password" in penstock.refuses("job", "enqueue", "send", "--payload", '{"password": "x"}')
    assert penstock.json("job", "list")["jobs"] == []


def test_the_list_is_turned_page_by_page(penstock: Penstock, db: Connection) -> None:
    made = [one.job_id for one in jobs.enqueue_many(db, [{"kind": "send"}] * 5)]
    first = penstock.json("job", "list", "--limit", 2)
    second = penstock.json("job", "list", "--limit", 50, "--before", first["next_before"])
    assert [one["job_id"] for one in first["jobs"] + second["jobs"]] == made[::-1]


def test_a_status_that_does_not_exist_is_a_usage_error(penstock: Penstock) -> None:
    assert "dead_lettered" in penstock.refuses("job", "list", "--status", "done", code=2)


def test_a_job_nobody_serves_says_why(penstock: Penstock, db: Connection) -> None:
    job_id = jobs.enqueue(db, {"kind": "send"})
    assert penstock.json("job", "show", job_id)["why"] == "no living worker serves it"


def test_a_finished_job_shows_its_result_and_its_trail(penstock: Penstock, db: Connection) -> None:
    job_id = jobs.enqueue(db, {"kind": "send"})
    (claim,) = jobs.claim(db, "default", 1, start=True)
    jobs.finish(db, [job_id], [claim.lease_token], ['{"sent": true}'])
    shown = penstock.json("job", "show", job_id)
    assert (shown["job"]["status"], shown["result"]) == ("succeeded", {"sent": True})
    assert [one["happening"] for one in shown["trail"]] == ["enqueued", "started", "succeeded"]
    assert '{"sent": true}' in penstock.ok("job", "show", job_id)


def test_a_dead_lettered_job_shows_its_errors_and_how_to_run_it_again(penstock: Penstock, db: Connection) -> None:
    shown = penstock.ok("job", "show", _dead_letter(db))
    assert shown.count("Boom: no address") == 2
    assert "penstock dlq replay job-1 runs it again" in shown


def test_a_job_that_does_not_exist_is_a_failure(penstock: Penstock) -> None:
    for what in ("show", "cancel", "retry"):
        said = penstock.refuses("job", what, 999)
        assert "job 999 does not exist\npenstock job list shows" in said


@pytest.mark.parametrize("job_id", ["abc", "0", str(2**63)])
def test_what_cannot_be_a_job_id_is_a_usage_error(penstock: Penstock, job_id: str) -> None:
    assert "JOB_ID" in penstock.refuses("job", "show", job_id, code=2)


def test_of_several_jobs_to_cancel_a_refused_one_stops_no_other(penstock: Penstock, db: Connection) -> None:
    first, last = (jobs.enqueue(db, {"kind": "send"}) for _ in range(2))
    ran = penstock.run("job", "cancel", first, 999, last, "--reason", "ordered twice")
    assert (ran.code, ran.out) == (1, f"job {first}: cancelled\njob {last}: cancelled\n")
    assert "job 999 does not exist" in ran.err
    assert "ordered twice" in penstock.ok("job", "show", first)


def test_a_job_a_worker_holds_is_marked_for_cancelling(penstock: Penstock, db: Connection) -> None:
    job_id = jobs.enqueue(db, {"kind": "send"})
    jobs.claim(db, "default", 1, start=True)
    assert penstock.json("job", "cancel", job_id) == [{"job_id": job_id, "status": "cancel_requested"}]


def test_a_dead_lettered_job_is_retried_as_a_new_one(penstock: Penstock, db: Connection) -> None:
    job_id = _dead_letter(db)
    (done,) = penstock.json("job", "retry", job_id)
    assert penstock.json("job", "show", done["look_at"])["job"]["status"] == "ready"
    assert done["look_at"] != job_id


def test_a_running_job_cannot_be_retried(penstock: Penstock, db: Connection) -> None:
    job_id = jobs.enqueue(db, {"kind": "send"})
    jobs.claim(db, "default", 1, start=True)
    assert f"job {job_id} is running" in penstock.refuses("job", "retry", job_id)


def test_a_dead_letter_shows_the_job_as_it_was_and_every_error(penstock: Penstock, db: Connection) -> None:
    job_id = _dead_letter(db, source_ref="order/7", safe_payload={"order": 7})
    shown = penstock.json("dlq", "show", "job-1")
    assert shown["dead_letter"]["snapshot"]["source_ref"] == "order/7"
    assert [one["detail"]["error"] for one in shown["attempts"]] == [BOOM, BOOM]
    text = penstock.ok("dlq", "show", "job-1")
    assert f"job_id        {job_id}" in text
    assert text.count("no address") == 2


def test_a_replayed_letter_leaves_the_list_but_stays_on_record(penstock: Penstock, db: Connection) -> None:
    _dead_letter(db)
    (done,) = penstock.json("dlq", "replay", "job-1", "--actor", "user:ann")
    assert penstock.json("job", "show", done["job_id"])["job"]["job_kind"] == "send"
    assert penstock.json("dlq", "list")["dead_letters"] == []
    (letter,) = penstock.json("dlq", "list", "--resolved")["dead_letters"]
    assert (letter["resolution"], letter["resolved_by"]) == ("replayed", "user:ann")
    assert "was replayed" in penstock.refuses("dlq", "replay", "job-1")


def test_all_letters_of_a_kind_are_replayed_and_no_others(penstock: Penstock, db: Connection) -> None:
    for kind in ("send", "send", "other"):
        _dead_letter(db, kind)
    assert len(penstock.json("dlq", "replay", "--kind", "send")) == 2
    assert [one["what"] for one in penstock.json("dlq", "list")["dead_letters"]] == ["other"]


def test_a_replay_names_the_new_job_as_other_commands_do(penstock: Penstock, db: Connection) -> None:
    _dead_letter(db)
    said = penstock.ok("dlq", "replay", "job-1")
    (replayed,) = penstock.json("job", "list", "--status", "ready")["jobs"]
    assert said == f"job-1: replayed as job {replayed['job_id']}\n"


def test_a_replay_of_all_says_when_there_is_nothing_to_replay(penstock: Penstock) -> None:
    assert penstock.ok("dlq", "replay", "--all") == "no open dead letters\n"
    assert penstock.ok("dlq", "discard", "--kind", "send", "--reason", "x") == "no open dead letters of kind send\n"
    assert penstock.json("dlq", "replay", "--all") == []


def test_the_dead_letters_are_turned_page_by_page(penstock: Penstock, db: Connection) -> None:
    for _ in range(3):
        _dead_letter(db)
    first = penstock.run("dlq", "list", "--limit", 2)
    assert first.err == "there are more: go on with --before job-2\n"
    second = penstock.run("dlq", "list", "--limit", 2, "--before", "job-2")
    assert (second.err, second.out.splitlines()[1].split()[0]) == ("", "job-1")
    page = penstock.json("dlq", "list", "--limit", 2)
    assert ([one["id"] for one in page["dead_letters"]], page["next_before"]) == (["job-3", "job-2"], "job-2")
    assert "An id looks like job-12" in penstock.refuses("dlq", "list", "--before", "2")


def test_a_discarded_letter_keeps_the_reason(penstock: Penstock, db: Connection) -> None:
    _dead_letter(db)
    penstock.ok("dlq", "discard", "--all", "--reason", "the customer is gone")
    (letter,) = penstock.json("dlq", "list", "--resolved")["dead_letters"]
    assert letter["resolution"] == "discarded: the customer is gone"


def test_a_letter_is_named_by_its_prefixed_id(penstock: Penstock) -> None:
    for wrong in ("12", "job-99"):
        assert "dead letter" in penstock.refuses("dlq", "show", wrong)


def test_letters_are_named_by_id_or_by_a_filter_but_not_both(penstock: Penstock) -> None:
    assert "--kind or --all" in penstock.refuses("dlq", "replay", code=2)
    assert "--kind or --all" in penstock.refuses("dlq", "replay", "job-1", "--all", code=2)
