"""The sources the tool subscription can poll: loaded with the first step that needs one, open between steps."""

import importlib
import json
from collections.abc import Callable, Mapping
from typing import Any

from penstock.model import Json
from penstock.sources.drain import Drain, QueueDrain
from penstock.worker.tools.pools import Pools

# with less it may say that nothing is there, though something is
_PUBSUB_WAIT_S = 10

Credential = Mapping[str, Any]


class SourceNotHere(Exception):
    """This worker has no client for the source; another one may."""


def _opened(told: str) -> Drain:
    """The drain that a step's keys name, with what its alias stands for."""
    chosen, credential = json.loads(told)
    try:
        return _OPENERS[chosen["source"]](chosen, credential)
    except ImportError as error:
        raise SourceNotHere(
            f"subscription: this worker cannot read {chosen['source']}: pip install 'penstock[spark]' ({error})"
        ) from error


def _nats(chosen: Json, credential: Credential) -> Drain:
    from penstock.sources.nats_drain import NatsDrain

    return NatsDrain(credential, stream=chosen["stream"], consumer=chosen["consumer"])


def _kafka(chosen: Json, credential: Credential) -> Drain:
    from penstock.sources.kafka_drain import KafkaDrain

    topics, pattern = chosen.get("topics", ()), chosen.get("topic_pattern")
    return KafkaDrain(credential, topics=topics, pattern=pattern, group=chosen["group"])


def _pubsub(chosen: Json, credential: Credential) -> Drain:
    made = importlib.import_module("penstock.sources.pubsub").PubsubSource
    hold_s = int(chosen["ack_deadline_s"])
    source = made(credential, subscription=chosen["subscription"], deadline_s=hold_s)
    # an answer to whoever does not wait may be short though more are there
    return QueueDrain(source, hold_s, _PUBSUB_WAIT_S, is_sure=False)


_OPENERS: dict[str, Callable[[Json, Credential], Drain]] = {"nats": _nats, "kafka": _kafka, "pubsub": _pubsub}
# they connect anew by themselves, and leave nothing behind that the next step could meet
DRAINS: Pools[Drain] = Pools(_opened, lambda _: True, lambda _: True)
