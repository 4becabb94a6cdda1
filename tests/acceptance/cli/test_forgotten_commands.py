"""What the commands say of an execution whose steps are no longer kept."""

import json

from penstock.kernel import jobs
from penstock.kernel.connection import Connection
from tests.acceptance.cli.conftest import Penstock
from tests.playbooks.support import claimed, driven, playbook, started
from tests.sql.support import configure, tick

LINE = "  - {step: a, tool: {kind: noop}, next: b}\n  - {step: b, tool: {kind: noop}}"


def _forgotten(db: Connection) -> None:
    """All that have ended did so long ago, and are swept."""
    db.execute("update penstock.job_workflow set finished_at = finished_at - interval '40 days'")
    configure(db, "execution.keep_days", "30")
    assert tick(db)["history"]["ok"]


def test_one_that_succeeded_is_shown_as_it_ended_and_that_its_steps_are_forgotten(
    db: Connection, penstock: Penstock
) -> None:
    playbook(db, LINE, path="shop/order")
    execution = started(db, "shop/order")
    driven(db)
    _forgotten(db)
    for words in (
        ("execution", "show", execution),
        ("execution", "show", execution, "--follow"),
        ("explain", execution),
    ):
        said = penstock.ok(*words)
        assert "succeeded" in said
        assert "shop/order@1" in said
    assert "its steps were forgotten on 20" in penstock.ok("execution", "show", execution)
    explained = penstock.ok("explain", execution)
    assert "it succeeded; its steps were forgotten on 20" in explained
    assert "as execution.keep_days says" in explained
    shown = json.loads(penstock.ok("execution", "show", execution, "--json"))
    assert (shown["execution"]["status"], shown["steps"]) == ("succeeded", [])
    assert str(execution) in penstock.ok("execution", "list")


def test_one_that_was_started_in_a_pool_is_still_said_to_be_there(db: Connection, penstock: Penstock) -> None:
    playbook(db, LINE, path="shop/order")
    execution = started(db, "shop/order", pool="priority")
    driven(db)
    assert "as shop/order@1 in the pool priority" in penstock.ok("explain", execution)
    _forgotten(db)
    assert "as shop/order@1, its first step in the pool priority" in penstock.ok("explain", execution)


def test_one_that_failed_says_why_it_cannot_be_retried_and_what_to_do_with_its_dead_letter(
    db: Connection, penstock: Penstock
) -> None:
    playbook(db, LINE, path="shop/order")
    execution = started(db, "shop/order")
    ((_, claim),) = claimed(db)
    jobs.fail(db, [claim.job_id], [claim.lease_token], [{"type": "Boom", "permanent": True}])
    _forgotten(db)
    assert "it failed; its steps were forgotten" in penstock.ok("explain", execution)
    refused = penstock.run("execution", "retry", execution)
    assert (refused.code, "its steps are forgotten: it cannot be retried" in refused.err) == (1, True)
    replay = penstock.run("dlq", "replay", "job-1")
    assert "penstock dlq discard job-1 --reason" in replay.out + replay.err


def test_one_that_nobody_knows_may_have_been_dropped(penstock: Penstock) -> None:
    unknown = penstock.run("execution", "show", 987654)
    assert (unknown.code, "goes with the month of its jobs" in unknown.err) == (1, True)
