"""The Pub/Sub client against Google's own fake of the service."""

import json
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from datetime import datetime, tzinfo
from pathlib import Path
from typing import Self
from uuid import uuid4

import pytest
from google.pubsub_v1 import types

from penstock.errors import SourceMissing, SourceRefused, SourceUnavailable, SourceUnfit
from penstock.sources import pubsub
from penstock.sources.contract import Attributes
from penstock.sources.pubsub import FETCH_SHARE, PubsubSource
from tests.concurrency.sessions import together, wait_until
from tests.parts.certificates import Certificates, make_certificates
from tests.parts.processes import free_ports
from tests.parts.pubsub import Pubsub
from tests.sources.conformance import AnyQueueConformance

TOKEN = "token-of-the-tests-5519"


class PubsubRig:
    def __init__(self, server: Pubsub) -> None:
        self.server = server
        self.name = f"s-{uuid4().hex[:10]}"
        self._make()

    def source(self) -> PubsubSource:
        return PubsubSource(self.server.credential, subscription=self.subscription)

    def source_elsewhere(self) -> PubsubSource:
        return PubsubSource(self.server.credential, subscription="projects/penstock/subscriptions/nowhere")

    def source_with(self, password: str) -> PubsubSource:
        return PubsubSource(self.server.credential | {"token": password}, subscription=self.subscription)

    def publish(self, bodies: Sequence[bytes], headers: Attributes = ()) -> None:
        attributes = {key: value.decode() for key, value in headers}
        for body in bodies:
            self.server.publish(self.name, [(body, attributes, "")])

    def make_again(self) -> None:
        self.server.delete(self.subscription)
        self._make()

    def stop_server(self) -> None:
        self.server.shut()

    def start_server(self) -> None:
        self.server.open()

    def _make(self) -> None:
        # deliveries are counted only where somebody wants to give up after some
        letters = types.DeadLetterPolicy(dead_letter_topic=self.server.topic("letters"), max_delivery_attempts=100)
        self.server.add_topic("letters")
        self.subscription = self.server.add(self.name, dead_letter_policy=letters)


@pytest.fixture(scope="module")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Certificates:
    return make_certificates(tmp_path_factory.mktemp("certificates"))


@pytest.fixture(scope="module")
def locked_server(
    pubsub_server: Pubsub, certificates: Certificates, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Pubsub]:
    """One that speaks TLS and lets in whoever has the token."""
    with Pubsub(tmp_path_factory.mktemp("locked"), token=TOKEN, certificates=certificates) as server:
        yield server


@pytest.fixture
def rig(locked_server: Pubsub) -> PubsubRig:
    return PubsubRig(locked_server)


class TestPubsubConforms(AnyQueueConformance):
    # attributes are a map of texts; the server takes no request above 4 MiB
    headers = tuple(
        sorted(
            {
                "Plain": b"value",
                "plain": b"other case",
                "Empty": b"",
                "Unicode": "Grüße ✓".encode(),
                "Zero": b"a\x00b",
                "Status": b"404",
                "Colon": b"a: b",
            }.items()
        )
    )
    large_bytes = 3 * 2**20


@pytest.fixture
def plain(pubsub_server: Pubsub) -> PubsubRig:
    """On a server that asks for no login."""
    return PubsubRig(pubsub_server)


def test_a_message_says_what_it_was_published_with(plain: PubsubRig) -> None:
    (id,) = plain.server.publish(plain.name, [(b"x", {"b": "2", "a": "1"}, "device-7")])
    with plain.source() as source:
        (message,) = source.fetch(1, 10)
        assert (message.part, message.id, message.key, message.deliveries) == (plain.subscription, id, b"device-7", 1)
        assert message.attributes == (("a", b"1"), ("b", b"2"))
        assert message.offset == round(message.published_at.timestamp() * 1_000_000)


def test_without_a_dead_letter_policy_deliveries_are_not_counted(pubsub_server: Pubsub) -> None:
    name = f"s-{uuid4().hex[:10]}"
    subscription = pubsub_server.add(name)
    pubsub_server.publish(name, [(b"x", {}, "")])
    with PubsubSource(pubsub_server.credential, subscription=subscription) as source:
        assert [one.deliveries for one in source.fetch(1, 10)] == [0]


