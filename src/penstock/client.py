"""What a producer imports."""

from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from itertools import chain, islice
from typing import Any
from uuid import UUID

from penstock.closing import Closing
from penstock.embedded import EmbeddedPostgres
from penstock.errors import SettingsError
from penstock.kernel import databases, executions, jobs
from penstock.kernel.connection import Connection, connect
from penstock.kernel.executions import ExecutionView
from penstock.kernel.migrate import migrate
from penstock.model import Enqueued, JobView, Json
from penstock.settings import read_settings

_LARGEST_BATCH = 10_000
_SPELLING = {"payload": "safe_payload", "key": "idempotency_key"}


class Client(Closing):
    """Enqueues jobs and looks at them. One connection, opened on first use; not to be shared between threads."""

    def __init__(self, database_url: str | None = None) -> None:
        self._url = database_url
        self._connection: Connection | None = None

    def enqueue(
        self,
        kind: str,
        payload: Json | None = None,
        *,
        key: str | None = None,
        executor: str = "PG_worker",
        source_ref: str | None = None,
        target_ref: str | None = None,
        payload_ref: str | None = None,
        priority: int = 0,
        process_after: datetime | None = None,
        correlation_id: str | None = None,
        causation_event_id: UUID | None = None,
        actor: str | None = None,
        pool: str = "shared",
        lane: str | None = None,
        event_domain: str | None = None,
        trace: str | None = None,
        max_attempts: int | None = None,
        connection: Any = None,
    ) -> int:
        """Ask for one job and return its id. With `connection` (psycopg) it becomes part of that transaction."""
        request = {
            "kind": kind,
            "idempotency_key": key,
            "executor": executor,
            "source_ref": source_ref,
            "target_ref": target_ref,
            "payload_ref": payload_ref,
            "safe_payload": payload,
            "priority": priority,
            "process_after": process_after,
            "correlation_id": correlation_id,
            "causation_event_id": causation_event_id,
            "actor": actor,
            "pool": pool,
            "lane": lane,
            "event_domain": event_domain,
            "trace": trace,
            "max_attempts": max_attempts,
        }
        given = {name: value for name, value in request.items() if value is not None}
        return jobs.enqueue(connection or self._open(), given)

    def enqueue_many(self, requests: Iterable[Json], *, batch: int = 5000, connection: Any = None) -> list[Enqueued]:
        """Ask for many jobs: objects with the arguments of `enqueue`, in transactions of `batch` (or in yours)."""
        if not 1 <= batch <= _LARGEST_BATCH:
            raise SettingsError(f"batch is {batch}: a transaction takes 1 to {_LARGEST_BATCH:,} jobs")
        chunks = _chunks(requests, batch)
        if connection is not None:
            return [one for chunk in chunks for one in jobs.enqueue_many(connection, chunk)]
        first = next(chunks, [])
        if len(first) < batch:
            return jobs.enqueue_many(self._open(), first) if first else []
        return self._enqueue_chunks(chain([first], chunks))

    def _enqueue_chunks(self, chunks: Iterator[Sequence[Json]]) -> list[Enqueued]:
        """While the server takes in one chunk, the next is made ready."""
        made: list[Enqueued] = []
        text: str | None = jobs.json_text(next(chunks))
        with ThreadPoolExecutor(1, "penstock client") as thread:
            while text is not None:
                sent = thread.submit(jobs.enqueue_text, self._open(), text)
                chunk = next(chunks, None)
                text = None if chunk is None else jobs.json_text(chunk)
                made += sent.result()
        return made

    def execute(
        self,
        playbook: str,
        payload: Json | None = None,
        *,
        idempotency_key: str | None = None,
        pool: str | None = None,
        trace: str | None = None,
        priority: int | None = None,
        process_after: datetime | None = None,
        correlation_id: str | None = None,
        actor: str | None = None,
        connection: Any = None,
    ) -> int:
        """Start an execution of a playbook and return its id; the same key again is the same execution."""
        request = {
            "playbook": playbook,
            "payload": payload,
            "idempotency_key": idempotency_key,
            "pool": pool,
            "trace": trace,
            "priority": priority,
            "process_after": process_after,
            "correlation_id": correlation_id,
            "actor": actor,
        }
        given = {name: value for name, value in request.items() if value is not None}
        return executions.execute(connection or self._open(), given)[0]

    def resume(
        self, job_id: int, result: Any = None, *, callback_key: str | None = None, actor: str | None = None
    ) -> str:
        """Answer a step that waits for it: as one of those who were asked, or with its callback key."""
        return jobs.resume(self._open(), job_id, callback_key, result, actor)

    def execution(self, execution_id: int) -> ExecutionView:
        """An execution, live or finished."""
        return executions.show(self._open(), execution_id)

    def job(self, job_id: int) -> JobView:
        """A job whole, live or finished."""
        return jobs.show(self._open(), job_id)

    def cancel(self, job_id: int, *, actor: str | None = None, reason: str | None = None) -> str:
        """Do not run it: `cancelled`, or `cancel_requested` while a worker holds it."""
        return jobs.cancel(self._open(), job_id, actor, reason)

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _open(self) -> Connection:
        if self._connection is None or self._connection.closed:
            self._connection = connect(self._url or database_url(), application="penstock client")
        return self._connection


def database_url(*, migrated: bool = True) -> str:
    """PENSTOCK_DATABASE_URL, or the embedded server: started, and its database made and migrated, on first use."""
    settings = read_settings()
    if settings.database_url is not None:
        return settings.database_url
    server = EmbeddedPostgres(settings.data_folder)
    server.start()
    return embedded_database(server, settings.database, migrated=migrated)


def embedded_database(server: EmbeddedPostgres, name: str, *, migrated: bool = True) -> str:
    """The URL of one of its databases, made if need be. A schema that is there is left to `penstock migrate`."""
    with connect(server.url(), application="penstock first use") as connection:
        databases.create_missing(connection, name)
    url = server.url(name)
    if migrated:
        with connect(url, application="penstock first use") as connection:
            if not databases.has_schema(connection):
                migrate(connection)
    return url


def _chunks(items: Iterable[Json], size: int) -> Iterator[Sequence[Json]]:
    iterator = map(_spelled, items)
    while chunk := list(islice(iterator, size)):
        yield chunk


def _spelled(request: Json) -> Json:
    """As fn_job_enqueue_many spells it."""
    if "payload" not in request and "key" not in request:
        return request
    return {_SPELLING.get(name, name): value for name, value in request.items()}
