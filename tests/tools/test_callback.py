"""The callback key of a step: told by one tool, taken by the next, and the same however often the step is tried."""

import json

import pytest

from penstock.errors import IllegalMove
from penstock.jobs import Awaiting, Job
from penstock.kernel import jobs
from penstock.kernel.connection import Connection
from penstock.worker.tools import TOOLS
from penstock.worker.tools.engine import Engine
from tests.parts.web import web
from tests.playbooks.support import claimed, driven, playbook, started, state
from tests.sql.support import fall_due, reap, retry_at_once
from tests.tools.calling import Caller

ASK = """
  - step: ask
    tool:
      - {{name: tell, kind: http, method: POST, url: "{url}/ask", json: {{key: "{{{{ callback.key }}}}"}}}}
      - {{name: wait, kind: approve, prompt: "may it go?"}}
    next: after
  - {{step: after, tool: {{kind: noop}}}}
"""


def _asked(db: Connection, engine: Engine) -> tuple[Job, Awaiting]:
    """The step is run, and its worker dies before it has said that it waits."""
    ((_, claim),) = claimed(db)
    # one that may have killed its worker is not started together with its claim
    jobs.start(db, [claim.job_id], [claim.lease_token])
    job = Job(claim, jobs.facts(db, [claim])[claim.job_id])
    awaiting = engine.run(job)
    assert isinstance(awaiting, Awaiting)
    return job, awaiting


def test_who_was_told_the_key_before_a_crash_can_still_answer(db: Connection, caller: Caller) -> None:
    retry_at_once(db)
    engine = Engine(caller.services, TOOLS)
    with web() as server:
        playbook(db, ASK.format(url=server.url))
        execution = started(db)
        first, _ = _asked(db, engine)
        reap(db, first.id)
        fall_due(db, first.id)
        second, awaiting = _asked(db, engine)
    assert second.id == first.id
    assert second.lease_token != first.lease_token
    assert jobs.wait(db, second.id, second.lease_token, **vars(awaiting)).accepted
    told = [json.loads(one.body)["key"] for one in server.asked]
    assert told[0] == told[1]
    jobs.resume(db, first.id, told[0], {"approved": True})
    assert driven(db) == ["after"]
    assert state(db, execution) == ("succeeded", 0, 0)


def test_each_job_has_a_key_of_its_own_and_tells_it_to_its_holder_only(db: Connection) -> None:
    playbook(db, "  - {step: a, tool: {kind: noop}}")
    started(db), started(db)
    (_, one), (_, other) = claimed(db)
    keys = {jobs.callback_key(db, claim.job_id, claim.lease_token) for claim in (one, other)}
    assert len(keys) == 2
    with pytest.raises(IllegalMove, match="not held under this token"):
        jobs.callback_key(db, one.job_id, one.lease_token - 1)
