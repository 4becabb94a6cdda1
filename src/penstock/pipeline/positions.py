"""Where a runtime starts to read: the ledger held against what the source still has."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Literal

from penstock.catalog.source import KafkaOptions
from penstock.catalog.subscription import SubscriptionSpec
from penstock.model import Json
from penstock.sources.contract import Source, Span
from penstock.sources.kafka import KafkaSource


@dataclass(frozen=True)
class Loss:
    """Messages that cannot be read any more, or that the ledger says nothing sure about."""

    part: str
    reason: str
    first: int
    next: int | None

    def to_json(self) -> Json:
        return {"part": self.part, "reason": self.reason, "first": self.first, "next": self.next}


@dataclass(frozen=True)
class Starts:
    """Per part where to begin, what makes it that part, and what is lost."""

    offsets: dict[str, int]
    identities: dict[str, str]
    losses: tuple[Loss, ...]

    def named(self) -> dict[str, str]:
        """What makes each part that one; also by topic, for parts that appear later."""
        topics = {part.rpartition(":")[0] or part: identity for part, identity in self.identities.items()}
        return topics | self.identities

    def behind(self, losses: tuple[Loss, ...]) -> "Starts":
        """The same, but for what the source has acknowledged and the ledger has never seen: that says more."""
        passed = {one.part: one.next for one in losses if one.next is not None}
        others = tuple(one for one in self.losses if one.part not in passed)
        return replace(self, offsets=self.offsets | passed, losses=(*others, *losses))

    def first_ledger(self, floors: Mapping[str, int]) -> dict[str, Json]:
        """As it is written before anything was read. A queue begins after what it holds for acknowledged."""
        return {
            part: {"identity": identity, "next": floors[part] + 1 if part in floors else self.offsets[part]}
            for part, identity in self.identities.items()
        }

    def ledger(self) -> dict[str, Json]:
        """As the ledger has it when the losses are accepted."""
        return {part: {"identity": self.identities[part], "next": offset} for part, offset in self.offsets.items()}


def starts(ledger: Mapping[str, Json], spans: tuple[Span, ...], first_time: Mapping[str, int]) -> Starts:
    """Every part of the source gets a start; `first_time` says where to begin without a ledger, earliest if silent."""
    offsets: dict[str, int] = {}
    losses: list[Loss] = []
    for span in spans:
        known = ledger.get(span.part)
        if known is None:
            # a part that is new to a known source is read from its beginning
            offsets[span.part] = span.first if ledger else first_time.get(span.part, span.first)
            continue
        loss = _loss(span, str(known["identity"]), int(known["next"]))
        losses += [loss] if loss else []
        offsets[span.part] = int(known["next"]) if loss is None else _after(loss, span)
    there = {span.part for span in spans}
    gone = [Loss(part, "vanished", int(known["next"]), None) for part, known in ledger.items() if part not in there]
    return Starts(offsets, {span.part: span.identity for span in spans}, (*losses, *gone))


def ahead(ledger: Mapping[str, Json], identities: Mapping[str, str], floors: Mapping[str, int]) -> tuple[Loss, ...]:
    """What a source holds for acknowledged and the ledger has never seen: the database is an older copy."""
    return tuple(
        Loss(part, "acknowledged_beyond_the_ledger", int(ledger[part]["next"]), floor + 1)
        for part, floor in floors.items()
        if part in ledger and ledger[part]["identity"] == identities.get(part) and floor >= int(ledger[part]["next"])
    )


def beyond_mark(offsets: Mapping[str, int], mark: int, batches: int) -> tuple[Loss, ...]:
    """The same of a source that only keeps the number of the last batch: nobody can say which messages they were.

    The copy may be from before the first batch, and its ledger empty: `offsets` is where reading would begin.
    """
    behind = mark > batches
    return tuple(Loss(part, "acknowledged_beyond_the_ledger", at, None) for part, at in offsets.items() if behind)


def ranges(losses: tuple[Loss, ...]) -> str:
    """In words."""
    return "; ".join(
        f"{one.part} from {one.first}" + (f" to before {one.next}" if one.next is not None else "") + f" ({one.reason})"
        for one in losses
    )


def _loss(span: Span, identity: str, following: int) -> Loss | None:
    if identity != span.identity:
        return Loss(span.part, "made_again", following, None)
    if following > span.next:
        return Loss(span.part, "source_went_back", span.next, following)
    if span.keeps and following < span.first:
        return Loss(span.part, "removed_by_retention", following, span.first)
    return None


def _after(loss: Loss, span: Span) -> int:
    return span.next if loss.reason == "source_went_back" else span.first


def first_offsets(spec: SubscriptionSpec, source: Source) -> dict[str, int]:
    """Where a topic is read from the first time, if not from its beginning."""
    if not isinstance(spec.options, KafkaOptions) or spec.start.position in ("earliest", "ledger"):
        return {}
    assert isinstance(source, KafkaSource)
    at: datetime | Literal["latest"] = spec.start.at or "latest"
    return {f"{topic}:{part}": offset for (topic, part), offset in source.offsets(at).items()}
