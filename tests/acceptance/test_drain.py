"""The tool subscription in playbooks that workers run, against real servers."""

import json
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from penstock.catalog.entry import read
from penstock.kernel import events, executions, results
from penstock.kernel.connection import Connection
from penstock.kernel.registration import register
from penstock.worker.link import Link, LinkPool
from penstock.worker.tools.turn import Turn
from tests.acceptance import processes
from tests.acceptance.draining import Draining
from tests.acceptance.processes import Crew, until
from tests.parts.kafka import Kafka
from tests.parts.nats import Nats
from tests.playbooks.support import playbook
from tests.tools.rigs import KafkaRig, NatsRig, Rig
from tests.tree import ROOT

crew = processes.crew

# of advisory locks that name what they are for
LOCKS = 0x70656E73

Make = Callable[[Rig], Draining]


@pytest.fixture
def make(db: Connection, database: str, crew: Crew, tmp_path: Path) -> Make:
    return lambda rig: Draining(db, database, crew, rig, tmp_path)


def test_a_loop_over_messages_is_given_each_body_and_its_jobs_hold_none(
    db: Connection, make: Make, nats_server: Nats
) -> None:
    rig = NatsRig(nats_server)
    rig.publish([b"secret one", b"\xff"])
    draining = make(rig)
    draining.register()
    execution = draining.begin()
    draining.start()
    draining.ended(execution)
    assert draining.worked_on(execution) == [("1", "secret one"), ("2", {"base64": "/w=="})]
    held = db.execute("select count(*) from penstock.job_item where item::text like '%secret%'").fetchone()
    jobs = db.execute("select count(*) from penstock.job j where j::text like '%secret%'").fetchone()
    assert (held, jobs) == ((0,), (0,))


def test_polls_of_a_kafka_group_one_right_after_the_other_give_nothing_twice(make: Make, kafka_broker: Kafka) -> None:
    """The acknowledgement comes after the step has ended: the next poll must not begin before it."""
    rig = KafkaRig(kafka_broker)
    rig.publish([str(nth).encode() for nth in range(60)])
    draining = make(rig)
    draining.register(batch=5)
    started = [draining.begin() for _ in range(12)]
    draining.start()
    draining.start()
    bodies = [body for one in started for body in draining.ended(one)["bodies"]]
    assert sorted(map(int, bodies)) == list(range(60))
    until(lambda: rig.left() == 0, "all are acknowledged")


@pytest.mark.parametrize("operation", ["poll", "ack"])
def test_a_list_that_must_wait_for_a_kafka_group_waits_before_its_first_tool(
    db: Connection, database: str, make: Make, crew: Crew, kafka_broker: Kafka, operation: str
) -> None:
    """What stands before the poll, a request to somebody, is not done each time the step is put off."""
    rig = KafkaRig(kafka_broker)
    draining = make(rig)
    tool = {"name": "then", "kind": "subscription", "operation": operation, **rig.settings()}
    if operation == "ack":
        tool["handles"] = []
    steps = f"""  - {{step: both, tool: [{{name: first, kind: python, function: "APP:noted"}}, {json.dumps(tool)}]}}"""
    playbook(db, steps, path="both", credentials=draining.credentials())
    with a_turn(database, rig.group):
        execution = draining.begin("both")
        draining.start()
        tokens: set[int] = set()

        def is_put_off() -> bool:
            found = db.execute("select lease_token from penstock.job_queue where job_id = %s", [execution]).fetchone()
            tokens.update(found or ())
            return len(tokens - {0}) > 2

        until(is_put_off, "it was tried more than once")
        assert crew.notes("ran") == []
    until(lambda: executions.show(db, execution).finished_at is not None, "its end")
    assert executions.show(db, execution).status == "succeeded"
    assert len(crew.notes("ran")) == 1


def test_a_turn_of_a_step_that_goes_on_to_wait_is_over(
    db: Connection, database: str, make: Make, kafka_broker: Kafka
) -> None:
    rig = KafkaRig(kafka_broker)
    draining = make(rig)
    tool = {"name": "first", "kind": "subscription", "operation": "ack", **rig.settings(), "handles": []}
    steps = f"  - {{step: both, tool: [{json.dumps(tool)}, {{name: then, kind: approve}}]}}"
    playbook(db, steps, path="both", credentials=draining.credentials())
    execution = draining.begin("both")
    draining.start()
    until(lambda: executions.show(db, execution).status == "awaiting", "it waits for an answer")
    with a_turn(database, rig.group):
        pass


def test_a_step_whose_turn_was_cut_off_polls_again(db: Connection, make: Make, crew: Crew, kafka_broker: Kafka) -> None:
    """Its connection held the turn: meanwhile another step may have polled the same messages."""
    rig = KafkaRig(kafka_broker)
    rig.publish([b"one"])
    draining = make(rig)
    poll = {"name": "drain", "kind": "subscription", "operation": "poll", **rig.settings()}
    steps = f"""  - {{step: both, tool: [{json.dumps(poll)}, {{name: then, kind: python, function: "APP:held"}}]}}"""
    playbook(db, steps, path="both", credentials=draining.credentials())
    execution = draining.begin("both")
    draining.start()
    until(lambda: crew.notes("held") != [], "it has polled")
    cut = "select pg_terminate_backend(pid) from pg_locks where locktype = 'advisory' and objsubid = 2 and classid = %s"
    assert db.execute(cut, [LOCKS]).fetchall() == [(True,)]
    crew.open_gate("held")
    until(lambda: executions.show(db, execution).finished_at is not None, "its end")
    assert executions.show(db, execution).status == "succeeded"
    assert len(crew.notes("held")) == 2
    until(lambda: rig.left() == 0, "the message is acknowledged")


