"""The embedded NATS server, with real servers and real kills."""

import json
import os
import pwd
import shutil
import signal
import socket
import subprocess
from collections.abc import Iterator
from contextlib import AbstractContextManager, suppress
from pathlib import Path

import pytest

from penstock.embedded.nats import EmbeddedNats
from penstock.embedded.nats_server import NatsServer, program
from penstock.embedded.process import start_time
from penstock.errors import EmbeddedNatsError, SourceMissing, SourceRefused
from penstock.sources.nats import NatsSource
from tests.unit.embedded import support
from tests.unit.embedded.support import (
    WAIT_S,
    environment,
    eventually,
    holds_as,
    in_child,
    kill,
    let_go,
    reachable_folder,
    url_from,
    user_command,
)


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder without a living server afterwards."""
    home = reachable_folder()
    yield home / "nats"
    server = NatsServer(home / "nats")
    left = server.running()
    server.stop(signal.SIGKILL)
    shutil.rmtree(home)
    assert left is None, "a server was left running"


def pid_of(folder: Path) -> int:
    server = NatsServer(folder).running()
    assert server is not None
    return server.pid


def is_running(folder: Path) -> bool:
    return NatsServer(folder).running() is not None


def answers(server: EmbeddedNats) -> bool:
    """JetStream answers our login: it says that there is no such stream."""
    with NatsSource(server.credential(), stream="none", consumer="none") as source, suppress(SourceMissing):
        source.check()
        return False
    return True


def another_user(folder: Path) -> AbstractContextManager["subprocess.Popen[str]"]:
    return support.another_user(folder, EmbeddedNats)


def test_starts_and_answers_on_this_machine_alone(folder: Path) -> None:
    with EmbeddedNats(folder) as server:
        assert server.url().startswith("nats://127.0.0.1:")
        assert answers(server)
    assert not is_running(folder)


def test_asks_for_a_login_that_only_we_can_read(folder: Path) -> None:
    with EmbeddedNats(folder) as server:
        wrong = server.credential() | {"password": "guess"}
        with NatsSource(wrong, stream="s", consumer="c") as source, pytest.raises(SourceRefused):
            source.check()
        assert (folder / "nats.conf").stat().st_mode & 0o077 == 0
        assert server.credential()["password"] not in Path(f"/proc/{pid_of(folder)}/cmdline").read_text()


def test_writes_through_to_the_disk(folder: Path) -> None:
    with EmbeddedNats(folder):
        assert "sync_interval: always" in (folder / "nats.conf").read_text()
        assert "Sync Interval" in (log := folder.with_name("nats.log").read_text()) or "JetStream" in log


def test_second_start_reuses_the_server(folder: Path) -> None:
    with EmbeddedNats(folder) as server:
        pid = pid_of(folder)
        assert server.start() == server.url()
        assert pid_of(folder) == pid


def test_leave_may_be_called_twice_and_start_again_after_it(folder: Path) -> None:
    """On its port, unless somebody else has taken it meanwhile."""
    assert any(_starts_again(folder.with_name(f"nats-{number}")) for number in range(3))


def _starts_again(folder: Path) -> bool:
    server = EmbeddedNats(folder)
    server.leave()
    url = server.start()
    password = server.credential()["password"]
    server.leave()
    server.leave()
    assert not is_running(folder)
    is_there = server.start() == url
    assert server.credential()["password"] == password
    server.leave()
    return is_there


def test_a_taken_port_is_left_to_its_owner(folder: Path) -> None:
    """Somebody else may take it before we do: of three one is ours."""
    assert any(_leaves_its_port(folder.with_name(f"nats-{number}")) for number in range(3))


def _leaves_its_port(folder: Path) -> bool:
    with EmbeddedNats(folder) as server:
        port = int(server.url().rpartition(":")[2])
    with socket.socket() as other:
        other.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            other.bind(("127.0.0.1", port))
            other.listen()
        except OSError:
            return False
        with EmbeddedNats(folder) as server:
            assert server.url() != f"nats://127.0.0.1:{port}"
            assert answers(server)
    return True


def test_two_processes_share_it_and_the_last_to_leave_stops_it(folder: Path) -> None:
    with another_user(folder) as one, another_user(folder) as two:
        assert url_from(one) == url_from(two)
        pid = pid_of(folder)
        let_go(one)
        assert pid_of(folder) == pid
        let_go(two)
        assert not is_running(folder)


def test_a_killed_user_does_not_keep_it_running(folder: Path) -> None:
    with another_user(folder) as victim:
        url_from(victim)
        victim.kill()
        victim.wait(WAIT_S)
    assert is_running(folder)
    with EmbeddedNats(folder):
        pass
    assert not is_running(folder)


def test_a_forked_child_is_no_user(folder: Path) -> None:
    with EmbeddedNats(folder) as server:
        in_child(server.leave)
        assert answers(server)


def test_a_killed_server_comes_back_on_its_port(folder: Path) -> None:
    """Unless somebody else has taken the port meanwhile, as other tests may: of three servers one comes back there."""
    assert any(_comes_back(folder.with_name(f"nats-{number}")) for number in range(3))


def _comes_back(folder: Path) -> bool:
    with EmbeddedNats(folder) as server:
        url, pid = server.url(), pid_of(folder)
        kill(pid)
        assert not is_running(folder)
        server.revive()
        assert answers(server)
        was_revived_there = server.url() == url
        server.restart()
        assert answers(server)
        return was_revived_there and server.url() == url


def test_nobody_revives_what_nobody_uses(folder: Path) -> None:
    with pytest.raises(EmbeddedNatsError, match="is gone"):
        EmbeddedNats(folder).revive()
    folder.mkdir()
    with pytest.raises(EmbeddedNatsError, match="Nobody uses"):
        EmbeddedNats(folder).revive()


def test_a_ports_file_of_a_dead_server_is_stale(folder: Path) -> None:
    with EmbeddedNats(folder):
        kept = next(folder.glob("*.ports"))
        text = kept.read_text()
    kept.write_text(text)
    with subprocess.Popen(["sleep", "60"]) as other:
        try:
            (folder / f"nats-server_{other.pid}.ports").write_text(text)
            with EmbeddedNats(folder) as server:
                assert answers(server)
            assert other.poll() is None
        finally:
            other.kill()


def test_a_folder_removed_under_a_running_server_is_made_anew(folder: Path) -> None:
    with EmbeddedNats(folder) as server:
        abandoned = pid_of(folder)
        shutil.rmtree(folder)
        server.start()
        assert answers(server)
        assert start_time(abandoned) is None


def test_a_folder_of_other_things_is_left_alone(folder: Path) -> None:
    folder.mkdir()
    (folder / "letter.txt").write_text("dear")
    with pytest.raises(EmbeddedNatsError, match="is not empty and holds no NATS data"):
        EmbeddedNats(folder).start()
    assert (folder / "letter.txt").read_text() == "dear"


@pytest.mark.parametrize("name", ["long" * 40, "comma, quote ' \" and percent %"])
def test_odd_paths_work(folder: Path, name: str) -> None:
    odd = folder.parent / name / "nats"
    with EmbeddedNats(odd) as server:
        assert answers(server)
    assert not is_running(odd)


def test_a_server_that_cannot_start_says_why_and_where(folder: Path) -> None:
    folder.mkdir()
    (folder / "nats.conf").write_text("no_such_setting {")
    with pytest.raises(EmbeddedNatsError, match=r"did not start(.|\n)*nats\.log"):
        EmbeddedNats(folder).start()
    assert json.loads(folder.with_name("nats.users").read_text()) == []


def test_a_home_that_cannot_be_made_says_so(folder: Path) -> None:
    folder.parent.joinpath("file").write_text("")
    with pytest.raises(EmbeddedNatsError, match="PENSTOCK_HOME"):
        EmbeddedNats(folder.parent / "file" / "nats").start()


def test_does_not_hold_our_output_open_nor_hear_our_terminal(folder: Path) -> None:
    command = user_command(folder, EmbeddedNats, then="import os; os.kill(os.getpid(), 9)")
    ran = subprocess.run(command, capture_output=True, text=True, timeout=WAIT_S * 3, env=environment())
    assert ran.returncode == -signal.SIGKILL
    with EmbeddedNats(folder) as server:
        assert server.url() in ran.stdout
        assert os.getsid(pid_of(folder)) != os.getsid(0)


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root")
def test_a_normal_user_runs_the_server_as_itself(folder: Path) -> None:
    nobody = pwd.getpwnam("nobody")
    theirs = folder.parent / "theirs"
    theirs.mkdir()
    shutil.chown(theirs, nobody.pw_uid, nobody.pw_gid)
    # ours may be installed where that user cannot go
    if any(not step.stat().st_mode & 0o001 for step in program().parents):
        pytest.skip("the NATS server is installed where only root can go")
    server = EmbeddedNats(theirs / "nats")

    def runs_as_itself() -> bool:
        with server:
            owned = Path(f"/proc/{pid_of(theirs / 'nats')}").stat().st_uid == os.getuid()
            return owned and answers(server)

    assert holds_as(nobody, runs_as_itself)
    eventually(lambda: not is_running(theirs / "nats"))
