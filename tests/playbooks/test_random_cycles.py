"""Cycles within cycles beside joins, whichever way round they go and whatever order jobs end in.

The graphs of model.py only lead forward; here what must hold is known from the shape alone.
"""

import json
import random
from collections import Counter

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from penstock.kernel import jobs
from penstock.kernel.connection import Connection
from penstock.model import Claim, Json
from tests.playbooks.support import claimed, playbook, started, state
from tests.sql.support import value

# enter, middle and again are the cycles; they are left by out or back, which meet the plain steps in the joins
FLOW = """
  - {step: start, tool: {kind: noop}, next: [enter, beside, plain]}
  - {step: enter, tool: {kind: noop}, on_error: {step: middle}, next: middle}
  - step: middle
    tool: {kind: noop}
    next:
      - {step: enter, when: "{{ workload.on }}", max_times: 3}
      - {step: again, when: "{{ workload.on }}"}
      - {step: out, when: "{{ workload.on }}"}
  - step: again
    when: "{{ workload.on }}"
    tool: {kind: noop}
    next: [{step: middle, when: "{{ workload.on }}", max_times: 2}, {step: back}]
  - {step: out, tool: {kind: noop}, next: [some, all]}
  - {step: back, tool: {kind: noop}, next: [some, all]}
  - {step: beside, tool: {kind: noop}, next: [{step: some, when: "{{ workload.on }}"}, {step: all}]}
  - {step: plain, tool: {kind: noop}, next: all}
  - {step: some, tool: {kind: noop}, next: last}
  - {step: all, tool: {kind: noop}, next: last}
  - {step: last, tool: {kind: noop}}
"""
WAYS = {"middle": ["enter", "again", "out"], "again": ["middle", "back"], "beside": ["some", "all"]}
BOUNDS = {("middle", "enter"): 3, ("again", "middle"): 2}
RECOUNTED = "select count(*) from penstock.execution_event where happening = 'execution_recounted'"


class Walk:
    """Plays the workers of one execution: decides at random, within the bounds, and keeps what was decided."""

    def __init__(self, db: Connection, rng: random.Random) -> None:
        self._db, self._rng = db, rng
        self._held: list[tuple[str, Claim]] = []
        self.ran: Counter[str] = Counter()
        self.taken: Counter[tuple[str, str]] = Counter()

    def step(self) -> bool:
        """Whether there was anything to do."""
        self._held += claimed(self._db, self._rng.randint(1, 3))
        if not self._held:
            return False
        name, claim = self._held.pop(self._rng.randrange(len(self._held)))
        self.ran[name] += 1
        if name == "enter" and self._rng.random() < 0.2:
            jobs.fail(self._db, [claim.job_id], [claim.lease_token], [{"type": "Told", "permanent": True}])
        else:
            said = self._says(name)
            answer = None if said is None else json.dumps(said)
            refused = jobs.finish(self._db, [claim.job_id], [claim.lease_token], None, [answer])
            assert not refused, (name, said, refused)
        return True

    def _says(self, name: str) -> Json | None:
        if name not in WAYS:
            return None
        if name == "again" and self._rng.random() < 0.2:
            return {"skipped": True}
        free = [to for to in WAYS[name] if self.taken[name, to] < BOUNDS.get((name, to), 1_000)]
        to = self._rng.choice([*free, None])
        if to is None:
            return {"next": []}
        self.taken[name, to] += 1
        return {"next": [to]}


@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(seed=st.integers(0, 2**32))
def test_however_often_cycles_go_round_joins_run_once_and_it_ends(db: Connection, seed: int) -> None:
    playbook(db, FLOW, workload={"on": True})
    execution = started(db)
    walk = Walk(db, random.Random(seed))
    while walk.step():
        pass
    assert state(db, execution) == ("succeeded", 0, 0)
    into = Counter({"enter": 1, "middle": walk.ran["enter"]})
    for (_, to), times in walk.taken.items():
        into[to] += times
    left = walk.ran["out"] + walk.ran["back"]
    # plain always leads to all; only a way out, or beside, to some
    expected = {
        **{name: into[name] for name in ("enter", "middle", "again", "out", "back")},
        "some": int(left > 0 or walk.taken["beside", "some"] > 0),
        **dict.fromkeys(("start", "beside", "plain", "all", "last"), 1),
    }
    assert left <= 1
    assert {name: walk.ran[name] for name in expected} == expected
    assert value(db, RECOUNTED) == 0
