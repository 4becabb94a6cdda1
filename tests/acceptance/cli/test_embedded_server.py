"""The embedded server under commands that are ended from outside, and commands under a server that crashes."""

import os
import shutil
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from penstock.embedded import EmbeddedPostgres
from penstock.embedded.postmaster import running
from penstock.embedded.process import wait_for
from penstock.kernel.connection import connect
from tests.acceptance.cli.conftest import DEADLINE_S, Penstock
from tests.acceptance.outcomes import await_end
from tests.acceptance.processes import APPS, ROOT
from tests.unit.embedded.support import kill, pid_of, reachable_folder


@pytest.fixture(scope="module")
def home() -> Iterator[Path]:
    folder = reachable_folder()
    yield folder
    with EmbeddedPostgres(folder / "postgres"):
        pass  # the last to leave stops whatever a failed test left
    shutil.rmtree(folder)


@pytest.fixture
def embedded(home: Path) -> Iterator[Penstock]:
    command = Penstock(PENSTOCK_HOME=str(home), NOTES=os.devnull)
    yield command
    command.end()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_command_ended_by_a_signal_stops_the_server_it_was_the_last_to_use(
    embedded: Penstock, home: Path, number: signal.Signals
) -> None:
    job_id = embedded.ok("job", "enqueue", "hello").strip()
    with EmbeddedPostgres(home / "postgres") as server:
        holding = connect(server.url())
        holding.execute("begin")
        holding.execute("select from penstock.job_queue where job_id = %s for update", [job_id])
        process = embedded.start("job", "cancel", job_id)
        with connect(server.url()) as watching:
            waits = (
                "select 1 from pg_stat_activity where application_name = 'penstock job' and wait_event_type = 'Lock'"
            )
            assert wait_for(lambda: watching.execute(waits.encode()).fetchone() is not None, DEADLINE_S)
    assert running(home / "postgres") is not None
    process.send_signal(number)
    assert process.communicate(timeout=DEADLINE_S) == ("", "")
    assert process.returncode == 128 + number
    assert running(home / "postgres") is None
    holding.close()


def test_a_worker_starts_the_embedded_server_again_that_crashed_under_it(
    embedded: Penstock, home: Path, tmp_path: Path
) -> None:
    log = tmp_path / "worker.log"
    with log.open("w") as output:
        options = ("--poll-ms", "100")
        worker = embedded.start("worker", "--app", f"{APPS}.plain", *options, cwd=ROOT, stdout=output, stderr=output)
    assert wait_for(lambda: "working" in log.read_text(), DEADLINE_S)
    kill(pid_of(home / "postgres"))
    assert wait_for(lambda: "PostgreSQL answers again" in log.read_text(), DEADLINE_S), log.read_text()
    job_id = int(embedded.ok("job", "enqueue", "note"))
    with EmbeddedPostgres(home / "postgres") as server, connect(server.url()) as db:
        await_end(db, [job_id])
    worker.send_signal(signal.SIGTERM)
    assert worker.wait(DEADLINE_S) == 0
    assert running(home / "postgres") is None
    assert log.read_text().count("no answer from PostgreSQL") <= 5
    assert "PENSTOCK_DATABASE_URL" not in log.read_text()
