"""The queue with one of its safeguards taken out: what the storm must notice."""

from pathlib import Path

import penstock

_FUNCTIONS = Path(penstock.__file__).parent / "sql" / "functions"


def _without(function: str, safeguard: str, instead: str = "") -> str:
    text = (_FUNCTIONS / f"{function}.sql").read_text()
    assert text.count(safeguard) == 1, f"{function} has no such safeguard any more: {safeguard}"
    return text.replace(safeguard, instead)


UNFENCED_FINISH = (_without("jobs_finished", "q.lease_token = x.token and "),)

UNLOCKED_RULES = (
    _without(
        "claim_rooms",
        """  perform from penstock.job_subscription s
    where s.subscription_id in (select r.rule from unnest(p_runs) r where r.max_parallel is not null)
    order by s.subscription_id for no key update;
""",
    ),
)

LANES_WITHOUT_HEADS = (
    "drop index penstock.job_queue_lane_head",
    _without("job_insert", "when r.lane is null or r.ordinal = any (v_heads) then 'ready'", "when true then 'ready'"),
)
