"""Two staging tables of one runtime: filled and committed in turn, and gone with it."""

import pytest

from penstock.errors import BadRequest, StagingLost
from penstock.kernel import runtimes
from penstock.kernel.connection import Connection
from tests.ingest.support import PATH, Runtime, offsets, playbook, subscription
from tests.sql.support import rows, value


@pytest.fixture
def runtime(db: Connection) -> Runtime:
    playbook(db)
    subscription(db)
    return Runtime(db)


def _stages(db: Connection) -> list[str]:
    return [
        name for (name,) in rows(db, "select relname::text from pg_class where relname ~ '^ingest_stage_' order by 1")
    ]


def test_a_second_lane_leaves_the_first_as_it_is(db: Connection, runtime: Runtime) -> None:
    runtime.put(*offsets(0, 1))
    second = runtimes.stage_open(db, PATH, runtime.lease.token, 1)
    assert _stages(db) == [runtime.stage, second]
    assert value(db, f"select count(*) from penstock.{runtime.stage}") == 2


def test_a_commit_takes_its_own_lane_alone(db: Connection, runtime: Runtime) -> None:
    token = runtime.lease.token
    first, second = runtime.stage, runtimes.stage_open(db, PATH, token, 1)
    runtime.put(*offsets(0, 1), attempt="a")
    runtime.stage = second
    runtime.put(*offsets(2), attempt="b")
    with pytest.raises(StagingLost):
        runtimes.commit(db, PATH, token, {}, {"b": 1}, lane=0)
    at = {"orders/0": {"identity": "t1", "next": 2}}
    assert runtimes.commit(db, PATH, token, at, {"a": 2}, lane=0).executions == 2
    assert runtimes.stage_clear(db, PATH, token, 0)
    assert [value(db, f"select count(*) from penstock.{stage}") for stage in (first, second)] == [0, 1]
    at = {"orders/0": {"identity": "t1", "next": 3}}
    assert runtimes.commit(db, PATH, token, at, {"b": 1}, lane=1).executions == 1


def test_the_next_token_and_the_end_drop_both(db: Connection, runtime: Runtime) -> None:
    runtimes.stage_open(db, PATH, runtime.lease.token, 1)
    again = Runtime(db, incarnation=runtime.incarnation)
    assert _stages(db) == [again.stage]
    runtimes.stage_open(db, PATH, again.lease.token, 1)
    assert len(_stages(db)) == 2
    runtimes.release(db, PATH, again.lease.token)
    assert _stages(db) == []


@pytest.mark.parametrize("lane", [-1, 2])
def test_there_is_no_third_lane(db: Connection, runtime: Runtime, lane: int) -> None:
    with pytest.raises(BadRequest, match=f"there is no lane {lane} of a staging table"):
        runtimes.stage_open(db, PATH, runtime.lease.token, lane)
