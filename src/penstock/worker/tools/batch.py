"""What a poll gives back, as far as a step's result has room for it: messages that refer to the bodies beside them."""

import json
from base64 import b64encode
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from penstock.directives.headers import normalise
from penstock.directives.jsonbody import is_json
from penstock.jobs import PermanentError
from penstock.model import Json
from penstock.sources.drain import Polled
from penstock.worker.tools import lookups
from penstock.worker.tools.contract import Call
from penstock.worker.tools.handles import marked
from penstock.worker.tools.sizes import kept_bytes
from penstock.worker.tools.steps import RESULT

# the names of the result, and what surrounds them
_FRAME = 200
_BETWEEN = 4
_MOST_FETCHES = 20


class Batch:
    def __init__(self, call: Call, deadline_ms: int | None, *, shows_handles: bool) -> None:
        self.handles: list[str] = []
        self.identities: list[str] = []
        self._call = call
        self._deadline_ms = deadline_ms
        self._shows_handles = shows_handles
        self._is_json = call.settings.get("payload_from") == "message.json"
        self._messages: list[Json] = []
        self._bodies: list[Any] = []
        self._is_full = False
        self._fetched = 0
        self._lost = 0
        self._most_bytes = lookups.result_bytes(call.services)
        self._bytes = _FRAME
        self._largest = 0
        self._fetches = 0
        self._ref = f"{RESULT}{call.job.id}#{f'/{call.name}' if call.name else ''}/bodies/"

    def wanted(self) -> int:
        """How many to fetch next, as far as those seen tell what fits; 0 for no more.

        The first comes alone. Then as many as fit if they are like the largest, or half of those that fit if they are
        like the average, but never more than there are already: small messages may be followed by large ones.
        """
        self._fetches += 1
        fit = self._likely_fit()
        self._is_full = fit == 0 or self._fetches > _MOST_FETCHES
        return 0 if self._is_full else fit

    def _likely_fit(self) -> int:
        taken = len(self._messages)
        if not taken:
            return 1
        used, left = self._bytes - _FRAME, self._most_bytes - self._bytes
        return min(max(left // self._largest, left * taken // (2 * used)), taken)

    def take(self, one: Polled) -> bool:
        """Whether there was room; one that finds none in an empty result fails the step."""
        handle = marked(one.handle, self._deadline_ms)
        message, body = self._told(one, handle)
        size = kept_bytes(message) + kept_bytes(body) + _BETWEEN
        if self._bytes + size > self._most_bytes:
            if not self._messages:
                raise PermanentError(
                    f"subscription: message {one.id} takes {size:,} bytes, and a step's result has room for "
                    f"{self._most_bytes:,}. It was not acknowledged: raise queue.result.max_bytes (penstock config "
                    "set), or have a subscription read it"
                )
            self._is_full = True
            return False
        self._bytes += size
        self._largest = max(self._largest, size)
        self._messages.append(message)
        self._bodies.append(body)
        self.handles.append(handle)
        self.identities.append(one.identity)
        self._fetched += 1
        self._lost += one.lost
        return True

    def leave_out(self, standing: Mapping[str, str]) -> None:
        """What belongs to another result. What is kept there is acknowledged with these, what is held is left alone."""
        stands = [standing.get(one) for one in self.identities]
        self._messages = [one for one, word in zip(self._messages, stands, strict=True) if word is None]
        self._bodies = [one for one, word in zip(self._bodies, stands, strict=True) if word is None]
        for nth, message in enumerate(self._messages):
            message["ref"] = f"{self._ref}{nth}"
        self.handles = [one for one, word in zip(self.handles, stands, strict=True) if word != "held"]
        self.identities = [one for one, word in zip(self.identities, stands, strict=True) if word != "held"]

    def result(self, limit: int, *, is_sure: bool) -> Json:
        told: Json = {
            "count": len(self._messages),
            "more": self._is_full or self._fetched == limit or (self._fetched > 0 and not is_sure),
            "messages": self._messages,
            "bodies": self._bodies,
        }
        if self._lost:
            told["lost"] = self._lost
            self._call.job.log.warning("%s messages were gone before anybody polled them", self._lost)
        return told

    def _told(self, one: Polled, handle: str) -> tuple[Json, Any]:
        body, fault = _body(one.body, self._is_json)
        message: Json = {
            "ref": f"{self._ref}{len(self._messages)}",
            "id": one.id,
            "part": one.part,
            "offset": one.offset,
            "key": None if one.key is None else _text(one.key),
            "headers": normalise(one.attributes),
            "published_at": None if one.published_at is None else one.published_at.isoformat(),
            "deliveries": one.deliveries,
        }
        if self._shows_handles:
            message["handle"] = handle
        if fault:
            message["fault"] = fault
        return message, body


def _body(body: bytes | None, wants_json: bool) -> tuple[Any, str | None]:
    """As text or as data, and what is wrong with it."""
    if body is None:
        return None, None
    if wants_json and is_json(body):
        # numbers that only PostgreSQL can hold stay text
        with suppress(ValueError, RecursionError):
            found = json.loads(body)
            json.dumps(found, allow_nan=False)
            return found, None
    return _text(body), "not_json" if wants_json else None


def _text(value: bytes) -> str | dict[str, str]:
    with suppress(UnicodeDecodeError):
        text = value.decode()
        # which PostgreSQL cannot keep
        if "\0" not in text:
            return text
    return {"base64": b64encode(value).decode("ascii")}
