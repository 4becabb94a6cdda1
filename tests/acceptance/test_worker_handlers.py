"""A worker outlives whatever its handlers do, and reports each of it for what it was."""

from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import pytest

from penstock.embedded import EmbeddedPostgres
from penstock.kernel import jobs
from penstock.kernel.connection import Connection, connect
from tests.acceptance import processes
from tests.acceptance.outcomes import (
    Outcome,
    await_end,
    outcomes,
    quick_retries,
    result,
    set_config,
    status,
)
from tests.acceptance.processes import Crew, WorkerProcess
from tests.sql.support import value

crew = processes.crew

ONCE = (
    "raises",
    "raises_async",
    "raises_permanent",
    "raises_nul",
    "raises_unreadable",
    "exits",
    "exits_async",
    "leaves_a_task_that_exits",
    "returns_object",
    "returns_nan",
    "returns_nul",
    "returns_surrogate",
    "returns_too_much",
    "returns_far_too_much",
    "returns_backslash",
)
AGAIN = ("hangs", "hangs_async")


class Scene:
    """One worker that has met every handler of apps/wild.py, with two threads only."""

    def __init__(self, db: Connection, crew: Crew) -> None:
        self.db = db
        self.crew = crew
        quick_retries(db)
        for kind in AGAIN:
            set_config(db, f"queue.timeout_ms.{kind}", "2000")
        self.jobs = {kind: jobs.enqueue(db, {"kind": kind, "max_attempts": 1}) for kind in ONCE}
        # three each: more than the worker has threads
        hanging = {f"{kind}-{number}": kind for kind in AGAIN for number in range(3)}
        self.jobs |= {name: jobs.enqueue(db, {"kind": kind, "max_attempts": 3}) for name, kind in hanging.items()}
        self.worker: WorkerProcess = crew.start("wild", "--concurrency", "2")
        await_end(db, self.jobs.values())

    def outcomes(self, name: str) -> list[Outcome]:
        """Without its waits behind handlers that hang: a job that waits too long is given to others."""
        return [one for one in outcomes(self.db, self.jobs[name]) if one.reason != "released"]

    def only(self, name: str) -> Outcome:
        (one,) = self.outcomes(name)
        return one


@pytest.fixture(scope="module")
def scene(server: EmbeddedPostgres, template: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scene]:
    name = f"t_{uuid4().hex[:12]}"
    with connect(server.url()) as admin:
        admin.execute(f"create database {name} template {template}".encode())
        folder: Path = tmp_path_factory.mktemp("wild")
        with connect(server.url(name)) as db, Crew(server.url(name), folder) as crew:
            yield Scene(db, crew)
        admin.execute(f"drop database {name} with (force)".encode())


@pytest.mark.parametrize("kind", ["raises", "raises_async"])
def test_an_exception_fails_the_attempt_with_its_type_and_message(scene: Scene, kind: str) -> None:
    one = scene.only(kind)
    assert (one.status, one.reason) == ("dead_lettered", "failed")
    assert one.error == {"type": "ValueError", "message": "this went wrong"}


def test_a_permanent_error_goes_to_the_dead_letter_at_once(db: Connection, crew: Crew) -> None:
    job_id = jobs.enqueue(db, {"kind": "raises_permanent", "max_attempts": 5})
    crew.start("wild")
    await_end(db, [job_id])
    (one,) = outcomes(db, job_id)
    assert (one.attempt, one.status, one.error["type"]) == (1, "dead_lettered", "PermanentError")
    row = db.execute("select reason from penstock.job_dead_letter where job_id = %s", [job_id]).fetchone()
    assert row == ("permanent",)


def test_a_job_that_is_put_off_uses_no_attempt(db: Connection, crew: Crew) -> None:
    first = value(db, "select nextval('penstock.lease_token_seq')")
    job_id = jobs.enqueue(db, {"kind": "snoozes", "max_attempts": 1, "safe_payload": {"until": first + 3}})
    crew.start("wild")
    await_end(db, [job_id])
    told = [(one.attempt, one.status, one.reason) for one in outcomes(db, job_id)]
    assert told == [(1, "ready", "put_off"), (1, "ready", "put_off"), (1, "succeeded", None)]


