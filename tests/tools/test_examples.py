"""The examples of docs/tools.md: valid, and they do what the page says."""

import json
import re
import textwrap
from dataclasses import replace
from typing import Any

import pytest

from penstock.catalog.entry import read
from penstock.catalog.playbook import PlaybookSpec
from penstock.catalog.templates import evaluated
from penstock.catalog.tools import KINDS
from penstock.jobs import Awaiting
from penstock.kernel import events
from penstock.kernel.connection import Connection
from penstock.worker.tools import approve, email, event, http, postgres, subscription, wait
from penstock.worker.tools.code import ENABLED, run_code
from penstock.worker.tools.contract import Call
from tests.parts.nats import Nats
from tests.parts.smtp import post_office
from tests.parts.web import Reply, web
from tests.sql.support import configure, rows
from tests.tools.calling import Caller
from tests.tools.rigs import NatsRig
from tests.tree import ROOT

PAGE = (ROOT / "docs" / "tools.md").read_text()
STEPS = dict(re.findall(r"```yaml\n(?=step: \w+\n(?:.*\n)*?  kind: (\w+)\n)((?:.*\n)*?)```", PAGE))
HEAD = "apiVersion: penstock/v1\nkind: Playbook\nmetadata: {path: docs/example}\nworkflow:\n"
INPUT = {
    "order": 7,
    "amount": 3,
    "pause_s": 5,
    "item": "tea",
    "customer": "ann@example.com",
    "lines": [{"price": "1.10", "count": 3}],
}


def _call(caller: Caller, kind: str, **replaced: str) -> Call:
    """The page's step with its templates filled in, as the engine does."""
    text = STEPS[kind]
    for old, new in replaced.items():
        text = text.replace(old.replace("_", "."), new)
    (entry,) = read(HEAD + textwrap.indent(text, "    ").replace("    step", "  - step", 1), "tools.md")
    assert isinstance(entry.spec, PlaybookSpec)
    (step,) = entry.spec.workflow
    context: dict[str, Any] = {"workload": INPUT}
    kept = {key: value for key, value in step.tool.settings.items() if key in ("code", "statement")}
    return caller(
        {**evaluated(step.tool.settings, context), **kept}, evaluated(step.args, context), None, step.tool.settings
    )


def test_steps_that_wait(caller: Caller) -> None:
    assert wait.run(_call(caller, "wait")) == Awaiting(seconds=5.0, on_due="resume")
    asked = approve.run(_call(caller, "approve"))
    assert (asked.prompt, asked.approvers, asked.seconds) == (
        "May order 7 be sent?",
        ("user:ann", "role:support"),
        3600,
    )


def test_every_tool_of_the_page_has_an_example() -> None:
    assert set(STEPS) == set(KINDS)


@pytest.mark.parametrize("kind", sorted(STEPS))
def test_an_example_can_be_registered(caller: Caller, kind: str) -> None:
    assert _call(caller, kind).settings or kind == "noop"


def test_http(caller: Caller) -> None:
    caller.credentials("shop_api: {token: s3cr3t, hosts: [127.0.0.1]}")
    with web(Reply(201, b'{"id": 7}', {"content-type": "application/json"})) as server:
        result = http.run(_call(caller, "http", **{"https://api_example_com": server.url}))
    (asked,) = server.asked
    assert (result["status"], result["json"]) == (201, {"id": 7})
    assert (asked.method, asked.path, json.loads(asked.body)) == ("POST", "/orders/7?notify=true", {"amount": 3})
    assert asked.headers["authorization"] == "Bearer s3cr3t"


def test_postgres(caller: Caller, database: str, db: Connection) -> None:
    db.execute("create table stock (item text, free int, last jsonb)")
    db.execute("insert into stock values ('tea', 5)")
    caller.credentials(f"shop_db: {{url: '{database}'}}")
    assert postgres.run(_call(caller, "postgres")) == {"rows": [{"item": "tea", "free": 2}], "count": 1}
    assert postgres.run(_call(caller, "postgres")) == {"rows": [], "count": 0}
    assert rows(db, "select last from stock") == [({"id": 7},)]


def test_email(caller: Caller) -> None:
    with post_office() as office:
        caller.credentials(f"mail: {{host: 127.0.0.1, port: {office.port}}}")
        email.run(_call(caller, "email"))
    (mail,) = office.mails
    assert (mail["To"], mail["Subject"]) == ("ann@example.com", "Your order 7")
    assert "3 pieces" in mail.get_content()


def test_event(caller: Caller, db: Connection) -> None:
    events.type_register(db, "kg", "order_booked", "update")
    event.run(_call(caller, "event"))
    (found,) = events.list_newest(db)
    assert (found.subject_ref, found.payload) == ("7", {"amount": 3})


def test_subscription(caller: Caller, nats_server: Nats) -> None:
    rig = NatsRig(nats_server)
    rig.publish([b"one", b"two"])
    caller.credentials(json.dumps({"feed": rig.credential()}))
    call = replace(_call(caller, "subscription", ORDERS=rig.stream), job=caller.held())
    result = subscription.run(call)
    assert (result["bodies"], result["messages"][0]["ref"]) == (["one", "two"], "penstock://result/1#/bodies/0")
    call.pledges[0].kept()
    assert rig.left() == 0


def test_inline_code(caller: Caller, db: Connection) -> None:
    configure(db, ENABLED, "true")
    assert run_code(_call(caller, "python")) == {"total": "3.30"}
