"""subscription: polled once within bounds, answered from anywhere, on real servers."""

import json
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from penstock.errors import OutOfTurn, SourceUnavailable
from penstock.jobs import PermanentError
from penstock.kernel.connection import Connection
from penstock.sources.nats import NatsSource
from penstock.worker.tools import subscription
from tests.acceptance.processes import until
from tests.parts.kafka import Kafka
from tests.parts.nats import Nats
from tests.sql.support import configure
from tests.tools.calling import Caller, now_ms
from tests.tools.rigs import KafkaRig, NatsRig, PubsubRig, Rig, Steps

BODIES = [b"one", b"two", b"three"]


@pytest.fixture(params=["nats", "kafka", "pubsub"])
def rig(request: pytest.FixtureRequest) -> Rig:
    if request.param == "nats":
        return NatsRig(request.getfixturevalue("nats_server"))
    if request.param == "kafka":
        return KafkaRig(request.getfixturevalue("kafka_broker"))
    return PubsubRig(request.getfixturevalue("pubsub_server"))


@pytest.fixture
def steps(caller: Caller, rig: Rig) -> Steps:
    return Steps(caller, rig)


def test_a_poll_gives_messages_that_refer_to_their_bodies(steps: Steps, rig: Rig) -> None:
    rig.publish(BODIES)
    result = steps.poll()
    assert (result["count"], sorted(result["bodies"])) == (3, ["one", "three", "two"])
    # a short answer of Pub/Sub does not say that nothing is left
    assert result["more"] == isinstance(rig, PubsubRig)
    if not isinstance(rig, PubsubRig):
        assert result["bodies"] == ["one", "two", "three"]
    assert [one["ref"] for one in result["messages"]] == [f"penstock://result/1#/bodies/{nth}" for nth in range(3)]
    assert all("handle" not in one and "data" not in one for one in result["messages"])
    assert len({one["id"] for one in result["messages"]}) == 3


def test_an_empty_source_gives_none(steps: Steps, rig: Rig) -> None:
    for timeout_ms in (0, 200):
        result = steps.poll(timeout_ms=timeout_ms)
        assert result == {"count": 0, "more": False, "messages": [], "bodies": []}


def test_bounds_are_clamped(steps: Steps, rig: Rig) -> None:
    rig.publish([b"x"] * 5)
    assert steps.poll(batch=-3, timeout_ms=99_999, ack="auto")["count"] == 1
    assert steps.poll(batch="2", ack="auto")["count"] == 2
    assert steps.poll(batch=5000, timeout_ms=-1, ack="auto")["count"] == 2
    with pytest.raises(PermanentError, match="batch is 'many': give a whole number"):
        steps.poll(batch="many")


def test_on_success_acknowledges_when_the_result_is_kept_and_not_before(steps: Steps, rig: Rig) -> None:
    rig.publish(BODIES)
    call = steps.call("poll", timeout_ms=3000)
    assert subscription.run(call)["count"] == 3
    (pledge,) = call.pledges
    assert rig.left() == 3
    pledge.kept()
    assert rig.left() == 0


def test_what_is_polled_comes_again_at_once_when_the_result_is_lost(steps: Steps, rig: Rig) -> None:
    for ack in ("on_success", "manual", "defer"):
        rig.publish([ack.encode()])
        call = steps.call("poll", timeout_ms=3000, ack=ack)
        subscription.run(call)
        call.pledges[0].lost()
        assert steps.poll(ack="auto")["bodies"] == [ack]


def test_auto_acknowledges_at_the_poll(steps: Steps, rig: Rig) -> None:
    rig.publish(BODIES)
    call = steps.call("poll", timeout_ms=3000, ack="auto")
    assert subscription.run(call)["count"] == 3
    assert (rig.left(), call.pledges) == (0, [])


def test_none_never_acknowledges(steps: Steps, rig: Rig) -> None:
    rig.publish(BODIES)
    call = steps.call("poll", timeout_ms=3000, ack="none")
    result = subscription.run(call)
    assert (rig.left(), call.pledges, "handle" in result["messages"][0]) == (3, [], False)


