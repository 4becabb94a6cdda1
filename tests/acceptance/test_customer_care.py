"""examples/customer-care, end to end: a worker, a person who answers, and a real mail server."""

from pathlib import Path
from typing import Any

import pytest

from penstock.catalog.entry import read_file
from penstock.client import Client
from penstock.credentials import read_credentials
from penstock.kernel import executions, jobs
from penstock.kernel.connection import Connection
from penstock.kernel.registration import register
from tests.acceptance import processes
from tests.acceptance.processes import Crew, until
from tests.parts.smtp import post_office
from tests.tree import ROOT

crew = processes.crew
FOLDER = ROOT / "examples" / "customer-care"
MESSAGE = {"customer": "ann@example.com", "subject": "Order 7", "text": "Where is it?"}


class Care:
    """The example, registered and running."""

    def __init__(self, db: Connection, database: str, crew: Crew, credentials: Path) -> None:
        self._db = db
        self._database = database
        register(db, read_file(FOLDER / "playbook.yaml"), read_credentials(credentials))
        crew.start("plain", PENSTOCK_CREDENTIALS=str(credentials), PYTHONPATH=str(FOLDER))

    def write(self, **more: Any) -> int:
        with Client(self._database) as client:
            return client.execute("care/message", {**MESSAGE, **more})

    def answer(self, execution: int, **result: Any) -> None:
        until(lambda: executions.questions(self._db, execution), "somebody is asked")
        (asked,) = executions.questions(self._db, execution)
        jobs.resume(self._db, asked.job_id, None, result)
        until(lambda: all(one.job_id != asked.job_id for one in executions.questions(self._db, execution)), "answered")

    def ended(self, execution: int) -> list[str]:
        """The steps that ran, in order."""
        until(lambda: executions.show(self._db, execution).finished_at is not None, "it ends")
        assert executions.show(self._db, execution).status == "succeeded"
        return [one.step for one in executions.steps(self._db, execution)]


@pytest.fixture
def credentials(tmp_path: Path) -> Path:
    return tmp_path / "credentials.yaml"


def test_from_the_message_to_the_follow_up(db: Connection, database: str, crew: Crew, credentials: Path) -> None:
    with post_office() as office:
        credentials.write_text(f"care_mail: {{host: 127.0.0.1, port: {office.port}, tls: none}}\n")
        credentials.chmod(0o600)
        care = Care(db, database, crew, credentials)
        execution = care.write(follow_up_after_s=1)
        care.answer(execution, approved=False, note="It left on Monday.")
        care.answer(execution, approved=True)
        steps = ["classify", "draft", "ask", "draft", "ask", "send", "rest", "follow_up"]
        assert care.ended(execution) == steps
        until(lambda: len(office.mails) == 2, "both mails are there")
    sent, follow_up = office.mails
    assert (sent["To"], sent["Subject"]) == ("ann@example.com", "Re: Order 7")
    assert "order 7: it is on its way" in sent.get_content()
    assert "It left on Monday." in sent.get_content()
    assert follow_up["Subject"] == "Did we help? Order 7"


def test_what_is_urgent_or_unanswered_goes_to_the_team(
    db: Connection, database: str, crew: Crew, credentials: Path
) -> None:
    with post_office() as office:
        credentials.write_text(f"care_mail: {{host: 127.0.0.1, port: {office.port}, tls: none}}\n")
        credentials.chmod(0o600)
        care = Care(db, database, crew, credentials)
        urgent = care.write(text="My lawyer will write to you")
        assert care.ended(urgent) == ["classify", "escalation"]
        late = care.write(approve_within_s=1)
        assert care.ended(late) == ["classify", "draft", "ask", "escalation"]
        spam = care.write(text="You are the lottery winner")
        assert care.ended(spam) == ["classify", "drop"]
    assert [mail["To"] for mail in office.mails] == ["team@example.com"] * 2
