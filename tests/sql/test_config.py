"""Settings and pools: known keys, values that fit, names that can be."""

import re

import pytest

from penstock.errors import ActorRefused, BadConfig, BadRequest, UnknownPool
from penstock.kernel.connection import Connection
from tests.sql.support import configure, enqueue, rows, taken, value

GOOD = {
    "queue.notify.bridge_enabled": ["true", "false"],
    "iu_core.routes_enabled": ["true", "false"],
    "playbook.inline_code.enabled": ["true", "false"],
    "queue.retry.max_attempts.default": ["1", "1000"],
    "queue.retry.max_attempts.send_invoice": ["3"],
    "queue.lease_ms.default": ["10", "999999999"],
    "queue.lease_ms.a.b:c/d-e": ["1000"],
    "queue.timeout_ms.send_invoice": ["60000"],
    "queue.retry.backoff.strategy": ["exponential", "linear", "fixed"],
    "queue.retry.backoff.base_ms": ["0", "5000"],
    "queue.retry.backoff.cap_ms": ["0", "999999999"],
    "queue.retry.backoff.jitter": ["0", "1", "0.25", ".5"],
    "queue.heartbeat.stale_threshold_seconds": ["1", "600"],
    "queue.once_key.ttl_s.job": ["1"],
    "queue.forbidden_keys": ["body", "a,b,c d"],
}

BAD = {
    "queue.notify.bridge_enabled": ["TRUE", "yes", "", "1"],
    "queue.retry.max_attempts.default": ["0", "-1", "1001", "many", "1.5"],
    "queue.lease_ms.default": ["0", "9", "1e5", " 1000"],
    "queue.retry.backoff.strategy": ["quadratic", ""],
    "queue.retry.backoff.jitter": ["2", "-0.1", "1.1", "nan"],
    "queue.retry.backoff.cap_ms": ["-1", "1234567890"],
    "queue.heartbeat.stale_threshold_seconds": ["0", "1\n2"],
    "queue.forbidden_keys": ["", ",", 'a"b', "a,,b"],
    "queue.forbidden": ["x"],
    "queue.lease_ms": ["1000"],
    "queue.lease_ms.": ["1000"],
    "queue.lease_ms.no such kind": ["1000"],
    "": ["x"],
}


def test_a_known_setting_takes_a_value_that_fits(db: Connection) -> None:
    for key, settings in GOOD.items():
        for setting in settings:
            configure(db, key, setting)
            assert value(db, "select value from penstock.dot_config where key = %s", key) == setting


def test_an_unknown_setting_or_a_value_that_does_not_fit_is_refused(db: Connection) -> None:
    before = rows(db, "select * from penstock.dot_config order by key")
    for key, settings in BAD.items():
        for setting in settings:
            with pytest.raises(BadConfig):
                configure(db, key, setting)
    assert rows(db, "select * from penstock.dot_config order by key") == before


def test_setting_tells_what_was_before_and_keeps_who_set_it(db: Connection) -> None:
    change = "select penstock.fn_config_set('queue.lease_ms.work', %s, 'user:ann')"
    assert value(db, change, "1000") is None
    assert value(db, change, "2000") == "1000"
    assert rows(db, "select value, updated_by::text from penstock.dot_config where key = 'queue.lease_ms.work'") == [
        ("2000", "user:ann")
    ]


def test_a_setting_of_a_kind_can_be_taken_away_and_no_other(db: Connection) -> None:
    configure(db, "queue.lease_ms.work", "1000")
    configure(db, "queue.lease_ms.work", None)
    assert rows(db, "select * from penstock.dot_config where key = 'queue.lease_ms.work'") == []
    for key in ("queue.lease_ms.default", "queue.notify.bridge_enabled", "queue.forbidden_keys"):
        with pytest.raises(BadConfig, match="cannot be unset"):
            configure(db, key, None)


def test_a_setting_is_made_by_an_actor(db: Connection) -> None:
    with pytest.raises(ActorRefused):
        value(db, "select penstock.fn_config_set('queue.lease_ms.work', '1000', 'nobody')")


def test_the_seeded_settings_all_fit(db: Connection) -> None:
    bad = rows(
        db, "select key from penstock.dot_config where (value ~ (penstock.config_accepts(key)).pattern) is not true"
    )
    assert bad == []


def test_what_is_said_of_a_setting_is_what_holds(db: Connection) -> None:
    for key in GOOD | dict(rows(db, "select key, value from penstock.dot_config")):
        words = value(db, "select (penstock.config_accepts(%s)).words", key)
        bounds = re.search(r"(\d+) (?:to|or) (\d+)", words)
        if bounds is None:
            continue
        low, high = int(bounds[1]), int(bounds[2])
        for inside in (low, high):
            configure(db, key, str(inside))
        for outside in (low - 1, high + 1):
            with pytest.raises(BadConfig, match=re.escape(words)):
                configure(db, key, str(outside))


def test_a_pool_is_made_before_jobs_name_it(db: Connection) -> None:
    with pytest.raises(UnknownPool):
        enqueue(db, pool="night")
    for note in ("when it is quiet", None):
        value(db, "select penstock.fn_pool_set('night', %s, 'user:ann')::text", note)
    assert rows(db, "select note, set_by::text from penstock.pool where pool = 'night'") == [
        ("when it is quiet", "user:ann")
    ]
    job_id = enqueue(db, pool="night")
    assert taken(db, pools=["shared"]) == []
    assert taken(db, pools=["night"]) == [job_id]


def test_a_name_that_cannot_be_a_pool_is_refused(db: Connection) -> None:
    before = rows(db, "select * from penstock.pool")
    for name in ("", "Night", "1st", "a b", "x" * 64, None):
        with pytest.raises(BadRequest):
            value(db, "select penstock.fn_pool_set(%s)::text", name)
    assert rows(db, "select * from penstock.pool") == before