@contextmanager
def a_turn(database: str, group: str) -> Iterator[None]:
    """With the group, as another worker has it."""
    link = Link(database, "another worker")
    turn = Turn(LinkPool(lambda _: link, "turn"), group)
    try:
        yield
    finally:
        turn.end()
        link.close()


@pytest.mark.parametrize("function", ["fails", "large", "unkept"])
def test_a_step_that_fails_after_its_poll_gives_the_messages_back_at_once(
    db: Connection, make: Make, nats_server: Nats, function: str
) -> None:
    """Its second tool raises, or makes a result that the database does not take, or that is no JSON of PostgreSQL's."""
    rig = NatsRig(nats_server)
    rig.publish([b"x"])
    draining = make(rig)
    draining.register(timeout_ms=5000)
    poll = json.dumps({"name": "drain", "kind": "subscription", "operation": "poll", **rig.settings()})
    then = f'{{name: then, kind: python, function: "APP:{function}"}}'
    steps = f"  - {{step: both, tool: [{poll}, {then}], retry: {{max_attempts: 1}}}}"
    playbook(db, steps, path="both", credentials=draining.credentials())
    draining.start()
    draining.failed(draining.begin("both"))
    (again,) = draining.ended(draining.begin())["messages"]
    assert again["deliveries"] == 2


def test_refs_lead_to_results_of_the_same_execution_only(
    db: Connection, database: str, make: Make, nats_server: Nats
) -> None:
    """A message may say what looks like a ref."""
    rig = NatsRig(nats_server)
    rig.publish([b"private"])
    draining = make(rig)
    draining.register()
    first = draining.begin()
    draining.start()
    (message,) = draining.ended(first)["messages"]
    flow = """
  - {step: list, tool: {kind: noop}, next: each}
  - step: each
    tool: {kind: python, function: "APP:echo"}
    args: {found: "{{ iter.data }}"}
    loop: {in: "{{ workload.items }}"}
"""
    playbook(db, flow, path="other")
    other = draining.begin("other", {"items": [{"ref": message["ref"]}]})
    until(lambda: executions.show(db, other).finished_at is not None, "its end")
    assert results.results(db, other, ["each"]).by_step["each"]["results"] == [{"found": None}]


def test_a_worker_that_stops_acknowledges_first(make: Make, nats_server: Nats) -> None:
    rig = NatsRig(nats_server)
    rig.publish([b"x"] * 3)
    draining = make(rig)
    draining.register()
    execution = draining.begin()
    worker = draining.start()
    draining.ended(execution)
    assert worker.stopped() == 0
    assert rig.left() == 0


@pytest.mark.parametrize("ending", ["working", "stopping", "hurried"])
def test_a_broker_away_when_the_result_is_kept_is_told_when_it_is_back(
    db: Connection, make: Make, crew: Crew, tmp_path: Path, ending: str
) -> None:
    """Also by a worker that stops, within its grace time; one that is hurried says what it leaves undone."""
    folder = tmp_path / "nats"
    folder.mkdir()
    with Nats(folder) as server:
        rig = NatsRig(server)
        rig.publish([b"x"] * 3)
        draining = make(rig)
        poll = json.dumps({"name": "drain", "kind": "subscription", "operation": "poll", **rig.settings()})
        steps = f"""  - {{step: both, tool: [{poll}, {{name: then, kind: python, function: "APP:held"}}]}}"""
        playbook(db, steps, path="both", credentials=draining.credentials())
        execution = draining.begin("both")
        worker = draining.start()
        crew.await_notes("held", 1)
        server.stop()
        crew.open_gate("held")
        until(lambda: executions.show(db, execution).status == "succeeded", "its result is kept")
        worker.says("not done yet: to be tried again")
        if ending != "working":
            worker.terminate()
            worker.says("stopping")
        if ending == "hurried":
            assert worker.stopped() == 0
            assert "left undone after the result was kept" in worker.log()
        server.start()
        if ending == "stopping":
            assert worker.ended() == 0
        until(lambda: rig.left() == (3 if ending == "hurried" else 0), "all are acknowledged")


def test_the_playbook_of_the_docs_drains_a_stream(db: Connection, make: Make, nats_server: Nats) -> None:
    page = (ROOT / "docs" / "tools.md").read_text()
    (text,) = re.findall(r"```yaml\n(apiVersion(?:.*\n)*?.*shop/drain_orders(?:.*\n)*?)```", page)
    rig = NatsRig(nats_server)
    rig.publish([b'{"order": 7}', b'{"order": 8}'])
    events.type_register(db, "kg", "order_booked", "update")
    draining = make(rig)
    register(db, read(text.replace("ORDERS", rig.stream), "tools.md"), draining.credentials())
    execution = draining.begin("shop/drain_orders")
    draining.start()
    draining.ended(execution)
    assert sorted(str(one.subject_ref) for one in events.list_newest(db)) == ["7", "8"]
    assert results.results(db, execution, ["done"]).by_step == {"done": {"acknowledged": 2}}
    assert rig.left() == 0
