"""kill -9 around a poll, the commit of its result and its acknowledgement: nothing is lost, nothing worked on twice."""

from collections.abc import Callable
from pathlib import Path

import pytest

from penstock.kernel.connection import Connection
from penstock.model import Json
from tests.acceptance import processes
from tests.acceptance.draining import Draining
from tests.acceptance.processes import Crew, until
from tests.tools.rigs import KafkaRig, NatsRig, PubsubRig, Rig

crew = processes.crew

BODIES = ["one", "three", "two"]
# long enough for a worker to answer in time, short enough to wait for
_ACK_WAIT_S = 4

Make = Callable[[Rig], Draining]


@pytest.fixture
def make(db: Connection, database: str, crew: Crew, tmp_path: Path) -> Make:
    return lambda rig: Draining(db, database, crew, rig, tmp_path)


@pytest.fixture(params=["nats", "kafka", "pubsub"])
def rig(request: pytest.FixtureRequest) -> Rig:
    if request.param == "nats":
        made: Rig = NatsRig(request.getfixturevalue("nats_server"), ack_wait=_ACK_WAIT_S)
    elif request.param == "kafka":
        made = KafkaRig(request.getfixturevalue("kafka_broker"))
    else:
        made = PubsubRig(request.getfixturevalue("pubsub_server"))
    made.publish([body.encode() for body in BODIES])
    return made


def _bodies(polled: Json) -> list[str]:
    """Pub/Sub keeps no order."""
    return sorted(polled["bodies"])


def _whole(polled: Json) -> list[tuple[str, str]]:
    return sorted(zip([one["id"] for one in polled["messages"]], polled["bodies"], strict=True))


def _worked_on(draining: Draining, execution: int) -> list[str]:
    return sorted(body for _, body in draining.worked_on(execution))


@pytest.mark.parametrize("where", ["after_run", "before_finish", "during_finish"])
def test_killed_before_the_result_is_kept_the_messages_come_again_to_the_same_step(
    make: Make, rig: Rig, where: str
) -> None:
    draining = make(rig)
    draining.register(timeout_ms=5000)
    execution = draining.begin()
    draining.killed(where)
    assert rig.left() == 3
    rig.expire()
    draining.start()
    polled = draining.ended(execution)
    assert _bodies(polled) == BODIES
    assert {one["deliveries"] for one in polled["messages"]} <= {2, None}
    until(lambda: rig.left() == 0, "they are acknowledged")
    assert _worked_on(draining, execution) == BODIES


@pytest.mark.parametrize("where", ["after_finish", "before_ack"])
def test_killed_between_the_result_and_its_acknowledgement_the_next_poll_acknowledges_and_gives_none_again(
    make: Make, rig: Rig, where: str
) -> None:
    draining = make(rig)
    draining.register(timeout_ms=5000)
    first = draining.begin()
    draining.killed(where)
    assert rig.left() == 3
    rig.expire()
    draining.start()
    kept = draining.ended(first)
    assert _bodies(kept) == BODIES
    assert {one["deliveries"] for one in kept["messages"]} <= {1, None}
    later: list[int] = []

    def is_settled() -> bool:
        later.append(draining.begin())
        assert draining.ended(later[-1])["count"] == 0
        return rig.left() == 0

    until(is_settled, "they are acknowledged")
    # once the result was kept the killed worker may have begun to work on it
    assert sorted(set(draining.worked_on(first))) == _whole(kept)
    assert [draining.worked_on(one) for one in later] == [[]] * len(later)
    # what is not in a result is worked on as ever
    rig.publish([b"new"])
    assert draining.ended(draining.begin())["bodies"] == ["new"]


def test_killed_after_the_acknowledgement_nothing_comes_again(make: Make, rig: Rig) -> None:
    draining = make(rig)
    draining.register(timeout_ms=5000)
    execution = draining.begin()
    draining.killed("after_ack")
    assert rig.left() == 0
    draining.start()
    assert _bodies(draining.ended(execution)) == BODIES
    # the killed worker may have begun to
    assert sorted(set(_worked_on(draining, execution))) == BODIES


def test_auto_killed_before_its_acknowledgement_loses_nothing(make: Make, rig: Rig) -> None:
    draining = make(rig)
    draining.register(timeout_ms=5000, ack="auto")
    execution = draining.begin()
    draining.killed("before_ack")
    assert rig.left() == 3
    rig.expire()
    draining.start()
    assert _bodies(draining.ended(execution)) == BODIES
    assert rig.left() == 0


def test_auto_killed_after_its_acknowledgement_has_lost_what_it_polled(make: Make, rig: Rig) -> None:
    """As the docs say of it: at most once."""
    draining = make(rig)
    draining.register(timeout_ms=5000, ack="auto")
    execution = draining.begin()
    draining.killed("after_ack")
    assert rig.left() == 0
    draining.start()
    assert draining.ended(execution)["count"] == 0


@pytest.mark.parametrize(
    ("ack", "where"), [("manual", "before_ack"), ("defer", "after_ack"), ("manual", "after_finish")]
)
def test_handles_are_acknowledged_by_another_process_after_the_first_was_killed(
    make: Make, rig: Rig, ack: str, where: str
) -> None:
    if isinstance(rig, NatsRig):
        # a handle must be good until the other process has the step
        rig = NatsRig(rig.server)
        rig.publish([body.encode() for body in BODIES])
    draining = make(rig)
    draining.register(timeout_ms=5000, ack=ack, answer="ack")
    execution = draining.begin()
    draining.killed(where)
    assert rig.left() == (0 if where == "after_ack" else 3)
    draining.start()
    assert _bodies(draining.ended(execution)) == BODIES
    assert rig.left() == 0
    assert sorted(set(_worked_on(draining, execution))) == BODIES


def test_none_is_never_acknowledged_killed_or_not(make: Make, rig: Rig) -> None:
    draining = make(rig)
    draining.register(timeout_ms=5000, ack="none")
    executions = [draining.begin()]
    draining.killed("after_finish")
    rig.expire()
    draining.start()
    executions.append(draining.begin())
    assert [_bodies(draining.ended(one)) for one in executions] == [BODIES, BODIES]
    assert rig.left() == 3
