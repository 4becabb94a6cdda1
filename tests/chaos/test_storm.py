"""Must-show: after a storm nothing is lost, nothing stale was believed, no lane overlapped, no limit was exceeded."""

import os
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from uuid import uuid4

import pytest

from penstock.embedded import Binaries, EmbeddedPostgres
from tests.chaos import breaches
from tests.chaos.checker import Violation, check
from tests.chaos.history import History
from tests.chaos.storm import Plan, Storm


@pytest.fixture
def durable(scratch: Path, binaries: Binaries) -> Iterator[EmbeddedPostgres]:
    """A server of its own with fsync on, as users run it."""
    server = EmbeddedPostgres(scratch / f"storm-{uuid4().hex[:6]}", binaries=binaries)
    server.start()
    yield server
    server.leave()


def _weather(storm: Storm, history: History) -> str:
    """What went on, for whoever reads the test's output."""
    ends = {(one.job_id, one.lease): one.ended_at for one in history.outcomes}
    zombies = [
        one
        for one in history.executions
        if one.ended_at and one.ended_at > ends.get((one.job_id, one.lease), one.ended_at)
    ]
    lost = sum(outcome.reason == "lease_expired" for outcome in history.outcomes)
    refused = sum(log.count("finish refused") for log in storm.logs())
    return (
        f"{len(history.jobs)} jobs, {len(history.executions)} executions, {lost} leases lost, {len(zombies)} zombies, "
        f"{refused} finishes refused, {storm.tally}"
    )


def _run(server: EmbeddedPostgres, folder: Path, plan: Plan) -> tuple[Storm, History, list[Violation]]:
    storm = Storm(server, folder, plan)
    history = storm.run()
    found = check(history)
    print(_weather(storm, history))
    print(Counter(violation.rule for violation in found), *found[:20], sep="\n")
    return storm, history, found


def _assert_it_stormed(storm: Storm, history: History, plan: Plan) -> None:
    assert storm.tally.kills >= plan.kills
    assert (storm.tally.restarts, storm.tally.pauses) == (plan.restarts, plan.pauses)
    assert len(history.requests) >= plan.seconds * plan.rate / 4
    assert any(outcome.reason == "lease_expired" for outcome in history.outcomes)


def test_after_a_short_storm_the_checker_finds_nothing(durable: EmbeddedPostgres, tmp_path: Path) -> None:
    plan = Plan()
    storm, history, found = _run(durable, tmp_path, plan)
    assert found == []
    assert storm.tally.codes == [0] * plan.workers
    _assert_it_stormed(storm, history, plan)


@pytest.mark.long
def test_after_a_long_storm_the_checker_finds_nothing(durable: EmbeddedPostgres, tmp_path: Path) -> None:
    plan = Plan(
        seconds=float(os.environ.get("STORM_SECONDS", "240")),
        restarts=int(os.environ.get("STORM_RESTARTS", "3")),
        pauses=int(os.environ.get("STORM_PAUSES", "8")),
        rate=float(os.environ.get("STORM_RATE", "150")),
        seed=int(os.environ.get("STORM_SEED", "2")),
        calm_s=300,
    )
    storm, history, found = _run(durable, tmp_path, plan)
    assert found == []
    assert storm.tally.codes == [0] * plan.workers
    _assert_it_stormed(storm, history, plan)


@pytest.mark.long
@pytest.mark.parametrize(
    ("breach", "rule"),
    [
        (breaches.UNFENCED_FINISH, "stale"),
        (breaches.UNLOCKED_RULES, "parallel"),
        (breaches.LANES_WITHOUT_HEADS, "overlap"),
    ],
    ids=["unfenced_finish", "unlocked_rules", "lanes_without_heads"],
)
def test_a_queue_without_one_of_its_safeguards_is_caught(
    durable: EmbeddedPostgres, tmp_path: Path, breach: Sequence[str], rule: str
) -> None:
    plan = Plan(seconds=30, breaches=breach, restarts=1, pauses=4, calm_s=30)
    _, _, found = _run(durable, tmp_path, plan)
    assert rule in {violation.rule for violation in found}
