"""subscription: a step that polls a source once, within bounds, or answers what another step has polled."""

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from typing import Any

from penstock.errors import PenstockError, SourceMissing, SourceRefused, SourceUnfit
from penstock.jobs import PermanentError, Pledge, Snooze
from penstock.kernel import drains, health
from penstock.model import Json
from penstock.sources.drain import Drain, Polled
from penstock.worker.tools import handles as marks
from penstock.worker.tools import lookups
from penstock.worker.tools.batch import Batch
from penstock.worker.tools.contract import Call
from penstock.worker.tools.drains import DRAINS

_BATCH = (1, 1000, 100)
_TIMEOUT_MS = (0, 5000, 1000)
_FINAL = (SourceMissing, SourceRefused, SourceUnfit)
_SOURCE_KEYS = ("source", "stream", "consumer", "topics", "topic_pattern", "group", "subscription", "ack_deadline_s")
_PLACE_KEYS = ("auth", "stream", "consumer", "group", "subscription")
_AGAIN_S = 1.0
_WITH_HANDLES = ("manual", "defer")


def run(call: Call) -> Json:
    """The operation the step names."""
    try:
        with _drain(call) as drain:
            return _poll(call, drain) if call.settings["operation"] == "poll" else _answer(call, drain)
    except _FINAL as error:
        raise PermanentError(f"subscription: {error}") from error


def _poll(call: Call, drain: Drain) -> Json:
    asked = call.settings
    limit = _clamped("batch", asked.get("batch"), *_BATCH)
    wait_s = _clamped("timeout_ms", asked.get("timeout_ms"), *_TIMEOUT_MS) / 1000
    mode = asked.get("ack", "on_success")
    # before anything is handed out: a handle counts as expired rather too early than too late
    now_s = _server_time(call)
    batch = Batch(call, marks.deadline(now_s, drain.hold_s()), shows_handles=mode in _WITH_HANDLES)
    try:
        _fill(batch, drain, limit, wait_s)
        if mode == "on_success" and batch.handles:
            _take(call, drain, batch)
        if mode == "auto":
            _settle(call, drain, "ack", batch.handles)
        result = batch.result(limit, is_sure=drain.is_sure)
    except BaseException:
        if mode != "none":
            # else they come again when their time is over
            with suppress(PenstockError):
                drain.give_back([marks.bare(handle) for handle in batch.handles])
        raise
    if batch.handles and mode in ("on_success", *_WITH_HANDLES):
        kept = _owed(call, batch) if mode == "on_success" else _nothing
        call.pledges.append(Pledge(kept, _later(call, "nack", batch.handles)))
    return result


def _take(call: Call, drain: Drain, batch: Batch) -> None:
    """What a dead worker owed the source comes again, though a result has it: it is owed by this step then."""
    job, place = call.job, _place(call)
    known = call.services.links.call(lambda c: drains.take(c, job.id, job.lease_token, place, batch.identities))
    if drain.in_order and "held" in known.values():
        # nothing behind them could be acknowledged
        raise Snooze(_AGAIN_S)
    batch.leave_out(known)


def _owed(call: Call, batch: Batch) -> Callable[[], None]:
    acknowledge, place = _later(call, "ack", batch.handles), _place(call)

    def settle() -> None:
        acknowledge()
        # else that they were kept is forgotten later
        with suppress(PenstockError):
            call.services.links.call(lambda c: drains.done(c, place, batch.identities))

    return settle


def _place(call: Call) -> str:
    return " ".join(str(call.settings[key]) for key in _PLACE_KEYS if key in call.settings)


def _fill(batch: Batch, drain: Drain, limit: int, wait_s: float) -> None:
    with closing(drain.poll(limit, wait_s, batch.wanted)) as polling:
        for one in polling:
            try:
                has_room = batch.take(one)
            except PermanentError:
                _return(drain, one)
                raise
            if not has_room:
                _return(drain, one)
                return


def _return(drain: Drain, one: Polled) -> None:
    # if it cannot be given back now, it comes again later
    with suppress(PenstockError):
        drain.give_back([one.handle])


def _answer(call: Call, drain: Drain) -> Json:
    """Answer messages by their handles; how many."""
    operation = call.settings["operation"]
    handles = marks.given(call.settings.get("handles"))
    _settle(call, drain, operation, handles)
    return {_SAID[operation]: len(handles)}


_SAID = {"ack": "acknowledged", "nack": "given_back", "term": "terminated"}


def _settle(call: Call, drain: Drain, operation: str, handles: Sequence[str]) -> None:
    """Send an answer for each handle that is still good; of the others it is an error."""
    if not handles:
        return
    good, expired = _sorted_out(call, drain, handles)
    act = {"ack": drain.acknowledge, "nack": drain.give_back, "term": drain.terminate}[operation]
    if good:
        act(good)
    if expired:
        raise SourceUnfit(
            f"{len(expired)} of {len(handles)} handles have expired, the first {expired[0]}: the source has waited as "
            "long as it waits for an answer, and hands these messages out again. Poll them again, and have the source "
            f"wait longer if this takes so long. {len(good)} were {_SAID[operation].replace('_', ' ')}."
        )


def _sorted_out(call: Call, drain: Drain, handles: Sequence[str]) -> tuple[list[str], list[str]]:
    """Those that are good, and those that have expired. One the source waits for no more was answered before."""
    now_ms = _server_time(call) * 1000
    late = [marks.bare(handle) for handle in handles if marks.is_late(handle, now_ms)]
    known = drain.settled(late) if late else set()
    good = [marks.bare(handle) for handle in handles if not marks.is_late(handle, now_ms)]
    return good, [handle for handle in late if handle not in known]


def _later(call: Call, operation: str, handles: Sequence[str]) -> Callable[[], None]:
    def settle() -> None:
        with _drain(call) as drain:
            _settle(call, drain, operation, handles)

    return settle


def _nothing() -> None:
    return None


def _clamped(key: str, value: Any, least: int, most: int, default: int) -> int:
    if value is None:
        return default
    try:
        number = int(value)
    except (TypeError, ValueError, OverflowError):
        raise PermanentError(f"subscription: {key} is {str(value)[:60]!r}: give a whole number") from None
    return min(max(number, least), most)


def _server_time(call: Call) -> float:
    return call.services.links.call(health.server_time)


@contextmanager
def _drain(call: Call) -> Iterator[Drain]:
    alias = call.settings["auth"]
    chosen = {key: call.settings[key] for key in _SOURCE_KEYS if key in call.settings}
    credential = lookups.credential(call, "subscription")
    told = json.dumps([chosen, credential], default=dict)
    with DRAINS.taken(f"{alias} {json.dumps(chosen)}", told) as drain:
        yield drain
