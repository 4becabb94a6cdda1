"""The NATS client against a real JetStream server."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from threading import Event
from uuid import uuid4

import nkeys  # type: ignore[import-untyped]
import pytest
from nats.js.api import AckPolicy

from penstock.catalog.source import Start
from penstock.errors import SourceMissing, SourceRefused, SourceUnavailable, SourceUnfit
from penstock.sources.contract import Attributes
from penstock.sources.nats import NatsSource
from tests.concurrency.sessions import wait_until
from tests.parts.certificates import make_certificates
from tests.parts.nats import Nats
from tests.sources.conformance import PeekConformance, QueueConformance


class NatsRig:
    def __init__(self, server: Nats) -> None:
        self.server = server
        self.stream = f"S{uuid4().hex[:10]}"
        self._make()

    def source(self) -> NatsSource:
        return NatsSource(self.server.credential, stream=self.stream, consumer="penstock")

    def peeking(self) -> NatsSource:
        return self.source()

    def source_elsewhere(self) -> NatsSource:
        return NatsSource(self.server.credential, stream="nowhere", consumer="penstock")

    def source_with(self, password: str) -> NatsSource:
        return NatsSource(self.server.credential | {"password": password}, stream=self.stream, consumer="penstock")

    def publish(self, bodies: Sequence[bytes], headers: Attributes = ()) -> None:
        self.server.publish(f"{self.stream}.test", [(body, headers) for body in bodies])

    def make_again(self) -> None:
        self.server.delete_stream(self.stream)
        self._make()

    def stop_server(self) -> None:
        self.server.kill()

    def start_server(self) -> None:
        self.server.start()

    def _make(self) -> None:
        self.server.add_stream(self.stream)
        self.server.add_consumer(self.stream, "penstock")


@pytest.fixture
def rig(nats_server: Nats) -> NatsRig:
    return NatsRig(nats_server)


class TestNatsConforms(QueueConformance):
    pass


def test_the_facts_of_a_consumer_follow_what_happens(rig: NatsRig) -> None:
    rig.publish([b"x"] * 5)
    with rig.source() as source:
        handles = [one.ack for one in source.fetch(3, 10)]
        source.acknowledge(handles[:2])
        facts = source.consumer_facts()
        assert (facts.stream, facts.consumer, facts.retention) == (rig.stream, "penstock", "limits")
        assert (facts.first_sequence, facts.last_sequence, facts.messages) == (1, 5, 5)
        assert (facts.ack_floor, facts.delivered, facts.num_pending, facts.num_ack_pending) == (2, 3, 2, 1)
        assert (facts.ack_wait_s, facts.max_ack_pending, facts.max_deliver) == (60, 100_000, -1)
        assert (facts.ack_policy, facts.deliver_policy, facts.is_pull) == ("explicit", "all", True)


def test_a_message_whose_headers_look_like_a_word_of_the_server_is_a_message(rig: NatsRig) -> None:
    for words in (b"404 No Messages", b"409 Consumer Deleted", b"503"):
        rig.server.publish_block(f"{rig.stream}.test", b"NATS/1.0 " + words + b"\r\nX: 1\r\n\r\n", words)
    rig.publish([b"after"])
    with rig.source() as source:
        got = list(source.fetch(10, 10))
    assert [one.body for one in got] == [b"404 No Messages", b"409 Consumer Deleted", b"503", b"after"]


def test_a_fetch_goes_on_where_the_server_ended_a_request_for_its_bytes(rig: NatsRig) -> None:
    rig.publish([b"x" * (6 * 2**20)] * 12)
    with rig.source() as source:
        assert len(list(source.fetch(12, 10))) == 12


@pytest.mark.parametrize("wait_s", [0, 0.1])
def test_a_fetch_from_a_slow_server_gets_all_that_is_there(rig: NatsRig, wait_s: float) -> None:
    began, sent = time.monotonic(), 0
    while time.monotonic() < began + 0.5:
        rig.publish([b"x"])
        sent += 1
    # it takes as long over them as they took to come
    rig.server.add_consumer(rig.stream, "slow", replay_policy="original")
    with NatsSource(rig.server.credential, stream=rig.stream, consumer="slow") as source:
        assert len(list(source.fetch(1000, wait_s))) == sent


def test_a_message_says_where_and_when_it_was_published(rig: NatsRig) -> None:
    before = time.time()
    rig.publish([b"x"])
    with rig.source() as source:
        (message,) = source.fetch(1, 10)
    assert (message.part, message.offset, message.id) == (rig.stream, 1, "1")
    assert message.key == f"{rig.stream}.test".encode()
    assert before - 1 <= message.published_at.timestamp() <= time.time() + 1


def test_two_thousand_headers_come_in_order(rig: NatsRig) -> None:
    headers = tuple((f"Key-{number % 7}", str(number).encode()) for number in range(2000))
    rig.publish([b"x"], headers)
    with rig.source() as source:
        (message,) = source.fetch(1, 10)
    assert message.attributes == headers


def test_many_are_fetched_and_acknowledged_in_more_than_one_request(rig: NatsRig) -> None:
    rig.publish([b"x"] * 5200)
    with rig.source() as source:
        got = list(source.fetch(5100, 10))
        assert [one.offset for one in got] == list(range(1, 5101))
        assert source.acknowledge(one.ack for one in got) == 5100
        assert source.consumer_facts().ack_floor == 5100


def test_a_fetch_at_the_limit_of_pending_acknowledgements_ends_and_loses_nothing(rig: NatsRig) -> None:
    rig.server.add_consumer(rig.stream, "narrow", max_ack_pending=4)
    rig.publish([b"x"] * 10)
    with NatsSource(rig.server.credential, stream=rig.stream, consumer="narrow") as source:
        first = list(source.fetch(10, 1))
        assert len(first) == 4
        assert list(source.fetch(10, 0.2)) == []
        source.acknowledge(one.ack for one in first)
        assert [one.deliveries for one in source.fetch(10, 10)] == [1, 1, 1, 1]


def test_a_missing_consumer_says_how_to_make_it(rig: NatsRig) -> None:
    with (
        NatsSource(rig.server.credential, stream=rig.stream, consumer="absent") as source,
        pytest.raises(SourceMissing, match=rf"nats consumer add {rig.stream} absent --pull --ack=explicit"),
    ):
        source.check()


def test_a_consumer_removed_meanwhile_is_missing(rig: NatsRig) -> None:
    rig.publish([b"x"])
    with rig.source() as source:
        (message,) = source.fetch(1, 10)
        rig.server.delete_consumer(rig.stream, "penstock")
        with pytest.raises(SourceMissing, match="nats consumer add"):
            list(source.fetch(1, 1))
        with pytest.raises(SourceMissing, match="acknowledgements find nobody"):
            source.acknowledge([message.ack])


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({"deliver_subject": "pushed.here"}, "pushes messages"),
        ({"ack_policy": AckPolicy.NONE}, "ack policy none"),
        ({"ack_policy": AckPolicy.ALL}, "ack policy all"),
        ({"headers_only": True}, "headers without bodies"),
        ({"max_deliver": 3}, "gives a message up after 3 deliveries"),
    ],
)
def test_a_consumer_that_would_lose_messages_is_unfit(rig: NatsRig, options: dict[str, object], complaint: str) -> None:
    rig.server.add_consumer(rig.stream, "odd", **options)
    with (
        NatsSource(rig.server.credential, stream=rig.stream, consumer="odd") as source,
        pytest.raises(SourceUnfit, match=complaint),
    ):
        source.check()


def test_an_ack_wait_too_short_is_unfit(rig: NatsRig) -> None:
    with rig.source() as source:
        source.check_ack_wait(60)
        with pytest.raises(SourceUnfit, match=r"waits 60 s .* may take 90 s.*--wait=90s"):
            source.check_ack_wait(90)
    rig.server.add_consumer(rig.stream, "impatient", ack_wait=60, max_deliver=5, backoff=[2.0, 30.0])
    with (
        NatsSource(rig.server.credential, stream=rig.stream, consumer="impatient") as source,
        pytest.raises(SourceUnfit, match="waits 2 s"),
    ):
        source.check_ack_wait(10)


def test_a_handle_of_something_else_is_not_published_to(rig: NatsRig) -> None:
    with rig.source() as source, pytest.raises(SourceUnfit, match="no handle"):
        source.acknowledge(["some.subject"])


def test_a_server_killed_during_a_fetch_is_unavailable_at_once(rig: NatsRig) -> None:
    with rig.source() as source:
        source.check()
        rig.stop_server()
        try:
            with pytest.raises(SourceUnavailable):
                list(source.fetch(1, 1))
        finally:
            rig.start_server()
        assert list(source.fetch(1, 0.1)) == []


def test_of_several_servers_the_first_that_answers_is_taken(rig: NatsRig) -> None:
    servers = ["nats://127.0.0.1:1", rig.server.credential["servers"]]
    with NatsSource(rig.server.credential | {"servers": servers}, stream=rig.stream, consumer="penstock") as source:
        source.check()


def test_a_login_in_the_address_is_not_shown(rig: NatsRig) -> None:
    with (
        NatsSource({"servers": "nats://me:hidden-4411@127.0.0.1:1"}, stream="s", consumer="c") as source,
        pytest.raises(SourceUnavailable, match=r"nats://127\.0\.0\.1:1 does not answer") as error,
    ):
        source.check()
    assert "hidden-4411" not in str(error.value)


@pytest.mark.parametrize(
    ("credential", "complaint"),
    [
        ({}, "must name its servers"),
        ({"servers": "nats://x", "pasword": "p"}, "does not know pasword"),
        ({"servers": "nats://x", "tls": {"ca": "f"}}, r"does not know tls\.ca"),
        ({"servers": "nats://x", "tls": {"ca_file": "absent.pem"}}, "cannot be used"),
        ({"servers": "nats://x", "nkey_seed_file": "absent.nk"}, "nkey_seed_file .* cannot be read"),
    ],
)
def test_a_credential_that_cannot_be_used_says_what_is_wrong(credential: dict[str, object], complaint: str) -> None:
    with pytest.raises(SourceRefused, match=complaint):
        NatsSource(credential, stream="s", consumer="c")


def test_a_server_without_jetstream_is_unfit(tmp_path: Path) -> None:
    with (
        Nats(tmp_path, jetstream=False) as server,
        NatsSource(server.credential, stream="s", consumer="c") as source,
        pytest.raises(SourceUnfit, match="has no JetStream"),
    ):
        source.check()


def test_tls_is_spoken_with_the_right_authority_and_refused_with_another(tmp_path: Path) -> None:
    ours, other = make_certificates(tmp_path / "ours"), make_certificates(tmp_path / "other")
    with Nats(tmp_path, certificates=ours) as server:
        for ca, error in ((ours.ca, SourceMissing), (other.ca, SourceRefused)):
            credential = server.credential | {"tls": {"ca_file": str(ca)}}
            with NatsSource(credential, stream="nowhere", consumer="c") as source, pytest.raises(error):
                source.check()


def test_a_key_pair_is_a_login(tmp_path: Path) -> None:
    seed = nkeys.encode_seed(os.urandom(32), nkeys.PREFIX_BYTE_USER)
    (tmp_path / "user.nk").write_bytes(seed)
    (tmp_path / "broken.nk").write_text("SUBROKEN")
    public = nkeys.from_seed(bytearray(seed)).public_key.decode()
    with Nats(tmp_path, login=f'users: [ {{ nkey: "{public}" }} ]') as server:
        servers = {"servers": server.credential["servers"]}
        for name, error in (("user.nk", SourceMissing), ("broken.nk", SourceRefused)):
            credential = servers | {"nkey_seed_file": str(tmp_path / name)}
            with NatsSource(credential, stream="nowhere", consumer="c") as source, pytest.raises(error):
                source.check()
        with NatsSource(servers, stream="nowhere", consumer="c") as source, pytest.raises(SourceRefused):
            source.check()


def test_acknowledgements_outlive_a_server_that_is_stopped_in_order(rig: NatsRig) -> None:
    rig.publish([b"x"] * 20)
    with rig.source() as source:
        source.acknowledge([one.ack for one in source.fetch(20, 10)])
        rig.server.stop()
        rig.server.start()
        assert (source.consumer_facts().ack_floor, source.backlog()) == (20, 0)


def test_a_forked_process_connects_for_itself(rig: NatsRig) -> None:
    rig.publish([b"x"] * 2)
    with rig.source() as source:
        assert len(list(source.fetch(1, 10))) == 1
        child = os.fork()
        if child == 0:
            status = 1
            try:
                status = 0 if len(list(source.fetch(1, 10))) == 1 else 1
            finally:
                # one that raises must not go on as a second run of these tests
                os._exit(status)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        assert source.backlog() == 2


def test_a_process_that_ends_without_closing_ends_at_once_and_in_silence(rig: NatsRig) -> None:
    rig.publish([b"x"])
    script = (
        "import json, sys; from penstock.sources.nats import NatsSource\n"
        "source = NatsSource(json.load(sys.stdin), stream=sys.argv[1], consumer='penstock')\n"
        "print(source.acknowledge([one.ack for one in source.fetch(5, 5)]))"
    )
    ran = subprocess.run(
        [sys.executable, "-c", script, rig.stream],
        input=json.dumps(rig.server.credential),
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "1\n", "")


def test_a_source_closed_under_calls_leaves_nobody_waiting(rig: NatsRig) -> None:
    source, is_over = rig.source(), Event()
    with ThreadPoolExecutor(4) as pool:
        asking = [pool.submit(_ask, source, is_over) for _ in range(4)]
        for _ in range(100):
            source.close()
        is_over.set()
        for one in asking:
            one.result(30)
    source.close()


def _ask(source: NatsSource, is_over: Event) -> None:
    while not is_over.is_set():
        with suppress(SourceUnavailable):
            source.backlog()


class TestNatsShows(PeekConformance):
    pass


@pytest.mark.parametrize("retention", ["limits", "workqueue", "interest"])
def test_looking_hands_nothing_out(retention: str, nats_server: Nats) -> None:
    stream = f"S{uuid4().hex[:10]}"
    nats_server.add_stream(stream, retention)
    nats_server.add_consumer(stream, "penstock", filter_subject=f"{stream}.a")
    for subject in "abab":
        nats_server.publish(f"{stream}.{subject}", [(subject.encode(), ())])
    with NatsSource(nats_server.credential, stream=stream, consumer="penstock") as source:
        (first,) = source.fetch(1, 5)
        source.acknowledge([first.ack])
        wait_until(lambda: source.consumer_facts().ack_floor >= first.offset, "the floor has moved", 10)
        assert [one.body for one in source.peek(10, Start(), {})] == [b"a"]
        facts = source.consumer_facts()
        assert (facts.num_pending, facts.num_ack_pending, facts.num_redelivered) == (1, 0, 0)
        (left,) = source.fetch(10, 5)
        assert (left.body, left.deliveries) == (b"a", 1)
