"""Steps that began too early, by the model and by what every job says of itself: no look at the stored graph."""

from penstock.kernel.connection import Connection
from tests.playbooks.model import Node, before

_LIVE = """select j.step, bool_or(q.job_id is not null)
  from penstock.job j left join penstock.job_queue q on q.job_id = j.job_id
 where j.execution_id = %s group by j.step"""
# of every attempt; a job that decides where a step goes on is the step's
_TIMES = """select j.step, min(o.started_at), max(o.finished_at)
  from penstock.job j join penstock.job_outcome o on o.job_id = j.job_id and o.enqueued_at = j.enqueued_at
 where j.execution_id = %s group by j.step"""


def there_early(db: Connection, execution: int, nodes: list[Node]) -> list[tuple[str, str]]:
    """Steps that have a job while one has not ended that leads to them."""
    found: dict[str, bool] = dict(db.execute(_LIVE, [execution]).fetchall())
    order = before(nodes)
    return [(step, earlier) for step in found for earlier in order[step] if found.get(earlier)]


def ran_early(db: Connection, execution: int, nodes: list[Node]) -> list[tuple[str, str]]:
    """Steps of an execution that has ended whose first attempt began before the last end of one that leads to them.

    A step's job is written by the transaction that ends the step before, so when it was enqueued says nothing; it is
    claimed after that has committed.
    """
    found = {step: (start, end) for step, start, end in db.execute(_TIMES, [execution])}
    order = before(nodes)
    return [
        (step, earlier)
        for step, (start, _) in found.items()
        for earlier in order[step]
        if start is not None and earlier in found and start < found[earlier][1]
    ]