@pytest.mark.parametrize("ack", ["manual", "defer"])
def test_handles_are_answered_by_a_later_step_and_once_more_is_no_mistake(steps: Steps, rig: Rig, ack: str) -> None:
    rig.publish(BODIES)
    polled = steps.poll(ack=ack)
    assert rig.left() == 3
    assert steps.answer("ack", polled["messages"][0]["handle"]) == {"acknowledged": 1}
    assert rig.left() == 2
    assert steps.answer("ack", polled["messages"]) == {"acknowledged": 3}
    assert steps.answer("ack", [one["handle"] for one in polled["messages"]]) == {"acknowledged": 3}
    assert steps.answer("ack", []) == {"acknowledged": 0}
    assert rig.left() == 0


def test_what_is_given_back_comes_again(steps: Steps, rig: Rig) -> None:
    rig.publish(BODIES)
    polled = steps.poll(ack="manual")
    assert steps.answer("nack", polled["messages"]) == {"given_back": 3}
    assert rig.left() == 3
    again = steps.poll(ack="auto")
    assert sorted(one["id"] for one in again["messages"]) == sorted(one["id"] for one in polled["messages"])


def test_a_result_takes_what_it_has_room_for_and_the_rest_comes_again(steps: Steps, rig: Rig, db: Connection) -> None:
    configure(db, "queue.result.max_bytes", "4096")
    bodies = [bytes([97 + nth]) * 1000 for nth in range(7)]
    rig.publish(bodies)
    seen: list[str] = []
    while len(seen) < 7:
        result = steps.poll(ack="auto")
        assert 1 <= result["count"] <= 3
        row = db.execute("select octet_length((%s::jsonb)::text)", [json.dumps(result)]).fetchone()
        assert row is not None
        assert row[0] <= 4096
        seen += result["bodies"]
        # a short answer of Pub/Sub does not say that nothing is left
        assert result["more"] == (len(seen) < 7 or isinstance(rig, PubsubRig))
    assert sorted(seen) == [body.decode() for body in bodies]


def test_a_message_no_result_has_room_for_fails_the_step_and_stays(steps: Steps, rig: Rig, db: Connection) -> None:
    configure(db, "queue.result.max_bytes", "2048")
    rig.publish([b"x" * 5000])
    for _ in range(2):
        with pytest.raises(PermanentError, match=r"takes 5,.* room for 2,048.*queue\.result\.max_bytes"):
            steps.poll()
    assert rig.left() == 1


def test_bytes_are_kept_and_json_is_read_when_asked(steps: Steps, rig: Rig) -> None:
    rig.publish([b'{"n": 1}', b"\xff\x00", b"{", b'"a\\u0000b"', b"1e400"])
    polled = steps.poll(ack="manual")
    as_text: list[Any] = ['{"n": 1}', {"base64": "/wA="}, "{", '"a\\u0000b"', "1e400"]
    assert sorted(map(str, polled["bodies"])) == sorted(map(str, as_text))
    steps.answer("nack", polled["messages"])
    parsed = steps.poll(ack="auto", payload_from="message.json")
    assert sorted(map(str, parsed["bodies"])) == sorted(map(str, [{"n": 1}, *as_text[1:]]))
    assert [one.get("fault") for one in parsed["messages"]].count("not_json") == 4


@pytest.mark.parametrize(
    ("handles", "says"),
    [
        (None, "is no handle, and has none: poll with ack: manual"),
        ([{"id": "7"}], "is no handle, and has none"),
        (["", "x"], "is no handle, and has none"),
    ],
)
def test_what_is_no_handle_is_refused(steps: Steps, rig: Rig, handles: Any, says: str) -> None:
    with pytest.raises(PermanentError, match=says):
        steps.answer("ack", handles)


@pytest.mark.parametrize("rig", ["nats", "kafka"], indirect=True)
def test_text_that_the_source_never_gave_is_refused(steps: Steps, rig: Rig) -> None:
    with pytest.raises(PermanentError, match="'nonsense' is no handle of a"):
        steps.answer("ack", "nonsense")


def test_an_alias_that_is_not_there_or_is_for_something_else_is_refused(caller: Caller, rig: Rig) -> None:
    steps = Steps(caller, rig)
    with pytest.raises(PermanentError, match="has no credential nobody"):
        steps.poll(auth="nobody")
    caller.credentials("feed: {url: 'postgresql://x'}")
    with pytest.raises(PermanentError, match=r"^subscription: A credential for (NATS|Kafka|Pub/Sub)"):
        steps.poll()


