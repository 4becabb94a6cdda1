"""Who may call what, read and write: each role by a login of its own, and by `set role`."""

from typing import Any

import pytest

from penstock.kernel import events, executions, jobs, outbound, sql_routes, tokens
from penstock.kernel.connection import Connection
from tests.ingest.support import Runtime, playbook, subscription
from tests.logins import ROLES, Logins, outcome
from tests.playbooks.support import playbook as flow
from tests.playbooks.support import started
from tests.sql.role_calls import FUNCTIONS, READABLE_BY_ALL, READABLE_BY_READERS, READABLE_BY_RUNNERS, READERS, RUNNERS


def _steps(db: Connection) -> dict[str, Any]:
    """An execution to move, and steps that run, wait for an answer, and wait for a child that has ended."""
    call = "  - {step: call, tool: {kind: playbook, path: domain/process_order}, next: b}"
    flow(db, call + "\n  - {step: b, tool: {kind: noop}}")
    asked = [started(db, actor="agency:all") for _ in range(4)]
    running, awaiting, calling = jobs.claim(db, "default", 3, kinds=["tool:playbook"], start=True)
    jobs.wait(db, awaiting.job_id, awaiting.lease_token, callback_key="a key of sixteen or more")
    child = jobs.child(db, calling.job_id, calling.lease_token, {"playbook": "domain/process_order"}, wait=True)
    jobs.wait(db, calling.job_id, calling.lease_token)
    executions.move(db, child, "cancel")
    return {
        "running": running.job_id,
        "running_token": running.lease_token,
        "awaiting": awaiting.job_id,
        "execution": asked[3],
        "child": child,
    }


@pytest.fixture
def scene(db: Connection) -> dict[str, Any]:
    """A queue with a job in every state the calls need. Every role may speak for agency:all, which asked for them."""
    for role in ROLES:
        db.execute("select penstock.fn_actor_binding_set('agency:all', %s)", [role])
    db.execute("""select penstock.fn_schedule_set('nightly', '{"kind": "greet"}', '0 3 * * *')""")
    leased = jobs.enqueue(db, {"kind": "greet", "actor": "agency:all"})
    (claim,) = jobs.claim(db, "default", 1)
    doomed = jobs.enqueue(db, {"kind": "greet", "actor": "agency:all", "max_attempts": 1})
    (last,) = jobs.claim(db, "default", 1)
    jobs.fail(db, [doomed], [last.lease_token], [{"message": "no"}])
    letter = db.execute("select dead_letter_id from penstock.job_dead_letter").fetchone()
    assert letter is not None
    later = {"kind": "greet", "actor": "agency:all", "process_after": "2999-01-01"}
    playbook(db)
    steps = _steps(db)
    subscription(db)
    runtime = Runtime(db)
    db.execute("create function public.ping() returns integer return 1")
    ping = {"source_schema": "public", "source_table": "ping", "sql_event": "call"}
    target = {"target_event_domain": "system", "target_event_type": "queue_worker_silent"}
    sql_routes.route_set(db, "pings", {**ping, **target})
    told = {"event_domain": "system", "route_kind": "notify", "target": {"channel": "told"}}
    outbound.route_set(db, "told", told, enabled=True)
    event = events.emit(db, "system", "queue_worker_silent")
    attempts = db.execute(
        "insert into penstock.iu_route_attempt (worker_name, route_code, event_ref, status, idempotency_key, job_id)"
        " values ('test', 'told', %(event)s, 'sent', 'k', null), ('test', 'told', %(event)s, 'queued', 'l', %(job)s)"
        " returning attempt_id",
        {"event": event, "job": leased},
    ).fetchall()
    for gate in ("iu_core.routes_enabled", "iu_core.route_worker_enabled"):
        db.execute("select penstock.fn_config_set(%s, 'true')", [gate])
    undelivered = db.execute(
        "insert into penstock.iu_route_dead_letter (idempotency_key, worker_name, route_code, event_ref, reason,"
        " event_snapshot) select 'k', 'test', 'told', e.event_id, 'failed', to_jsonb(e) from penstock.event_outbox e"
        " where e.event_id = %s returning dead_letter_id",
        [event],
    ).fetchone()
    assert undelivered
    return {
        "api_token": tokens.create(db, "user:ada", ["execute"])[0],
        "event": event,
        "attempt": attempts[0][0],
        "queued": attempts[1][0],
        "undelivered": undelivered[0],
        "incarnation": runtime.incarnation,
        "runtime": runtime.lease.token,
        "stage": runtime.stage,
        **steps,
        "leased": leased,
        "token": claim.lease_token,
        "letter": letter[0],
        "ready": jobs.enqueue(db, {"kind": "greet", "actor": "agency:all"}),
        "scheduled": jobs.enqueue(db, later),
    }


