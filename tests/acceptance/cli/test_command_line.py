"""What all commands have in common: help, errors, pipes, signals, roles."""

import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command

from penstock.cli.main import app
from penstock.embedded import EmbeddedPostgres
from penstock.embedded.process import wait_for
from penstock.kernel import databases, jobs
from penstock.kernel.connection import Connection, connect
from tests.acceptance.cli.conftest import DEADLINE_S, PROGRAM, Penstock
from tests.conftest import Connect
from tests.logins import Logins
from tests.parts.terminal import on_a_terminal
from tests.tree import ROOT


@pytest.fixture
def unmigrated(server: EmbeddedPostgres) -> Iterator[str]:
    """The URL of a database without our schema."""
    with connect(server.url()) as connection:
        databases.create_missing(connection, "t_unmigrated")
        yield server.url("t_unmigrated")
        databases.drop(connection, "t_unmigrated", patience_s=0)


def _commands(command: Any, path: str = "penstock") -> Iterator[tuple[str, Any]]:
    below = getattr(command, "commands", {})
    if not below:
        yield path, command
    for name, one in below.items():
        yield from _commands(one, f"{path} {name}")


def test_the_help_of_every_command_has_an_example_of_it() -> None:
    lacking = [
        path for path, command in _commands(get_command(app)) if f"{path}" not in command.help.partition("Example: ")[2]
    ]
    assert lacking == []


def test_help_needs_no_database() -> None:
    said = Penstock(PENSTOCK_DATABASE_URL="nonsense").ok("job", "list", "--help")
    assert "Example: penstock job list" in said


def test_an_unknown_command_is_a_usage_error(penstock: Penstock) -> None:
    assert "No such command" in penstock.refuses("jobs", code=2)


def test_words_that_are_not_utf_8_are_a_usage_error(penstock: Penstock) -> None:
    assert "not valid UTF-8" in penstock.refuses("job", "enqueue", os.fsdecode(b"caf\xe9"), code=2)


def test_a_url_that_cannot_be_read_is_told_without_the_password_in_it() -> None:
    said = Penstock(PENSTOCK_DATABASE_URL="postgresql//ann:geheim@host/db").refuses("config", "list")
    assert "PENSTOCK_DATABASE_URL" in said
    assert "geheim" not in said


def test_a_server_that_does_not_answer_is_a_failure_that_says_what_to_do(tmp_path: Path) -> None:
    said = Penstock(PENSTOCK_DATABASE_URL=f"postgresql:///x?host={tmp_path}").refuses("job", "list")
    assert "cannot connect to PostgreSQL" in said
    assert "Check PENSTOCK_DATABASE_URL" in said


def test_a_users_own_server_is_never_migrated_unasked(unmigrated: str) -> None:
    command = Penstock(PENSTOCK_DATABASE_URL=unmigrated)
    assert "Run: penstock migrate" in command.refuses("job", "list")
    with connect(unmigrated) as connection:
        assert not databases.has_schema(connection)


def test_migrate_says_what_it_applied_and_nothing_the_second_time(unmigrated: str) -> None:
    command = Penstock(PENSTOCK_DATABASE_URL=unmigrated)
    assert command.json("migrate")["applied"][0] == {"version": 1, "name": "kernel"}
    assert command.ok("migrate") == "the schema is up to date\n"


def test_a_database_newer_than_the_program_is_refused(penstock: Penstock, db: Connection) -> None:
    db.execute("insert into penstock.schema_migration (version, name, checksum) values (9999, 'later', '')")
    assert "the database is at migration 9999" in penstock.refuses("job", "list")


def test_a_reader_who_leaves_early_is_no_error_worth_a_word(penstock: Penstock, db: Connection) -> None:
    jobs.enqueue_many(db, [{"kind": "send"}] * 1000)
    reading, writing = os.pipe()
    os.close(reading)
    process = penstock.start("job", "list", "--limit", "1000", stdout=writing)
    os.close(writing)
    assert process.communicate(timeout=DEADLINE_S)[1] == ""


@pytest.mark.parametrize("words", [["job", "list", "--limit", "1000"], ["pool", "list"], ["config", "list", "--json"]])
def test_a_full_disk_is_one_line_and_a_failure(penstock: Penstock, db: Connection, words: list[str]) -> None:
    jobs.enqueue_many(db, [{"kind": "send"}] * 1000)
    with open("/dev/full", "w") as full:
        process = penstock.start(*words, stdout=full)
    assert process.communicate(timeout=DEADLINE_S)[1] == "penstock: cannot write: No space left on device\n"
    assert process.returncode == 1


def test_ctrl_c_ends_a_command_without_a_word(penstock: Penstock, db: Connection, session: Connect) -> None:
    job_id = jobs.enqueue(db, {"kind": "send"})
    with session().transaction() as holding:
        holding.connection.execute("select from penstock.job_queue where job_id = %s for update", [job_id])
        process = penstock.start("job", "cancel", job_id)
        assert wait_for(lambda: _waits_for_a_lock(db, "penstock job"), DEADLINE_S)
        process.send_signal(signal.SIGINT)
        assert process.communicate(timeout=DEADLINE_S) == ("", "")
    assert process.returncode != 0


def test_an_operator_needs_no_superuser(penstock: Penstock, db: Connection, database: str) -> None:
    logins = Logins(db, database)
    job_id = jobs.enqueue(db, {"kind": "send"})
    try:
        penstock.environment["PENSTOCK_DATABASE_URL"] = database.replace(
            "//postgres@", f"//{logins.make('workflow_admin')}@"
        )
        penstock.ok("job", "list", "--status", "ready")
        penstock.ok("job", "show", job_id)
        penstock.ok("dlq", "list")
        penstock.ok("executor", "list")
        penstock.ok("config", "set", "queue.lease_ms.default", "30000")
    finally:
        logins.drop()


def test_who_may_only_look_changes_nothing(penstock: Penstock, db: Connection, database: str) -> None:
    logins = Logins(db, database)
    try:
        reader = logins.make("penstock_reader")
        penstock.environment["PENSTOCK_DATABASE_URL"] = database.replace("//postgres@", f"//{reader}@")
        said = penstock.refuses("config", "set", "queue.lease_ms.default", "30000")
        assert "permission denied for function fn_config_set" in said
        assert f"You are connected as {reader}." in said
        assert f"grant ROLE to {reader}" in said
        assert "workflow_admin to operate" in said
    finally:
        logins.drop()


def test_a_terminal_gets_a_table_with_lines(penstock: Penstock) -> None:
    code, shown = on_a_terminal([str(PROGRAM), "pool", "list"], penstock.environment, ROOT, DEADLINE_S)
    assert (code, "┃" in shown.decode()) == (0, True), shown
    assert "┃" not in penstock.ok("pool", "list")


def _waits_for_a_lock(db: Connection, application: str) -> bool:
    row = db.execute(
        "select from pg_stat_activity where application_name = %s and wait_event_type = 'Lock'", [application]
    ).fetchone()
    return row is not None
