"""Calls of a runtime: made again when the answer is lost, however late; not once they are cut off; none waits long."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from time import monotonic
from typing import Any
from uuid import uuid4

import pytest

from penstock.errors import Busy, ServerUnavailable
from penstock.kernel.connection import Connection
from penstock.pipeline.api import Api, runtime_path
from penstock.pipeline.api_books import ApiBooks
from penstock.pipeline.books import Server, opened
from tests.concurrency.sessions import wait_until
from tests.conftest import Connect
from tests.gateway.conftest import own
from tests.gateway.serving import Api as Gateway
from tests.ingest.support import PATH
from tests.parts.troubled import Troubled
from tests.pipeline.test_api_books import PART, secret
from tests.sql.support import value

__all__ = ["own", "secret"]

_PATIENCE_S = 0.5
_LONG_S = 600.0
_SOON_S = 30
WAITING = (
    "select count(*) from pg_stat_activity where wait_event_type = 'Lock' and application_name = 'penstock serve'"
    " and datname = current_database()"
)


@contextmanager
def _held(connection: Connection) -> Iterator[None]:
    """The runtime's row, which every commit needs."""
    with connection.transaction():
        connection.execute("select from penstock.subscription_runtime for update")
        yield


def _commit(server: Server) -> dict[str, Any]:
    with ApiBooks(server, PATH, None) as books:
        token = books.lease(uuid4()).token
    positions = {PART: {"identity": "t1", "next": 5}}
    return {"token": token, "positions": positions, "expected": {}, "request": str(uuid4())}


def test_a_call_whose_answer_is_lost_late_is_made_again(own: Gateway, secret: str, session: Connect) -> None:
    body, other = _commit(Server(own.url, secret)), session()
    with (
        Troubled(own.port, ("lost", "well")) as way,
        Api(Server(way.url, secret), _PATIENCE_S) as api,
        ThreadPoolExecutor(1) as thread,
    ):
        began = monotonic()
        with _held(other):
            call = thread.submit(api.post, f"{runtime_path(PATH)}/commit", body)
            wait_until(lambda: value(own.db, WAITING) == 1, "it waits for the row")
            wait_until(lambda: monotonic() > began + _PATIENCE_S, "it has taken longer than it is tried again for")
        assert call.result(_SOON_S)["received"] == 0
        assert way.met == {"lost": 1, "well": 1}


def test_once_cut_off_no_call_is_made(own: Gateway, secret: str) -> None:
    with Troubled(own.port) as way, Api(Server(way.url, secret), _LONG_S) as api:
        assert api.get(runtime_path(PATH))["state"] == "ACTIVE"
        api.cut()
        with pytest.raises(ServerUnavailable, match="cut off"):
            api.get(runtime_path(PATH))
        assert way.met == {"well": 1}


def test_a_call_that_waits_for_its_next_try_is_cut_off(own: Gateway, secret: str) -> None:
    with (
        Troubled(own.port, ("refused",)) as way,
        Api(Server(way.url, secret), _LONG_S) as api,
        ThreadPoolExecutor(1) as thread,
    ):
        call = thread.submit(api.get, runtime_path(PATH))
        wait_until(lambda: way.met.get("refused", 0) > 1, "it is tried again")
        api.cut()
        with pytest.raises(ServerUnavailable, match="cut off"):
            call.result(_SOON_S)


@pytest.mark.parametrize("lock_ms", [200, None])
def test_a_move_of_the_ledger_alone_does_not_wait_for_a_commit(
    lock_ms: int | None, own: Gateway, secret: str, database: str, session: Connect
) -> None:
    other = session()
    for place in (Server(own.url, secret), database):
        with opened(place, PATH, "a test", lock_ms) as books, ThreadPoolExecutor(1) as thread:
            token = books.lease(uuid4()).token
            at = {PART: {"identity": "t1", "next": 5}}
            with _held(other):
                with pytest.raises(Busy):
                    thread.submit(books.commit, token, at, {}).result(_SOON_S)
                assert value(own.db, WAITING) == 0
            books.commit(token, at, {})
            books.release(token)
