"""The OpenAPI document says what the server does: requests made from it, and near it, are answered as it says."""

from typing import Any

import httpx
import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from schemathesis import Case, GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.core.result import Ok
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from tests.gateway.serving import Api, answer
from tests.gateway.test_tokens import SCOPES
from tests.ingest.support import playbook, subscription

CHECKS = [not_a_server_error, status_code_conformance, content_type_conformance, response_schema_conformance]


@pytest.fixture(scope="module")
def client(api: Api) -> httpx.Client:
    playbook(api.db)
    subscription(api.db)
    return api.client(*SCOPES)


@pytest.mark.parametrize("mode", list(GenerationMode))
def test_every_operation_answers_as_documented(api: Api, client: httpx.Client, mode: GenerationMode) -> None:
    schema = schemathesis.openapi.from_dict(answer(client.get("/api/openapi.json")))
    asked = 0
    for found in schema.get_all_operations():
        assert isinstance(found, Ok), found
        operation = found.ok()
        if mode is GenerationMode.NEGATIVE and operation.method == "get":
            # nothing of these can be wrong
            continue

        @settings(max_examples=15, deadline=None, suppress_health_check=list(HealthCheck), database=None)
        @given(case=operation.as_strategy(generation_mode=mode))
        def ask(case: Case[Any]) -> None:
            nonlocal asked
            asked += 1
            headers = {"Authorization": client.headers["authorization"]}
            case.call_and_validate(base_url=api.url, headers=headers, checks=CHECKS)

        ask()
    assert asked > 100
