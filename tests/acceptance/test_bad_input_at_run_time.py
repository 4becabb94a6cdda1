"""What no registration can know: the step fails with a text that says what and what to do, and `on_error` decides."""

import json
import os
from pathlib import Path
from typing import Any, LiteralString, NamedTuple

import pytest

from penstock.catalog.entry import read
from penstock.credentials import Credential, Credentials
from penstock.kernel import executions
from penstock.kernel.connection import Connection
from penstock.kernel.registration import register
from penstock.kernel.results import results
from tests.acceptance import processes
from tests.acceptance.processes import Crew, until
from tests.playbooks.support import playbook, started, steps_of
from tests.sql.support import configure, rows

crew = processes.crew


class Case(NamedTuple):
    name: str
    step: dict[str, Any]
    says: str
    payload: dict[str, Any] | None = None


ECHO = {"tool": {"kind": "python", "function": "tests.acceptance.apps.flows:echo"}}
BAD: LiteralString = (
    "select error ->> 'message', attempt::int from penstock.v_execution_step where step = 'bad' and execution_id = %s"
)
LIST = "`in` of the loop bad gives {}, and a loop runs over a list: have its template give one"


def _loop(value: Any) -> dict[str, Any]:
    return {"payload": {"value": value}, "step": {"tool": {"kind": "noop"}, "loop": {"in": "{{ workload.value }}"}}}


def _alias(kind: str, **settings: Any) -> Case:
    says = f"{kind}: {{file}} has no credential gone: add it there, or use another alias"
    return Case(f"{kind}_alias", {"tool": {"kind": kind, "auth": "gone", **settings}}, says)


CASES = [
    *(
        Case(f"loop_{nth}", says=LIST.format(words), **_loop(value))
        for nth, (value, words) in enumerate(
            [("abc", "a text"), (7, "a number"), ({"a": 1}, "a mapping"), (None, "nothing"), (True, "true or false")]
        )
    ),
    Case(
        "loop_of_many",
        says="`in` of the loop bad gives 11 items, and a loop may have 10 (execution.loop.max_items): give it lists of"
        " items, or raise that setting",
        **_loop(list(range(11))),
    ),
    Case(
        "loop_of_large",
        says="`in` of the loop bad gives 2,007 bytes of JSON, and the items of a loop may have 1,000"
        " (execution.loop.max_bytes): give it addresses of what is large, or raise that setting",
        **_loop([1, "é" * 1000]),
    ),
    Case(
        "large_result",
        ECHO | {"args": {"text": "{{ workload.value }}"}},
        "the result is 2,012 bytes of JSON, and 1,500 are kept (queue.result.max_bytes): keep it elsewhere and return"
        " its address",
        {"value": "x" * 2000},
    ),
    Case(
        "unknown_playbook",
        {"tool": {"kind": "playbook", "path": "child"}},
        "child could not be started: the playbook child is not in the catalog\npenstock catalog list shows what is.",
    ),
    _alias("http", url="https://shop.invalid/"),
    _alias("postgres", statement="select 1"),
    _alias("email", **{"from": "a@shop.example", "to": "b@shop.example", "subject": "s", "text": "t"}),
]


def _workflow(case: Case, on_error: str) -> list[dict[str, Any]]:
    """The bad step, one for when it went well, and one that tells its error."""
    tell = {"args": {"said": "{{ bad.error.message }}"}}
    bad = {"step": "bad", **case.step, "on_error": {"step": "rescue"} if on_error == "step" else on_error}
    rescue = [{"step": "rescue", **ECHO, **tell}] if on_error == "step" else []
    return [{**bad, "next": "after"}, {"step": "after", **ECHO, **(tell if on_error == "continue" else {})}, *rescue]


def _registered(db: Connection, on_error: str) -> None:
    """Every case's playbook, while what it names is there; then the child is gone."""
    playbook(db, "  - {step: one, tool: {kind: noop}}", path="child")
    known = Credentials(Path("credentials.yaml"), {"gone": Credential({"token": "s3cr3t"})})
    for case in CASES:
        head = f"apiVersion: penstock/v1\nkind: Playbook\nmetadata: {{path: {case.name}}}\nworkflow:\n"
        steps = "".join(f"  - {json.dumps(step)}\n" for step in _workflow(case, on_error))
        register(db, read(head + steps, f"{case.name}.yaml"), known)
    db.execute("delete from penstock.playbook_step where path = 'child'")
    db.execute("delete from penstock.catalog where path = 'child'")


def _await_end(db: Connection, execution: int) -> None:
    until(lambda: executions.show(db, execution).finished_at is not None, f"the end of {execution}")


@pytest.fixture
def credentials(tmp_path: Path) -> Path:
    """The worker's own file, which has other aliases."""
    path = tmp_path / "worker.yaml"
    with open(os.open(path, os.O_WRONLY | os.O_CREAT, 0o600), "w") as file:
        file.write("other: {token: s3cr3t}")
    return path


@pytest.mark.parametrize(
    ("on_error", "status", "ran"),
    [
        ("fail", "failed", ["bad"]),
        ("continue", "succeeded", ["bad", "after"]),
        ("step", "succeeded", ["bad", "rescue"]),
    ],
)
def test_bad_input_fails_its_step_and_on_error_decides(
    db: Connection, crew: Crew, credentials: Path, on_error: str, status: str, ran: list[str]
) -> None:
    _registered(db, on_error)
    configure(db, "queue.result.max_bytes", "1500")
    configure(db, "execution.loop.max_items", "10")
    configure(db, "execution.loop.max_bytes", "1000")
    made = [(case, started(db, case.name, payload=case.payload or {})) for case in CASES]
    crew.start("plain", PENSTOCK_CREDENTIALS=str(credentials))
    for case, execution in made:
        _await_end(db, execution)
        says = case.says.replace("{file}", str(credentials))
        # at once: another try would end the same
        assert rows(db, BAD, execution) == [(says, 1)], case.name
        assert [one[0] for one in steps_of(db, execution)] == ran, case.name
        assert executions.show(db, execution).status == status, case.name
        if on_error != "fail":
            assert results(db, execution, [ran[-1]]).by_step == {ran[-1]: {"said": says}}, case.name