def test_nats_counts_deliveries_and_can_drop_a_message(nats_server: Nats, caller: Caller) -> None:
    rig = NatsRig(nats_server)
    steps = Steps(caller, rig)
    rig.publish(BODIES)
    first = steps.poll(ack="manual")
    steps.answer("nack", first["messages"][1])
    again = steps.poll(ack="manual")
    assert [(one["id"], one["deliveries"]) for one in again["messages"]] == [("2", 2)]
    assert steps.answer("term", again["messages"]) == {"terminated": 1}
    assert steps.answer("ack", [first["messages"][0], first["messages"][2]]) == {"acknowledged": 2}
    assert (rig.left(), steps.poll(timeout_ms=300)["count"]) == (0, 0)


@pytest.mark.parametrize(("source", "expired"), [("nats", 2), ("pubsub", 3)])
def test_a_handle_that_has_expired_is_not_used_and_said_to_be(
    request: pytest.FixtureRequest, caller: Caller, source: str, expired: int
) -> None:
    """Of an answer before that, NATS knows."""
    server = request.getfixturevalue(f"{source}_server")
    rig: Rig = NatsRig(server, ack_wait=3) if source == "nats" else PubsubRig(server)
    steps = Steps(caller, rig)
    rig.publish(BODIES)
    old = steps.poll(ack="manual", ack_deadline_s=3)["messages"]
    if isinstance(rig, NatsRig):
        # by the server itself, for which it is never too late
        with NatsSource(rig.server.credential, stream=rig.stream, consumer="drain") as place:
            place.acknowledge([old[0]["handle"].rpartition("@")[0]])
    again: set[str] = set()

    def came_again() -> bool:
        again.update(one["id"] for one in steps.poll(timeout_ms=500, ack="none")["messages"])
        return again == {one["id"] for one in old[-expired:]}

    until(came_again, "they are handed out again")
    until(lambda: now_ms(caller) > int(old[0]["handle"].rpartition("@")[2]), "the handles have expired")
    for operation in ("ack", "nack", "term"):
        with pytest.raises(PermanentError, match=rf"{expired} of 3 handles have expired, the first .*Poll them again"):
            steps.answer(operation, old)
        assert rig.left() == expired


def test_handles_answered_before_they_expired_need_no_second_answer(nats_server: Nats, caller: Caller) -> None:
    """A worker that dies after an acknowledgement leaves the step to another, which may be late."""
    rig = NatsRig(nats_server)
    steps = Steps(caller, rig)
    rig.publish(BODIES)
    old = [one["handle"] for one in steps.poll(ack="manual")["messages"]]
    steps.answer("ack", old)
    rig.publish([b"x"])
    steps.poll(ack="none")
    expired = [f"{handle.rpartition('@')[0]}@{now_ms(caller) - 1}" for handle in old]
    assert steps.answer("ack", expired) == {"acknowledged": 3}


def test_a_consumer_that_is_not_there_is_told_how_to_make(nats_server: Nats, caller: Caller) -> None:
    steps = Steps(caller, NatsRig(nats_server))
    with pytest.raises(PermanentError, match=r"no durable consumer other\. Run: nats consumer add .* other --pull"):
        steps.poll(consumer="other")
    with pytest.raises(PermanentError, match="There is no stream NOWHERE"):
        steps.poll(stream="NOWHERE")


def test_handles_of_another_consumer_are_refused(nats_server: Nats, caller: Caller) -> None:
    rig = NatsRig(nats_server)
    nats_server.add_consumer(rig.stream, "other")
    steps = Steps(caller, rig)
    rig.publish(BODIES)
    polled = steps.poll(ack="manual", consumer="other")
    with pytest.raises(PermanentError, match="of the consumer other of stream"):
        steps.answer("ack", polled["messages"])


def test_a_server_that_is_away_is_tried_again(caller: Caller) -> None:
    caller.credentials("feed: {servers: 'nats://127.0.0.1:9'}")
    call = caller({"operation": "poll", "source": "nats", "auth": "feed", "stream": "S", "consumer": "c"})
    with pytest.raises(SourceUnavailable, match="does not answer"):
        subscription.run(call)


