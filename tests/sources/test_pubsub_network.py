"""Pub/Sub over a network that takes its time, and messages that come one by one."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import UTC, datetime
from itertools import count
from typing import Any, TypeVar
from uuid import uuid4

import grpc
import pytest
from google.pubsub_v1 import types

from penstock.catalog.source import Start
from penstock.errors import SourceRefused, SourceUnavailable
from penstock.sources.pubsub import PubsubSource
from tests.parts.pubsub import Pubsub
from tests.parts.slow import Slow

H = TypeVar("H", bound=grpc.GenericRpcHandler)
SUBSCRIPTION = "projects/penstock/subscriptions/trickle"
# as long as a fetch may take; so long nobody waits for it here
DEADLINE_S = 600


@pytest.mark.parametrize("wait_s", [0, 5])
def test_a_slow_network_brings_all_that_is_there_and_nothing_is_handed_out_to_nobody(
    pubsub_server: Pubsub, wait_s: float
) -> None:
    name = f"s-{uuid4().hex[:10]}"
    subscription = pubsub_server.add(name)
    pubsub_server.publish(name, [(b"x", {}, "")] * 50)
    with (
        Slow(pubsub_server.address, 0.3) as slow,
        PubsubSource({"emulator": slow.address}, subscription=subscription) as source,
    ):
        assert len(list(source.fetch(60, wait_s))) == 50
    assert {one.deliveries for one in pubsub_server.messages(name)} == {1}


class Trickle(grpc.GenericRpcHandler):  # type: ignore[misc]
    """Has one more message whenever it is asked, and keeps how long each asker would wait."""

    def __init__(self) -> None:
        self.patience_s: list[float] = []
        self.at_once: list[bool] = []
        self._number = count()

    def service(self, details: Any) -> Any:
        answer = self._pulled if details.method.endswith("/Pull") else lambda *_: b""
        return grpc.unary_unary_rpc_method_handler(answer)

    def _pulled(self, raw: bytes, context: Any) -> bytes:
        asked = types.PullRequest.deserialize(raw)
        self.patience_s.append(context.time_remaining())
        self.at_once.append(asked.return_immediately)
        id = str(next(self._number))
        message = types.PubsubMessage(message_id=id, data=b"x", publish_time=datetime.now(UTC))
        one = types.ReceivedMessage(ack_id=id, message=message)
        return bytes(types.PullResponse.serialize(types.PullResponse(received_messages=[one])))


@contextmanager
def _served(handler: H) -> Iterator[tuple[H, dict[str, str]]]:
    server = grpc.server(ThreadPoolExecutor(2), handlers=[handler])
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    try:
        yield handler, {"emulator": f"127.0.0.1:{port}"}
    finally:
        server.stop(None).wait()


@contextmanager
def _trickle() -> Iterator[tuple[Trickle, PubsubSource]]:
    with (
        _served(Trickle()) as (handler, credential),
        PubsubSource(credential, subscription=SUBSCRIPTION, deadline_s=DEADLINE_S) as source,
    ):
        yield handler, source


class Strict(grpc.GenericRpcHandler):  # type: ignore[misc]
    """One message, then it is not there any more. Who may read here may write nothing."""

    def __init__(self) -> None:
        self.given_back: list[str] = []
        self._pulls = count()

    def service(self, details: Any) -> Any:
        answers = {"Pull": self._pulled, "ModifyAckDeadline": self._deadline, "GetSubscription": self._shown}
        answer = answers.get(details.method.rpartition("/")[2], self._refused)
        return grpc.unary_unary_rpc_method_handler(answer)

    def _pulled(self, raw: bytes, context: Any) -> bytes:
        if next(self._pulls):
            context.abort(grpc.StatusCode.UNAVAILABLE, "gone")
        message = types.PubsubMessage(message_id="1", data=b"x", publish_time=datetime.now(UTC))
        one = types.ReceivedMessage(ack_id="first", message=message)
        return bytes(types.PullResponse.serialize(types.PullResponse(received_messages=[one])))

    def _deadline(self, raw: bytes, context: Any) -> bytes:
        asked = types.ModifyAckDeadlineRequest.deserialize(raw)
        if asked.ack_deadline_seconds == 0:
            self.given_back += asked.ack_ids
        return b""

    def _shown(self, raw: bytes, context: Any) -> bytes:
        return bytes(types.Subscription.serialize(types.Subscription(name=SUBSCRIPTION, topic="projects/p/topics/t")))

    def _refused(self, raw: bytes, context: Any) -> bytes:
        context.abort(grpc.StatusCode.PERMISSION_DENIED, "not you")
        raise AssertionError


def test_what_a_look_has_found_is_given_back_though_the_server_goes_away_in_the_middle() -> None:
    with _served(Strict()) as (handler, credential), PubsubSource(credential, subscription=SUBSCRIPTION) as source:
        with pytest.raises(SourceUnavailable):
            list(source.peek(10, Start(), {}))
        assert handler.given_back == ["first"]


def test_who_may_not_write_the_mark_is_told_before_anything_is_read() -> None:
    with _served(Strict()) as (_, credential):
        with PubsubSource(credential, subscription=SUBSCRIPTION) as source:
            source.check()
        with (
            PubsubSource(credential, subscription=SUBSCRIPTION, marks=True) as source,
            pytest.raises(SourceRefused, match=r"with restore_mark also roles/pubsub\.editor"),
        ):
            source.check()


def test_a_fetch_ends_though_messages_go_on_coming_one_by_one() -> None:
    with _trickle() as (_, source), ThreadPoolExecutor(1) as pool:
        fetching = pool.submit(lambda: list(source.fetch(10**6, 1)))
        assert fetching.result(DEADLINE_S / 10)


def test_no_pull_is_broken_off_before_the_server_has_had_time_to_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    # so that no fetch ends early because its messages come slowly
    monkeypatch.setattr("penstock.sources.pubsub.TRICKLE_S", 60)
    with _trickle() as (handler, source):
        for wait_s in (0, 1, 30):
            assert len(list(source.fetch(3, wait_s))) == 3
    assert min(handler.patience_s) > 5
    # who has nothing yet waits for a message; who has some takes what is there
    assert handler.at_once == [True] * 3 + [False, True, True] * 2
