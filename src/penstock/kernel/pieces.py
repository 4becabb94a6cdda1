"""Documents in staging, their marks, and the pieces they are cut into."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from penstock.kernel.connection import Connection, translated
from penstock.model import Json

STATES = ("staged", "marked", "mark_verified", "cut", "cut_verified")


class Waiting(NamedTuple):
    """A document in staging, without its bytes."""

    staging_id: int
    document: str
    state: str
    size_bytes: int
    max_bytes: int | None


class Staged(NamedTuple):
    """A document in staging, whole."""

    staging_id: int
    document: str
    format: str
    bytes: bytes


class MarkRow(NamedTuple):
    """Where one piece is: from `first` up to, and without, `end`."""

    position: int
    first: int
    end: int
    address: str


class PieceRow(NamedTuple):
    """One live piece."""

    position: int
    address: str
    sha256: bytes
    bytes: bytes


@dataclass(frozen=True)
class Marked:
    """A document in staging with its marks, in order."""

    staging_id: int
    document: str
    max_bytes: int
    bytes: bytes
    marks: list[MarkRow]


@dataclass(frozen=True)
class Cut:
    """A document in staging with its live pieces, in order; none when a later version was cut meanwhile."""

    staging_id: int
    document: str
    bytes: bytes
    pieces: list[PieceRow] | None


def staging_write(
    connection: Connection, run: str, documents: Sequence[str], formats: Sequence[str], contents: Sequence[bytes]
) -> Json:
    """fn_staging_write."""
    with translated(connection):
        row = connection.execute(
            "select penstock.fn_staging_write(%s, %s::text[], %s::text[], %b::bytea[])",
            [run, list(documents), list(formats), list(contents)],
        ).fetchone()
    return _json(row)


def mark_write(
    connection: Connection, staging_ids: Sequence[int], max_bytes: int, marks: Sequence[tuple[int, MarkRow]]
) -> int:
    """fn_mark_write: each mark with the document it belongs to."""
    columns = [
        [staging_id for staging_id, _ in marks],
        [mark.position for _, mark in marks],
        [mark.first for _, mark in marks],
        [mark.end for _, mark in marks],
        [mark.address for _, mark in marks],
    ]
    with translated(connection):
        row = connection.execute(
            "select penstock.fn_mark_write(%s::bigint[], %s::int, %s::bigint[], %s::int[], %s::int[], %s::int[],"
            " %s::text[])",
            [list(staging_ids), max_bytes, *columns],
        ).fetchone()
    return _number(row)


def mark_verified(connection: Connection, staging_ids: Sequence[int]) -> int:
    """fn_mark_verified."""
    with translated(connection):
        row = connection.execute("select penstock.fn_mark_verified(%s::bigint[])", [list(staging_ids)]).fetchone()
    return _number(row)


def cut_write(connection: Connection, staging_ids: Sequence[int], hashes: Sequence[tuple[int, int, bytes]]) -> Json:
    """fn_cut_write: each hash with its document and position."""
    of, positions, digests = [one[0] for one in hashes], [one[1] for one in hashes], [one[2] for one in hashes]
    with translated(connection):
        row = connection.execute(
            "select penstock.fn_cut_write(%s::bigint[], %s::bigint[], %s::int[], %b::bytea[])",
            [list(staging_ids), of, positions, digests],
        ).fetchone()
    return _json(row)


def cut_verified(connection: Connection, staging_ids: Sequence[int]) -> int:
    """fn_cut_verified."""
    with translated(connection):
        row = connection.execute("select penstock.fn_cut_verified(%s::bigint[])", [list(staging_ids)]).fetchone()
    return _number(row)


def staging_cleanup(connection: Connection, staging_ids: Sequence[int]) -> int:
    """fn_staging_cleanup."""
    with translated(connection):
        row = connection.execute("select penstock.fn_staging_cleanup(%s::bigint[])", [list(staging_ids)]).fetchone()
    return _number(row)


def staging_expire(connection: Connection, limit: int = 1000) -> int:
    """fn_staging_expire."""
    with translated(connection):
        return _number(connection.execute("select penstock.fn_staging_expire(%s)", [limit]).fetchone())


def staging_sweep(connection: Connection, limit: int = 1000) -> int:
    """fn_staging_sweep."""
    with translated(connection):
        return _number(connection.execute("select penstock.fn_staging_sweep(%s)", [limit]).fetchone())


def recompose(connection: Connection, address: str) -> Json | None:
    """fn_piece_recompose: None when there is no such piece."""
    with translated(connection):
        row = connection.execute("select penstock.fn_piece_recompose(%s)", [address]).fetchone()
    return None if row is None or row[0] is None else _json(row)


def axis_refresh(connection: Connection, address: str) -> Json | None:
    """fn_piece_axis_refresh: None when there is no such piece."""
    with translated(connection):
        row = connection.execute("select penstock.fn_piece_axis_refresh(%s)", [address]).fetchone()
    return None if row is None or row[0] is None else _json(row)


def waiting(connection: Connection, run: str) -> list[Waiting]:
    """What a run has in staging, by name, without the bytes."""
    with translated(connection):
        rows = connection.execute(
            "select staging_id, document, state, size_bytes, max_bytes from penstock.iu_staging_record"
            " where run = %s order by document",
            [run],
        ).fetchall()
    return [Waiting(*row) for row in rows]


def staged(connection: Connection, staging_ids: Sequence[int]) -> list[Staged]:
    """These documents, whole."""
    with translated(connection):
        rows = connection.execute(
            "select staging_id, document, format, bytes from penstock.iu_staging_record"
            " where staging_id = any(%s::bigint[]) order by staging_id",
            [list(staging_ids)],
            binary=True,
        ).fetchall()
    return [Staged(*row) for row in rows]


def marked(connection: Connection, staging_ids: Sequence[int]) -> list[Marked]:
    """These documents, whole, with their marks."""
    with translated(connection):
        rows = connection.execute(
            "select r.staging_id, r.document, r.max_bytes, r.bytes, m.positions, m.firsts, m.ends, m.addresses"
            " from penstock.iu_staging_record r cross join lateral ("
            "  select array_agg(position order by position) as positions,"
            "   array_agg(first_byte order by position) as firsts, array_agg(end_byte order by position) as ends,"
            "   array_agg(address order by position) as addresses"
            "   from penstock.iu_staging_mark where staging_id = r.staging_id) m"
            " where r.staging_id = any(%s::bigint[]) order by r.staging_id",
            [list(staging_ids)],
            binary=True,
        ).fetchall()
    return [Marked(row[0], row[1], row[2], row[3], [MarkRow(*one) for one in _rows(row[4:])]) for row in rows]


def cut(connection: Connection, staging_ids: Sequence[int]) -> list[Cut]:
    """These documents, whole, with their live pieces as they stand at one moment."""
    with translated(connection):
        rows = connection.execute(
            "select r.staging_id, r.document, r.bytes, d.staging_id is not distinct from r.staging_id,"
            " p.positions, p.addresses, p.hashes, p.pieces"
            " from penstock.iu_staging_record r left join penstock.iu_document d on d.document = r.document"
            " cross join lateral ("
            "  select array_agg(position order by position) as positions,"
            "   array_agg(address order by position) as addresses, array_agg(sha256 order by position) as hashes,"
            "   array_agg(bytes order by position) as pieces"
            "   from penstock.iu_piece where document = r.document and deprecated_at is null"
            "    and d.staging_id = r.staging_id) p"
            " where r.staging_id = any(%s::bigint[]) order by r.staging_id",
            [list(staging_ids)],
            binary=True,
        ).fetchall()
    return [Cut(row[0], row[1], row[2], [PieceRow(*one) for one in _rows(row[4:])] if row[3] else None) for row in rows]


def documents_of(connection: Connection, run: str) -> list[tuple[str, int, int]]:
    """The documents that a run was the last to cut, their sizes, and how many pieces they have."""
    with translated(connection):
        return connection.execute(
            "select document, size_bytes, pieces from penstock.iu_document where run = %s and staging_id is not null"
            " order by document",
            [run],
        ).fetchall()


def pieces_of(connection: Connection, document: str) -> list[PieceRow]:
    """The live pieces of a document, in order."""
    with translated(connection):
        rows = connection.execute(
            "select position, address, sha256, bytes from penstock.iu_piece"
            " where document = %s and deprecated_at is null order by position",
            [document],
            binary=True,
        ).fetchall()
    return [PieceRow(*row) for row in rows]


def _rows(arrays: tuple[list[Any] | None, ...]) -> list[tuple[Any, ...]]:
    return list(zip(*(one or [] for one in arrays), strict=True))


def _json(row: tuple[Json, ...] | None) -> Json:
    assert row is not None
    return row[0]


def _number(row: tuple[int, ...] | None) -> int:
    assert row is not None
    return int(row[0])
