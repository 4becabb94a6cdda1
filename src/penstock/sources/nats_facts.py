"""What JetStream says of a stream and of its consumer, and whether Penstock can work with them."""

import json
from dataclasses import dataclass
from typing import Any

from penstock.errors import SourceMissing, SourceUnavailable, SourceUnfit

NANOSECONDS = 1_000_000_000
STREAM_NOT_FOUND = 10059
CONSUMER_NOT_FOUND = 10014
ACK_WAIT_ADVISED = "5m"


@dataclass(frozen=True)
class ConsumerFacts:
    """A stream and its durable consumer as they are now."""

    stream: str
    consumer: str
    # the server's own text: a stream that was made again has another one, and the same sequences
    stream_created: str
    retention: str
    first_sequence: int
    last_sequence: int
    messages: int
    ack_floor: int
    delivered: int
    num_pending: int
    num_ack_pending: int
    num_redelivered: int
    ack_policy: str
    ack_wait_s: float
    max_ack_pending: int
    max_deliver: int
    deliver_policy: str
    is_pull: bool
    headers_only: bool
    is_filtered: bool

    @property
    def is_full(self) -> bool:
        """Whether it hands nothing out until something is acknowledged."""
        return 0 < self.max_ack_pending <= self.num_ack_pending

    def check(self) -> None:
        """Refuse a consumer that would lose messages, or none of which could be fetched."""
        name = f"The consumer {self.consumer} of stream {self.stream}"
        if not self.is_pull:
            raise SourceUnfit(f"{name} pushes messages; Penstock fetches them. {self._make_another()}")
        if self.ack_policy != "explicit":
            raise SourceUnfit(f"{name} has ack policy {self.ack_policy}, and needs explicit. {self._make_another()}")
        if self.headers_only:
            raise SourceUnfit(f"{name} delivers headers without bodies. {self._make_another()}")
        if self.max_deliver > 0:
            raise SourceUnfit(
                f"{name} gives a message up after {self.max_deliver} deliveries, which would lose it. "
                f"Run: nats consumer edit {self.stream} {self.consumer} --max-deliver=-1"
            )

    def holds_from(self, sequence: int) -> bool:
        """Whether the stream keeps what was acknowledged, and still has it from this sequence on."""
        return self.retention == "limits" and self.first_sequence <= sequence

    def is_done_before(self, sequence: int) -> bool:
        """Whether everything for this consumer before that sequence is acknowledged."""
        return self.ack_floor >= sequence - 1 or self.num_pending + self.num_ack_pending == 0

    def check_ack_wait(self, min_s: float) -> None:
        """Refuse a consumer that would hand messages out again while the first batch is still being committed."""
        if self.ack_wait_s < min_s:
            raise SourceUnfit(
                f"The consumer {self.consumer} of stream {self.stream} waits {self.ack_wait_s:g} s for an "
                f"acknowledgement, and a batch may take {min_s:g} s. "
                f"Run: nats consumer edit {self.stream} {self.consumer} --wait={min_s:.0f}s"
            )

    def _make_another(self) -> str:
        return f"Make another one: {add_command(self.stream, 'NAME')}"


def add_command(stream: str, consumer: str) -> str:
    """How to make a consumer that fits."""
    return (
        f"nats consumer add {stream} {consumer} --pull --ack=explicit --deliver=all --replay=instant "
        f"--wait={ACK_WAIT_ADVISED} --max-deliver=-1 --max-pending=100000 --defaults"
    )


def facts_of(stream: dict[str, Any], consumer: dict[str, Any]) -> ConsumerFacts:
    """From the server's two answers."""
    config, state = consumer["config"], stream["state"]
    waits = [config.get("ack_wait", 0), *config.get("backoff", [])]
    return ConsumerFacts(
        stream=stream["config"]["name"],
        consumer=consumer["name"],
        stream_created=stream["created"],
        retention=stream["config"]["retention"],
        first_sequence=state["first_seq"],
        last_sequence=state["last_seq"],
        messages=state["messages"],
        ack_floor=consumer["ack_floor"]["stream_seq"],
        delivered=consumer["delivered"]["stream_seq"],
        num_pending=consumer["num_pending"],
        num_ack_pending=consumer["num_ack_pending"],
        num_redelivered=consumer["num_redelivered"],
        ack_policy=config["ack_policy"],
        # with a backoff the shortest wait is the one that may strike first
        ack_wait_s=min(waits) / NANOSECONDS,
        max_ack_pending=config.get("max_ack_pending", -1),
        max_deliver=config.get("max_deliver", -1),
        deliver_policy=config["deliver_policy"],
        is_pull="deliver_subject" not in config,
        headers_only=config.get("headers_only", False),
        is_filtered=bool(config.get("filter_subject") or config.get("filter_subjects")),
    )


def answer(body: bytes, stream: str, consumer: str, at: str) -> dict[str, Any]:
    """The server's answer to a question, or the error that it is."""
    said: dict[str, Any] = json.loads(body)
    error = said.get("error")
    if error is None:
        return said
    if error.get("err_code") == STREAM_NOT_FOUND:
        raise SourceMissing(
            f"There is no stream {stream} at {at}. "
            f"Run: nats stream add {stream} --subjects=SUBJECT --defaults, or correct the subscription's stream."
        )
    if error.get("err_code") == CONSUMER_NOT_FOUND:
        raise SourceMissing(
            f"The stream {stream} at {at} has no durable consumer {consumer}. Run: {add_command(stream, consumer)}"
        )
    raise SourceUnavailable(f"JetStream at {at} does not answer: {error.get('description')}. Look at the server's log.")