def test_a_fetch_waits_for_the_first_message_beyond_one_answer_of_the_server(plain: PubsubRig) -> None:
    # the server says that there is nothing after half a second
    late = time.monotonic() + 1.2

    def publish() -> None:
        wait_until(lambda: time.monotonic() > late, "it has said so", 10)
        plain.publish([b"late"])

    with plain.source() as source:
        got, _ = together(2, lambda number: publish() if number else list(source.fetch(1, 20)))
    assert [one.body for one in got or []] == [b"late"]


def test_many_are_fetched_and_acknowledged_in_more_than_one_request(plain: PubsubRig) -> None:
    plain.server.publish(plain.name, [(b"%d" % number, {}, "") for number in range(3200)])
    with plain.source() as source:
        got = list(source.fetch(3100, 10))
        assert (len(got), len({one.id for one in got})) == (3100, 3100)
        assert source.acknowledge(one.ack for one in got) == 3100
        source.give_back(one.ack for one in got)
        assert len(list(source.fetch(3100, 10))) == 100


def test_the_deadline_is_set_at_the_fetch_whatever_the_subscription_says(pubsub_server: Pubsub) -> None:
    name = f"s-{uuid4().hex[:10]}"
    subscription = pubsub_server.add(name, ack_deadline_seconds=10)
    pubsub_server.publish(name, [(b"x", {}, "")] * 3)
    with PubsubSource(pubsub_server.credential, subscription=subscription, deadline_s=300) as source:
        assert len(list(source.fetch(3, 10))) == 3
    assert [one.deadlines_s for one in pubsub_server.messages(name)] == [(300,)] * 3


def test_a_message_whose_deadline_has_passed_comes_again_and_its_old_handle_settles_nothing(plain: PubsubRig) -> None:
    plain.publish([b"x"])
    with PubsubSource(plain.server.credential, subscription=plain.subscription, deadline_s=1) as brief:
        (first,) = brief.fetch(1, 10)
        (again,) = brief.fetch(1, 20)
        assert (again.id, again.deliveries, again.ack == first.ack) == (first.id, 2, False)
        assert brief.acknowledge([first.ack]) == 1
        brief.give_back([again.ack])
        (third,) = brief.fetch(1, 10)
        assert third.id == first.id
        brief.acknowledge([third.ack])
        assert list(brief.fetch(1, 2)) == []


def test_a_fetch_takes_no_more_of_the_deadline_than_its_share(plain: PubsubRig) -> None:
    plain.server.publish(plain.name, [(b"x", {}, "")] * 2500)
    with PubsubSource(plain.server.credential, subscription=plain.subscription, deadline_s=2) as source:
        fetching = source.fetch(2500, 10)
        next(fetching)
        share_over = time.monotonic() + 2 * FETCH_SHARE
        wait_until(lambda: time.monotonic() > share_over, "a slow caller has used the share up", 10)
        assert len(list(fetching)) < 1000


def test_the_retention_is_that_of_the_subscription(pubsub_server: Pubsub) -> None:
    subscription = pubsub_server.add(f"s-{uuid4().hex[:10]}")
    with PubsubSource(pubsub_server.credential, subscription=subscription) as source:
        (span,) = source.spans()
    assert (span.retention_s, span.part) == (86_400, subscription)


def test_a_subscription_to_another_topic_has_another_identity(plain: PubsubRig) -> None:
    with plain.source() as source:
        (before,) = source.spans()
        plain.server.delete(plain.subscription)
        plain.server.add(plain.name, topic=f"other-{plain.name}")
        (after,) = source.spans()
    assert before.identity != after.identity


def test_a_subscription_removed_meanwhile_is_missing_and_says_how_to_make_it(plain: PubsubRig) -> None:
    plain.publish([b"x"])
    with plain.source() as source:
        (message,) = source.fetch(1, 10)
        plain.server.delete(plain.subscription)
        create = f"gcloud pubsub subscriptions create {plain.name} --project=penstock"
        for settle in (lambda: list(source.fetch(1, 1)), lambda: source.acknowledge([message.ack])):
            with pytest.raises(SourceMissing, match=create):
                settle()


