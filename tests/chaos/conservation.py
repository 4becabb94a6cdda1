"""The rule of conservation: what a source holds against what the database made of it."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from penstock.kernel.connection import Connection
from tests.chaos.outlets import Seen


@dataclass(frozen=True)
class Fates:
    """Per message id: the executions it became, its dead letters, and of which execution it is a duplicate."""

    executions: Sequence[tuple[str, int]]
    dead: Sequence[str]
    duplicates: Sequence[tuple[str, int]]
    # jobs of the subscription, whatever they belong to
    jobs: int


def read_fates(db: Connection, path: str) -> Fates:
    jobs = db.execute("select count(*) from penstock.job where subscription = %s", [path]).fetchone()
    dead = db.execute("select message_id from penstock.ingest_dead_letter where subscription = %s", [path]).fetchall()
    assert jobs is not None
    return Fates(
        db.execute(
            "select m.message_id, m.execution_id from penstock.ingest_message m"
            " join penstock.job j on j.job_id = m.execution_id and j.enqueued_at = m.ingested_at"
            " and j.source_ref = m.message_id where m.subscription = %s",
            [path],
        ).fetchall(),
        [row[0] for row in dead],
        db.execute(
            "select detail ->> 'message_id', execution_id from penstock.v_subscription_event"
            " where subscription = %s and happening = 'subscription.message.deduplicated'",
            [path],
        ).fetchall(),
        int(jobs[0]),
    )


def violations(seen: Sequence[Seen], fates: Fates) -> list[str]:
    """Every message has one fate: JSON one execution, or the record of its key's; anything else one dead letter."""
    found = [f"{fates.jobs} jobs for {len(fates.executions)} messages"] if fates.jobs != len(fates.executions) else []
    times = Counter(id for id, _ in fates.executions)
    dead, twins = Counter(fates.dead), defaultdict(list)
    for id, execution in fates.duplicates:
        twins[id].append(execution)
    known = {one.id for one in seen}
    strangers = (times.keys() | dead.keys() | twins.keys()) - known
    found += [f"{id} was never published" for id in sorted(strangers)]
    found += [text for one in seen if (text := _wrong(one, times[one.id], dead[one.id], len(twins[one.id])))]
    return found + _keys_wrong(seen, dict(fates.executions), twins)


def _wrong(one: Seen, executed: int, dead: int, duplicate: int) -> str | None:
    fate = (executed, dead, duplicate)
    wanted = [(0, 1, 0)] if not one.is_json else [(1, 0, 0), (0, 0, 1)] if one.key else [(1, 0, 0)]
    return None if fate in wanted else f"{one.id} has executions, dead letters, duplicates {fate}, not {wanted}"


def _keys_wrong(seen: Sequence[Seen], executions: dict[str, int], twins: dict[str, list[int]]) -> list[str]:
    """All messages of a key are one execution, and the others point at it."""
    members: dict[str, list[str]] = defaultdict(list)
    for one in seen:
        if one.key and one.is_json:
            members[one.key].append(one.id)
    found = []
    for key, ids in members.items():
        firsts = {executions[id] for id in ids if id in executions}
        pointed = {execution for id in ids for execution in twins[id]}
        if len(firsts) != 1 or not pointed <= firsts:
            found.append(f"the key {key} has the executions {sorted(firsts)}, its duplicates say {sorted(pointed)}")
    return found
