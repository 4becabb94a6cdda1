"""subscription over Pub/Sub, what is so with it alone: Google's own fake of the service."""

import pytest

from penstock.catalog.source import Start
from penstock.jobs import PermanentError
from penstock.sources.pubsub import PubsubSource
from tests.acceptance.processes import until
from tests.parts.pubsub import Pubsub
from tests.tools.calling import Caller, now_ms
from tests.tools.rigs import PubsubRig, Steps

BODIES = [b"one", b"two", b"three"]


@pytest.fixture
def rig(pubsub_server: Pubsub) -> PubsubRig:
    made = PubsubRig(pubsub_server)
    made.publish(BODIES)
    return made


@pytest.fixture
def steps(caller: Caller, rig: PubsubRig) -> Steps:
    return Steps(caller, rig)


@pytest.mark.parametrize(("named", "deadline_s"), [({}, 600), ({"ack_deadline_s": 30}, 30)])
def test_a_handle_is_good_for_as_long_as_the_step_says_or_ten_minutes(
    caller: Caller, rig: PubsubRig, named: dict[str, int], deadline_s: int
) -> None:
    steps = Steps(caller, rig)
    before = now_ms(caller)
    polled = steps.poll(ack="manual", **named)
    after = now_ms(caller)
    assert {one.deadlines_s for one in rig.server.unsettled(rig.name)} == {(deadline_s,)}
    for one in polled["messages"]:
        assert before <= int(one["handle"].rpartition("@")[2]) - deadline_s * 1000 <= after


def test_a_message_cannot_be_dropped(steps: Steps, rig: PubsubRig) -> None:
    polled = steps.poll(ack="manual")
    with pytest.raises(PermanentError, match="cannot drop a message"):
        steps.answer("term", polled["messages"])
    assert rig.left() == 3


def test_what_is_looked_at_stays(rig: PubsubRig) -> None:
    with PubsubSource(rig.credential(), subscription=rig.subscription) as source:
        first = {one.body for one in source.peek(10, Start(), {})}
        assert first == set(BODIES)
        seen: set[bytes] = set()

        def all_came() -> bool:
            seen.update(one.body for one in source.fetch(10, 1))
            return seen == first

        until(all_came, "all come again")
    assert rig.left() == 3
