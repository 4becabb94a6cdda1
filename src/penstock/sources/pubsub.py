"""Google Pub/Sub: messages of one subscription, pulled here and acknowledged from anywhere."""

import time
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from itertools import islice
from typing import Any

from google.api_core import exceptions as said
from google.pubsub_v1 import types
from google.pubsub_v1.services.subscriber import SubscriberClient

from penstock.catalog.source import Start
from penstock.closing import Closing
from penstock.errors import SourceUnavailable
from penstock.sources.contract import Message, Peeked, Span, all_or_given_back
from penstock.sources.pubsub_facts import MARK, SubscriptionFacts, facts_of
from penstock.sources.pubsub_wire import ANSWER_S, Wire, pull

DEADLINE_S = 120
# a pull is given so long at least, also one that is answered at once: the server may hand messages to a call that is
# broken off, and nobody has them until their time is over; and with less it may say nothing though it has messages
PULL_S = 10.0
PULL_AT_ONCE = 1000
# so that their ids fit into a request of 512 KiB
SETTLE_AT_ONCE = 1000
# of its deadline a fetch takes no more than this: the rest is for the commit
FETCH_SHARE = 0.25
# after so long a fetch goes on only as long as its answers hold so many: a trickle belongs to the next one
TRICKLE_S = 1.0
FLOOD = 100
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
# Pub/Sub is younger. What was published before the time of a seek counts as acknowledged: no clock of ours may say it
BEFORE_ALL = datetime(2010, 1, 1, tzinfo=UTC)
# Pub/Sub does not number messages: their offset is when they were published, in microseconds, and no end is known
BEYOND_ALL = 2**62
GONE = "PERMANENT_FAILURE"
AGAIN = "TRANSIENT_FAILURE"


