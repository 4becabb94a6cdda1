"""Nobody speaks as another: whom a caller may name when it asks for jobs, records events and cancels."""

import pytest

from penstock.errors import ActorRefused, ExecutorNotGranted, ExecutorRefused, NotAllowed
from penstock.kernel import jobs
from penstock.kernel.connection import Connection, translated
from tests.logins import Logins, contents
from tests.playbooks.support import playbook

STRANGERS = [
    "role:workflow_admin",
    "role:dot_executor",
    "role:postgres",
    "agent:default",
    "agency:tax",
    "user:ada",
    "consumer:billing",
    "system:migrate",
    "mother:of_tasks",
    "role:with space",
    "role:penstock_producer; drop table penstock.job",
    "' or true --",
    "user:" + "x" * 300,
    "role:",
    "",
]


@pytest.fixture
def producer(logins: Logins) -> Connection:
    return logins.member("penstock_producer")


def _actor(db: Connection, job_id: int) -> str:
    return jobs.show(db, job_id).actor


def _name(connection: Connection) -> str:
    return connection.info.user


def test_a_producer_that_names_nobody_is_itself(db: Connection, producer: Connection) -> None:
    assert _actor(db, jobs.enqueue(producer, {"kind": "greet"})) == f"role:{_name(producer)}"


def test_a_producer_may_name_itself_and_its_group(db: Connection, producer: Connection) -> None:
    for actor in (f"role:{_name(producer)}", "role:penstock_producer"):
        assert _actor(db, jobs.enqueue(producer, {"kind": "greet", "actor": actor})) == actor


def test_a_producer_that_set_a_role_is_that_role(db: Connection, producer: Connection) -> None:
    producer.execute("set role penstock_producer")
    assert _actor(db, jobs.enqueue(producer, {"kind": "greet"})) == "role:penstock_producer"
    with pytest.raises(ActorRefused):
        jobs.enqueue(producer, {"kind": "greet", "actor": f"role:{_name(producer)}"})


def test_a_producer_may_not_ask_for_a_job_as_another(db: Connection, producer: Connection) -> None:
    before = contents(db)
    for actor in STRANGERS:
        with pytest.raises(ActorRefused):
            jobs.enqueue(producer, {"kind": "greet", "actor": actor})
    assert contents(db) == before


def test_a_producer_may_not_ask_as_another_login(db: Connection, producer: Connection, logins: Logins) -> None:
    other = logins.make("penstock_producer")
    with pytest.raises(ActorRefused, match=f"may not speak for role:{other}"):
        jobs.enqueue(producer, {"kind": "greet", "actor": f"role:{other}"})


def test_a_refused_name_comes_with_the_role_that_may_use_it(producer: Connection) -> None:
    with pytest.raises(ActorRefused) as refused:
        jobs.enqueue(producer, {"kind": "greet", "actor": "agent:default"})
    assert f"runs: grant dot_executor to {_name(producer)}" in str(refused.value.hint)
    with pytest.raises(ActorRefused) as refused:
        jobs.enqueue(producer, {"kind": "greet", "actor": "user:ada"})
    assert str(refused.value.hint).startswith("An operator runs: select penstock.fn_actor_binding_set('user:ada'")
    with pytest.raises(ActorRefused) as refused:
        jobs.enqueue(producer, {"kind": "greet", "actor": "system:migrate"})
    assert refused.value.hint == "Only functions of Penstock speak for consumer: and system:."


def test_a_refused_executor_kind_comes_with_the_role_that_may_drive_it(db: Connection, producer: Connection) -> None:
    db.execute("select penstock.fn_executor_grant_set('role:penstock_producer', 'PG_worker', p_granted => false)")
    with pytest.raises(ExecutorNotGranted) as refused:
        jobs.enqueue(producer, {"kind": "greet"})
    assert f"runs: grant dot_executor to {_name(producer)}" in str(refused.value.hint)
    with pytest.raises(ExecutorNotGranted) as refused:
        jobs.enqueue(producer, {"kind": "greet", "executor": "Codex"})
    assert str(refused.value.hint).startswith("An operator runs: select penstock.fn_executor_grant_set(")


def test_one_job_in_anothers_name_refuses_the_whole_request(db: Connection, producer: Connection) -> None:
    before = contents(db)
    with pytest.raises(ActorRefused):
        jobs.enqueue_many(producer, [{"kind": "greet"}, {"kind": "greet", "actor": "agent:default"}, {"kind": "greet"}])
    assert contents(db) == before


def test_a_producer_may_not_record_an_event_as_another(db: Connection, producer: Connection) -> None:
    before = contents(db)
    emit = "select penstock.fn_iu_emit_event('system', 'queue_worker_silent', null, null, null, null, %s)"
    for actor in STRANGERS:
        with pytest.raises(ActorRefused), translated():
            producer.execute(emit, [actor])
    assert contents(db) == before


def test_a_producer_speaks_for_an_actor_while_it_is_bound_to_it(db: Connection, producer: Connection) -> None:
    asked = {"kind": "greet", "actor": "user:ada"}
    db.execute("select penstock.fn_actor_binding_set('user:ada', %s)", [_name(producer)])
    assert _actor(db, jobs.enqueue(producer, asked)) == "user:ada"
    db.execute("select penstock.fn_actor_binding_set('user:ada', %s, p_bound => false)", [_name(producer)])
    with pytest.raises(ActorRefused):
        jobs.enqueue(producer, asked)


