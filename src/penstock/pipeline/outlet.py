"""Where the tasks of a runtime without a database put their rows: chunks of them, posted to the API."""

import json
from base64 import b64encode
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from penstock.errors import PayloadTooLarge
from penstock.model import Json
from penstock.pipeline.api import Api, runtime_path
from penstock.pipeline.books import Server

_ROWS = 1000
_BYTES = 8 * 1024 * 1024
# the API takes 64 MiB: what is more is not sent, as a server that shuts the door on it may not be heard
_WHOLE_BYTES = 63 * 1024 * 1024
# of a message's text, once it goes in slices; those below the least are not tried
_SLICE = 4 * 1024 * 1024
_LEAST_SLICE = 4 * 1024
_KEPT_BYTES = 1024 * 1024
TOO_LARGE = "too_large"
# a server that is started again; after that the batch is read again from the ledger
_PATIENCE_S = 30.0


@dataclass(frozen=True)
class Outlet:
    """Of one life of one runtime; nothing in it is a secret."""

    server: Server
    subscription: str
    token: int
    # longer than a server waits for a body, or its database for a statement
    answer_s: float = 75.0
    # of a message's text: what fn_ingest_stage_slice takes
    most_bytes: int = 128 * 1024 * 1024

    def stage(self, lane: int, attempt: str, batches: Iterator[pa.RecordBatch]) -> dict[str, int]:
        """Each chunk under a name of its own: sent twice, it stands there once. Returns the rows of each."""
        staged: dict[str, int] = {}
        with Api(self.server, _PATIENCE_S, self.answer_s) as api:
            for number, messages in enumerate(_chunks(batches)):
                staged |= self._put(api, lane, f"{attempt}-{number}", messages)
        return staged

    def _put(self, api: Api, lane: int, name: str, messages: list[Json]) -> dict[str, int]:
        """The chunk whole; in two where that is more than this server takes, or a proxy before it."""
        if len(messages) == 1 and _weight(messages[0]) > _WHOLE_BYTES:
            return self._put_slices(api, lane, name, messages[0])
        body = {"subscription": self.subscription, "token": self.token, "lane": lane, "attempt": name}
        try:
            api.post("/api/execute/batch", body | {"messages": messages})
        except PayloadTooLarge:
            half = len(messages) // 2
            if not half:
                return self._put_slices(api, lane, name, messages[0])
            first = self._put(api, lane, f"{name}a", messages[:half])
            return first | self._put(api, lane, f"{name}b", messages[half:])
        return {name: len(messages)}

    def _put_slices(self, api: Api, lane: int, name: str, message: Json) -> dict[str, int]:
        """A message alone, which is put together at the server; without its body if it is larger than that takes."""
        # all of it ASCII, so that it can be cut anywhere
        text = json.dumps(message)
        if len(text) > self.most_bytes:
            return self._put(api, lane, name, [_without_body(message)])
        body = {"token": self.token, "lane": lane, "attempt": name, "whole": len(text)}
        start, size = 0, _SLICE
        while start < len(text):
            cut = text[start : start + size]
            try:
                api.post(f"{runtime_path(self.subscription)}/slice", body | {"start": start, "slice": cut})
            except PayloadTooLarge as error:
                size = min(size, len(cut)) // 2
                if size < _LEAST_SLICE:
                    raise _too_narrow(self.server.url, message) from error
            else:
                start += len(cut)
        return {name: 1}


def _too_narrow(url: str, message: Json) -> PayloadTooLarge:
    """No fault of the message's: it stays at its source, and is read again."""
    return PayloadTooLarge(
        f"message {message['message_id']} does not get through to {url}, not even in slices of {_LEAST_SLICE} bytes\n"
        "Nothing of the batch was committed: raise the limit of the proxy before it (nginx: client_max_body_size 64m)."
    )


def _chunks(batches: Iterator[pa.RecordBatch]) -> Iterator[list[Json]]:
    chunk: list[Json] = []
    size = 0
    for batch in batches:
        for start in range(0, batch.num_rows, _ROWS):
            for row in _with_plain_times(batch.slice(start, _ROWS)).to_pylist():
                message = {name: _text(value) for name, value in row.items()}
                weight = _weight(message)
                if chunk and (len(chunk) == _ROWS or size + weight > _BYTES):
                    yield chunk
                    chunk, size = [], 0
                chunk.append(message)
                size += weight
    if chunk:
        yield chunk


def _with_plain_times(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Times as microseconds since 1970: Python, and Arrow's own texts, know fewer years than PostgreSQL does."""
    for place, field in enumerate(batch.schema):
        if pa.types.is_timestamp(field.type):
            exact = batch.column(place).cast(pa.timestamp("us", field.type.tz)).cast(pa.int64())
            batch = batch.set_column(place, field.name, exact)
    return batch


def _without_body(message: Json) -> Json:
    """A dead letter: where it stands at its source, and whatever else of it is small."""
    small = {name: value for name, value in message.items() if not isinstance(value, str) or len(value) <= _KEPT_BYTES}
    return {"attributes": "[]"} | small | {"body": None, "fault": TOO_LARGE}


def _weight(message: Json) -> int:
    return sum(len(value) for value in message.values() if isinstance(value, str))


def _text(value: Any) -> Any:
    return b64encode(value).decode("ascii") if isinstance(value, bytes) else value