class PubsubSource(Closing):
    """One subscription. Connects when first asked, and again after the connection was lost.

    It pulls, and opens no stream: a stream is for who stays, a task stays for a batch, and whatever is on its way when
    a stream is closed comes to nobody.
    """

    def __init__(
        self,
        credential: Mapping[str, Any],
        *,
        subscription: str,
        deadline_s: int = DEADLINE_S,
        marks: bool = False,
        in_order: bool = False,
    ) -> None:
        self._wire = Wire(credential, subscription)
        self._subscription = subscription
        self._deadline_s = deadline_s
        self._marks = marks
        self._in_order = in_order

    def check(self) -> None:
        facts = self.facts()
        facts.check(in_order=self._in_order)
        if self._marks:
            # as they are: whether we may is known only by doing it
            self._set_labels(facts.labels)

    def facts(self) -> SubscriptionFacts:
        request = types.GetSubscriptionRequest(subscription=self._subscription)
        answer = self._wire.call(SubscriberClient.get_subscription, request, retry=None, timeout=ANSWER_S)
        return facts_of(types.Subscription.pb(answer))

    def spans(self) -> tuple[Span, ...]:
        # ids are unique within a topic: a subscription that was made again gives none a second time
        facts = self.facts()
        return (Span(self._subscription, facts.topic, 0, BEYOND_ALL, retention_s=facts.retention_s),)

    def backlog(self) -> None:
        """Pub/Sub's API does not say: only Cloud Monitoring does, minutes later."""

    def floors(self) -> dict[str, int]:
        return {}

    def fetch(self, limit: int, wait_s: float) -> Iterator[Message]:
        batch, left = self.answer(min(limit, PULL_AT_ONCE), wait_s), limit
        since = time.monotonic()
        while batch:
            yield from all_or_given_back(batch, self.give_back)
            left -= len(batch)
            took_s = time.monotonic() - since
            is_trickle = len(batch) < FLOOD and took_s > TRICKLE_S
            if left <= 0 or is_trickle or took_s > self._deadline_s * FETCH_SHARE:
                return
            batch = self.answer(min(left, PULL_AT_ONCE), 0)

    def answer(self, limit: int, wait_s: float) -> list[Message]:
        """What one answer of the server holds: of the first that is not empty within this time."""
        if limit <= 0:
            return []
        until = time.monotonic() + wait_s
        while True:
            patience_s = max(PULL_S, until - time.monotonic())
            batch = self._wire.call(self._ask, limit, patience_s, is_waiting=wait_s > 0)
            # an answer may be empty before the time is over
            if batch or time.monotonic() >= until:
                return batch

    def acknowledge(self, handles: Iterable[str]) -> int:
        return sum(self._acknowledge(some) for some in _by(SETTLE_AT_ONCE, handles))

    def give_back(self, handles: Iterable[str]) -> None:
        for some in _by(SETTLE_AT_ONCE, handles):
            self._wire.call(self._set_deadline, some, 0)

    def peek(self, limit: int, start: Start, ledger: Mapping[str, int]) -> Iterator[Peeked]:
        """Pulled, and given back at once: there is no other way to look. To Pub/Sub it is a delivery."""
        found: list[Message] = []
        try:
            found.extend(self.fetch(limit, PULL_S))
        finally:
            self.give_back(one.ack for one in found)
        for one in found:
            yield Peeked(one.part, one.offset, one.id, one.published_at, one.key, one.body, one.attributes)

    def mark(self, ledger: str) -> int:
        return self.facts().mark(ledger) if self._marks else 0

    def set_mark(self, ledger: str, number: int) -> None:
        if not self._marks:
            return
        # all labels are written at once, so those of others are written back
        self._set_labels({**self.facts().labels, MARK: f"{ledger}_{number}"})

    def rewind(self) -> bool:
        if not self.facts().retains_acked:
            return False
        request = types.SeekRequest(subscription=self._subscription, time=BEFORE_ALL)
        self._wire.call(SubscriberClient.seek, request, retry=None, timeout=ANSWER_S)
        return True

    def close(self) -> None:
        self._wire.close()

    def _set_labels(self, labels: Mapping[str, str]) -> None:
        request = types.UpdateSubscriptionRequest(
            subscription=types.Subscription(name=self._subscription, labels=dict(labels)),
            update_mask={"paths": ["labels"]},
        )
        self._wire.call(SubscriberClient.update_subscription, request, retry=None, timeout=ANSWER_S)

    def _ask(self, client: SubscriberClient, limit: int, patience_s: float, *, is_waiting: bool) -> list[Message]:
        request = types.PullRequest(
            subscription=self._subscription, max_messages=limit, return_immediately=not is_waiting
        )
        try:
            answer = pull(client, request, patience_s)
        except said.DeadlineExceeded:
            return []
        received = types.PullResponse.pb(answer).received_messages
        if received:
            # from now on, and not as long as the subscription says: a batch takes as long as a batch takes
            self._set_deadline(client, [one.ack_id for one in received], self._deadline_s)
        return [_message(self._subscription, one) for one in received]

    def _set_deadline(self, client: SubscriberClient, handles: list[str], seconds: int) -> None:
        request = types.ModifyAckDeadlineRequest(
            subscription=self._subscription, ack_ids=handles, ack_deadline_seconds=seconds
        )
        try:
            client.modify_ack_deadline(request, retry=None, timeout=ANSWER_S)
        except said.GoogleAPICallError as error:
            if not _verdicts(error):
                raise

    def _acknowledge(self, handles: list[str]) -> int:
        """Where delivery is exactly once, the server says of each handle whether it was still good."""
        gone, left = 0, handles
        for _ in range(3):
            verdicts = self._wire.call(self._acknowledged, left)
            gone += sum(verdict.startswith(GONE) for verdict in verdicts.values())
            left = [handle for handle in left if verdicts.get(handle, "").startswith(AGAIN)]
            if not left:
                # a handle that has expired is no failure: its message comes again, and is known by then
                return len(handles) - gone
        raise SourceUnavailable(
            f"Pub/Sub at {self._wire.name} did not take {len(left)} of {len(handles)} acknowledgements for "
            f"{self._subscription}. They may be sent again; unconfirmed messages come again."
        )

    def _acknowledged(self, client: SubscriberClient, handles: list[str]) -> Mapping[str, str]:
        request = types.AcknowledgeRequest(subscription=self._subscription, ack_ids=handles)
        try:
            client.acknowledge(request, retry=None, timeout=ANSWER_S)
        except said.GoogleAPICallError as error:
            verdicts = _verdicts(error)
            if not verdicts:
                raise
            return verdicts
        return {}


def _verdicts(error: said.GoogleAPICallError) -> Mapping[str, str]:
    """What the server says of single handles, if that is what it says."""
    found = dict(error.metadata or {})
    return {handle: word for handle, word in found.items() if word.startswith((GONE, AGAIN))}


def _message(part: str, one: Any) -> Message:
    sent = one.message
    microseconds = sent.publish_time.seconds * 1_000_000 + sent.publish_time.nanos // 1000
    return Message(
        part=part,
        offset=microseconds,
        id=sent.message_id,
        published_at=EPOCH + timedelta(microseconds=microseconds),
        key=sent.ordering_key.encode() or None,
        body=sent.data,
        attributes=tuple((key, value.encode()) for key, value in sorted(sent.attributes.items())),
        ack=one.ack_id,
        deliveries=one.delivery_attempt,
    )


def _by(size: int, handles: Iterable[str]) -> Iterator[list[str]]:
    rest = iter(handles)
    while some := list(islice(rest, size)):
        yield some
