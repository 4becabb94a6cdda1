"""What is done about the events of pieces and of staging: `penstock worker --app penstock.markcut.handlers`."""

from penstock.client import database_url
from penstock.jobs import Job, PermanentError, job
from penstock.kernel import pieces
from penstock.kernel.connection import Connection, connect
from penstock.model import Json

_SWEPT = 1000


@job("iu_recompose_pieces")
def recompose_pieces(asked: Job) -> Json:
    """piece.piece_reordered: put the piece's document together anew. Once for each of its revisions."""
    with _database() as connection:
        return pieces.recompose(connection, _address(asked)) or {"gone": _address(asked)}


@job("iu_axis_refresh")
def axis_refresh(asked: Job) -> Json:
    """piece.piece_deprecated: count the live, changed and deprecated pieces of the piece's document anew."""
    with _database() as connection:
        return pieces.axis_refresh(connection, _address(asked)) or {"gone": _address(asked)}


@job("staging_cleanup_sweep")
def staging_cleanup_sweep(asked: Job) -> Json:
    """staging.record_expired: remove everything whose time in staging is over; the first of many jobs does it all."""
    removed = 0
    with _database() as connection:
        while (swept := pieces.staging_sweep(connection, _SWEPT)) and not asked.cancelled:
            removed += swept
    return {"removed": removed}


def _database() -> Connection:
    """That of the worker: of its environment, or the embedded one."""
    return connect(database_url(migrated=False), application="penstock markcut handlers")


def _address(asked: Job) -> str:
    """The consumer's payload_ref is the event's subject: the piece's address."""
    if asked.payload_ref is None:
        raise PermanentError(f"a job of the kind {asked.kind} needs the address of a piece as its payload_ref")
    return asked.payload_ref
