"""A runtime's calls over the API: whatever meets them on the way, staged once, committed once, or a clear error."""

import json
import traceback
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from uuid import uuid4

import pyarrow as pa
import pytest

from penstock.errors import (
    Busy,
    CredentialError,
    PenstockError,
    RuntimeReplaced,
    ServerUnavailable,
    SettingsError,
    TokenRefused,
)
from penstock.kernel import runtimes, subscriptions, tokens
from penstock.kernel.connection import Connection, connect
from penstock.pipeline.api import Api as Calls
from penstock.pipeline.api_books import ApiBooks, look
from penstock.pipeline.books import Server
from penstock.pipeline.keeper import Keeper
from penstock.pipeline.outlet import Outlet
from tests.gateway.conftest import own
from tests.gateway.serving import Api, answer
from tests.ingest.support import PATH, playbook, subscription
from tests.parts.troubled import Trouble, Troubled
from tests.sql.support import rows, value

__all__ = ["own"]

ROWS = 2500
PART = "orders:0"
# much sooner than a call that is waited for
_SOON_S = 40
TROUBLES: tuple[Trouble, ...] = ("well", "refused", "twice", "lost", "refused", "lost")


@pytest.fixture
def secret(own: Api, credentials_file: Path) -> str:
    """The alias of a good token."""
    playbook(own.db)
    subscription(own.db)
    _write(credentials_file, tokens.create(own.db, "agent:edge", ["internal"])[1])
    return "server"


def _write(file: Path, token: str) -> None:
    file.write_text(json.dumps({"server": {"token": token}}))


def _rows(first: int, count: int, body: bytes = b'{"n": 1}') -> pa.RecordBatch:
    numbers = list(range(first, first + count))
    nothing = pa.nulls(count, pa.string())
    return pa.record_batch(
        {
            "part": [PART] * count,
            "source_offset": pa.array(numbers, pa.int64()),
            "identity": nothing,
            "message_id": [f"{PART}:{number}" for number in numbers],
            "published_at": pa.array([datetime.now(UTC)] * count, pa.timestamp("us", "UTC")),
            "message_key": pa.array([b"\x00\xff"] * count, pa.binary()),
            "body": pa.array([body] * count, pa.binary()),
            "attributes": ["[]"] * count,
            **dict.fromkeys(("playbook", "pool", "dedup_key", "trace", "directives", "fault", "ack"), nothing),
        }
    )


def test_chunks_that_meet_with_trouble_are_staged_once_and_committed_once(own: Api, secret: str) -> None:
    with Troubled(own.port, TROUBLES) as way:
        server = Server(way.url, secret)
        with ApiBooks(server, PATH, None) as books:
            token = books.lease(uuid4()).token
            books.stage_open(token, 0)
            outlet = Outlet(server, PATH, token)
            batches = [_rows(0, 1700), _rows(1700, 800)]
            staged = outlet.stage(0, "attempt", iter(batches))
            assert sorted(staged.values()) == [500, 1000, 1000]
            ledger = {PART: {"identity": "t1", "next": ROWS}}
            books.commit(token, ledger, staged)
            assert value(own.db, "select count(*) from penstock.job") == ROWS
            # under another name
            again = books.commit(token, ledger, staged)
            assert (again.executions, again.replays) == (0, ROWS)
            assert books.nexts() == {PART: ROWS}
        assert way.met["lost"] > 1
        assert way.met["refused"] > 1
    assert value(own.db, "select count(*) from penstock.ingest_message") == ROWS
    assert value(own.db, "select count(distinct message_key || body) from penstock.ingest_message") == 1


