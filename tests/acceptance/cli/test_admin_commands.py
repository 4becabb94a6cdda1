"""penstock config, pool, schedule, executor, tick."""

import pytest

from penstock.kernel.connection import Connection
from tests.acceptance.cli.conftest import Penstock, break_a_part_of_the_tick


def test_config_lists_every_setting_and_who_set_it(penstock: Penstock) -> None:
    listed = {one["key"]: one for one in penstock.json("config", "list")}
    assert listed["queue.retry.max_attempts.default"]["value"] == "5"
    assert listed["queue.retry.max_attempts.default"]["updated_by"] == "system:migrate"


def test_config_get_prints_the_bare_value(penstock: Penstock) -> None:
    assert penstock.ok("config", "get", "queue.lease_ms.default") == "60000\n"


def test_config_set_changes_a_setting_and_says_what_it_was(penstock: Penstock) -> None:
    key = "queue.retry.max_attempts.send_invoice"
    assert penstock.json("config", "set", key, "8", "--actor", "user:ann") == {"key": key, "value": "8", "before": None}
    assert penstock.json("config", "get", key)["updated_by"] == "user:ann"
    assert penstock.ok("config", "set", key, "--unset") == f"{key}: 8 -> unset\n"


def test_config_refuses_an_unknown_setting(penstock: Penstock) -> None:
    assert "'nope' is not a setting" in penstock.refuses("config", "set", "nope", "1")
    assert "nope is not set" in penstock.refuses("config", "get", "nope")


def test_a_value_that_does_not_fit_is_answered_with_what_does(penstock: Penstock) -> None:
    said = penstock.refuses("config", "set", "queue.lease_ms.default", "1 minute")
    assert "It takes whole milliseconds, 10 to 999999999." in said


def test_an_error_prints_square_brackets_and_control_characters_as_they_were_written(penstock: Penstock) -> None:
    said = penstock.refuses("config", "set", "queue.lease_ms.default", "[red]x[/red]\x1b[2J")
    assert r"'[red]x[/red]\x1b[2J'" in said


def test_config_set_needs_either_a_value_or_unset(penstock: Penstock) -> None:
    assert "either a value or --unset" in penstock.refuses("config", "set", "queue.lease_ms.default", code=2)


def test_a_new_pool_is_listed(penstock: Penstock) -> None:
    assert "--pool imports" in penstock.ok("pool", "set", "imports", "--note", "nightly files")
    assert ("imports", "nightly files") in {(one["pool"], one["note"]) for one in penstock.json("pool", "list")}


def test_a_pool_of_a_bad_name_is_refused(penstock: Penstock) -> None:
    assert "'Imports!' cannot be a pool" in penstock.refuses("pool", "set", "Imports!")


def test_a_schedule_is_set_listed_and_dropped(penstock: Penstock) -> None:
    penstock.ok("schedule", "set", "nightly", "report", "--cron", "30 2 * * *", "--payload", '{"of": "all"}')
    (listed,) = penstock.json("schedule", "list")
    assert (listed["schedule_id"], listed["cron"], listed["every"]) == ("nightly", "30 2 * * *", None)
    assert listed["job"] == {"kind": "report", "safe_payload": {"of": "all"}}
    assert penstock.ok("schedule", "drop", "nightly") == "nightly: dropped\n"
    assert "nightly does not exist" in penstock.refuses("schedule", "drop", "nightly")


def test_an_interval_is_a_schedule_too(penstock: Penstock) -> None:
    penstock.ok("schedule", "set", "often", "report", "--every", "15 minutes", "--disabled")
    (listed,) = penstock.json("schedule", "list")
    assert (listed["every"], listed["enabled"]) == (900, False)


def test_a_bad_cron_line_and_a_bad_interval_are_refused(penstock: Penstock) -> None:
    assert "cron field '61'" in penstock.refuses("schedule", "set", "x", "report", "--cron", "61 * * * *")
    assert "'soon' is no interval" in penstock.refuses("schedule", "set", "x", "report", "--every", "soon")
    assert penstock.json("schedule", "list") == []


def test_a_schedule_takes_exactly_one_of_cron_and_every(penstock: Penstock) -> None:
    assert "either --cron or --every" in penstock.refuses("schedule", "set", "x", "report", code=2)


def test_an_executor_is_registered_subscribed_and_deregistered(penstock: Penstock) -> None:
    penstock.ok("executor", "register", "mailer")
    said = penstock.ok("executor", "subscribe", "mailer", "--job-kind", "send_mail", "--max-parallel", "4")
    assert said == "mailer claims send_mail at most 4 at once\n"
    (mailer,) = (one for one in penstock.json("executor", "list") if one["executor_id"] == "mailer")
    (rule,) = mailer["rules"]
    assert (rule["job_kind"], rule["max_parallel"], rule["enabled"]) == ("send_mail", 4, True)
    penstock.ok("executor", "deregister", "mailer")
    assert "mailer    PG_worker  no" in penstock.ok("executor", "list")


def test_an_unknown_executor_cannot_be_subscribed(penstock: Penstock) -> None:
    said = penstock.refuses("executor", "subscribe", "nobody")
    assert "penstock executor register nobody" in said


@pytest.mark.parametrize(
    ("words", "next_step"),
    [
        (["register", "mailer", "--db-role", "nope"], "create role nope"),
        (["deregister", "nope"], "penstock executor list"),
        (["subscribe", "default", "--event-domain", "nope"], "select penstock.fn_event_domain_register('nope')"),
    ],
)
def test_a_refusal_says_what_to_do_next(penstock: Penstock, words: list[str], next_step: str) -> None:
    assert next_step in penstock.refuses("executor", *words)


def test_mot_cannot_be_an_executor(penstock: Penstock) -> None:
    assert "'MOT' is not an executor kind" in penstock.refuses("executor", "register", "mother", "--kind", "MOT")


def test_a_tick_reports_each_of_its_parts(penstock: Penstock) -> None:
    report = penstock.json("tick")
    assert report["promote"] == {"ok": True, "did": 0}


def test_a_tick_of_which_a_part_fails_fails(penstock: Penstock, db: Connection) -> None:
    break_a_part_of_the_tick(db)
    ran = penstock.run("tick")
    assert ran.code == 1
    assert "once_keys      fail" in ran.out
    assert "promote        ok" in ran.out
