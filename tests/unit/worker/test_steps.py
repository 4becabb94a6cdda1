"""What a playbook gets of a message that is hard to read."""

from datetime import UTC, datetime

import pytest

from penstock.catalog.entry import spec_of
from penstock.catalog.subscription import SubscriptionSpec
from penstock.jobs import PermanentError
from penstock.kernel.executions import IngestMessage
from penstock.worker.envelope import envelope

PATH = "subscriptions/orders"
MANY_DIGITS = b'{"n": ' + b"9" * 4301 + b"}"
DEEP = b"[" * 2000 + b"]" * 2000


def _spec(payload_from: str) -> SubscriptionSpec:
    content = {
        "apiVersion": "penstock/v1",
        "kind": "Subscription",
        "metadata": {"name": "orders", "path": PATH},
        "spec": {
            "source": "kafka",
            "mode": "pull",
            "topic": "orders",
            "auth": "main",
            "dispatch": {"playbook": "shop/process_order", "payload_from": payload_from},
        },
    }
    spec = spec_of("Subscription", content)
    assert isinstance(spec, SubscriptionSpec)
    return spec


def _message(body: bytes) -> IngestMessage:
    now = datetime.now(UTC)
    return IngestMessage(7, now, PATH, 1, "orders:0:41", "orders:0", 41, now, None, body, [], None)


@pytest.mark.parametrize(("body", "said"), [(MANY_DIGITS, "4301 digits"), (DEEP, "recursion depth")])
def test_json_that_postgresql_takes_and_python_cannot_read_is_not_tried_again(body: bytes, said: str) -> None:
    with pytest.raises(PermanentError, match=rf"message orders:0:41 is JSON that Python cannot read: .*{said}"):
        envelope(_message(body), _spec("message.json"))


def test_the_same_body_is_handed_over_as_text_if_the_subscription_says_so() -> None:
    assert envelope(_message(MANY_DIGITS), _spec("message.body"))["message"]["data"] == MANY_DIGITS.decode()
