"""Dead letters: look at them, replay them, or close them for good."""

from dataclasses import dataclass, fields, replace
from datetime import datetime

from psycopg.rows import class_row, dict_row

from penstock.errors import UnknownDeadLetter
from penstock.kernel.connection import Connection, translated
from penstock.model import Json

_DIGITS = 18
_BEYOND_ALL = (10**_DIGITS, "")
BEFORE_ALL = "job-0"


@dataclass(frozen=True)
class DeadLetter:
    """A dead letter whole, open or resolved (v_dead_letter)."""

    id: str
    origin: str
    number: int
    job_id: int | None
    what: str
    reason: str
    error: Json | None
    snapshot: Json
    dead_at: datetime
    resolved_at: datetime | None
    resolved_by: str | None
    resolution: str | None
    replay_job_id: int | None


@dataclass(frozen=True)
class LetterPage:
    """Dead letters, newest first, and the id before which to go on; None when nothing is left."""

    dead_letters: list[DeadLetter]
    next_before: str | None


@dataclass(frozen=True)
class DeadMessage:
    """The message a dead letter is about, as it came."""

    subscription: str
    message_id: str
    part: str
    source_offset: int
    published_at: datetime | None
    message_key: bytes | None
    body: bytes | None
    attributes: list[list[object]]


_SELECT = f"select {', '.join(field.name for field in fields(DeadLetter))} from penstock.v_dead_letter"


def list_newest(
    connection: Connection,
    *,
    kind: str | None = None,
    resolved: bool = False,
    before: str | None = None,
    limit: int = 50,
) -> LetterPage:
    """The open ones, or with `resolved` all of them; `before` is the id where the page before ended."""
    which = "" if resolved else " and resolved_at is null"
    found = _read(
        connection,
        f" where (number, origin) < (%s, %s) and (%s::text is null or what = %s){which}"
        " order by number desc, origin desc limit %s",
        [*(_BEYOND_ALL if before is None else _parts(before)[::-1]), kind, kind, limit + 1],
    )
    page = found[:limit]
    return LetterPage(page, page[-1].id if len(found) > limit else None)


def list_oldest(connection: Connection, *, kind: str | None = None, after: str, limit: int) -> list[DeadLetter]:
    """The open ones beyond one, oldest first."""
    return _read(
        connection,
        " where (number, origin) > (%s, %s) and (%s::text is null or what = %s) and resolved_at is null"
        " order by number, origin limit %s",
        [*_parts(after)[::-1], kind, kind, limit],
    )


def count_open(connection: Connection, *, kind: str | None = None) -> int:
    with translated(connection):
        row = connection.execute(
            "select count(*) from penstock.v_dead_letter where resolved_at is null and (%s::text is null or what = %s)",
            [kind, kind],
        ).fetchone()
    assert row is not None
    return int(row[0])


def show(connection: Connection, letter_id: str) -> DeadLetter:
    """One dead letter, by its prefixed id; a message's headers are added for those who may read messages."""
    found = _read(connection, " where origin = %s and number = %s", [*_parts(letter_id)])
    if not found:
        raise UnknownDeadLetter(f"dead letter {letter_id} does not exist", "penstock dlq list shows the open ones.")
    letter = found[0]
    if letter.origin != "ingest":
        return letter
    return replace(letter, snapshot=letter.snapshot | _headers(connection, letter.number))


def message(connection: Connection, letter_id: str) -> DeadMessage:
    """The message of a dead letter: one that made no execution, or whose execution failed."""
    letter = show(connection, letter_id)
    table, column, number = "ingest_dead_letter", "dead_letter_id", letter.number
    if letter.origin == "job" and letter.job_id is not None:
        table, column, number = "ingest_message", "execution_id", _execution_of(connection, letter.job_id)
    with translated(connection), connection.cursor(row_factory=class_row(DeadMessage)) as cursor:
        names = ", ".join(field.name for field in fields(DeadMessage))
        query = f"select {names} from penstock.{table} where {column} = %s".encode()
        found = cursor.execute(query, [number]).fetchone() if letter.origin in ("ingest", "job") else None
    if found is None:
        raise UnknownDeadLetter(
            f"dead letter {letter_id} came of no message",
            "Those of messages begin with ingest-, or are jobs that a message started: penstock dlq list shows them.",
        )
    return found


def _execution_of(connection: Connection, job_id: int) -> int:
    row = connection.execute(
        "select coalesce(execution_id, job_id) from penstock.job where job_id = %s", [job_id]
    ).fetchone()
    return job_id if row is None else int(row[0])


def of_job(connection: Connection, job_id: int) -> DeadLetter | None:
    """The dead letter a job ended in."""
    found = _read(connection, " where job_id = %s", [job_id])
    return found[0] if found else None


def replay(connection: Connection, letter_id: str, actor: str | None = None) -> str:
    """fn_dead_letter_replay: the prefixed id of what it made: job-12, or attempt-12 of a route that runs dry."""
    with translated(connection):
        row = connection.execute("select penstock.fn_dead_letter_replay(%s, %s)", [letter_id, actor]).fetchone()
    assert row is not None
    return str(row[0])


def resolve(connection: Connection, letter_id: str, reason: str, actor: str | None = None) -> None:
    """fn_dead_letter_resolve."""
    with translated(connection):
        connection.execute("select penstock.fn_dead_letter_resolve(%s, %s, %s)", [letter_id, actor, reason])


def _headers(connection: Connection, number: int) -> Json:
    """The headers of a message and what they decided; nothing for a role that may not read messages."""
    with translated(connection), connection.cursor(row_factory=dict_row) as cursor:
        allowed = cursor.execute("select has_table_privilege('penstock.ingest_dead_letter', 'select') as it").fetchone()
        if not (allowed and allowed["it"]):
            return {}
        found = cursor.execute(
            "select attributes, dedup_key, directives from penstock.ingest_dead_letter where dead_letter_id = %s",
            [number],
        ).fetchone()
    return found or {}


def _parts(letter_id: str) -> tuple[str, int]:
    """What died, and its number."""
    origin, _, number = letter_id.rpartition("-")
    if not (origin and number.isascii() and number.isdigit() and len(number) <= _DIGITS):
        raise UnknownDeadLetter(
            f"{letter_id!r} is not a dead letter",
            "An id looks like job-12 or ingest-12; penstock dlq list shows the open ones.",
        )
    return origin, int(number)


def _read(connection: Connection, clauses: str, arguments: list[object]) -> list[DeadLetter]:
    with translated(connection), connection.cursor(row_factory=class_row(DeadLetter)) as cursor:
        return cursor.execute((_SELECT + clauses).encode(), arguments).fetchall()
