"""The trail of a local run: every event of the server once, appended, whatever stood there before."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from penstock.cli.output import as_json
from penstock.cli.trail import Trail
from penstock.errors import DatabaseUnavailable, SettingsError
from penstock.kernel import executions, jobs, local, runtimes, subscriptions
from penstock.kernel.connection import Connection
from penstock.model import Claim
from tests.concurrency.sessions import answer, aside, wait_until
from tests.conftest import Connect
from tests.ingest.support import PATH, PLAYBOOK, Runtime, offsets, subscription
from tests.playbooks.support import claimed, driven, finished
from tests.playbooks.support import playbook as flow

STEPS = """
  - {step: a, tool: {kind: noop}, next: b}
  - {step: b, tool: {kind: noop}}
"""
STARTS = """
  - {step: a, tool: {kind: playbook, path: NAMED, wait: false}, next: b}
  - {step: b, tool: {kind: noop}}
"""
ALL = "select execution_id, job_id, happened_at, happening, attempt, detail from penstock.v_execution_event"


@pytest.fixture
def runtime(db: Connection) -> Runtime:
    flow(db, STEPS, path=PLAYBOOK)
    subscription(db, dedup={"window_s": 60}, dispatch={"playbook": PLAYBOOK, "payload_from": "message.json"})
    return Runtime(db)


def _lines(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text().splitlines()]


def _server(db: Connection) -> Counter[str]:
    """All the server has, without who did it: that it knows only while it is under way."""
    rows = db.execute(ALL.encode()).fetchall()
    return Counter(json.dumps(as_json(list(row)), sort_keys=True) for row in rows)


def _told(file: Path) -> Counter[str]:
    names = ("execution_id", "job_id", "happened_at", "happening", "attempt", "detail")
    return Counter(json.dumps([line[name] for name in names], sort_keys=True) for line in _lines(file))


def test_every_event_is_written_once_however_often_it_is_looked(
    db: Connection, runtime: Runtime, tmp_path: Path
) -> None:
    since = subscriptions.history(db, PATH)[-1].happened_at
    file = tmp_path / "trail.jsonl"
    with Trail(file, PATH, since) as trail:
        trail.look(db)
        runtime.put(*offsets(1, 2, dedup_key="k", directives='{"applied": [], "ignored": []}'))
        runtime.put({"source_offset": 3, "body": b"{"}, {"source_offset": 4})
        runtime.commit()
        trail.look(db)
        (first,) = claimed(db, 1)
        trail.look(db)
        finished(db, [first])
        trail.look(db)
        driven(db)
        trail.look(db)
        # a duplicate of one that has ended, and is not followed any more
        runtime.put({"source_offset": 5, "dedup_key": "k"})
        runtime.commit()
        trail.look(db)
        trail.look(db)
    assert _told(file) == _server(db)
    kinds = {line["happening"] for line in _lines(file)}
    assert {"subscription.activated", "subscription.message.dead_lettered", "execution_succeeded", "started"} <= kinds
    assert {line["subscription"] for line in _lines(file)} == {PATH}


def test_a_look_that_fails_in_the_middle_loses_nothing_and_tells_nothing_twice(
    db: Connection, runtime: Runtime, session: Connect, tmp_path: Path
) -> None:
    file = tmp_path / "trail.jsonl"
    with Trail(file, PATH, subscriptions.history(db, PATH)[-1].happened_at) as trail, aside(db) as others:
        runtime.put(*offsets(1, 2, dedup_key="k"))
        runtime.put({"source_offset": 3, "body": b"{"})
        runtime.commit()
        lost = session()
        with session() as blocker, blocker.transaction():
            # of all a look reads, the steps are read last
            blocker.execute("lock table penstock.job_step")
            look = others.run_until_it_waits(lost, trail.look)
            db.execute("select pg_terminate_backend(%s)", [lost.info.backend_pid])
            with pytest.raises(DatabaseUnavailable):
                answer(look)
        trail.look(db)
        driven(db)
        trail.look(db)
    assert _told(file) == _server(db)


def test_an_event_that_is_committed_late_is_told_though_later_ones_were_before(
    db: Connection, runtime: Runtime, session: Connect, tmp_path: Path
) -> None:
    file = tmp_path / "trail.jsonl"
    with Trail(file, PATH, subscriptions.history(db, PATH)[-1].happened_at) as trail:
        with session() as late, late.transaction():
            runtimes.said(late, PATH, runtime.lease.token, "source_unavailable", {})
            runtimes.said(db, PATH, runtime.lease.token, "source_recovered", {})
            for _ in range(3):
                trail.look(db)
        trail.look(db)
    assert _told(file) == _server(db)


def test_a_trail_remembers_what_is_under_way_and_not_what_is_over(
    db: Connection, runtime: Runtime, tmp_path: Path
) -> None:
    with Trail(tmp_path / "trail.jsonl", PATH, subscriptions.history(db, PATH)[-1].happened_at) as trail:
        for offset in range(10):
            runtime.put({"source_offset": 2 * offset, "dedup_key": str(offset)})
            runtime.put({"source_offset": 2 * offset + 1, "dedup_key": str(offset)})
            runtime.commit()
            driven(db)
            trail.look(db)
        wait_until(lambda: _remembers_nothing_after_a_look(trail, db), "all of it is over")


def _remembers_nothing_after_a_look(trail: Trail, db: Connection) -> bool:
    trail.look(db)
    return trail.remembered == 0


def test_a_second_run_goes_on_with_what_the_first_left(db: Connection, runtime: Runtime, tmp_path: Path) -> None:
    file = tmp_path / "trail.jsonl"
    since = subscriptions.history(db, PATH)[-1].happened_at
    with Trail(file, PATH, since) as trail:
        runtime.put(*offsets(1))
        runtime.commit()
        trail.look(db)
    before = file.read_bytes()
    with Trail(file, PATH, local.clock(db)) as trail:
        trail.follow(local.live(db, PATH))
        driven(db)
        trail.look(db)
    assert file.read_bytes().startswith(before)
    assert _told(file) == _server(db)


def test_what_a_step_starts_is_told_too_and_what_that_starts(db: Connection, runtime: Runtime, tmp_path: Path) -> None:
    """Also by the next run, and when the one that started it has ended by then."""
    file = tmp_path / "trail.jsonl"
    flow(db, STEPS, path="leaf")
    flow(db, STARTS.replace("NAMED", "leaf"), path="child")
    flow(db, STARTS.replace("NAMED", "child"), path=PLAYBOOK)
    with Trail(file, PATH, subscriptions.history(db, PATH)[-1].happened_at) as trail:
        runtime.put(*offsets(1))
        runtime.commit()
        first = claimed(db, 1)
        _start_one(db, first[0][1], "child")
        finished(db, first)
        trail.look(db)
        both = dict(claimed(db, 2))
        _start_one(db, both["a"], "leaf")
        finished(db, list(both.items()))
        trail.look(db)
        trail.look(db)
    with Trail(file, PATH, local.clock(db)) as trail:
        trail.follow(local.live(db, PATH))
        trail.look(db)
        driven(db)
        wait_until(lambda: _remembers_nothing_after_a_look(trail, db), "all of it is over")
    assert _told(file) == _server(db)
    assert len({line["execution_id"] for line in _lines(file)} - {None}) == 3


@pytest.mark.parametrize("then", ["answered", "cancelled", "execution cancelled"])
def test_a_step_that_waits_is_told_to_have_started_once_and_by_whom(
    then: str, db: Connection, runtime: Runtime, tmp_path: Path
) -> None:
    file = tmp_path / "trail.jsonl"
    with Trail(file, PATH, subscriptions.history(db, PATH)[-1].happened_at) as trail:
        runtime.put(*offsets(1))
        runtime.commit()
        ((_, held),) = claimed(db, 1)
        trail.look(db)
        jobs.wait(db, held.job_id, held.lease_token)
        trail.look(db)
        assert _told(file) == _server(db)
        match then:
            case "answered":
                jobs.resume(db, held.job_id)
            case "cancelled":
                jobs.cancel(db, held.job_id)
            case _:
                executions.move(db, held.job_id, "cancel")
        trail.look(db)
        driven(db)
        trail.look(db)
    assert _told(file) == _server(db)
    (begun,) = [line for line in _lines(file) if (line["job_id"], line["happening"]) == (held.job_id, "started")]
    assert (begun["actor"], begun["detail"]["incarnation"] is None) == ("agent:default", False)


def _start_one(db: Connection, held: Claim, path: str) -> None:
    jobs.child(db, held.job_id, held.lease_token, {"playbook": path}, wait=False)


def test_a_line_that_was_cut_off_spoils_no_other(db: Connection, runtime: Runtime, tmp_path: Path) -> None:
    file = tmp_path / "trail.jsonl"
    file.write_text('{"execution_id": 1}\n{"execut')
    with Trail(file, PATH, subscriptions.history(db, PATH)[-1].happened_at) as trail:
        trail.look(db)
    first, cut, *others = file.read_text().splitlines()
    assert (first, cut) == ('{"execution_id": 1}', '{"execut')
    assert [json.loads(line)["happening"] for line in others] == ["subscription.registered", "subscription.activated"]


def test_a_trail_that_cannot_be_written_is_refused(tmp_path: Path, db: Connection) -> None:
    with pytest.raises(SettingsError, match="cannot be written"), Trail(tmp_path, PATH, local.clock(db)):
        pass
