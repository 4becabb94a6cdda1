"""The examples, followed word by word."""

import os
import re
import select
import shutil
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest

from penstock.embedded import EmbeddedPostgres, bundled_binaries
from penstock.embedded.postmaster import running
from penstock.kernel.connection import Connection
from tests.acceptance.conftest import PROGRAM, Penstock
from tests.acceptance.outcomes import await_end, result
from tests.acceptance.processes import until
from tests.parts.processes import free_ports
from tests.sql.support import rows, value
from tests.tree import ROOT
from tests.unit.embedded.support import reachable_folder

CUSTOMER_CARE = ROOT / "examples" / "customer-care"
MARKCUT = ROOT / "examples" / "markcut"
OWN_SOURCE = ROOT / "examples" / "own_source"
_SCRIPT_S = 300


@pytest.fixture
def shop_environment() -> Iterator[dict[str, str]]:
    """What reaches a server of the reader's own."""
    folder = reachable_folder()
    with EmbeddedPostgres(folder / "postgres") as server:
        place = parse_qs(urlsplit(server.url()).query)
        yield {"PGHOST": place["host"][0], "PGPORT": place["port"][0], "PGUSER": "postgres"}
    shutil.rmtree(folder)


def _steps(readme: Path) -> dict[str, str]:
    """The commands under each numbered step."""
    numbered = re.split(r"^\*\*(\d)\. ", readme.read_text().partition("\n## ")[0], flags=re.MULTILINE)
    return {
        number: "\n".join(re.findall(r"^ {4}(.*)$", text, re.MULTILINE))
        for number, text in zip(numbered[1::2], numbered[2::2], strict=True)
    }


@pytest.mark.long
def test_a_reader_of_the_example_of_an_own_source_gets_what_it_says(
    penstock: Penstock, db: Connection, shop_environment: dict[str, str], tmp_path: Path
) -> None:
    folder = tmp_path / "own_source"
    shutil.copytree(OWN_SOURCE, folder, ignore=shutil.ignore_patterns("__pycache__", "credentials.yaml"))
    path = f"{PROGRAM.parent}:{bundled_binaries().folder}:{penstock.environment['PATH']}"
    environment = penstock.environment | shop_environment | {"PATH": path, "PENSTOCK_HOME": str(tmp_path / "home")}
    steps = _steps(folder / "README.md")
    script = "\n".join(["set -eu", *(steps[number] for number in "123456"), steps["5"], steps["6"]])
    ran = subprocess.run(
        ["bash", "-c", script], cwd=folder, env=environment, capture_output=True, text=True, timeout=_SCRIPT_S
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert value(db, "select count(*) from penstock.job") == 5
    worker, show = steps["7"].splitlines()
    penstock.environment = environment | {"PYTHONPATH": str(folder)}
    penstock.start(*worker.split()[1:])
    ids = [job_id for (job_id,) in rows(db, "select job_id from penstock.job order by source_ref")]
    await_end(db, ids)
    assert [result(db, job_id) for job_id in ids] == [{"parcel": n, "told": f"c-{n}"} for n in range(1, 6)]
    assert "shop/announce_parcel" in penstock.ok(*show.split()[1:])


def test_a_reader_of_the_example_of_documents_gets_what_it_says(tmp_path: Path) -> None:
    """With nothing set: the embedded server, which the tasks of Spark have to find as well."""
    folder = tmp_path / "markcut"
    shutil.copytree(MARKCUT, folder, ignore=shutil.ignore_patterns("pieces"))
    home = reachable_folder()
    reader = Penstock(PENSTOCK_HOME=str(home), PATH=f"{PROGRAM.parent}:{os.environ['PATH']}", PYTHONUNBUFFERED="1")
    cut, worker_and_exec, events = re.findall(r"^```\n(.*?)^```", (folder / "README.md").read_text(), re.S | re.M)
    register, worker, execute = worker_and_exec.strip().splitlines()
    try:
        said = _followed(reader, folder, cut)
        assert "cut: 5 added" in said
        assert '"document":"guide/setup.md"' in said
        with (folder / "documents" / "guide" / "setup.md").open("a") as document:
            document.write("\n## More\n\nA new end.\n")
        _followed(reader, folder, register)
        process = reader.start(*worker.split()[1:])
        execution = _followed(reader, folder, execute).split()[1]
        until(lambda: _status(reader, execution) != "running", "the documents are cut", 300)
        assert _status(reader, execution) == "succeeded"
        told = _followed(reader, folder, events)
        assert "guide/setup.md#installing/more~1" in told or "guide/setup.md#more~1" in told, told
        process.terminate()
        process.communicate(timeout=60)
    finally:
        reader.end()
        shutil.rmtree(home)


def _terminals(readme: str) -> list[list[str]]:
    """The commands of each numbered terminal."""
    parts = re.split(r"^\d\. ", readme.partition("\n## Run it")[2], flags=re.MULTILINE)[1:]
    return [re.findall(r"^ {7}(.*)$", part, re.MULTILINE) for part in parts]


@contextmanager
def _terminal(folder: Path, commands: list[str], environment: dict[str, str], said: Path) -> Iterator[None]:
    """Commands whose last one goes on, ended with all they started; `said` gets what they print."""
    # read to its end when nobody holds the other one any more
    ended, held = os.pipe()
    with said.open("wb") as out:
        process = subprocess.Popen(
            ["bash", "-euc", "\n".join(commands)],
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            pass_fds=[held],
        )
    os.close(held)
    try:
        yield
        assert process.poll() is None, said.read_text()
    finally:
        # a group of its own: the shell and what it waits for
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGTERM)
            if not select.select([ended], [], [], 60)[0]:
                os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        os.close(ended)