def _calls(connection: Connection, scene: dict[str, Any]) -> dict[str, str]:
    """What comes of each call. The fenced ones answer with (job_id, accepted, …)."""
    fenced = ("fn_job_start", "fn_job_release", "fn_job_finish", "fn_job_fail", "fn_job_await")
    column = dict.fromkeys(fenced, "accepted")
    return {
        name: outcome(connection, f"select {column.get(name, '*')} from penstock.{name}({arguments})", scene)
        for name, (_, arguments) in FUNCTIONS.items()
    }


def _expected(role: str) -> dict[str, str]:
    return {
        name: "works" if role in allowed else f"permission denied for function {name}"
        for name, (allowed, _) in FUNCTIONS.items()
    }


def _relations(db: Connection, kinds: str) -> list[str]:
    rows = db.execute(
        "select relname::text from pg_class"
        " where relnamespace = 'penstock'::regnamespace and relkind = any (%s::text[]::\"char\"[]) order by relname",
        [list(kinds)],
    ).fetchall()
    return [name for (name,) in rows]


def test_every_public_function_stands_in_the_table_above(db: Connection) -> None:
    found = db.execute(
        "select proname::text from pg_proc where pronamespace = 'penstock'::regnamespace and proname like 'fn\\_%'"
    ).fetchall()
    assert {name for (name,) in found} == set(FUNCTIONS)


@pytest.mark.parametrize("role", ROLES)
def test_a_login_may_call_what_its_role_may_and_nothing_else(role: str, logins: Logins, scene: dict[str, Any]) -> None:
    assert _calls(logins.member(role), scene) == _expected(role)


@pytest.mark.parametrize("role", ROLES)
def test_a_member_of_all_that_set_one_role_is_that_role(role: str, logins: Logins, scene: dict[str, Any]) -> None:
    connection = logins.member(*ROLES)
    connection.execute(f"set role {role}".encode())
    assert _calls(connection, scene) == _expected(role)


@pytest.mark.parametrize("role", ROLES)
def test_a_member_without_inheritance_may_do_nothing_before_it_sets_its_role(
    role: str, logins: Logins, scene: dict[str, Any]
) -> None:
    connection = logins.member(role, inherit=False)
    assert set(_calls(connection, scene).values()) == {"permission denied for schema penstock"}
    connection.execute(f"set role {role}".encode())
    assert _calls(connection, scene) == _expected(role)


def test_a_stranger_may_do_nothing(logins: Logins, scene: dict[str, Any]) -> None:
    connection = logins.member()
    assert set(_calls(connection, scene).values()) == {"permission denied for schema penstock"}
    assert outcome(connection, "select from penstock.v_job") == "permission denied for schema penstock"


def test_a_role_is_set_by_its_members_only(logins: Logins) -> None:
    connection = logins.member("penstock_producer")
    assert outcome(connection, "set role workflow_admin") == 'permission denied to set role "workflow_admin"'
    assert outcome(connection, "select set_config('role', 'workflow_admin', true)").startswith("permission denied")


@pytest.mark.parametrize("groups", [*[(role,) for role in ROLES], ROLES], ids=[*ROLES, "all_roles"])
def test_direct_writes_to_every_table_are_refused(groups: tuple[str, ...], logins: Logins, db: Connection) -> None:
    connection = logins.member(*groups)
    said = {
        statement: outcome(connection, statement)
        for name in _relations(db, "rp")
        for statement in (
            f"insert into penstock.{name} default values",
            f"delete from penstock.{name}",
            f"update penstock.{name} set {_first_column(db, name)} = default",
            f"truncate penstock.{name}",
            f"select from penstock.{name} for update",
        )
    }
    assert len(said) > 100
    assert {one: what for one, what in said.items() if not what.startswith("permission denied for table ")} == {}


