"""Events over HTTP."""

from uuid import UUID

import pytest

from penstock.kernel import events
from penstock.model import Json
from tests.gateway.serving import ACTOR, Api, answer, problem

KNOWN: Json = {"event_domain": "system", "event_type": "queue_worker_silent"}


def test_an_event_is_recorded_once_for_its_key(api: Api) -> None:
    client = api.client("events")
    request = KNOWN | {"subject_table": "orders", "subject_ref": "7", "payload": {"n": 1}, "idempotency_key": "k"}
    first = answer(client.post("/api/events", json=request))
    assert answer(client.post("/api/events", json=request)) == first
    seen = events.show(api.db, UUID(first["event_id"]))
    assert (seen.actor, seen.subject_ref, seen.payload) == (ACTOR, "7", {"n": 1})


@pytest.mark.parametrize(
    ("more", "status", "code"),
    [
        ({"event_domain": "nowhere"}, 404, "unknown_event_type"),
        ({"event_type": "unheard_of"}, 404, "unknown_event_type"),
        ({"actor": "user:eve"}, 403, "actor_refused"),
        ({"payload": {"password": "x"}}, 422, "forbidden_payload"),
        ({"payload": {"text": "x" * 20_000}}, 413, "payload_too_large"),
        ({"causation_event_id": "7"}, 422, "invalid"),
        ({"colour": "red"}, 422, "invalid"),
    ],
)
def test_an_event_that_cannot_be_is_a_problem_with_a_code(api: Api, more: Json, status: int, code: str) -> None:
    problem(api.client("events").post("/api/events", json=KNOWN | more), status, code)
