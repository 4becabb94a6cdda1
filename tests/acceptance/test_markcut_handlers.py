"""The events of pieces and of staging, through their own consumers, to the handlers in a real worker."""

from hashlib import sha256

import pytest

from penstock.jobs import handlers_of
from penstock.kernel import consumers, pieces
from penstock.kernel.connection import Connection
from penstock.markcut import handlers
from tests.acceptance.conftest import Penstock
from tests.acceptance.outcomes import await_end
from tests.acceptance.processes import until
from tests.events.support import dispatched
from tests.sql.support import rows, value
from tests.sql.test_pieces import ONE, Version, recut, stage

TWO: Version = [("c", b"C1\n"), ("a", b"A2\n")]


@pytest.fixture
def live(db: Connection) -> None:
    """The three consumers, each after a dry run and a review."""
    ours = ("recompose_pieces", "axis_refresh", "staging_cleanup")
    for name in ours:
        consumers.switch(db, name, enabled=True)
    recut(db, ONE, "dry1")
    recut(db, TWO, "dry2")
    _expire(db)
    dispatched(db)
    for name in ours:
        consumers.switch(db, name, enabled=True, dry_run=False, reviewed_by="user:ann")
    assert value(db, "select count(*) from penstock.job") == 0


def _expire(db: Connection) -> None:
    db.execute("update penstock.iu_staging_record set staged_at = now() - interval '16 days'")
    pieces.staging_expire(db)


def test_every_seeded_kind_of_pieces_and_staging_has_its_handler(db: Connection) -> None:
    kinds = rows(
        db, "select job_kind from penstock.consumer_registry where event_domain in ('piece', 'staging') order by 1"
    )
    assert [(kind,) for kind in sorted(handlers_of(handlers))] == kinds


def test_a_worker_does_what_the_events_ask_for(db: Connection, live: None, penstock: Penstock) -> None:
    recut(db, ONE, "first")
    recut(db, TWO, "second")
    stage(db, ONE, run="never ended".replace(" ", "-"), document="left.md")
    _expire(db)
    dispatched(db)
    asked = rows(db, "select job_id, job_kind from penstock.job order by 1")
    assert {kind for _, kind in asked} == set(handlers_of(handlers))
    penstock.start("worker", "--app", "penstock.markcut.handlers")
    await_end(db, [job_id for job_id, _ in asked])
    assert rows(db, "select distinct status::text from penstock.job_outcome") == [("succeeded",)]
    composed = rows(db, "select revision, size_bytes, sha256 from penstock.iu_composition where document = 'd.md'")
    assert composed == [(4, 6, sha256(b"C1\nA2\n").digest())]
    assert rows(db, "select live, changed, deprecated from penstock.v_iu_document") == [(2, 1, 1)]
    assert value(db, "select count(*) from penstock.iu_staging_record") == 0


def test_a_job_about_a_piece_that_never_was_ends_and_one_without_an_address_is_given_up(
    db: Connection, penstock: Penstock
) -> None:
    ask = "select penstock.fn_job_enqueue('iu_recompose_pieces', p_payload_ref => %s)"
    gone, none = value(db, ask, "x.md#~1"), value(db, ask, None)
    penstock.start("worker", "--app", "penstock.markcut.handlers")
    until(lambda: value(db, "select count(*) from penstock.job_outcome") == 2, "both jobs have ended")
    ended = dict(rows(db, "select job_id, status::text from penstock.job_outcome"))
    assert ended == {gone: "succeeded", none: "dead_lettered"}
