"""The embedded PostgreSQL, with real servers and real kills."""

import json
import os
import shutil
import signal
import subprocess
import threading
from pathlib import Path

import pytest

from penstock.embedded import EmbeddedPostgres, bundled_binaries
from penstock.embedded.account import server_account
from penstock.embedded.postmaster import running
from penstock.embedded.process import start_time
from penstock.errors import EmbeddedPostgresError
from tests.unit.embedded.support import (
    WAIT_S,
    another_user,
    ask,
    environment,
    eventually,
    in_child,
    kill,
    let_go,
    pid_of,
    url_from,
    user_command,
)


def test_starts_and_answers(home: Path) -> None:
    data = home / "postgres"
    with EmbeddedPostgres(data) as server:
        assert server.url("template1").startswith("postgresql://postgres@/template1?host=")
        assert ask(server.url(), "select current_user, current_database()") == "postgres|postgres"
    assert running(data) is None


def test_is_durable_and_off_the_network_and_takes_settings(data: Path) -> None:
    names = (
        "fsync synchronous_commit full_page_writes listen_addresses TimeZone server_encoding max_connections work_mem"
    )
    with EmbeddedPostgres(data, settings={"max_connections": "33", "work_mem": "7MB"}) as server:
        values = ask(server.url(), "select " + ", ".join(f"current_setting('{name}')" for name in names.split()))
    assert values == "on|on|on||UTC|UTF8|33|7MB"


