"""Nothing but Penstock installed: the embedded server, its first use, and the demo."""

import json
import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from penstock.embedded import EmbeddedPostgres
from penstock.embedded.process import wait_for
from penstock.kernel.connection import connect
from penstock.model import Json
from tests.acceptance.cli.conftest import DEADLINE_S, Penstock

JOBS = "600"


@pytest.fixture(scope="module")
def home() -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp(prefix="penstock-home-"))
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="module")
def server_of_home(home: Path) -> Iterator[EmbeddedPostgres]:
    """Keeps the embedded server running, so that not every command starts and stops it."""
    with EmbeddedPostgres(home / "postgres") as server:
        yield server


@pytest.fixture
def embedded(home: Path, server_of_home: EmbeddedPostgres) -> Iterator[Penstock]:
    command = Penstock(PENSTOCK_HOME=str(home))
    yield command
    command.end()


def test_the_first_command_makes_the_schema_on_the_embedded_server(embedded: Penstock) -> None:
    assert int(embedded.ok("job", "enqueue", "hello")) == 1
    checks = {one["check"]: one["state"] for one in embedded.json("doctor")["checks"]}
    assert (checks["durability"], checks["schema"], checks["disk"]) == ("ok", "ok", "ok")


def test_an_embedded_database_of_another_name_is_a_queue_of_its_own(embedded: Penstock) -> None:
    embedded.ok("job", "enqueue", "hello")
    embedded.environment["PENSTOCK_DATABASE"] = "shop"
    assert embedded.json("job", "list")["jobs"] == []


@pytest.fixture(scope="module")
def demo(home: Path, server_of_home: EmbeddedPostgres) -> Json:
    """What one run of the demo came to."""
    outcome: Json = Penstock(PENSTOCK_HOME=str(home)).json("demo", "--jobs", JOBS, "--messages", "0")
    return outcome


def test_every_job_of_the_demo_ends_as_it_must(demo: Json) -> None:
    assert demo["problems"] == []
    assert sum(tally["jobs"] for tally in demo["tallies"]) == int(JOBS)


def test_the_commands_the_demo_prints_can_be_pasted(demo: Json) -> None:
    shell = {"PATH": os.environ["PATH"], "HOME": "/nonexistent"}
    for command in demo["commands"]:
        ran = subprocess.run(command, shell=True, env=shell, capture_output=True, text=True, timeout=DEADLINE_S)
        assert (ran.returncode, ran.stderr) == (0, ""), command
        assert "demo." in ran.stdout


def test_the_demo_leaves_the_users_own_jobs_alone(embedded: Penstock, demo: Json) -> None:
    assert {one["job_kind"] for one in embedded.json("job", "list")["jobs"]} <= {"hello"}


def test_a_killed_demo_takes_its_workers_along_and_the_next_one_runs(
    embedded: Penstock, server_of_home: EmbeddedPostgres
) -> None:
    first = embedded.start("demo", "--jobs", "20000", "--messages", "0")
    with connect(server_of_home.url()) as connection:

        def connected_workers() -> int:
            row = connection.execute(
                "select count(distinct application_name) from pg_stat_activity"
                " where datname = 'penstock_demo' and application_name like 'penstock worker %'"
            ).fetchone()
            assert row is not None
            return int(row[0])

        assert wait_for(lambda: connected_workers() > 0, DEADLINE_S)
        first.send_signal(signal.SIGKILL)
        first.communicate(timeout=DEADLINE_S)
        outcome = json.loads(embedded.ok("demo", "--jobs", JOBS, "--messages", "0", "--json"))
        assert outcome["problems"] == []
        # a process may be gone before the server's side of it
        assert wait_for(lambda: connected_workers() == 0, DEADLINE_S)


def test_two_demos_at_once_do_not_disturb_each_other(embedded: Penstock) -> None:
    first = embedded.start("demo", "--jobs", "3000", "--messages", "0", "--json")
    second = embedded.start("demo", "--jobs", JOBS, "--messages", "0", "--json")
    for demo in (first, second):
        out, err = demo.communicate(timeout=DEADLINE_S)
        assert demo.returncode == 0, err
        assert json.loads(out)["problems"] == []