def test_text_that_postgresql_cannot_keep_is_replaced_in_an_error(scene: Scene) -> None:
    message = scene.only("raises_nul").error["message"]
    assert message.startswith("before\N{REPLACEMENT CHARACTER}after")


def test_an_exception_whose_message_cannot_be_read_still_fails_the_attempt(scene: Scene) -> None:
    assert scene.only("raises_unreadable").error["type"] == "_Unreadable"


@pytest.mark.parametrize("kind", ["exits", "exits_async"])
def test_a_handler_that_exits_fails_and_does_not_end_the_worker(scene: Scene, kind: str) -> None:
    assert scene.only(kind).error == {"type": "SystemExit", "message": "3"}


@pytest.mark.parametrize("kind", ["returns_object", "returns_nan", "returns_nul", "returns_surrogate"])
def test_a_result_that_is_not_json_fails_the_attempt(scene: Scene, kind: str) -> None:
    one = scene.only(kind)
    assert (one.status, one.error["type"]) == ("dead_lettered", "UnserialisableResult")


def test_a_result_over_the_limit_fails_the_job_for_good(scene: Scene) -> None:
    one = scene.only("returns_too_much")
    assert (one.status, one.error["type"]) == ("dead_lettered", "ResultTooLarge")


def test_a_result_too_large_to_send_is_never_sent(scene: Scene) -> None:
    assert scene.only("returns_far_too_much").error["type"] == "UnserialisableResult"


def test_a_backslash_before_u0000_is_no_nul(scene: Scene) -> None:
    assert result(scene.db, scene.jobs["returns_backslash"]) == {"text": "not a NUL: \\u0000"}


@pytest.mark.parametrize("name", [f"{kind}-{number}" for kind in AGAIN for number in range(3)])
def test_a_handler_past_its_timeout_fails_and_is_tried_again(scene: Scene, name: str) -> None:
    first, second = scene.outcomes(name)
    assert (first.attempt, first.reason, first.error["type"]) == (1, "failed", "Timeout")
    assert (second.attempt, second.status) == (2, "succeeded")


def test_an_async_handler_past_its_timeout_is_cancelled(scene: Scene) -> None:
    cancelled = [line["job"] for line in scene.crew.notes("cancelled")]
    assert sorted(cancelled) == sorted(scene.jobs[f"hangs_async-{number}"] for number in range(3))


@pytest.mark.parametrize("kind", ["calm", "calm_async"])
def test_after_all_that_the_worker_still_works(scene: Scene, kind: str) -> None:
    job_id = jobs.enqueue(scene.db, {"kind": kind})
    await_end(scene.db, [job_id])
    assert (status(scene.db, job_id), result(scene.db, job_id)) == ("succeeded", "well")


def test_sync_and_async_handlers_run_and_their_results_are_kept(db: Connection, crew: Crew) -> None:
    names = {"greet": "Ada", "greet_async": "Grace"}
    made = {kind: jobs.enqueue(db, {"kind": kind, "safe_payload": {"name": name}}) for kind, name in names.items()}
    crew.start("plain")
    await_end(db, made.values())
    assert {kind: result(db, job_id) for kind, job_id in made.items()} == {
        kind: {"hello": name} for kind, name in names.items()
    }


def test_a_handler_sees_what_was_asked_and_its_log_carries_it(db: Connection, crew: Crew) -> None:
    asked = {
        "kind": "tell",
        "source_ref": "orders/7",
        "target_ref": "invoice/7",
        "payload_ref": "s3://bucket/7",
        "trace": "00-abc-def-01",
        "correlation_id": "order-7",
        "event_domain": "system",
        "lane": "customer-1",
    }
    job_id = jobs.enqueue(db, asked)
    worker = crew.start("plain")
    await_end(db, [job_id])
    assert result(db, job_id) == {
        "source": "orders/7",
        "target": "invoice/7",
        "payload": "s3://bucket/7",
        "trace": "00-abc-def-01",
        "correlation": "order-7",
        "actor": "role:postgres",
        "domain": "system",
        "lane": "customer-1",
        "kind": "tell",
        "attempt": 1,
    }
    (line,) = [line for line in worker.log().splitlines() if line.endswith("telling")]
    for part in (f"job={job_id}", "attempt=1", "trace=00-abc-def-01", "source_ref=orders/7", "target_ref=invoice/7"):
        assert part in line