def test_kafka_goes_over_messages_in_order_only(kafka_broker: Kafka, caller: Caller) -> None:
    rig = KafkaRig(kafka_broker, partitions=2)
    steps = Steps(caller, rig)
    rig.publish([b"a", b"b", b"c", b"d"], partition=0)
    rig.publish([b"e"], partition=1)
    polled = {one["id"]: one for one in steps.poll(ack="manual")["messages"]}
    a, b, c, d = (polled[f"{rig.topic}:0:{nth}"] for nth in range(4))
    with pytest.raises(OutOfTurn, match=rf"2 of 4 messages .*{rig.topic}:0:2 \(the group stands at 1\)"):
        steps.answer("ack", [a, c, d, polled[f"{rig.topic}:1:0"]])
    assert rig.offsets() == {0: 1, 1: 1}
    assert steps.answer("nack", [b]) == {"given_back": 1}
    assert rig.offsets() == {0: 1, 1: 1}
    assert steps.answer("ack", [d, b, c]) == {"acknowledged": 3}
    assert steps.answer("ack", a) == {"acknowledged": 1}
    assert rig.offsets() == {0: 4, 1: 1}
    with pytest.raises(PermanentError, match="Kafka cannot drop one message"):
        steps.answer("term", a)


def test_kafka_is_told_where_the_group_stands_in_every_partition(kafka_broker: Kafka, caller: Caller) -> None:
    """It forgets an offset that nobody has set for a week, also while those of other partitions move."""
    rig = KafkaRig(kafka_broker, partitions=3)
    steps = Steps(caller, rig)
    rig.publish([b"a", b"b"], partition=0)
    steps.answer("ack", steps.poll(ack="manual")["messages"])
    assert rig.offsets() == {0: 2, 1: 0, 2: 0}
    rig.publish([b"c"], partition=1)
    steps.answer("ack", steps.poll(ack="manual")["messages"])
    assert rig.offsets() == {0: 2, 1: 1, 2: 0}


def test_kafka_keeps_keys_headers_and_tombstones(kafka_broker: Kafka, caller: Caller) -> None:
    rig = KafkaRig(kafka_broker)
    kafka_broker.publish(rig.topic, [(b"k", None, [("A", b"1"), ("a", b"\xff"), ("n", None)])])
    result = Steps(caller, rig).poll()
    (message,) = result["messages"]
    assert (message["key"], message["headers"]) == ("k", {"a": ["1", {"base64": "/w=="}], "n": ""})
    assert (result["bodies"], message["id"], message["deliveries"]) == ([None], f"{rig.topic}:0:0", None)


def test_kafka_waits_for_a_first_message_where_only_the_mark_of_a_transaction_is_left(
    kafka_broker: Kafka, caller: Caller
) -> None:
    rig = KafkaRig(kafka_broker)
    producer = kafka_broker.transactional(rig.topic)
    producer.begin_transaction()
    producer.produce(rig.topic, b"one")
    producer.commit_transaction(60)
    steps = Steps(caller, rig)
    assert steps.poll(ack="auto")["bodies"] == ["one"]
    with ThreadPoolExecutor(1) as pool:
        polling = pool.submit(steps.poll, timeout_ms=5000, ack="auto")
        rig.publish([b"two"])
        assert polling.result()["bodies"] == ["two"]
    assert rig.left() == 0


def test_kafka_says_what_retention_took_before_anybody_polled(kafka_broker: Kafka, caller: Caller) -> None:
    rig = KafkaRig(kafka_broker)
    steps = Steps(caller, rig)
    rig.publish([b"a", b"b", b"c", b"d"])
    steps.answer("ack", steps.poll(ack="manual", batch=1)["messages"])
    kafka_broker.delete_records(rig.topic, before=3)
    polled = steps.poll(ack="manual")
    assert (polled["bodies"], polled["lost"]) == (["d"], 2)
    steps.answer("ack", polled["messages"])
    assert rig.offsets() == {0: 4}


def test_kafka_handles_of_a_topic_made_again_are_refused(kafka_broker: Kafka, caller: Caller) -> None:
    rig = KafkaRig(kafka_broker)
    steps = Steps(caller, rig)
    rig.publish([b"old"])
    old = steps.poll(ack="manual")["messages"]
    kafka_broker.delete_topic(rig.topic)
    kafka_broker.add_topic(rig.topic, 1)
    rig.publish([b"new"])
    with pytest.raises(PermanentError, match="that was removed"):
        steps.answer("ack", old)
    assert steps.poll()["bodies"] == ["new"]


def test_a_topic_that_is_not_there_is_named(kafka_broker: Kafka, caller: Caller) -> None:
    rig = KafkaRig(kafka_broker)
    with pytest.raises(PermanentError, match="no topic nowhere"):
        Steps(caller, rig).poll(topics=["nowhere"])
