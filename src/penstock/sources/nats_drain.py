"""A durable consumer of NATS as steps of a playbook use it."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from penstock.errors import SourceUnfit
from penstock.sources.drain import QueueDrain
from penstock.sources.nats import NatsSource, place_of


class NatsDrain(QueueDrain):
    """Handles are reply subjects. The server takes an answer that comes too late as well: it must not be sent."""

    def __init__(self, credential: Mapping[str, Any], *, stream: str, consumer: str) -> None:
        self._nats = NatsSource(credential, stream=stream, consumer=consumer)
        self._place = (stream, consumer)
        super().__init__(self._nats, hold_s=0)

    def hold_s(self) -> float:
        """Asked with each poll, since a consumer can be changed; one that would lose messages is refused."""
        facts = self._nats.consumer_facts()
        facts.check()
        return facts.ack_wait_s

    def acknowledge(self, handles: Sequence[str]) -> None:
        super().acknowledge(self._ours(handles))

    def give_back(self, handles: Sequence[str]) -> None:
        super().give_back(self._ours(handles))

    def terminate(self, handles: Sequence[str]) -> None:
        self._nats.terminate(self._ours(handles))

    def settled(self, handles: Iterable[str]) -> set[str]:
        facts = self._nats.consumer_facts()
        floor = facts.delivered if facts.num_ack_pending == 0 else facts.ack_floor
        return {handle for handle in self._ours(list(handles)) if place_of(handle)[2] <= floor}

    def _ours(self, handles: Sequence[str]) -> Sequence[str]:
        for handle in handles:
            stream, consumer, _ = place_of(handle)
            if (stream, consumer) != self._place:
                raise SourceUnfit(
                    f"A handle is of the consumer {consumer} of stream {stream}, and this step names {self._place[1]} "
                    f"of {self._place[0]}: name the consumer that the message was polled from."
                )
        return handles
