"""subscription: what a result has no room for is not fetched, since each delivery may count against a message."""

import random
from collections.abc import Sequence
from uuid import uuid4

import pytest
from google.pubsub_v1 import types

from tests.parts.nats import Nats
from tests.parts.pubsub import Pubsub
from tests.tools.calling import Caller
from tests.tools.rigs import NatsRig, PubsubRig, Steps

LIKE = [b"x" * 1000] * 400
_TELL = random.Random(4)
UNLIKE = [b"x" * int(_TELL.expovariate(1 / 1500)) for _ in range(400)]
MIXED = [b"x" * _TELL.choice([10, 10, 10, 10, 10, 45_000]) for _ in range(200)]
# after a hundred small ones each fills a result
GROWING = [b"x" * 10] * 100 + [b"x" * 40_000] * 5


@pytest.mark.parametrize(("bodies", "most"), [(LIKE, 0), (UNLIKE, 20)], ids=["like", "unlike"])
def test_what_no_step_has_seen_does_not_come_nearer_to_the_dead_letters(
    pubsub_server: Pubsub, caller: Caller, bodies: Sequence[bytes], most: int
) -> None:
    letters = f"letters-{uuid4().hex[:8]}"
    policy = types.DeadLetterPolicy(dead_letter_topic=pubsub_server.add_topic(letters), max_delivery_attempts=5)
    rig = PubsubRig(pubsub_server, dead_letter_policy=policy)
    rig.publish(bodies)
    steps = Steps(caller, rig)
    while rig.left():
        polled = steps.poll(batch=1000, ack="auto")
        assert polled["count"] > 10 or rig.left() == 0
        # sizes are guessed from those seen: a few come in vain, of 400, and none so often that it becomes a dead letter
        never_seen = [one.deliveries for one in pubsub_server.unsettled(rig.name)]
        assert sum(never_seen) <= most
        assert max(never_seen, default=0) <= 4
    assert pubsub_server.messages(letters) == []


@pytest.mark.parametrize(
    ("bodies", "most"),
    [(LIKE, 1), (UNLIKE, 2), (GROWING, 2), (MIXED, 3)],
    ids=["like", "unlike", "growing", "mixed"],
)
def test_nats_hands_out_hardly_a_message_twice(
    nats_server: Nats, caller: Caller, bodies: Sequence[bytes], most: int
) -> None:
    rig = NatsRig(nats_server)
    rig.publish(bodies)
    steps = Steps(caller, rig)
    seen: list[int] = []
    while rig.left():
        polled = steps.poll(batch=1000, ack="auto")
        seen += [one["deliveries"] for one in polled["messages"]]
    assert len(seen) == len(bodies)
    assert max(seen) <= most