def test_ignores_the_environment_meant_for_other_servers(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PGPORT", "6000")
    monkeypatch.setenv("PGDATA", "/nowhere")
    with EmbeddedPostgres(data) as server:
        assert ask(server.url(), "select 1") == "1"


def test_second_start_reuses_the_server(data: Path) -> None:
    with EmbeddedPostgres(data) as server:
        pid = pid_of(data)
        assert server.start() == server.url()
        assert pid_of(data) == pid


def test_leave_may_be_called_twice_and_start_again_after_it(data: Path) -> None:
    server = EmbeddedPostgres(data)
    server.leave()
    server.start()
    server.leave()
    server.leave()
    assert running(data) is None
    assert ask(server.start(), "select 1") == "1"
    server.leave()


def test_restart_keeps_the_socket_and_the_data(data: Path) -> None:
    with EmbeddedPostgres(data) as server:
        url, pid = server.url(), pid_of(data)
        ask(url, "create table t as select 7 as n")
        server.restart()
        assert (server.url(), ask(url, "select n from t")) == (url, "7")
        assert pid_of(data) != pid
        with pytest.raises(EmbeddedPostgresError, match="smart, fast, immediate"):
            server.restart("gently")


def test_two_users_in_one_process_do_not_stop_each_other(data: Path) -> None:
    with EmbeddedPostgres(data) as one:
        with EmbeddedPostgres(data):
            pass
        assert ask(one.url(), "select 1") == "1"
    assert running(data) is None


def test_two_processes_share_it_and_the_last_to_leave_stops_it(home: Path) -> None:
    data = home / "postgres"
    with another_user(data) as one, another_user(data) as two:
        assert url_from(one) == url_from(two)
        pid = pid_of(data)
        let_go(one)
        assert pid_of(data) == pid
        let_go(two)
        assert running(data) is None


def test_a_killed_user_does_not_keep_it_running(data: Path) -> None:
    with another_user(data) as victim:
        url_from(victim)
        victim.kill()
        victim.wait(WAIT_S)
    assert running(data) is not None
    with EmbeddedPostgres(data):
        pass
    assert running(data) is None


def test_a_reused_process_id_does_not_keep_it_running(data: Path) -> None:
    users = data.with_name("postgres.users")
    with EmbeddedPostgres(data):
        listed = json.loads(users.read_text())
        users.write_text(json.dumps([*listed, [os.getppid(), "before that process began", "x"]]) + "\n")
    assert running(data) is None


def test_a_forked_child_is_no_user(data: Path) -> None:
    with EmbeddedPostgres(data) as server:
        in_child(server.leave)
        assert ask(server.url(), "select 1") == "1"


def test_a_killed_server_comes_back_with_its_data(data: Path) -> None:
    with EmbeddedPostgres(data) as server:
        ask(server.url(), "create table t as select 7 as n")
        kill(pid_of(data))
        assert ask(server.start(), "select n from t") == "7"


def test_waits_for_the_children_of_a_killed_server(data: Path) -> None:
    with EmbeddedPostgres(data) as server:
        command = [str(bundled_binaries().folder / "psql"), "-Atqc", "select pg_backend_pid()", "-f", "-", server.url()]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as session:
            assert session.stdout is not None
            backend = int(session.stdout.readline())
            os.kill(backend, signal.SIGSTOP)
            kill(pid_of(data))
            starting = threading.Thread(target=server.start)
            starting.start()
            try:
                log = data.with_name("postgres.log")
                eventually(lambda: "pre-existing shared memory block" in log.read_text())
                assert starting.is_alive()
            finally:
                os.kill(backend, signal.SIGKILL)
                starting.join(WAIT_S)
            assert session.stdin is not None
            session.stdin.close()
        assert ask(server.url(), "select 1") == "1"


def test_a_pid_file_of_a_dead_process_is_stale(data: Path) -> None:
    with EmbeddedPostgres(data):
        kept = (data / "postmaster.pid").read_text()
    (data / "postmaster.pid").write_text(kept)
    with EmbeddedPostgres(data) as server:
        assert ask(server.url(), "select 1") == "1"


@pytest.mark.parametrize("name", ["postmaster.pid", ".s.PGSQL.5432.lock"])
def test_a_pid_file_of_another_program_is_stale(data: Path, name: str) -> None:
    with EmbeddedPostgres(data):
        kept = (data / name).read_text()
        pid = str(pid_of(data))
    owner = server_account(data).uid if os.geteuid() == 0 else None
    with subprocess.Popen(["sleep", "60"], user=owner) as other:
        try:
            (data / name).write_text(kept.replace(pid, str(other.pid), 1))
            with EmbeddedPostgres(data) as server:
                assert ask(server.url(), "select 1") == "1"
            assert other.poll() is None
        finally:
            other.kill()


def test_a_half_done_initdb_is_done_again(home: Path) -> None:
    data = home / "postgres"
    for folder in ("global", "base/1", "pg_wal"):
        (data / folder).mkdir(parents=True)
    (data / "PG_VERSION").write_text("18\n")
    (home / "postgres.initdb-killed").mkdir()
    with EmbeddedPostgres(data) as server:
        assert ask(server.url(), "select 1") == "1"
    kinds = sorted(path.name.partition("-")[0] for path in home.iterdir())
    assert kinds == ["postgres", "postgres.incomplete", "postgres.log", "postgres.users"]


def test_a_folder_of_other_things_is_left_alone(home: Path) -> None:
    data = home / "postgres"
    data.mkdir()
    (data / "letter.txt").write_text("dear")
    with pytest.raises(EmbeddedPostgresError, match=r"postgres is not empty and holds no PostgreSQL data"):
        EmbeddedPostgres(data).start()
    assert (data / "letter.txt").read_text() == "dear"


def test_an_empty_folder_is_used(home: Path) -> None:
    data = home / "postgres"
    data.mkdir()
    with EmbeddedPostgres(data) as server:
        assert ask(server.url(), "select 1") == "1"


def test_a_folder_removed_under_a_running_server_is_made_anew(data: Path) -> None:
    with EmbeddedPostgres(data) as server:
        abandoned = pid_of(data)
        shutil.rmtree(data)
        assert ask(server.start(), "select 1") == "1"
        assert start_time(abandoned) is None


def test_another_major_version_is_refused(home: Path) -> None:
    data = home / "postgres"
    data.mkdir()
    (data / "PG_VERSION").write_text("12\n")
    (data / "postmaster.opts").touch()
    with pytest.raises(EmbeddedPostgresError, match=r"data of PostgreSQL 12.* are PostgreSQL \d\d.*pg_dump"):
        EmbeddedPostgres(data).start()


@pytest.mark.parametrize("name", ["long" * 40, "comma, quote ' and percent %"])
def test_paths_no_socket_can_have(home: Path, name: str) -> None:
    data = home / name / "postgres"
    with EmbeddedPostgres(data) as server:
        socket = Path(server.url().partition("host=")[2].partition("&")[0])
        assert ask(server.url(), "select 1") == "1"
        assert EmbeddedPostgres(data).url() == server.url()
    assert not socket.exists()


def test_a_server_that_cannot_start_says_why_and_where(data: Path) -> None:
    with pytest.raises(EmbeddedPostgresError, match=r"did not start(.|\n)*postgres\.log(.|\n)*no_such_setting"):
        EmbeddedPostgres(data, settings={"no_such_setting": "1"}).start()
    assert json.loads(data.with_name("postgres.users").read_text()) == []


def test_does_not_hold_our_output_open_nor_hear_our_terminal(data: Path) -> None:
    command = user_command(data, then="import os; os.kill(os.getpid(), 9)")
    ran = subprocess.run(command, capture_output=True, text=True, timeout=WAIT_S * 3, env=environment())
    assert ran.returncode == -signal.SIGKILL
    with EmbeddedPostgres(data):
        assert str(data) in ran.stdout
        assert os.getsid(pid_of(data)) != os.getsid(0)
