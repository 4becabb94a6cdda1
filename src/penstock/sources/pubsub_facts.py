"""What Pub/Sub says of a subscription, and whether Penstock can work with it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from penstock.errors import SourceUnfit

DELETED_TOPIC = "_deleted-topic_"
# Pub/Sub's own, where a subscription does not say
RETENTION_S = 7 * 86_400
# the label that holds a ledger's name and the number of its last batch that may have been acknowledged
MARK = "penstock_batch"


@dataclass(frozen=True)
class SubscriptionFacts:
    """A subscription as it is now."""

    name: str
    topic: str
    # after so long no message can come again, not even by a seek
    retention_s: int
    retains_acked: bool
    is_ordered: bool
    # to whom it delivers by itself, if it does
    delivers_to: str | None
    is_detached: bool
    labels: Mapping[str, str] = field(default_factory=dict)

    def mark(self, ledger: str) -> int:
        """The number that this ledger has left here."""
        whose, _, number = self.labels.get(MARK, "").rpartition("_")
        return int(number) if whose == ledger and number.isdecimal() else 0

    def check(self, *, in_order: bool = False) -> None:
        """Refuse one that no message can be pulled from, or none in order where that is wanted."""
        name = f"The subscription {self.name}"
        if self.delivers_to is not None:
            raise SourceUnfit(
                f"{name} delivers to {self.delivers_to}; Penstock pulls. "
                f"Make another one: {create_command(self.name, self.topic)}"
            )
        if self.is_detached:
            raise SourceUnfit(
                f"{name} is detached from its topic, and has lost what it held. "
                f"Make another one: {create_command(self.name, self.topic)}"
            )
        if self.topic == DELETED_TOPIC:
            raise SourceUnfit(
                f"{name} has no topic any more: it was deleted, and nothing new can come. "
                "Make the topic and the subscription anew."
            )
        if in_order and not self.is_ordered:
            raise SourceUnfit(
                f"{name} has no message ordering, and lanes: ordering_key needs it. It cannot be given to one that is "
                f"there. Make another one: {create_command(self.name, self.topic)} --enable-message-ordering"
            )


def create_command(name: str, topic: str = "TOPIC") -> str:
    """How to make a subscription that fits."""
    project, short = parts(name)
    return (
        f"gcloud pubsub subscriptions create {short} --project={project} --topic={topic} "
        "--ack-deadline=60 --message-retention-duration=7d --expiration-period=never"
    )


def parts(name: str) -> tuple[str, str]:
    """Project and short name."""
    _, project, _, short = name.split("/", 3)
    return project, short


def facts_of(said: Any) -> SubscriptionFacts:
    """From the server's answer, a protobuf message."""
    retention = said.message_retention_duration.seconds or RETENTION_S
    return SubscriptionFacts(
        name=said.name,
        topic=said.topic,
        retention_s=max(retention, said.topic_message_retention_duration.seconds),
        retains_acked=said.retain_acked_messages,
        is_ordered=said.enable_message_ordering,
        delivers_to=_delivers_to(said),
        is_detached=said.detached,
        labels=dict(said.labels),
    )


def _delivers_to(said: Any) -> str | None:
    if said.push_config.push_endpoint:
        return str(said.push_config.push_endpoint)
    others = {"bigquery_config": "BigQuery", "cloud_storage_config": "Cloud Storage", "bigtable_config": "Bigtable"}
    return next((where for key, where in others.items() if said.HasField(key)), None)
