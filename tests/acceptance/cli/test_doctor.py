"""penstock doctor: what is wrong is named, with what to do about it."""

import json
from pathlib import Path
from uuid import uuid4

from penstock.kernel import health, jobs
from penstock.kernel.connection import Connection
from tests.acceptance.cli.conftest import Penstock, break_a_part_of_the_tick
from tests.conftest import Connect
from tests.logins import Logins


def _states(penstock: Penstock) -> dict[str, tuple[str, str, str]]:
    """Each check's state, what it said and its advice; the test server itself is never fit (fsync is off)."""
    ran = penstock.run("doctor", "--json")
    assert ran.code in (0, 1), ran
    checks = json.loads(ran.out)["checks"]
    return {one["check"]: (one["state"], one["said"], one["advice"] or "") for one in checks}


def test_a_server_that_may_lose_jobs_is_a_failure(penstock: Penstock) -> None:
    ran = penstock.run("doctor")
    assert ran.code == 1
    assert "fsync is off: a crash of the server loses jobs it has acknowledged" in ran.out
    assert "-> Set fsync to on." in ran.out
    assert "0 failed" not in ran.out


def test_a_server_that_does_not_answer_is_a_failure(tmp_path: Path) -> None:
    ran = Penstock(PENSTOCK_DATABASE_URL=f"postgresql:///x?host={tmp_path}").run("doctor")
    assert ran.code == 1
    assert "fail  postgresql  cannot connect" in ran.out
    assert "-> Check PENSTOCK_DATABASE_URL" in ran.out
    assert "penstock doctor" not in ran.out


def test_everything_that_needs_somebody_is_named(penstock: Penstock, db: Connection) -> None:
    jobs.enqueue(db, {"kind": "nobody_serves"})
    jobs.enqueue(db, {"kind": "doomed", "max_attempts": 1})
    (claim,) = jobs.claim(db, "default", 1, kinds=["doomed"])
    jobs.fail(db, [claim.job_id], [claim.lease_token], [{"type": "Boom"}])
    db.execute("select penstock.fn_queue_heartbeat('default', 'PG_worker', %s)", [uuid4()])
    db.execute("update penstock.queue_heartbeat set beat_at = now() - interval '1 hour', silent_since = now()")
    month = db.execute("select to_char(now() + interval '1 month', '\"job_y\"YYYY\"m\"MM')").fetchone()
    assert month is not None
    db.execute(f"drop table penstock.{month[0]}".encode())

    states = _states(penstock)
    assert states["jobs"] == (
        "warn",
        states["jobs"][1],
        "Start a worker whose --app has a handler for nobody_serves, or see: penstock executor list",
    )
    assert "no living worker serves it" in states["jobs"][1]
    assert states["dead letters"][0] == "warn"
    assert "1 silent" in states["workers of default"][1]
    assert states["tick"][:2] == ("warn", "has never run")
    assert states["partitions"] == ("warn", f"missing: {month[0]}", "Run: penstock tick")
    assert states["schema"][0] == "ok"


def test_a_tick_mends_what_doctor_says_it_mends(penstock: Penstock, db: Connection) -> None:
    month = db.execute("select to_char(now() + interval '1 month', '\"job_y\"YYYY\"m\"MM')").fetchone()
    assert month is not None
    db.execute(f"drop table penstock.{month[0]}".encode())
    penstock.ok("tick")
    states = _states(penstock)
    assert (states["tick"][0], states["partitions"][0]) == ("ok", "ok")


def test_a_part_of_the_tick_that_fails_is_a_failure(penstock: Penstock, db: Connection) -> None:
    break_a_part_of_the_tick(db)
    penstock.run("tick")
    state, said, _ = _states(penstock)["tick once_keys"]
    assert state == "fail"
    assert "penstock.once_key" in said


def test_a_schema_that_is_missing_is_a_failure_with_the_command_to_run(penstock: Penstock, db: Connection) -> None:
    db.execute(
        "delete from penstock.schema_migration where version = (select max(version) from penstock.schema_migration)"
    )
    state, said, advice = _states(penstock)["schema"]
    assert (state, advice) == ("fail", "Run: penstock migrate")
    assert "lacks migration" in said


def test_a_login_without_any_role_is_told_what_to_ask_for(penstock: Penstock, db: Connection, database: str) -> None:
    logins = Logins(db, database)
    name = logins.make()
    try:
        penstock.environment["PENSTOCK_DATABASE_URL"] = database.replace("//postgres@", f"//{name}@")
        state, said, advice = _states(penstock)["roles"]
    finally:
        logins.drop()
    assert (state, said) == ("fail", f"{name} holds none of Penstock's roles")
    assert f"A superuser, or whoever made the roles, runs: grant penstock_producer, dot_executor to {name}" in advice


def test_a_worker_that_stopped_in_order_was_heard_from(penstock: Penstock, db: Connection) -> None:
    incarnation = uuid4()
    db.execute("select penstock.fn_queue_heartbeat('default', 'PG_worker', %s)", [incarnation])
    db.execute("select penstock.fn_queue_farewell('default', %s)", [incarnation])
    assert _states(penstock)["workers of default"][:2] == ("warn", "none is running")


def test_an_open_transaction_is_seen_with_its_process(db: Connection, session: Connect) -> None:
    idle = session()
    with idle.transaction():
        idle.execute("select 1")
        found = health.long_transactions(db, older_than_s=-1)
        assert (idle.info.backend_pid, "idle in transaction") in {(one.pid, one.state) for one in found}
    assert idle.info.backend_pid not in {one.pid for one in health.long_transactions(db, older_than_s=-1)}
