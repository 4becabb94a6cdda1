"""The playbook of docs/playbooks.md and the step of each tool of docs/tools.md, as they stand, run by a worker."""

import os
import re
import textwrap
from pathlib import Path
from typing import Any

import pytest

from penstock.catalog.entry import read
from penstock.credentials import read_credentials
from penstock.kernel import events, executions, jobs
from penstock.kernel.connection import Connection
from penstock.kernel.registration import register
from penstock.worker.tools.code import ENABLED
from tests.acceptance import processes
from tests.acceptance.outcomes import await_end, result, status
from tests.acceptance.processes import Crew, until
from tests.parts.smtp import post_office
from tests.parts.web import Reply, web
from tests.playbooks.support import started, state, steps_of
from tests.sql.support import configure, rows
from tests.tools.test_examples import HEAD, INPUT, STEPS
from tests.tree import ROOT

crew = processes.crew

# that of the tool subscription has a whole playbook, which test_drain.py runs with a broker
ALONE = {kind: text for kind, text in STEPS.items() if kind != "subscription"}

FIRST = re.search(r"```yaml\n((?:.*\n)*?)```", (ROOT / "docs" / "playbooks.md").read_text())
# what the pages take for granted: the reader's own functions
SHOP = """
def read_order(args):
    return {"total": {7: 42, 8: 500, 9: 500}[args["id"]], "lines": [{"sku": "tea"}, {"sku": "jam"}]}

def pack(args):
    return {"packed": args["sku"]}
"""
REPORTS = """
def summarise(spark, args):
    return {"rows": spark.range(args["amount"]).count()}
"""


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    """A folder with the package shop."""
    (tmp_path / "shop").mkdir()
    (tmp_path / "shop" / "__init__.py").write_text(SHOP)
    (tmp_path / "shop" / "reports.py").write_text(REPORTS)
    return tmp_path


def _registered(db: Connection, text: str, credentials: Path | None = None) -> None:
    register(db, read(text, "docs.yaml"), read_credentials(credentials))


def _answered(db: Connection, execution: int, answer: dict[str, Any]) -> None:
    until(lambda: executions.questions(db, execution), f"execution {execution} asks")
    (asked,) = executions.questions(db, execution)
    assert asked.prompt == f"Order {8 if answer['approved'] else 9} is 500. Send it?"
    jobs.resume(db, asked.job_id, None, answer)


def _succeeded(db: Connection, execution: int) -> None:
    until(lambda: state(db, execution) == ("succeeded", 0, 0), f"execution {execution} succeeds")


def test_the_first_playbook_does_what_it_says(db: Connection, crew: Crew, shop: Path) -> None:
    assert FIRST
    _registered(db, FIRST[1])
    small, sent, refused = (started(db, "shop/order", payload={"order": number}) for number in (7, 8, 9))
    crew.start("plain", PYTHONPATH=str(shop))
    _answered(db, sent, {"approved": True})
    _answered(db, refused, {"approved": False})
    ways = {small: ["read", *["pack"] * 3, "done"], sent: ["read", "check", *["pack"] * 3, "done"]}
    for execution, steps in {**ways, refused: ["read", "check", "refuse", "done"]}.items():
        _succeeded(db, execution)
        assert [one[0] for one in steps_of(db, execution)] == steps
    packed = (
        "select r.result ->> 'packed' from penstock.job_step t join penstock.job_result r using (job_id) where item > 0"
    )
    assert sorted(rows(db, packed)) == [("jam",), ("jam",), ("tea",), ("tea",)]


def _as_playbook(kind: str, text: str) -> str:
    step = textwrap.indent(text, "    ").replace("    step", "  - step", 1)
    return HEAD.replace("docs/example", f"docs/{kind}") + step


def test_the_step_of_every_tool_is_run_by_a_worker(db: Connection, database: str, crew: Crew, shop: Path) -> None:
    events.type_register(db, "kg", "order_booked", "update")
    configure(db, ENABLED, "true")
    db.execute("create table stock (item text, free int, last jsonb)")
    db.execute("insert into stock values ('tea', 5)")
    file = shop / "credentials.yaml"
    answer = Reply(201, b'{"id": 7}', {"content-type": "application/json"})
    with web(answer) as server, post_office() as office:
        with open(os.open(file, os.O_WRONLY | os.O_CREAT, 0o600), "w") as written:
            written.write(
                f"shop_api: {{token: s3cr3t, hosts: [127.0.0.1]}}\nshop_db: {{url: '{database}'}}\n"
                f"mail: {{host: 127.0.0.1, port: {office.port}}}\n"
            )
        _registered(db, _as_playbook("pack", "step: pack\ntool: {kind: noop}\n").replace("docs/pack", "shop/pack"))
        for kind, text in ALONE.items():
            _registered(db, _as_playbook(kind, text.replace("https://api.example.com", server.url)), file)
        made = {kind: started(db, f"docs/{kind}", payload={**INPUT, "pause_s": 1}) for kind in ALONE}
        crew.start("plain", PYTHONPATH=str(shop), PENSTOCK_CREDENTIALS=str(file))
        until(lambda: executions.questions(db, made["approve"]), "somebody is asked")
        jobs.resume(db, made["approve"], None, {"approved": True})
        await_end(db, made.values(), 180)
    assert {kind: status(db, job) for kind, job in made.items()} == dict.fromkeys(ALONE, "succeeded")
    found = {kind: result(db, job) for kind, job in made.items()}
    assert (found["http"]["status"], found["postgres"]["count"], found["python"]) == (201, 1, {"total": "3.30"})
    assert (found["spark"], found["approve"], found["noop"]) == ({"rows": 3}, {"approved": True}, None)
    assert [mail["Subject"] for mail in office.mails] == ["Your order 7"]
    assert [one.subject_ref for one in events.list_newest(db)] == ["7"]
    assert executions.show(db, found["playbook"]["execution"]).playbook_ref == "shop/pack@1"
