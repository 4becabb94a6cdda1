"""Messages that are larger than one request over the API may be: all their bytes arrive, whatever stands between."""

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event, Thread
from typing import Any
from uuid import uuid4

import pyarrow as pa
import pytest

from penstock.errors import PayloadTooLarge, StagingLost, StillUnfit
from penstock.gateway.app import GatewayOptions, make_app
from penstock.gateway.limits import Limits
from penstock.gateway.server import Address, serve
from penstock.kernel import dead_letters, runtimes
from penstock.kernel.runtimes import Committed
from penstock.pipeline.api_books import ApiBooks
from penstock.pipeline.books import Server
from penstock.pipeline.outlet import Outlet
from tests.concurrency.sessions import wait_until
from tests.gateway.conftest import own
from tests.gateway.serving import Api
from tests.ingest.support import PATH
from tests.parts.processes import free_ports, listens
from tests.parts.troubled import Trouble, Troubled
from tests.pipeline.test_api_books import PART, _rows, secret
from tests.sql.support import rows, value

__all__ = ["own", "secret"]


def test_large_messages_go_in_smaller_chunks(own: Api, secret: str) -> None:
    server = Server(own.url, secret)
    with ApiBooks(server, PATH, None) as books:
        token = books.lease(uuid4()).token
        books.stage_open(token, 0)
        staged = Outlet(server, PATH, token).stage(0, "attempt", iter([_rows(0, 30, b"x" * 1_000_000)]))
    assert len(staged) == 5
    assert sum(staged.values()) == 30


@contextmanager
def _taking(limit: int | None, behind_proxy: bool, own: Api, database: str) -> Iterator[str]:
    """The address of a server that takes bodies of so many bytes, or as many as usual; or of a proxy before it."""
    if limit is None:
        yield own.url
        return
    if behind_proxy:
        with Troubled(own.port, most_bytes=limit) as way:
            yield way.url
        return
    (port,), stop = free_ports(1), Event()
    app = make_app(GatewayOptions(database, limits=Limits(chunk_bytes=limit)))
    thread = Thread(target=serve, args=[app, Address("127.0.0.1", port), stop])
    thread.start()
    try:
        wait_until(lambda: listens(port), "it listens")
        yield f"http://127.0.0.1:{port}"
    finally:
        stop.set()
        thread.join()


def _committed(url: str, secret: str, batches: list[pa.RecordBatch], **outlet: Any) -> Committed:
    with ApiBooks(Server(url, secret), PATH, None) as books:
        token = books.lease(uuid4()).token
        books.stage_open(token, 0)
        staged = Outlet(Server(url, secret), PATH, token, **outlet).stage(0, "attempt", iter(batches))
        return books.commit(token, {PART: {"identity": "t1", "next": 3}}, staged)


@pytest.mark.parametrize(
    ("limit", "behind_proxy", "size"),
    [(None, False, 50 * 2**20), (2**20, False, 2**20), (2**20, True, 2**20), (2**14, True, 2**19)],
)
def test_a_message_that_is_larger_than_one_request_may_be_is_executed_with_all_its_bytes(
    limit: int | None, behind_proxy: bool, size: int, own: Api, database: str, secret: str
) -> None:
    body = os.urandom(size)
    large = _rows(1, 1, body)
    headers = json.dumps([["x-odd", '\\"é\u2028' * (size // 64)]], ensure_ascii=False)
    large = large.set_column(large.schema.get_field_index("attributes"), "attributes", pa.array([headers]))
    with _taking(limit, behind_proxy, own, database) as url:
        made = _committed(url, secret, [_rows(0, 1), large, _rows(2, 1)])
    assert (made.executions, made.dead_lettered) == (3, 0)
    kept = "select body, attributes::text from penstock.ingest_message where source_offset = 1"
    assert rows(own.db, kept) == [(body, headers)]
    assert value(own.db, "select count(*) from penstock.ingest_slice") == 0


@pytest.mark.parametrize("trouble", ["lost", "twice", "refused"])
def test_slices_that_meet_with_trouble_are_put_together_once(own: Api, secret: str, trouble: Trouble) -> None:
    body = os.urandom(2**18)
    with Troubled(own.port, (trouble, "well"), only="/slice", most_bytes=2**16) as way:
        made = _committed(way.url, secret, [_rows(0, 1, body)])
        assert way.met[trouble] > 2
    assert (made.received, made.executions) == (1, 1)
    assert rows(own.db, "select body from penstock.ingest_message") == [(body,)]


def test_slices_that_a_crash_of_the_server_took_are_missed(own: Api, secret: str) -> None:
    with ApiBooks(Server(own.url, secret), PATH, None) as books:
        token = books.lease(uuid4()).token
        books.stage_open(token, 0)
    runtimes.stage_slice(own.db, PATH, token, 0, "a", 0, '{"part"', 10)
    own.db.execute("truncate penstock.ingest_slice")
    with pytest.raises(StagingLost, match="nothing was staged"):
        runtimes.stage_slice(own.db, PATH, token, 0, "a", 7, ": 1", 10)


def test_a_message_beyond_all_limits_is_a_dead_letter_and_stops_no_other(own: Api, secret: str) -> None:
    batches = [_rows(0, 1), _rows(1, 1, b"x" * 2**20), _rows(2, 1)]
    with Troubled(own.port, most_bytes=2**20) as way:
        made = _committed(way.url, secret, batches, most_bytes=2**20)
    assert (made.executions, made.dead_lettered) == (2, 1)
    letter = "select source_offset, reason, body is null, message_key from penstock.ingest_dead_letter"
    assert rows(own.db, letter) == [(1, "too_large", True, b"\x00\xff")]
    with pytest.raises(StillUnfit, match="larger than the API takes"):
        dead_letters.replay(own.db, "ingest-1")


def test_a_way_that_takes_no_slice_at_all_is_an_error_and_costs_no_message(own: Api, secret: str) -> None:
    with (
        Troubled(own.port, most_bytes=2000) as way,
        pytest.raises(PayloadTooLarge, match="raise the limit of the proxy"),
    ):
        _committed(way.url, secret, [_rows(0, 1, b"x" * 2**16)])
    assert value(own.db, "select count(*) from penstock.ingest_dead_letter") == 0
