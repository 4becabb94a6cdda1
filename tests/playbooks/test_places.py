"""What only registration can know is said with the file, the line and the path it stands at."""

import pytest

from penstock.catalog.entry import read
from penstock.credentials import Credential, Credentials
from penstock.errors import BadRequest, CredentialError, PenstockError, UnknownPlaybook, UnknownPool
from penstock.kernel.connection import Connection
from penstock.kernel.registration import register
from tests.tree import ROOT

PLAYBOOK = """apiVersion: penstock/v1
kind: Playbook
metadata: {path: nowhere/x}
workflow:
  - step: a
    tool: {kind: noop}
    next: b
  - step: b
"""
SUBSCRIPTION = """apiVersion: penstock/v1
kind: Playbook
metadata: {path: shop/order}
workflow: [{step: a, tool: {kind: noop}}]
---
apiVersion: penstock/v1
kind: Subscription
metadata: {path: subscriptions/orders}
spec:
  source: nats
  mode: pull
  auth: known
  stream: ORDERS
  consumer: penstock
"""
ALLOWED = """  dispatch: {playbook: shop/order, payload_from: message.json}
  headers:
    directives:
      - header: X-Playbook
        controls: dispatch.playbook
        allowed: [shop/order, nowhere]
"""
FILE = ROOT / "credentials.yaml"
KNOWN = Credentials(FILE, {"known": Credential({"token": "x"})})


@pytest.mark.parametrize(
    ("text", "kind", "said"),
    [
        (
            PLAYBOOK + "    tool:\n      kind: playbook\n      path: nowhere\n",
            UnknownPlaybook,
            "x.yaml:11: workflow[1].tool.path: the playbook nowhere is not in the catalog\nRegister it first",
        ),
        (
            PLAYBOOK + "    tool: [{name: c, kind: noop},\n      {name: d, kind: playbook, path: nowhere}]\n",
            UnknownPlaybook,
            "x.yaml:10: workflow[1].tool[1].path: the playbook nowhere",
        ),
        (
            PLAYBOOK + "    tool: {kind: noop}\n    pool: nowhere\n",
            UnknownPool,
            "x.yaml:10: workflow[1].pool: the pool nowhere does not exist\nMake it",
        ),
        (
            PLAYBOOK + "    tool: {kind: noop}\n    timeout_s: 901\n",
            BadRequest,
            "x.yaml:10: workflow[1].timeout_s: nowhere/x: timeout_s of b is 901",
        ),
        (
            PLAYBOOK + "    tool:\n      kind: http\n      url: https://x.example\n      auth: gone\n",
            CredentialError,
            f"x.yaml:12: workflow[1].tool.auth: {FILE} has no credential gone",
        ),
        (
            PLAYBOOK + "    tool:\n      kind: http\n      auth: known\n      url: https://{{ workload.host }}/\n",
            CredentialError,
            "x.yaml:12: workflow[1].tool.url: b sends the credential known",
        ),
        (
            SUBSCRIPTION + "  dispatch:\n    payload_from: message.json\n    playbook: nowhere\n",
            UnknownPlaybook,
            "x.yaml:17: spec.dispatch.playbook: the playbook nowhere",
        ),
        (
            SUBSCRIPTION + "  dispatch:\n    {playbook: shop/order,\n    execution_pool: nowhere}\n",
            UnknownPool,
            "x.yaml:17: spec.dispatch.execution_pool: the pool nowhere",
        ),
        (SUBSCRIPTION + ALLOWED, UnknownPlaybook, "x.yaml:20: spec.headers.directives[0].allowed[1]: the playbook"),
        (
            SUBSCRIPTION.replace("known", "gone") + "  dispatch: {playbook: shop/order}\n",
            CredentialError,
            f"x.yaml:12: spec.auth: {FILE} has no credential gone",
        ),
    ],
)
def test_what_is_refused_at_registration_has_its_place(
    db: Connection, text: str, kind: type[PenstockError], said: str
) -> None:
    with pytest.raises(kind) as caught:
        register(db, read(text, "x.yaml"), KNOWN)
    assert str(caught.value).startswith(said), caught.value


def test_what_is_wrong_with_no_line_of_a_file_is_said_as_it_is(db: Connection) -> None:
    register(db, read(PLAYBOOK + "    tool: {kind: noop}\n", "x.yaml"), KNOWN)
    other = SUBSCRIPTION.replace("subscriptions/orders", "nowhere/x") + "  dispatch: {playbook: shop/order}\n"
    with pytest.raises(BadRequest, match=r"^nowhere/x is a Playbook: it cannot become a Subscription"):
        register(db, read(other, "x.yaml"), KNOWN)
