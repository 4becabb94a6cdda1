"""Which messages the demo publishes, and what must become of them."""

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from penstock.cli.demo import orders

Message = tuple[bytes, dict[str, str]]

STREAM = "DEMO"
CONSUMER = "penstock"
PATH = "demo/orders"
SHIP = "demo/ship_order"
FRAUD = "demo/check_fraud"

CATALOG = f"""\
apiVersion: penstock/v1
kind: Playbook
metadata: {{name: ship_order, path: {SHIP}}}
workflow:
  - step: ship
    tool: {{kind: python, function: "{orders.__name__}:{orders.ship.__name__}"}}
---
apiVersion: penstock/v1
kind: Playbook
metadata: {{name: check_fraud, path: {FRAUD}}}
workflow:
  - step: check
    tool: {{kind: python, function: "{orders.__name__}:{orders.check_fraud.__name__}"}}
---
apiVersion: penstock/v1
kind: Subscription
metadata: {{name: orders, path: {PATH}}}
spec:
  source: nats
  mode: pull
  auth: demo_nats
  stream: {STREAM}
  consumer: {CONSUMER}
  dispatch: {{playbook: {SHIP}, payload_from: message.json}}
  headers:
    directives:
      - {{header: x-route, controls: dispatch.playbook, allowed: [{FRAUD}]}}
      - {{header: x-pool, controls: dispatch.execution_pool, allowed: [priority]}}
      - {{header: x-idempotency-key, controls: idempotency_key}}
    trace: {{propagate: w3c}}
  dedup: {{window_s: 3600}}
"""


@dataclass(frozen=True)
class Fate:
    """What becomes of one message: an execution of a playbook in a pool, or neither."""

    playbook: str | None = None
    pool: str = "subscription"
    ending: str = "execution"


def messages(count: int) -> Iterator[tuple[Message, Fate]]:
    """Orders, some with routing headers, some sent twice, some malformed; the same mix every time."""
    for number in range(count):
        body = json.dumps({"order": number, "customer": f"c-{number % 997}", "note": "x" * 120}).encode()
        key = {"x-idempotency-key": f"order-{number}"}
        match number % 100:
            case 3 | 53:
                yield (body, key | {"x-route": FRAUD}), Fate(FRAUD)
            case 7:
                yield (body, key | {"x-pool": "priority"}), Fate(SHIP, "priority")
            case 11:
                yield (body, key | {"x-route": "demo/give_it_away"}), Fate(SHIP)
            case 17:
                earlier = {"x-idempotency-key": f"order-{number - 1}"}
                yield (body, earlier), Fate(ending="duplicate")
            case 99 if number % 300 == 299:
                yield (body[: len(body) // 2], key), Fate(ending="dead letter")
            case _:
                yield (body, key), Fate(SHIP)


def expected(count: int) -> Counter[Fate]:
    return Counter(fate for _, fate in messages(count))