def test_the_pipeline_alone_may_stage_and_name_no_job(logins: Logins, scene: dict[str, Any]) -> None:
    fields = "attempt, part, source_offset, message_id, attributes"
    values = "'a', 'orders/0', 1, 'm', '[]'"
    staging = f"penstock.{scene['stage']}"
    for role in ROLES:
        said = outcome(logins.member(role), f"insert into {staging} ({fields}) values ({values})")
        assert (said == "works") == (role == "penstock_pipeline"), role
    pipeline = logins.member("penstock_pipeline")
    for statement in (
        f"insert into {staging} (job_id, {fields}) values (1, {values})",
        f"update {staging} set part = 'x'",
        f"delete from {staging}",
        f"select body from {staging}",
    ):
        assert outcome(pipeline, statement).startswith("permission denied")


def test_no_role_holds_a_right_to_write_anything(db: Connection) -> None:
    rights = "insert, update, delete, truncate, references, trigger"
    held = db.execute(
        "select r, c.relname from pg_class c, unnest(%s::text[]) r where c.relnamespace = 'penstock'::regnamespace"
        " and c.relkind in ('r', 'p', 'v') and has_table_privilege(r, c.oid, %s)",
        [[*ROLES, "public"], rights],
    ).fetchall()
    assert held == []


@pytest.mark.parametrize("groups", [*[(role,) for role in ROLES], ROLES], ids=[*ROLES, "all_roles"])
def test_nobody_touches_sequences_or_the_schema_itself(groups: tuple[str, ...], logins: Logins, db: Connection) -> None:
    connection = logins.member(*groups)
    names = set(_relations(db, "S"))
    if "penstock_pipeline" in groups:
        # what it stages gets its job id on the way in
        names.remove("job_id_seq")
        assert outcome(connection, "select setval('penstock.job_id_seq', 1)").startswith("permission denied")
    for name in names:
        assert outcome(connection, f"select nextval('penstock.{name}')") == f"permission denied for sequence {name}"
        assert outcome(connection, f"select setval('penstock.{name}', 1)") == f"permission denied for sequence {name}"
    assert outcome(connection, "create table penstock.mine ()") == "permission denied for schema penstock"
    assert outcome(connection, "drop schema penstock cascade") == "must be owner of schema penstock"
    assert outcome(connection, "alter function penstock.fn_queue_tick() security invoker").startswith("must be owner")


@pytest.mark.parametrize("role", ROLES)
def test_each_role_reads_what_it_may_and_nothing_else(role: str, logins: Logins, db: Connection) -> None:
    connection = logins.member(role)
    relations = _relations(db, "rpv")
    readable = READABLE_BY_ALL | (READABLE_BY_READERS if role in READERS else set())
    readable |= READABLE_BY_RUNNERS if role in RUNNERS else set()
    assert {name for name in relations if outcome(connection, f"select * from penstock.{name}") == "works"} == readable


def test_inner_functions_are_called_by_nobody(db: Connection) -> None:
    """But for those that a view or fn_sql_event_call calls, with the rights of whoever looks or calls."""
    found = db.execute(
        "select distinct p.proname::text from pg_proc p, unnest(%s::text[]) r"
        " where p.pronamespace = 'penstock'::regnamespace and p.proname not like 'fn\\_%%'"
        " and has_function_privilege(r, p.oid, 'execute')",
        [[*ROLES, "public"]],
    ).fetchall()
    assert {name for (name,) in found} == {
        "array_text",
        "backlog",
        "sql_route_state",
        "sql_call_statement",
        "sql_call_done",
    }


def _first_column(db: Connection, name: str) -> str:
    row = db.execute(
        "select attname from pg_attribute where attrelid = %s::regclass and attnum = 1", [f"penstock.{name}"]
    )
    found = row.fetchone()
    assert found is not None
    return str(found[0])
