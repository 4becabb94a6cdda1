"""Ways to log in to Pub/Sub: each by alias, each refused in words, none repeated."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

from penstock.errors import SourceRefused, SourceUnavailable
from penstock.sources.pubsub import PubsubSource
from tests.parts.certificates import make_certificates
from tests.parts.processes import free_ports
from tests.parts.pubsub import Pubsub
from tests.parts.web import Reply, web

TOKEN = "handed-out-by-the-login-8841"
ANYWHERE = "projects/penstock/subscriptions/anywhere"
GOOD = Reply(
    200, json.dumps({"access_token": TOKEN, "expires_in": 3600}).encode(), {"content-type": "application/json"}
)
BAD = Reply(
    400,
    json.dumps({"error": "invalid_grant", "error_description": "Invalid JWT Signature."}).encode(),
    {"content-type": "application/json"},
)


@pytest.fixture(scope="module")
def server(pubsub_server: Pubsub, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pubsub]:
    """It lets in whoever shows the token that the login hands out."""
    folder = tmp_path_factory.mktemp("login")
    with Pubsub(folder, token=TOKEN, certificates=make_certificates(folder / "certificates")) as locked:
        yield locked


@pytest.fixture(scope="module")
def key() -> str:
    made = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    plain = serialization.NoEncryption()
    return made.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, plain).decode()


@pytest.fixture
def subscription(server: Pubsub) -> str:
    return server.add(f"s-{uuid4().hex[:8]}")


def _account(key: str, login: str) -> dict[str, Any]:
    return {
        "type": "service_account",
        "client_email": "reader@penstock.iam.gserviceaccount.com",
        "private_key_id": "1",
        "private_key": key,
        "token_uri": f"{login}/token",
    }


def _at(server: Pubsub) -> dict[str, Any]:
    return {name: value for name, value in server.credential.items() if name != "token"}


def _check(credential: dict[str, Any], subscription: str = ANYWHERE) -> None:
    with PubsubSource(credential, subscription=subscription) as source:
        source.check()


def test_a_service_account_is_exchanged_for_a_token(
    server: Pubsub, subscription: str, key: str, tmp_path: Path
) -> None:
    with web(GOOD) as login:
        account = _account(key, login.url)
        file = tmp_path / "account.json"
        file.write_text(json.dumps(account))
        for way in (
            {"service_account_file": str(file)},
            {"service_account": json.dumps(account)},
            {"service_account": account},
        ):
            _check(_at(server) | way, subscription)
        assert [one.path for one in login.asked] == ["/token"] * 3


def test_the_host_s_own_login_is_used_where_the_alias_says_so(
    server: Pubsub, subscription: str, key: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with web(GOOD) as login:
        file = tmp_path / "account.json"
        file.write_text(json.dumps(_account(key, login.url)))
        monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", str(file))
        _check(_at(server) | {"application_default": "true"}, subscription)
        with pytest.raises(SourceRefused, match="exactly one of"):
            _check(_at(server), subscription)


def test_a_host_without_a_login_is_told_how_to_get_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GOOGLE_APPLICATION_CREDENTIALS", raising=False)
    monkeypatch.setenv("CLOUDSDK_CONFIG", str(tmp_path))
    monkeypatch.setenv("NO_GCE_CHECK", "true")
    with pytest.raises(SourceRefused, match="gcloud auth application-default login"):
        _check({"application_default": "true"})


def test_a_service_account_that_google_does_not_know_is_refused(server: Pubsub, key: str) -> None:
    with web(BAD) as login, pytest.raises(SourceRefused, match="invalid_grant") as refused:
        _check(_at(server) | {"service_account": _account(key, login.url)})
    assert "PRIVATE KEY" not in str(refused.value)


def test_a_login_that_is_down_is_unavailable(server: Pubsub, key: str) -> None:
    (port,) = free_ports(1)
    with pytest.raises(SourceUnavailable, match="does not answer"):
        _check(_at(server) | {"service_account": _account(key, f"http://127.0.0.1:{port}")})


def test_a_token_that_the_server_does_not_know_is_refused(server: Pubsub, subscription: str) -> None:
    with pytest.raises(SourceRefused, match="refused the credential") as refused:
        _check(_at(server) | {"token": "expired-2291"}, subscription)
    assert "expired-2291" not in str(refused.value)


@pytest.mark.parametrize(
    ("credential", "complaint"),
    [
        ({}, "exactly one of .* holds none"),
        ({"token": "t-5512", "emulator": "127.0.0.1:1"}, "exactly one of .* holds token and emulator"),
        ({"servers": "x"}, "does not know servers"),
        ({"application_default": "perhaps"}, "application_default: true"),
        ({"emulator": "127.0.0.1:1", "endpoint": "x"}, "nothing but emulator"),
        ({"emulator": "127.0.0.1:1", "ca_file": "x"}, "nothing but emulator"),
        (
            {"service_account_file": "/nowhere/at-all.json"},
            "service_account_file of a credential for Pub/Sub cannot be",
        ),
        ({"service_account": "not JSON t-5512"}, "no service account's JSON"),
        ({"service_account": {"type": "service_account", "private_key": "t-5512"}}, "service_account"),
        ({"token": "t-5512", "ca_file": "/nowhere/ca.pem"}, "ca_file of a credential for Pub/Sub cannot be read"),
    ],
)
def test_a_credential_that_cannot_be_used_is_refused_and_not_repeated(
    credential: dict[str, Any], complaint: str
) -> None:
    with pytest.raises(SourceRefused, match=complaint) as refused:
        _check(credential)
    assert "t-5512" not in str(refused.value)
