"""What every source client must do. A new one brings a rig and inherits the tests."""

from collections.abc import Sequence
from typing import Protocol

import pytest

from penstock.catalog.source import Start
from penstock.errors import SourceMissing, SourceRefused, SourceUnavailable
from penstock.sources.contract import Attributes, Message, Peekable, Peeked, Queue, Source
from tests.acceptance.processes import until

WRONG_PASSWORD = "not-the-password-7731"

HEADERS = (
    ("Plain", b"value"),
    ("plain", b"other case"),
    ("Twice", b"first"),
    ("Twice", b"second"),
    ("Empty", b""),
    ("Unicode", "Grüße ✓".encode()),
    ("Broken", b"\xff\xfe not UTF-8"),
    ("Zero", b"a\x00b"),
    ("Status", b"404"),
    ("Colon", b"a: b"),
)


def _spans(source: Source) -> object:
    """None while a server that has just come back is not sure of itself: Kafka's leader is elected anew."""
    try:
        return source.spans()
    except SourceUnavailable:
        return None


class Rig(Protocol):
    """A place of its own on a real server, and the server itself."""

    def source(self) -> Source:
        """The client under test, on an existing place. The test closes it."""

    def source_elsewhere(self) -> Source:
        """The same for a place that does not exist."""

    def source_with(self, password: str) -> Source:
        """The same with another password."""

    def publish(self, bodies: Sequence[bytes], headers: Attributes = ()) -> None:
        """Have the server keep these, in this order."""

    def make_again(self) -> None:
        """Remove the place with all its messages, and make an empty one of the same name."""

    def stop_server(self) -> None: ...

    def start_server(self) -> None: ...


class PeekRig(Rig, Protocol):
    def peeking(self) -> Peekable:
        """The same client, for looking at messages."""


class QueueRig(Rig, Protocol):
    def source(self) -> Queue: ...


class NumberedConformance:
    """What numbers promise."""

    def test_an_empty_one_spans_nothing(self, rig: Rig) -> None:
        source = rig.source()
        assert sum(span.next - span.first for span in source.spans()) == 0
        source.close()

    def test_its_spans_count_what_was_published(self, rig: Rig) -> None:
        rig.publish([b"one", b"two", b"three"])
        source = rig.source()
        spans = source.spans()
        assert sum(span.next - span.first for span in spans) == 3
        assert [span.part for span in spans] == sorted({span.part for span in spans})
        source.close()

    def test_a_place_made_again_has_another_identity(self, rig: Rig) -> None:
        source = rig.source()
        before = {span.identity for span in source.spans()}
        assert {span.identity for span in source.spans()} == before
        rig.make_again()
        assert not before & {span.identity for span in source.spans()}
        source.close()


class AnySourceConformance:
    """For any source, also one that does not number its messages."""

    def test_one_that_is_there_passes_the_check(self, rig: Rig) -> None:
        source = rig.source()
        source.check()
        source.check()
        source.close()

    def test_one_that_is_not_there_is_missing_and_named(self, rig: Rig) -> None:
        source = rig.source_elsewhere()
        with pytest.raises(SourceMissing, match="nowhere"):
            source.check()
        source.close()

    def test_a_wrong_password_is_refused_and_not_repeated(self, rig: Rig) -> None:
        source = rig.source_with(WRONG_PASSWORD)
        with pytest.raises(SourceRefused, match="refused the credential") as refused:
            source.check()
        assert WRONG_PASSWORD not in str(refused.value)
        source.close()

    def test_a_server_that_is_down_is_unavailable_and_found_again_with_all_it_had(self, rig: Rig) -> None:
        rig.publish([b"one", b"two"])
        source = rig.source()
        before = source.spans()
        rig.stop_server()
        try:
            with pytest.raises(SourceUnavailable, match="does not answer"):
                source.check()
        finally:
            rig.start_server()
        source.check()
        until(lambda: _spans(source) == before, "it is found again with all it had")
        source.close()

    def test_closing_twice_is_no_mistake(self, rig: Rig) -> None:
        source = rig.source()
        source.close()
        source.check()
        source.close()
        source.close()


class SourceConformance(AnySourceConformance, NumberedConformance):
    """For one that numbers its messages."""