def test_a_reader_of_the_example_of_customer_care_gets_what_it_says(tmp_path: Path) -> None:
    """Three terminals: a mail server that prints, a worker, and somebody who writes and answers."""
    folder = tmp_path / "examples" / "customer-care"
    shutil.copytree(CUSTOMER_CARE, folder, ignore=shutil.ignore_patterns("__pycache__", "credentials.yaml"))
    (tmp_path / ".venv").symlink_to(PROGRAM.parent.parent)
    home, (port,) = reachable_folder(), free_ports(1)
    mails, log = tmp_path / "mails", tmp_path / "worker"
    reader = Penstock(PENSTOCK_HOME=str(home), PYTHONUNBUFFERED="1")
    server, worker, person = _terminals((folder / "README.md").read_text().replace("8025", str(port)))
    exported, register, execute, show, change, _, approve, explain = person

    def followed(command: str) -> str:
        return _followed(reader, folder, f"{exported}\n{command}")

    def shows(words: str) -> None:
        until(lambda: words in followed(show), f"{show} says {words}")

    def answered(command: str) -> None:
        """With the id that is written there, once it is the one that is asked for."""
        shows("penstock job resume " + command.split()[3])
        followed(command)

    try:
        with (
            _terminal(folder, server, reader.environment, mails),
            _terminal(folder, worker, reader.environment, log),
        ):
            until(lambda: "working" in log.read_text(), "the worker works")
            followed(register)
            assert "execution 1 is started" in followed(execute)
            answered(change)
            answered(approve)
            assert "ask went on with send: {{ ask.approved }} held" in followed(explain)
            until(lambda: "Did we help? Order 7" in mails.read_text(), "the customer is asked whether it helped")
            shows("execution_succeeded")
            assert "Subject: Re: Order 7" in mails.read_text()
            assert "It left our house on Monday." in mails.read_text()
        assert running(home / "postgres") is None, "the last one has stopped the server"
    finally:
        shutil.rmtree(home)


def _status(reader: Penstock, execution: str) -> str:
    return str(reader.json("execution", "show", execution)["execution"]["status"])


def _followed(reader: Penstock, folder: Path, commands: str) -> str:
    ran = subprocess.run(
        ["bash", "-euc", commands],
        cwd=folder,
        env=reader.environment,
        capture_output=True,
        text=True,
        timeout=_SCRIPT_S,
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return ran.stdout
