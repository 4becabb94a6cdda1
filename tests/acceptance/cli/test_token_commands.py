"""penstock token, and penstock serve as far as it does not serve."""

from penstock.kernel.connection import Connection
from tests.acceptance.conftest import Penstock
from tests.sql.support import value


def test_a_token_is_printed_once_and_listed_without_its_secret(penstock: Penstock, db: Connection) -> None:
    made = penstock.run("token", "create", "--actor", "user:ada", "--scope", "execute", "--scope", "events")
    text = made.out.strip()
    assert text.startswith("pst_")
    assert "not shown again" in made.err
    (listed,) = penstock.json("token", "list")
    assert (listed["actor"], listed["scopes"], listed["state"]) == ("user:ada", ["events", "execute"], "live")
    assert text[21:] not in penstock.ok("token", "list")
    assert listed["token_id"] in text
    assert value(db, "select count(*) from penstock.api_token") == 1


def test_a_token_can_be_for_some_subscriptions_only(penstock: Penstock) -> None:
    asked = ("token", "create", "--actor", "agent:edge", "--scope", "internal")
    paths = ["subscriptions/orders", "subscriptions/returns"]
    made = penstock.json(*asked, *(part for path in paths for part in ("--path", path)))
    assert made["paths"] == paths
    assert [one["paths"] for one in penstock.json("token", "list")] == [paths]
    assert " ".join(paths) in penstock.ok("token", "list")
    assert penstock.json(*asked)["paths"] is None
    refused = penstock.refuses("token", "create", "--actor", "user:ada", "--scope", "events", "--path", paths[0])
    assert "paths narrow the scope internal" in refused


def test_a_token_ends_when_it_is_told_to(penstock: Penstock) -> None:
    made = penstock.json("token", "create", "--actor", "user:ada", "--scope", "metrics", "--expires", "2999-01-31")
    assert made["expires_at"] == "2999-01-31T00:00:00+00:00"
    assert made["token"].startswith(f"pst_{made['token_id']}_")
    assert penstock.json("token", "revoke", made["token_id"]) == {"token_id": made["token_id"], "revoked_now": True}
    assert "was revoked before" in penstock.ok("token", "revoke", made["token_id"])
    assert penstock.json("token", "list")[0]["state"] == "revoked"


def test_tokens_that_cannot_be_are_refused_in_words(penstock: Penstock) -> None:
    assert "there is no scope 'root'" in penstock.refuses("token", "create", "--actor", "user:ada", "--scope", "root")
    assert "cannot speak for" in penstock.refuses("token", "create", "--actor", "system:x", "--scope", "execute")
    asked = ("token", "create", "--actor", "user:ada", "--scope", "execute", "--expires")
    assert "would have expired" in penstock.refuses(*asked, "2001-01-01")
    assert "not a time" in penstock.refuses(*asked, "tomorrow", code=2)
    assert "there is no token" in penstock.refuses("token", "revoke", "aaaaaaaaaaaaaaaa")


def test_serve_says_what_it_cannot_use(penstock: Penstock) -> None:
    assert "go together" in penstock.refuses("serve", "--tls-cert", __file__, code=2)
    assert "cannot listen at 203.0.113.1:1" in penstock.refuses("serve", "--host", "203.0.113.1", "--port", 1)
    assert "cannot be used" in penstock.refuses("serve", "--port", 0, "--tls-cert", __file__, "--tls-key", __file__)
