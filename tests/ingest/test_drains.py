"""Drains of a scheduled subscription: one at a time, and none that nobody wants any more."""

import pytest

from penstock.kernel import jobs, subscriptions
from penstock.kernel.connection import Connection
from tests.ingest.support import PATH, playbook, subscription
from tests.sql.support import rows, statuses, tick


@pytest.fixture
def scheduled(db: Connection) -> str:
    playbook(db)
    return subscription(db, activation="scheduled", cadence="*/5 * * * *")


def _due(db: Connection, days_ago: int = 1) -> None:
    """A planned run of its own is due, and the clock ticks."""
    db.execute("update penstock.schedule set next_run_at = next_run_at - %s * interval '1 day'", [days_ago])
    assert tick(db)["schedules"]["ok"]


def _drains(db: Connection) -> list[str]:
    return statuses(db, [job_id for (job_id,) in rows(db, "select job_id from penstock.job order by job_id")])


def test_a_drain_is_asked_for_only_when_none_is_alive(db: Connection, scheduled: str) -> None:
    _due(db, 4)
    _due(db, 3)
    assert _drains(db) == ["ready"]
    (claim,) = jobs.claim(db, "default", 10)
    _due(db, 2)
    assert _drains(db) == ["leased"]
    jobs.finish(db, [claim.job_id], [claim.lease_token])
    _due(db, 1)
    assert _drains(db) == ["succeeded", "ready"]


@pytest.mark.parametrize("action", ["pause", "drain", "deactivate"])
def test_leaving_active_cancels_the_drain_that_waits(action: str, db: Connection, scheduled: str) -> None:
    _due(db)
    subscriptions.move(db, PATH, action)
    assert _drains(db) == ["cancelled"]


def test_leaving_active_leaves_a_drain_that_runs_to_its_runtime(db: Connection, scheduled: str) -> None:
    _due(db)
    (claim,) = jobs.claim(db, "default", 10)
    subscriptions.move(db, PATH, "drain")
    assert jobs.finish(db, [claim.job_id], [claim.lease_token]) == []
    assert _drains(db) == ["succeeded"]


def test_a_version_that_is_no_longer_scheduled_cancels_the_drain_that_waits(db: Connection, scheduled: str) -> None:
    _due(db)
    subscription(db, active=False)
    assert _drains(db) == ["cancelled"]
