"""subscription: what is owed for a result that is kept is done although its broker goes away for a while."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Thread

import pytest

from penstock.jobs import Pledge, Snooze
from penstock.worker.afterwards import Afterwards
from penstock.worker.held import Held
from penstock.worker.tools import subscription
from penstock.worker.tools.contract import Call
from penstock.worker.tools.turn import Turn
from tests.acceptance.processes import until
from tests.parts.nats import Nats
from tests.parts.pubsub import Pubsub
from tests.tools.calling import Caller
from tests.tools.rigs import NatsRig, PubsubRig, Rig, Steps

Away = Callable[[], None]


@pytest.fixture(params=["nats", "pubsub"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[Rig, Away, Away]]:
    """A rig on a server of its own, and what has it go away and come back."""
    if request.param == "nats":
        with Nats(tmp_path) as nats:
            yield NatsRig(nats), nats.stop, nats.start
        return
    with Pubsub(tmp_path) as pubsub:
        yield PubsubRig(pubsub), pubsub.shut, pubsub.open


def test_an_acknowledgement_finds_its_broker_when_it_is_back(place: tuple[Rig, Away, Away], caller: Caller) -> None:
    rig, go_away, come_back = place
    rig.publish([b"one", b"two"])
    call = Steps(caller, rig).call("poll", timeout_ms=5000)
    assert subscription.run(call)["count"] == 2
    tried: list[str] = []
    (pledge,) = call.pledges

    def acknowledge() -> None:
        tried.append("once more")
        pledge.kept()

    go_away()
    with settling() as afterwards:
        afterwards.kept(_held(call, Pledge(acknowledge, pledge.lost)))
        until(lambda: len(tried) > 1, "it was tried in vain")
        come_back()
        until(lambda: rig.left() == 0, "all are acknowledged")


def test_a_turn_ends_although_too_much_waits(caller: Caller) -> None:
    afterwards = Afterwards()
    call = caller({})
    for _ in range(1000):
        afterwards.kept(_held(call, Pledge(lambda: None, lambda: None)))
    turn = Turn(caller.services.links, "orders")
    with pytest.raises(Snooze):
        Turn(caller.services.links, "orders")
    afterwards.kept(_held(call, Pledge(turn.end, turn.end, always=True), Pledge(lambda: None, lambda: None)))
    Turn(caller.services.links, "orders").end()


@contextmanager
def settling() -> Iterator[Afterwards]:
    afterwards = Afterwards()
    thread = Thread(target=afterwards.run, daemon=True)
    thread.start()
    yield afterwards
    afterwards.close()
    afterwards.give_up()
    thread.join(60)
    assert not thread.is_alive()


def _held(call: Call, *pledges: Pledge) -> Held:
    held = Held(call.job._claim, call.job, 0.0, 30.0, 60.0)
    held.pledges = pledges
    return held