class AnyQueueConformance(AnySourceConformance):
    """For one that hands out messages and hears that they are done."""

    # what it can carry
    headers: Attributes = HEADERS
    large_bytes = 5 * 2**20

    def test_it_hands_out_what_was_published(self, rig: QueueRig) -> None:
        bodies = [f"body {number}".encode() for number in range(25)]
        rig.publish(bodies)
        source = rig.source()
        got = _fetched(source, 100)
        assert sorted(one.body for one in got) == sorted(bodies)
        assert len({one.id for one in got}) == len({one.ack for one in got}) == len(bodies)
        source.close()

    def test_what_is_acknowledged_is_gone_and_the_rest_is_not(self, rig: QueueRig) -> None:
        rig.publish([str(number).encode() for number in range(10)])
        source = rig.source()
        got = _fetched(source, 10)
        assert source.acknowledge(one.ack for one in got[:4]) == 4
        source.give_back(one.ack for one in got)
        again = _fetched(source, 10)
        assert {one.body for one in again} == {one.body for one in got[4:]}
        source.close()

    def test_bytes_and_headers_come_as_they_were_published(self, rig: QueueRig) -> None:
        body = bytes(range(256)) * 4
        rig.publish([body, b""], self.headers)
        source = rig.source()
        got = _fetched(source, 2)
        assert {one.body for one in got} == {body, b""}
        assert [one.attributes for one in got] == [self.headers, self.headers]
        source.close()

    def test_a_large_message_comes_whole(self, rig: QueueRig) -> None:
        body = b"x" * self.large_bytes
        rig.publish([body] * 3)
        source = rig.source()
        assert [one.body for one in _fetched(source, 3)] == [body] * 3
        source.close()

    def test_no_more_than_asked_for_are_handed_out(self, rig: QueueRig) -> None:
        rig.publish([b"x"] * 10)
        source = rig.source()
        assert [len(_fetched(source, limit)) for limit in (3, 5, 9)] == [3, 5, 2]
        source.close()

    def test_nothing_comes_from_an_empty_one(self, rig: QueueRig) -> None:
        source = rig.source()
        assert list(source.fetch(10, 0.2)) == []
        assert list(source.fetch(10, 0)) == []
        source.close()

    def test_another_process_may_acknowledge_and_do_so_twice(self, rig: QueueRig) -> None:
        rig.publish([b"x"] * 5)
        fetching, acknowledging = rig.source(), rig.source()
        handles = [one.ack for one in _fetched(fetching, 5)]
        fetching.close()
        assert acknowledging.acknowledge(handles) == 5
        assert acknowledging.acknowledge(handles) == 5
        assert list(acknowledging.fetch(5, 0.2)) == []
        assert not acknowledging.backlog()
        acknowledging.close()

    def test_what_is_given_back_is_handed_out_again(self, rig: QueueRig) -> None:
        rig.publish([b"one", b"two", b"three"])
        source = rig.source()
        first = _fetched(source, 3)
        source.give_back([first[1].ack])
        (again,) = _fetched(source, 1)
        assert (again.body, again.offset, again.id) == (first[1].body, first[1].offset, first[1].id)
        assert (first[1].deliveries, again.deliveries) == (1, 2)
        source.close()

    def test_what_a_caller_did_not_take_is_handed_out_again(self, rig: QueueRig) -> None:
        rig.publish([b"one", b"two", b"three"])
        source = rig.source()
        fetching = source.fetch(3, 5)
        taken = next(iter(fetching)).body
        fetching.close()  # type: ignore[attr-defined]
        assert {one.body for one in _fetched(source, 2)} == {b"one", b"two", b"three"} - {taken}
        source.close()

    def test_two_fetch_side_by_side_and_no_message_comes_to_both(self, rig: QueueRig) -> None:
        rig.publish([str(number).encode() for number in range(40)])
        one, other = rig.source(), rig.source()
        got = [message for _ in range(4) for source in (one, other) for message in _fetched(source, 5)]
        assert sorted(int(message.body) for message in got) == list(range(40))
        assert one.acknowledge(message.ack for message in got) == 40
        one.close()
        other.close()

    def test_acknowledging_nothing_is_no_mistake(self, rig: QueueRig) -> None:
        source = rig.source()
        assert source.acknowledge([]) == 0
        source.give_back([])
        source.close()


class QueueConformance(AnyQueueConformance, SourceConformance):
    """For one that numbers and counts what it hands out."""

    def test_it_hands_out_in_order_what_was_published(self, rig: QueueRig) -> None:
        bodies = [f"body {number}".encode() for number in range(25)]
        rig.publish(bodies)
        with_source = rig.source()
        got = _fetched(with_source, 100)
        assert [one.body for one in got] == bodies
        assert [one.offset for one in got] == sorted({one.offset for one in got})
        assert {one.deliveries for one in got} == {1}
        assert len({one.id for one in got}) == len({one.ack for one in got}) == len(bodies)
        with_source.close()

    def test_what_is_acknowledged_is_gone_and_the_rest_counts_as_backlog(self, rig: QueueRig) -> None:
        rig.publish([b"x"] * 10)
        source = rig.source()
        assert source.backlog() == 10
        got = _fetched(source, 6)
        assert source.acknowledge(one.ack for one in got[:4]) == 4
        assert source.backlog() == 6
        source.close()


def _fetched(source: Queue, limit: int) -> list[Message]:
    """What comes within a time that is long enough for a busy machine."""
    return list(source.fetch(limit, 10))


class PeekConformance:
    """For a source whose messages can be looked at without taking them."""

    def test_what_is_looked_at_is_what_was_published(self, rig: PeekRig) -> None:
        rig.publish([b"{}", b"\xff\x00", b""], HEADERS)
        found = _peeked(rig, 10)
        assert sorted(one.body or b"" for one in found) == [b"", b"{}", b"\xff\x00"]
        assert {one.attributes for one in found} == {HEADERS}
        assert all(str(one.offset) in one.id for one in found)

    def test_no_more_are_looked_at_than_were_asked_for(self, rig: PeekRig) -> None:
        rig.publish([b"%d" % number for number in range(20)])
        assert len(_peeked(rig, 7)) == 7

    def test_an_empty_one_shows_nothing_and_does_not_wait(self, rig: PeekRig) -> None:
        assert _peeked(rig, 5) == []

    def test_nothing_is_taken_by_looking(self, rig: PeekRig) -> None:
        rig.publish([b"%d" % number for number in range(5)])
        source = rig.source()
        before = source.spans()
        assert sorted(_peeked(rig, 5), key=str) == sorted(_peeked(rig, 5), key=str)
        assert source.spans() == before
        source.close()


def _peeked(rig: PeekRig, limit: int) -> list[Peeked]:
    source = rig.peeking()
    try:
        return list(source.peek(limit, Start(), {}))
    finally:
        source.close()  # type: ignore[attr-defined]