@pytest.mark.parametrize("trouble", ["lost", "twice"])
def test_a_call_whose_answer_is_lost_is_made_once_and_has_that_answer(own: Api, secret: str, trouble: Trouble) -> None:
    with ApiBooks(Server(own.url, secret), PATH, None) as books:
        token = books.lease(uuid4()).token
        books.stage_open(token, 0)
        staged = Outlet(Server(own.url, secret), PATH, token).stage(0, "attempt", iter([_rows(0, 5)]))
    with Troubled(own.port, (trouble, "well")) as way, ApiBooks(Server(way.url, secret), PATH, None) as books:
        made = books.commit(token, {PART: {"identity": "t1", "next": 5}}, staged)
        assert (made.received, made.executions, made.replays) == (5, 5, 0)
        books.said(token, "rate_limited", {"limit": "max_in_flight"})
        books.said(token, "rate_limited", {"limit": "max_in_flight"})
        books.position_set(token, {PART: {"identity": "t2", "next": 0}}, "made_again", {})
        assert way.met[trouble] >= 2
    assert Counter(one.happening for one in subscriptions.history(own.db, PATH)) == {
        "subscription.rate_limited": 2,
        "subscription.data_loss": 1,
        "subscription.activated": 1,
        "subscription.registered": 1,
    }


def test_a_call_that_was_refused_can_be_made_later(own: Api, secret: str) -> None:
    client, request = own.client("internal"), str(uuid4())
    with ApiBooks(Server(own.url, secret), PATH, None) as books:
        token = books.lease(uuid4()).token
        body = {"token": token, "positions": {PART: {"identity": "t1", "next": 5}}, "request": request}
        at = f"/api/internal/runtime/{PATH}/commit"
        assert client.post(at, json=body | {"expected": {"attempt-0": 5}}).status_code == 409
        books.stage_open(token, 0)
        staged = Outlet(Server(own.url, secret), PATH, token).stage(0, "attempt", iter([_rows(0, 5)]))
        for _ in range(2):
            assert answer(client.post(at, json=body | {"expected": staged}))["executions"] == 5


# the last is the end of what Spark and Arrow can say
YEARS = {
    1_767_323_045_678_901: "2026-01-02 03:04:05.678901+00",
    -1: "1969-12-31 23:59:59.999999+00",
    1_760_000_000_000_000_001: "57742-03-07 08:53:20.000001+00",
    2**63 - 1: "294247-01-10 04:00:54.775807+00",
}


def test_a_time_is_kept_to_the_microsecond_in_any_year(own: Api, secret: str) -> None:
    server = Server(own.url, secret)
    batch = _rows(0, len(YEARS))
    place = batch.schema.get_field_index("published_at")
    batch = batch.set_column(place, "published_at", pa.array(list(YEARS), pa.timestamp("us", "UTC")))
    with ApiBooks(server, PATH, None) as books:
        token = books.lease(uuid4()).token
        books.stage_open(token, 0)
        staged = Outlet(server, PATH, token).stage(0, "attempt", iter([batch]))
        books.commit(token, {PART: {"identity": "t1", "next": len(YEARS)}}, staged)
    kept = rows(own.db, "select published_at::text from penstock.ingest_message order by source_offset")
    assert [one for (one,) in kept] == list(YEARS.values())


def test_a_runtime_that_was_replaced_stages_and_commits_nothing(own: Api, secret: str) -> None:
    server = Server(own.url, secret)
    with ApiBooks(server, PATH, None) as books:
        incarnation = uuid4()
        token = books.lease(incarnation).token
        books.stage_open(token, 0)
        _replaced(own.db)
        with pytest.raises(RuntimeReplaced):
            Outlet(server, PATH, token).stage(0, "attempt", iter([_rows(0, 3)]))
        with pytest.raises(RuntimeReplaced):
            books.commit(token, {}, {})
        with pytest.raises(RuntimeReplaced):
            books.lease(incarnation, token)


def _replaced(db: Connection) -> None:
    db.execute("update penstock.subscription_runtime set lease_until = now() - interval '1 second'")
    runtimes.lease(db, PATH, uuid4())


def test_a_renewal_does_not_wait_for_a_commit(own: Api, secret: str, database: str) -> None:
    with ApiBooks(Server(own.url, secret), PATH, 200) as books, connect(database) as other:
        incarnation = uuid4()
        token = books.lease(incarnation).token
        with other.transaction():
            other.execute("select from penstock.subscription_runtime for update")
            with pytest.raises(Busy):
                books.lease(incarnation, token)
            assert books.state() == "ACTIVE"
        assert books.lease(incarnation, token).token == token


