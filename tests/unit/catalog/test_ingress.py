"""What comes from outside is verified, or not registered."""

from typing import Any

import pytest

from tests.unit.catalog.files import EXAMPLES, GONE, changed, entry, example, only_problem


@pytest.mark.parametrize(
    ("name", "changes", "words"),
    [
        ("events", {"ingress": GONE}, ": is missing"),
        ("events", {"ingress/gateway_path": GONE}, ".gateway_path: is missing"),
        ("events", {"ingress/gateway_path": "ingress/x"}, ".gateway_path: expected a path that starts with /"),
        ("events", {"ingress/gateway_path": "/a/../b"}, ".gateway_path: expected a path that starts with /"),
        ("events", {"ingress/gateway_path": "/"}, ".gateway_path: expected a path that starts with /"),
        ("events", {"ingress/verify": GONE}, ".verify: is missing"),
        ("events", {"ingress/verify": "none"}, ".verify: expected a mapping, found 'none'"),
        (
            "events",
            {"ingress/verify": {"type": "none"}},
            ".verify.type: whatever comes from outside is verified: use hmac_sha256,",
        ),
        (
            "events",
            {"ingress/verify/type": "basic"},
            ".verify.type: expected hmac_sha256, bearer or pubsub_oidc, found 'basic'",
        ),
        ("events", {"ingress/verify/audience": GONE}, ".verify.audience: is missing"),
        ("events", {"ingress/verify/service_account": GONE}, ".verify.service_account: is missing"),
        (
            "events",
            {"ingress/verify/service_account": "me"},
            ".verify.service_account: expected the service account's email",
        ),
        ("events", {"ingress/verify/secret": "s"}, ".verify.secret: pubsub_oidc does not read this"),
        ("stripe-webhook", {"ingress/verify/header": GONE}, ".verify.header: is missing"),
        ("stripe-webhook", {"ingress/verify/secret": GONE}, ".verify.secret: is missing"),
        ("stripe-webhook", {"ingress/verify/type": "bearer"}, ".verify.header: bearer does not read this"),
    ],
)
def test_a_broken_rule_is_one_error(name: str, changes: dict[str, Any], words: str) -> None:
    text = changed(example(name), {f"spec/{path}": value for path, value in changes.items()})
    assert f"spec.ingress{words}" in only_problem(text)


def test_a_bearer_token_needs_its_secret_alone() -> None:
    entry(changed(example("stripe-webhook"), {"spec/ingress/verify": {"type": "bearer", "secret": "alias"}}))


def test_two_subscriptions_of_a_file_cannot_share_a_path_at_the_gateway() -> None:
    second = EXAMPLES["billing-events"].replace("/ingress/billing-events\n", "/ingress/events\n")
    assert (
        "spec.ingress.gateway_path: /ingress/events is another document's too, which begins in line 1"
        in only_problem(f"{EXAMPLES['events']}---\n{second}")
    )
