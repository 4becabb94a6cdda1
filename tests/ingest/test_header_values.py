"""What a message's headers say is for those who may read messages; everybody else sees that there was one."""

import json
from collections.abc import Iterator

import pytest

from penstock.kernel import dead_letters
from penstock.kernel.connection import Connection
from tests.ingest.support import Runtime, attributes, playbook, subscription
from tests.logins import ROLES, Logins
from tests.sql.support import rows

SECRET = "hush-4711"
DIRECTIVES = {
    "applied": [{"header": "x-key", "controls": "idempotency_key", "value": SECRET}],
    "ignored": [{"header": "x-pool", "controls": "dispatch.execution_pool", "value": SECRET, "reason": "not_allowed"}],
    "trace": {"baggage": {"who": SECRET}},
}
RUNNERS = ("dot_executor", "workflow_admin")
VIEWS = ("v_dead_letter", "v_execution_event")


@pytest.fixture
def users(db: Connection, database: str) -> Iterator[Logins]:
    """A message that ran and one that is a dead letter, each with a header nobody else should read."""
    playbook(db)
    subscription(db)
    runtime = Runtime(db)
    told = {"attributes": attributes(x_auth=SECRET), "directives": json.dumps(DIRECTIVES)}
    runtime.put({"source_offset": 0, **told}, {"source_offset": 1, "fault": "bad_key", "dedup_key": SECRET, **told})
    assert (done := runtime.commit()).executions == done.dead_lettered == 1
    logins = Logins(db, database)
    yield logins
    logins.drop()


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("role", ROLES)
def test_no_view_that_everybody_reads_has_a_header_value(view: str, role: str, users: Logins) -> None:
    found = users.member(role).execute(f"select v::text from penstock.{view} v".encode()).fetchall()
    assert found
    assert SECRET not in str(found)


def test_the_trail_names_the_headers_that_decided_something(db: Connection, users: Logins) -> None:
    applied = "select detail from penstock.v_execution_event where happening ~ 'directives_applied'"
    assert rows(db, applied) == [
        (
            {
                "applied": [{"header": "x-key", "controls": "idempotency_key"}],
                "ignored": [{"header": "x-pool", "controls": "dispatch.execution_pool", "reason": "not_allowed"}],
            },
        )
    ]


@pytest.mark.parametrize("role", RUNNERS)
def test_a_dead_letter_is_shown_with_its_headers_to_those_who_may_read_messages(role: str, users: Logins) -> None:
    snapshot = dead_letters.show(users.member(role), "ingest-1").snapshot
    assert (snapshot["attributes"], snapshot["dedup_key"], snapshot["directives"]) == (
        [["x_auth", SECRET]],
        SECRET,
        DIRECTIVES,
    )


@pytest.mark.parametrize("role", sorted(set(ROLES) - set(RUNNERS)))
def test_a_dead_letter_is_shown_without_its_headers_to_everybody_else(role: str, users: Logins) -> None:
    snapshot = dead_letters.show(users.member(role), "ingest-1").snapshot
    assert snapshot["message_id"] == "orders/0:1"
    assert SECRET not in str(snapshot)