@contextmanager
def _unheard(own: Api, secret: str) -> Iterator[tuple[Keeper, ApiBooks]]:
    """It has taken the subscription anew, and heard of that neither then nor from those who ask again for long."""
    incarnation = uuid4()
    with Troubled(own.port, ("well", "lost", "well", "well"), only="/lease") as way:
        server = Server(way.url, secret)
        keeper = Keeper(server, PATH, incarnation, runtimes.lease(own.db, PATH, incarnation))
        with ApiBooks(server, PATH, 500) as books:
            with pytest.raises(ServerUnavailable):
                keeper.retake(books)
            assert value(own.db, "select token from penstock.subscription_runtime") > keeper.lease.token
            yield keeper, books


def test_a_runtime_that_did_not_hear_of_its_take_still_has_its_place(own: Api, secret: str) -> None:
    with _unheard(own, secret) as (keeper, books):
        before = keeper.lease.token
        token = keeper.retake(books).token
        assert books.commit(token, {}, {}).received == 0
        with pytest.raises(RuntimeReplaced):
            books.commit(before, {}, {})


def test_a_runtime_that_did_not_hear_of_its_take_gives_its_place_back(own: Api, secret: str) -> None:
    with _unheard(own, secret) as (keeper, books):
        assert keeper.release(books) == "ACTIVE"
        assert not subscriptions.show(own.db, PATH).is_running


def test_a_take_does_not_wait_for_a_commit_longer_than_for_an_answer(own: Api, secret: str, database: str) -> None:
    with ApiBooks(Server(own.url, secret), PATH, None) as books, connect(database) as other:
        with other.transaction():
            other.execute("select from penstock.subscription_runtime for update")
            with pytest.raises(Busy):
                books.lease(uuid4())
        assert not subscriptions.show(own.db, PATH).is_running


def test_a_renewal_does_not_wait_for_a_server_that_hangs(own: Api, secret: str) -> None:
    with ApiBooks(Server(own.url, secret), PATH, 500) as books, ThreadPoolExecutor(1) as thread:
        incarnation = uuid4()
        token = books.lease(incarnation).token
        with own.process.hung(), pytest.raises(ServerUnavailable, match="timed out"):
            thread.submit(books.lease, incarnation, token).result(_SOON_S)
        assert books.lease(incarnation, token).token == token


def test_a_call_is_cut_off_from_another_thread(own: Api, secret: str) -> None:
    with ApiBooks(Server(own.url, secret), PATH, None) as books, ThreadPoolExecutor(1) as thread:
        token = books.lease(uuid4()).token
        with own.process.hung():
            call = thread.submit(books.commit, token, {}, {})
            with pytest.raises(TimeoutError):
                call.result(1)
            books.cancel(1)
            with pytest.raises(ServerUnavailable):
                call.result(_SOON_S)


def test_a_chunk_that_is_slow_on_its_way_and_sent_again_meanwhile_is_staged_once(own: Api, secret: str) -> None:
    with Troubled(own.port, ("slow", "well")) as way, ApiBooks(Server(own.url, secret), PATH, None) as books:
        token = books.lease(uuid4()).token
        books.stage_open(token, 0)
        outlet = Outlet(Server(way.url, secret), PATH, token, answer_s=2.0)
        staged = outlet.stage(0, "attempt", iter([_rows(0, ROWS)]))
        # one that goes well may be sent again too, where its answer comes late
        assert (len(staged), way.met["slow"] >= 3) == (3, True)
    # what was on its way has arrived by now
    with ApiBooks(Server(own.url, secret), PATH, None) as books:
        made = books.commit(token, {PART: {"identity": "t1", "next": ROWS}}, staged)
    assert (made.received, made.executions) == (ROWS, ROWS)


def test_a_token_that_is_not_good_is_refused_in_words(own: Api, secret: str, credentials_file: Path) -> None:
    server = Server(own.url, secret)
    _write(credentials_file, "pst_made_up")
    with pytest.raises(TokenRefused, match="refuses the token server"):
        look(server, PATH)
    _write(credentials_file, tokens.create(own.db, "agent:edge", ["execute"])[1])
    with pytest.raises(TokenRefused, match="internal"):
        look(server, PATH)
    number, text = tokens.create(own.db, "agent:edge", ["internal"])
    _write(credentials_file, text)
    assert look(server, PATH)["state"] == "ACTIVE"
    tokens.revoke(own.db, number)
    with pytest.raises(TokenRefused):
        look(server, PATH)
    credentials_file.write_text(json.dumps({"server": {"url": "x"}}))
    with pytest.raises(CredentialError, match="has no `token`"):
        look(server, PATH)


