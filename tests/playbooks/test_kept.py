"""What a worker keeps of playbooks has a bound, however many versions and templates it sees."""

import gc
import weakref

from penstock.jobs import Job
from penstock.kernel import jobs
from penstock.kernel.connection import Connection
from penstock.worker.link import Link, LinkPool
from penstock.worker.tools import context
from penstock.worker.tools.steps import Steps
from tests.playbooks.support import claimed, playbook, started


def test_playbooks_that_were_not_used_for_longest_are_let_go(db: Connection, database: str) -> None:
    for path in ("one", "two", "three"):
        playbook(db, "  - {step: a, tool: {kind: noop}}", path=path)
        started(db, path)
    claims = [claim for _, claim in claimed(db)]
    facts = jobs.facts(db, claims)
    link = Link(database, "test kept")
    steps = Steps(LinkPool(lambda _: link, "tools"), most_specs=2)
    seen = [weakref.ref(steps.place(Job(one, facts[one.job_id])).spec) for one in claims]
    link.close()
    gc.collect()
    assert [one() is None for one in seen] == [True, False, False]


def test_what_templates_look_up_is_kept_for_so_many_of_them() -> None:
    assert context._wanted.cache_info().maxsize is not None
