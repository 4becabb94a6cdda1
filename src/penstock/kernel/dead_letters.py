"""Dead letters: look at them, replay them, or close them for good."""

from dataclasses import dataclass
from datetime import datetime

from psycopg.rows import class_row

from penstock.errors import UnknownDeadLetter
from penstock.kernel.connection import Connection, translated
from penstock.model import Json

_DIGITS = 18
_COLUMNS = (
    "id, origin, job_id, what, reason, error, snapshot, dead_at, resolved_at, resolved_by, resolution, replay_job_id"
)


@dataclass(frozen=True)
class OpenLetter:
    """A dead letter nobody has dealt with yet (v_job_queue_dead_letter_open)."""

    dead_letter_id: int
    job_id: int
    job_kind: str
    reason: str
    error: Json | None
    dead_at: datetime

    @property
    def id(self) -> str:
        return f"job-{self.dead_letter_id}"


@dataclass(frozen=True)
class DeadLetter:
    """A dead letter whole, open or resolved (v_dead_letter)."""

    id: str
    origin: str
    job_id: int
    what: str
    reason: str
    error: Json | None
    snapshot: Json
    dead_at: datetime
    resolved_at: datetime | None
    resolved_by: str | None
    resolution: str | None
    replay_job_id: int | None


def list_open(
    connection: Connection, *, kind: str | None = None, after: int = 0, limit: int | None = 50, newest: bool = True
) -> list[OpenLetter]:
    """The open ones, newest first, or oldest first and beyond `after`."""
    order = "desc" if newest else "asc"
    with translated(), connection.cursor(row_factory=class_row(OpenLetter)) as cursor:
        return cursor.execute(
            "select dead_letter_id, job_id, job_kind, reason, error, dead_at"
            " from penstock.v_job_queue_dead_letter_open"
            " where dead_letter_id > %s and (%s::text is null or job_kind = %s)"
            f" order by dead_letter_id {order} limit %s".encode(),
            [after, kind, kind, limit],
        ).fetchall()


def list_all(connection: Connection, *, kind: str | None = None, limit: int = 50) -> list[DeadLetter]:
    """Open and resolved ones, newest first."""
    with translated(), connection.cursor(row_factory=class_row(DeadLetter)) as cursor:
        return cursor.execute(
            f"select {_COLUMNS} from penstock.v_dead_letter where %s::text is null or what = %s"
            " order by number desc limit %s".encode(),
            [kind, kind, limit],
        ).fetchall()


def show(connection: Connection, letter_id: str) -> DeadLetter:
    """One dead letter, by its prefixed id."""
    origin, _, number = letter_id.rpartition("-")
    letter = None
    if number.isascii() and number.isdigit() and len(number) <= _DIGITS:
        with translated(), connection.cursor(row_factory=class_row(DeadLetter)) as cursor:
            letter = cursor.execute(
                f"select {_COLUMNS} from penstock.v_dead_letter where origin = %s and number = %s".encode(),
                [origin, int(number)],
            ).fetchone()
    if letter is None:
        raise UnknownDeadLetter(f"dead letter {letter_id} does not exist", "penstock dlq list shows the open ones.")
    return letter


def of_job(connection: Connection, job_id: int) -> DeadLetter | None:
    """The dead letter a job ended in."""
    with translated(), connection.cursor(row_factory=class_row(DeadLetter)) as cursor:
        return cursor.execute(
            f"select {_COLUMNS} from penstock.v_dead_letter where job_id = %s".encode(), [job_id]
        ).fetchone()


def replay(connection: Connection, letter_id: str, actor: str | None = None) -> str:
    """fn_dead_letter_replay: the prefixed id of what it made."""
    with translated():
        row = connection.execute("select penstock.fn_dead_letter_replay(%s, %s)", [letter_id, actor]).fetchone()
    assert row is not None
    return str(row[0])


def resolve(connection: Connection, letter_id: str, reason: str, actor: str | None = None) -> None:
    """fn_dead_letter_resolve."""
    with translated():
        connection.execute("select penstock.fn_dead_letter_resolve(%s, %s, %s)", [letter_id, actor, reason])
