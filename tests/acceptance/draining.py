"""Playbooks that drain a place on a real server, run by workers that have its credential."""

import json
import os
from pathlib import Path
from typing import Any

from penstock.client import Client
from penstock.credentials import Credentials, read_credentials
from penstock.kernel import executions, results
from penstock.kernel.connection import Connection
from penstock.model import Json
from tests.acceptance.outcomes import set_config
from tests.acceptance.processes import Crew, WorkerProcess, until
from tests.playbooks.support import playbook, steps_of
from tests.tools.rigs import Rig

FLOW = """
  - {step: drain, tool: POLL, next: work}
  - step: work
    tool: {kind: python, function: "APP:noted"}
    args: {id: "{{ iter.id }}", data: "{{ iter.data }}"}
    loop: {in: "{{ drain.messages }}"}
"""
ANSWER = """
    next: answer
  - {step: answer, tool: ANSWER}
"""


class Draining:
    """One playbook over one rig: poll, work on each message, and answer them if that is a step of its own."""

    def __init__(self, db: Connection, database: str, crew: Crew, rig: Rig, folder: Path) -> None:
        self._db = db
        self._database = database
        self._crew = crew
        self._rig = rig
        self._credentials = folder / "credentials.yaml"
        with open(os.open(self._credentials, os.O_WRONLY | os.O_CREAT, 0o600), "w") as file:
            json.dump({"feed": rig.credential()}, file)
        for kind in ("tool:subscription", "tool:python", "tool:decide", "default"):
            set_config(db, f"queue.lease_ms.{kind}", "1000")
        set_config(db, "queue.retry.backoff.base_ms", "20")

    def register(self, *, answer: str | None = None, **poll: Any) -> None:
        told = {"kind": "subscription", "operation": "poll", **self._rig.settings(), **poll}
        flow = FLOW.replace("POLL", json.dumps(told))
        if answer is not None:
            told = {"kind": "subscription", "operation": answer, **self._rig.settings()}
            flow += ANSWER.lstrip("\n").replace("ANSWER", json.dumps(told | {"handles": "{{ drain.messages }}"}))
        playbook(self._db, flow, credentials=self.credentials())

    def credentials(self) -> Credentials:
        return read_credentials(self._credentials)

    def start(self, app: str = "plain", **environment: str) -> WorkerProcess:
        return self._crew.start(app, ready=app == "plain", PENSTOCK_CREDENTIALS=str(self._credentials), **environment)

    def killed(self, where: str) -> None:
        """A worker that works until it is killed there."""
        faulty = self.start("faulty", FAULT=where)
        until(lambda: not faulty.is_alive, f"it is killed {where}")

    def begin(self, path: str = "flow", payload: Json | None = None) -> int:
        with Client(self._database) as client:
            return client.execute(path, payload)

    def failed(self, execution: int) -> None:
        def is_dead() -> bool:
            return executions.show(self._db, execution).status == "dead_lettered"

        until(is_dead, f"{execution} fails")

    def ended(self, execution: int) -> Json:
        """Wait for its end; what it has polled."""
        until(lambda: executions.show(self._db, execution).finished_at is not None, f"the end of {execution}")
        assert executions.show(self._db, execution).status == "succeeded", steps_of(self._db, execution)
        polled: Json = results.results(self._db, execution, ["drain"]).by_step["drain"]
        return polled

    def worked_on(self, execution: int) -> list[tuple[str, str]]:
        """What the second step was given, of each message."""
        found = [one["args"] for one in self._crew.notes("ran") if one["execution"] == execution]
        return [(one["id"], one["data"]) for one in found]