@pytest.mark.parametrize("stray", ["{}\n{}", "{}\t{}", "{} {}", "{}…{}", "…", "{}\x00{}", "{}\x7f{}"])
def test_a_token_with_something_beside_it_is_told_from_a_good_one_and_never_shown(
    stray: str, own: Api, secret: str, credentials_file: Path, caplog: pytest.LogCaptureFixture
) -> None:
    halves = "pst_abcdefghijklmnop_FIRSTHALF", "OTHERHALF"
    _write(credentials_file, stray.format(*halves))
    with caplog.at_level("DEBUG"), pytest.raises(CredentialError, match="the credential server: `token`") as refused:
        look(Server(own.url, secret), PATH)
    said = "".join(traceback.format_exception(refused.value)) + caplog.text
    assert [one for one in (*halves, "HALF") if one in said] == []


def test_blanks_around_a_token_are_no_part_of_it(own: Api, secret: str, credentials_file: Path) -> None:
    _write(credentials_file, f"  {tokens.create(own.db, 'agent:edge', ['internal'])[1]}\n")
    assert look(Server(own.url, secret), PATH)["state"] == "ACTIVE"


def test_calls_that_are_answered_are_not_worth_a_line(own: Api, secret: str, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level("INFO"):
        look(Server(own.url, secret), PATH)
    assert caplog.text == ""


def test_what_a_later_server_says_besides_is_passed_over(own: Api, secret: str) -> None:
    with Troubled(own.port, ("more",)) as way, ApiBooks(Server(way.url, secret), PATH, None) as books:
        token = books.lease(uuid4()).token
        assert books.commit(token, {}, {}).received == 0


def test_what_an_earlier_server_does_not_say_is_not_asked_for(own: Api, secret: str) -> None:
    with Troubled(own.port, ("less",)) as way, ApiBooks(Server(way.url, secret), PATH, None) as books:
        held = books.lease(uuid4())
        assert held.ledger == ""
        assert books.commit(held.token, {}, {}).received == 0


def test_a_part_says_how_long_its_messages_are_known(own: Api, secret: str) -> None:
    with ApiBooks(Server(own.url, secret), PATH, None) as books:
        token = books.lease(uuid4()).token
        books.commit(token, {PART: {"identity": "t1", "next": 3, "keep_s": 600}}, {})
        assert books.nexts() == {PART: 3}
        for keep_s in (0, -1, 2**31):
            with pytest.raises(PenstockError, match="keep_s"):
                books.commit(token, {PART: {"identity": "t1", "next": 3, "keep_s": keep_s}}, {})


def test_the_token_does_not_leave_in_the_clear(credentials_file: Path) -> None:
    credentials_file.write_text(json.dumps({"server": {"token": "s3cr3t"}, "open": {"token": "x", "allow_http": True}}))
    for host in ("penstock.invalid", "127.0.0.1.invalid:8080", "10.0.0.1", "[2001:db8::1]:80", "0.0.0.0"):
        with pytest.raises(CredentialError, match="in the clear") as told:
            Calls(Server(f"http://{host}", "server"))
        assert "s3cr3t" not in str(told.value)
        Calls(Server(f"http://{host}", "open")).close()
        Calls(Server(f"https://{host}", "server")).close()
    for host in ("localhost:8080", "127.0.0.1", "127.1.2.3:80", "[::1]:8080"):
        Calls(Server(f"http://{host}", "server")).close()


def test_an_address_that_is_none_is_refused_in_words(own: Api, secret: str) -> None:
    for url in ("penstock.example.com", "ftp://x", "https://x/with/path", "", "https://me:secret@x", "https://x\n"):
        with pytest.raises(SettingsError, match="--server-url"):
            look(Server(url, secret), PATH)
    own.process.kill()
    with pytest.raises(ServerUnavailable, match="does not answer"):
        look(Server(own.url, secret), PATH)
