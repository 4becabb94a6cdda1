"""What Pub/Sub says of single handles where delivery is exactly once. The fake does not: a server of ours says it."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import grpc
import pytest
from google.pubsub_v1 import types
from google.rpc import error_details_pb2, status_pb2
from grpc_status import rpc_status

from penstock.errors import SourceUnavailable
from penstock.sources.pubsub import PubsubSource

SUBSCRIPTION = "projects/penstock/subscriptions/strict"


class Strict(grpc.GenericRpcHandler):  # type: ignore[misc]
    """Takes handles as their names say: `gone-1` has expired, `again-2` is taken the third time."""

    def __init__(self) -> None:
        self.taken: list[str] = []
        self._tries: dict[str, int] = {}

    def service(self, details: Any) -> Any:
        return grpc.unary_unary_rpc_method_handler(self._answer) if details.method.endswith("/Acknowledge") else None

    def _answer(self, raw: bytes, context: Any) -> bytes:
        handles = list(types.AcknowledgeRequest.deserialize(raw).ack_ids)
        verdicts = {handle: word for handle in handles if (word := self._verdict(handle))}
        self.taken += [handle for handle in handles if handle not in verdicts]
        if verdicts:
            status = status_pb2.Status(code=9, message="Some acknowledgement ids in the request were invalid.")
            info = error_details_pb2.ErrorInfo(reason="ACK", domain="pubsub.googleapis.com", metadata=verdicts)
            status.details.add().Pack(info)
            context.abort_with_status(rpc_status.to_status(status))
        return b""

    def _verdict(self, handle: str) -> str | None:
        word, _, times = handle.partition("-")
        if word == "gone":
            return "PERMANENT_FAILURE_INVALID_ACK_ID"
        self._tries[handle] = self._tries.get(handle, 0) + 1
        return "TRANSIENT_FAILURE_UNAVAILABLE" if word == "again" and self._tries[handle] <= int(times) else None


@pytest.fixture
def strict() -> Iterator[tuple[Strict, PubsubSource]]:
    handler = Strict()
    server = grpc.server(ThreadPoolExecutor(2), handlers=[handler])
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    with PubsubSource({"emulator": f"127.0.0.1:{port}"}, subscription=SUBSCRIPTION) as source:
        yield handler, source
    server.stop(None).wait()


def test_a_handle_that_has_expired_is_not_counted_and_no_error(strict: tuple[Strict, PubsubSource]) -> None:
    handler, source = strict
    assert source.acknowledge(["good-1", "gone-1", "good-2"]) == 2
    assert handler.taken == ["good-1", "good-2"]


def test_a_handle_that_was_not_taken_for_the_moment_is_sent_again(strict: tuple[Strict, PubsubSource]) -> None:
    handler, source = strict
    assert source.acknowledge(["again-1", "good-1", "again-2", "gone-1"]) == 3
    assert sorted(handler.taken) == ["again-1", "again-2", "good-1"]


def test_one_that_is_never_taken_is_an_error(strict: tuple[Strict, PubsubSource]) -> None:
    _, source = strict
    with pytest.raises(SourceUnavailable, match="did not take 1 of 2 acknowledgements"):
        source.acknowledge(["again-9", "good-1"])