def test_one_that_pushes_is_unfit(pubsub_server: Pubsub) -> None:
    push = types.PushConfig(push_endpoint="https://example.com/push")
    subscription = pubsub_server.add(f"s-{uuid4().hex[:10]}", push_config=push)
    with (
        PubsubSource(pubsub_server.credential, subscription=subscription) as source,
        pytest.raises(SourceUnfit, match=r"delivers to https://example.com/push; Penstock pulls"),
    ):
        source.check()


def test_one_without_message_ordering_is_unfit_for_lanes(pubsub_server: Pubsub) -> None:
    for is_ordered in (False, True):
        name = f"s-{uuid4().hex[:10]}"
        subscription = pubsub_server.add(name, enable_message_ordering=is_ordered)
        with PubsubSource(pubsub_server.credential, subscription=subscription, in_order=True) as source:
            if is_ordered:
                source.check()
            else:
                create = f"subscriptions create {name} .* --enable-message-ordering"
                with pytest.raises(SourceUnfit, match=f"has no message ordering, .* Make another one: .*{create}"):
                    source.check()


def test_one_whose_topic_is_gone_is_unfit(plain: PubsubRig) -> None:
    plain.server.delete_topic(plain.name)
    with plain.source() as source, pytest.raises(SourceUnfit, match="has no topic any more"):
        source.check()


def test_a_server_that_never_was_is_unavailable() -> None:
    (port,) = free_ports(1)
    with (
        PubsubSource({"emulator": f"127.0.0.1:{port}"}, subscription="projects/p/subscriptions/sub") as source,
        pytest.raises(SourceUnavailable, match="does not answer"),
    ):
        source.check()


def test_another_authority_is_no_reason_to_talk(rig: PubsubRig, tmp_path: Path) -> None:
    stranger = make_certificates(tmp_path / "stranger")
    credential = rig.server.credential | {"ca_file": str(stranger.ca)}
    with (
        PubsubSource(credential, subscription=rig.subscription) as source,
        pytest.raises(SourceRefused, match="do not agree on TLS"),
    ):
        source.check()


def test_another_process_may_acknowledge_what_this_one_fetched(plain: PubsubRig) -> None:
    plain.publish([b"x"] * 3)
    with plain.source() as source:
        handles = [one.ack for one in source.fetch(3, 10)]
        words = [json.dumps(plain.server.credential), plain.subscription, *handles]
        ran = subprocess.run([sys.executable, "-c", _ACKNOWLEDGE, *words], capture_output=True, text=True, timeout=60)
        assert ran.stdout == "3\n", ran.stderr
        source.give_back(handles)
        assert list(source.fetch(3, 1)) == []


class Ahead(datetime):
    @classmethod
    def now(cls, tz: tzinfo | None = None) -> Self:
        return cls.fromtimestamp(time.time() + 2 * 86_400, tz)


def test_a_clock_that_is_ahead_drops_nothing_when_all_is_read_again(
    pubsub_server: Pubsub, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = f"s-{uuid4().hex[:10]}"
    subscription = pubsub_server.add(name, retain_acked_messages=True)
    pubsub_server.publish(name, [(b"%d" % number, {}, "") for number in range(10)])
    with PubsubSource(pubsub_server.credential, subscription=subscription) as source:
        source.acknowledge([one.ack for one in source.fetch(4, 10)])
        # the subscription retains messages for one day
        monkeypatch.setattr(pubsub, "datetime", Ahead)
        assert source.rewind()
        assert {one.body for one in source.fetch(20, 10)} == {b"%d" % number for number in range(10)}


_ACKNOWLEDGE = """
import json, sys
from penstock.sources.pubsub import PubsubSource
credential, subscription, *handles = sys.argv[1:]
with PubsubSource(json.loads(credential), subscription=subscription) as source:
    print(source.acknowledge(handles))
"""
