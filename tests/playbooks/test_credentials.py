"""What a playbook may send a credential to, said when it is registered."""

import pytest

from penstock.catalog.entry import read
from penstock.credentials import Credential, Credentials
from penstock.errors import CredentialError
from penstock.kernel.connection import Connection
from penstock.kernel.registration import register
from tests.tree import ROOT

HEAD = "apiVersion: penstock/v1\nkind: Playbook\nmetadata: {path: shop/call}\nworkflow:\n"
KNOWN = {"open": Credential({"token": "s3cr3t"}), "bound": Credential({"token": "s3cr3t", "hosts": ["shop.example"]})}


@pytest.mark.parametrize(
    ("url", "auth", "is_refused"),
    [
        ("https://shop.example/{{ workload.order }}", "open", False),
        ("https://{{ workload.shop }}/orders", "open", True),
        ("{{ workload.url }}", "open", True),
        ("https://shop.example{{ workload.order }}", "open", True),
        ("https://{{ workload.shop }}/orders", "bound", False),
        ("{{ workload.url }}", None, False),
    ],
)
def test_a_credential_for_any_host_a_template_gives_is_refused(
    db: Connection, url: str, auth: str | None, is_refused: bool
) -> None:
    tool = f'{{kind: http, url: "{url}"{f", auth: {auth}" if auth else ""}}}'
    entries = read(f"{HEAD}  - {{step: call, tool: {tool}}}", "call.yaml")
    credentials = Credentials(ROOT / "credentials.yaml", KNOWN)
    if not is_refused:
        assert [one.version for one in register(db, entries, credentials)] == [1]
        return
    with pytest.raises(CredentialError) as caught:
        register(db, entries, credentials)
    assert str(caught.value) == (
        "call.yaml:5: workflow[0].tool.url: call sends the credential open to a host that comes out of a template: "
        "write the host into the url, or list the hosts it is for in the credential, such as hosts: [api.example.com]"
    )
