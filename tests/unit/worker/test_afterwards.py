"""What a step owes is done after its result is kept or lost, and whatever happens the others' is done too."""

from collections.abc import Callable
from datetime import UTC, datetime
from threading import Event, Thread
from typing import Any

from penstock.errors import SourceUnavailable, SourceUnfit
from penstock.jobs import Job, Pledge
from penstock.model import Claim, Facts
from penstock.worker.afterwards import Afterwards
from penstock.worker.held import Held
from tests.acceptance.processes import until

_WAIT_S = 30


def _held(job_id: int, *pledges: Pledge) -> Held:
    claim = Claim(job_id, 1, "tool:subscription", 1, True, False, datetime.now(UTC))
    said: dict[str, Any] = dict.fromkeys(Facts._fields[1:-1]) | {"actor": "role:x"}
    held = Held(claim, Job(claim, Facts(job_id, **said)), 0.0, 30.0, 60.0)
    held.pledges = pledges
    return held


def _pledge(done: list[str], name: str, *errors: Exception, always: bool = False) -> Pledge:
    """Notes what is done; each try fails with the next of the errors, until there are none."""
    left = list(errors)

    def act(what: str) -> Callable[[], None]:
        def noted() -> None:
            done.append(f"{what} {name}")
            if left:
                raise left.pop(0)

        return noted

    return Pledge(act("kept"), act("lost"), always=always)


def _running(afterwards: Afterwards) -> Thread:
    thread = Thread(target=afterwards.run, daemon=True)
    thread.start()
    return thread


def _ended(thread: Thread) -> None:
    thread.join(_WAIT_S)
    assert not thread.is_alive()


def test_a_pledge_is_redeemed_once_and_one_that_fails_stops_no_other() -> None:
    done: list[str] = []
    afterwards = Afterwards()
    first = _held(1, _pledge(done, "1", OSError("broken")))
    afterwards.kept(first)
    afterwards.lost(first)
    afterwards.lost(_held(2, _pledge(done, "2")))
    afterwards.kept(_held(3, _pledge(done, "3")))
    thread = _running(afterwards)
    afterwards.close()
    _ended(thread)
    assert done == ["kept 1", "lost 2", "kept 3"]


def test_what_others_wait_for_comes_last_of_a_job() -> None:
    done: list[str] = []
    afterwards = Afterwards()
    afterwards.kept(_held(1, _pledge(done, "turn", always=True), _pledge(done, "a"), _pledge(done, "b")))
    afterwards.close()
    afterwards.run()
    assert done == ["kept b", "kept a", "kept turn"]


def test_what_a_source_that_is_away_is_owed_is_tried_again_and_holds_up_no_other() -> None:
    done: list[str] = []
    afterwards = Afterwards()
    away = [SourceUnavailable("away")] * 2
    afterwards.kept(_held(1, _pledge(done, "turn", always=True), _pledge(done, "ack", *away), _pledge(done, "other")))
    afterwards.kept(_held(2, _pledge(done, "2")))
    thread = _running(afterwards)
    until(lambda: "kept turn" in done, "all is done")
    assert done == ["kept other", "kept ack", "kept 2", "kept ack", "kept ack", "kept turn"]
    afterwards.close()
    _ended(thread)


def test_what_is_lost_and_what_cannot_get_well_is_tried_once() -> None:
    """Messages that are given back late may be somebody else's by then."""
    done: list[str] = []
    afterwards = Afterwards()
    afterwards.lost(_held(1, _pledge(done, "1", SourceUnavailable("away"))))
    afterwards.kept(_held(2, _pledge(done, "2", SourceUnfit("expired"))))
    afterwards.close()
    afterwards.run()
    assert done == ["lost 1", "kept 2"]


def test_patience_ends_and_with_it_what_others_wait_for() -> None:
    done: list[str] = []
    afterwards = Afterwards(patience_s=0)
    always = [SourceUnavailable("away")] * 100
    afterwards.kept(_held(1, _pledge(done, "turn", always=True), _pledge(done, "ack", *always)))
    afterwards.close()
    afterwards.run()
    assert done == ["kept ack", "kept turn"]


def test_what_was_put_off_is_tried_at_once_when_the_worker_ends_and_until_it_gives_up() -> None:
    done: list[str] = []
    afterwards = Afterwards()
    afterwards.kept(_held(1, _pledge(done, "ack", *[SourceUnavailable("away")] * 100_000)))
    thread = _running(afterwards)
    until(lambda: len(done) >= 1, "it was tried")
    afterwards.close()
    until(lambda: len(done) > 3, "it is tried again")
    assert thread.is_alive()
    afterwards.give_up()
    _ended(thread)


def test_giving_up_waits_for_nobody() -> None:
    """A thread that hangs in a call to a broker finds nothing left to do when it comes back."""
    done: list[str] = []
    begun, go_on = Event(), Event()

    def hang() -> None:
        begun.set()
        go_on.wait(_WAIT_S)
        raise SourceUnavailable("away")

    afterwards = Afterwards()
    afterwards.kept(_held(1, Pledge(hang, hang)))
    thread = _running(afterwards)
    assert begun.wait(_WAIT_S)
    afterwards.kept(_held(2, _pledge(done, "2")))
    afterwards.close()
    afterwards.give_up()
    go_on.set()
    _ended(thread)
    assert done == []


def test_only_so_much_waits_and_what_others_wait_for_is_done_all_the_same() -> None:
    done: list[str] = []
    afterwards = Afterwards()
    for nth in range(1000):
        afterwards.kept(_held(nth, _pledge(done, "some")))
    afterwards.kept(_held(1000, _pledge(done, "turn", always=True), _pledge(done, "beyond")))
    assert done == ["kept turn"]
    afterwards.close()
    afterwards.run()
    assert done == ["kept turn", *["kept some"] * 1000]