@pytest.mark.parametrize("actor", ["consumer:billing", "system:migrate"])
def test_what_functions_alone_say_cannot_be_bound_to_a_role(actor: str, db: Connection, logins: Logins) -> None:
    before = contents(db)
    with pytest.raises(ActorRefused), translated():
        logins.member("workflow_admin").execute(
            "select penstock.fn_actor_binding_set(%s, 'penstock_producer')", [actor]
        )
    assert contents(db) == before


def test_an_operator_may_speak_for_anybody(db: Connection, logins: Logins) -> None:
    operator = logins.member("workflow_admin")
    assert _actor(db, jobs.enqueue(operator, {"kind": "greet", "actor": "user:ada"})) == "user:ada"


def test_an_operator_that_became_a_producer_is_one(logins: Logins) -> None:
    connection = logins.member("workflow_admin", "penstock_producer")
    connection.execute("set role penstock_producer")
    with pytest.raises(ActorRefused):
        jobs.enqueue(connection, {"kind": "greet", "actor": "user:ada"})


def test_a_producer_may_not_cancel_anothers_job(db: Connection, producer: Connection, logins: Logins) -> None:
    job_id = jobs.enqueue(logins.member("penstock_producer"), {"kind": "greet"})
    before = contents(db)
    with pytest.raises(ActorRefused):
        jobs.cancel(producer, job_id)
    with pytest.raises(ActorRefused):
        jobs.cancel(producer, job_id, actor="role:workflow_admin")
    assert contents(db) == before


def test_a_producer_and_an_operator_may_cancel_its_job(producer: Connection, logins: Logins) -> None:
    mine, yours = (jobs.enqueue(producer, {"kind": "greet"}) for _ in range(2))
    assert jobs.cancel(producer, mine) == "cancelled"
    assert jobs.cancel(logins.member("workflow_admin"), yours) == "cancelled"


def test_a_producer_drives_no_executor_kind_it_was_not_granted(db: Connection, producer: Connection) -> None:
    before = contents(db)
    for kind in ("DOT", "Agent", "Hermes", "Codex", "external_worker", "future_Kestra_adapter"):
        with pytest.raises(ExecutorNotGranted):
            jobs.enqueue(producer, {"kind": "greet", "executor": kind})
        with pytest.raises(ExecutorNotGranted):
            jobs.enqueue_many(producer, [{"kind": "greet"}, {"kind": "greet", "executor": kind}])
    assert contents(db) == before


def test_a_grant_covers_the_job_kind_it_names_and_no_other(db: Connection, producer: Connection) -> None:
    actor = f"role:{_name(producer)}"
    db.execute("select penstock.fn_executor_grant_set(%s, 'Agent', 'greet')", [actor])
    jobs.enqueue(producer, {"kind": "greet", "executor": "Agent"})
    with pytest.raises(ExecutorNotGranted):
        jobs.enqueue(producer, {"kind": "bow", "executor": "Agent"})


def test_a_grant_that_was_taken_away_is_gone(db: Connection, producer: Connection) -> None:
    db.execute("select penstock.fn_executor_grant_set('role:penstock_producer', 'PG_worker', p_granted => false)")
    with pytest.raises(ExecutorNotGranted):
        jobs.enqueue(producer, {"kind": "greet"})


def test_a_grant_to_one_login_is_not_anothers(db: Connection, producer: Connection, logins: Logins) -> None:
    other = logins.make("penstock_producer")
    db.execute("select penstock.fn_executor_grant_set(%s, 'Agent')", [f"role:{other}"])
    with pytest.raises(ExecutorNotGranted):
        jobs.enqueue(producer, {"kind": "greet", "executor": "Agent"})
    jobs.enqueue(logins.open(other), {"kind": "greet", "executor": "Agent"})


@pytest.mark.parametrize(
    "statement",
    [
        "select penstock.fn_job_enqueue('greet', p_executor => 'MOT')",
        """select penstock.fn_job_enqueue_many('[{"kind": "greet", "executor": "MOT"}]')""",
        "select penstock.fn_queue_heartbeat('default', 'MOT')",
        "select penstock.fn_job_subscription_set('default', 'MOT')",
        "select penstock.fn_executor_register('mother', 'MOT')",
        "select penstock.fn_consumer_register('c', 'system', 'queue_worker_silent', null, 'greet', 'MOT', '{actor}')",
        """select penstock.fn_outbound_route_set('r', '{"event_domain": "system", "route_kind": "job",
             "target": {"job_kind": "greet", "executor": "MOT"}}')""",
        "select penstock.fn_executor_grant_set('role:penstock_mot', 'MOT')",
        """select penstock.fn_schedule_set('s', '{"kind": "greet", "executor": "MOT"}', p_every => '1 hour')""",
    ],
)
def test_mot_never_executes_whoever_asks(statement: str, db: Connection, logins: Logins) -> None:
    before = contents(db)
    for connection in (db, logins.member("workflow_admin")):
        with pytest.raises(ExecutorRefused), translated():
            connection.execute(statement.encode())
    assert contents(db) == before


def test_mot_emits_graphs_and_does_nothing_else(db: Connection, logins: Logins) -> None:
    playbook(db, "  - {step: a, tool: {kind: noop}, next: b}\n  - {step: b, tool: {kind: noop}}")
    mot = logins.member("penstock_mot")
    assert mot.execute("select penstock.fn_mot_graph_emit('flow')").fetchone() is not None
    for call in (lambda: jobs.claim(mot, "default", 1), lambda: jobs.enqueue(mot, {"kind": "greet"})):
        with pytest.raises(NotAllowed):
            call()
