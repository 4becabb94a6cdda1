"""Staging, marks and pieces: what a cut writes, what it tells, and what it leaves alone."""

from collections.abc import Sequence
from hashlib import sha256

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from penstock.errors import BadConfig, BadRequest, ForbiddenPayload
from penstock.kernel import pieces
from penstock.kernel.connection import Connection
from penstock.kernel.pieces import MarkRow
from penstock.model import Json
from tests.sql.support import configure, rows, tick, value

Version = list[tuple[str, bytes]]


def stage(db: Connection, version: Version, *, run: str = "r", document: str = "d.md") -> int:
    """A version of a document, given as the pieces it is to have, with verified marks."""
    pieces.staging_write(db, run, [document], ["markdown"], [b"".join(text for _, text in version)])
    staging_id: int = value(
        db, "select staging_id from penstock.iu_staging_record where run = %s and document = %s", run, document
    )
    pieces.mark_write(db, [staging_id], 4000, [(staging_id, one) for one in _marks(document, version)])
    pieces.mark_verified(db, [staging_id])
    return staging_id


def _marks(document: str, version: Version) -> list[MarkRow]:
    ends = [sum(len(text) for _, text in version[: number + 1]) for number in range(len(version))]
    return [
        MarkRow(number, end - len(text), end, f"{document}#{name}~1")
        for number, ((name, text), end) in enumerate(zip(version, ends, strict=True))
    ]


def cut(db: Connection, staging_id: int, version: Version) -> Json:
    return pieces.cut_write(db, [staging_id], _hashes(staging_id, version))


def _hashes(staging_id: int, version: Version) -> list[tuple[int, int, bytes]]:
    return [(staging_id, number, sha256(text).digest()) for number, (_, text) in enumerate(version)]


def recut(db: Connection, version: Version, run: str) -> Json:
    return cut(db, stage(db, version, run=run), version)


def _live(db: Connection, document: str = "d.md") -> Version:
    found = pieces.pieces_of(db, document)
    return [(one.address.removeprefix(f"{document}#").removesuffix("~1"), one.bytes) for one in found]


def _told(db: Connection) -> dict[str, set[str]]:
    """The events of pieces since the last look, by type."""
    found = rows(db, "select event_type, subject_ref from penstock.event_outbox where event_domain = 'piece'")
    db.execute("delete from penstock.event_outbox")
    kinds = ("added", "changed", "reordered", "deprecated")
    names = {kind: [ref[5:-2] for event, ref in found if event == f"piece_{kind}"] for kind in kinds}
    assert all(len(set(one)) == len(one) for one in names.values())
    return {kind: set(one) for kind, one in names.items()}


ONE: Version = [("a", b"A1\n"), ("b", b"B1\n"), ("c", b"C1\n")]


def test_a_first_cut_adds_every_piece_and_tells_of_it(db: Connection) -> None:
    assert recut(db, ONE, "r1") == {
        "documents": 1,
        "superseded": 0,
        "pieces": 3,
        "added": 3,
        "changed": 0,
        "reordered": 0,
        "deprecated": 0,
    }
    assert _live(db) == ONE
    assert _told(db) == {"added": {"a", "b", "c"}, "changed": set(), "reordered": set(), "deprecated": set()}


def test_an_event_holds_refs_and_no_text(db: Connection) -> None:
    recut(db, ONE, "r1")
    found = rows(
        db,
        "select event_stream, subject_table, subject_ref, payload, actor, correlation_id from penstock.event_outbox"
        " order by seq limit 1",
    )
    payload = {"document": "d.md", "position": 0, "sha256": sha256(b"A1\n").hexdigest()}
    assert found == [("birth", "penstock.iu_piece", "d.md#a~1", payload, "role:postgres", "r1")]


def test_unchanged_pieces_keep_their_rows(db: Connection) -> None:
    recut(db, ONE, "r1")
    before = rows(db, "select address, piece_id, added_at, changed_at, xmin::text from penstock.iu_piece")
    recut(db, [ONE[0], ("b", b"B2\n"), ONE[2]], "r2")
    after = rows(db, "select address, piece_id, added_at, changed_at, xmin::text from penstock.iu_piece")
    assert {one[0] for one in set(before) ^ set(after)} == {"d.md#b~1"}
    assert {one[:2] for one in before} == {one[:2] for one in after}


def test_the_same_again_changes_and_tells_nothing(db: Connection) -> None:
    recut(db, ONE, "r1")
    _told(db)
    counts = recut(db, ONE, "r2")
    assert {name: counts[name] for name in ("added", "changed", "reordered", "deprecated")} == dict.fromkeys(
        ("added", "changed", "reordered", "deprecated"), 0
    )
    assert not any(_told(db).values())
    assert rows(db, "select revision, run from penstock.iu_document") == [(1, "r2")]


def test_what_is_put_in_between_reorders_nothing(db: Connection) -> None:
    recut(db, ONE, "r1")
    _told(db)
    recut(db, [("new", b"N\n"), *ONE], "r2")
    assert _told(db) == {"added": {"new"}, "changed": set(), "reordered": set(), "deprecated": set()}
    assert [name for name, _ in _live(db)] == ["new", "a", "b", "c"]


def test_a_piece_may_change_and_move_at_once(db: Connection) -> None:
    recut(db, ONE, "r1")
    _told(db)
    recut(db, [("b", b"B2\n"), ONE[0], ONE[2]], "r2")
    assert _told(db) == {"added": set(), "changed": {"b"}, "reordered": {"a", "b"}, "deprecated": set()}


def test_a_deprecated_piece_keeps_its_row_and_comes_back_as_the_same(db: Connection) -> None:
    recut(db, ONE, "r1")
    piece_id = value(db, "select piece_id from penstock.iu_piece where address = 'd.md#b~1'")
    recut(db, [ONE[0], ONE[2]], "r2")
    assert rows(db, "select position, bytes from penstock.iu_piece where deprecated_at is not null") == [
        (None, b"B1\n")
    ]
    _told(db)
    recut(db, ONE, "r3")
    assert value(db, "select piece_id from penstock.iu_piece where address = 'd.md#b~1'") == piece_id
    assert _told(db) == {"added": {"b"}, "changed": set(), "reordered": set(), "deprecated": set()}
    assert _live(db) == ONE


def test_an_empty_document_has_no_pieces_and_deprecates_those_it_had(db: Connection) -> None:
    recut(db, ONE, "r1")
    _told(db)
    assert recut(db, [], "r2")["pieces"] == 0
    assert _live(db) == []
    assert _told(db)["deprecated"] == {"a", "b", "c"}


def test_cutting_again_in_the_same_run_changes_nothing(db: Connection) -> None:
    staging_id = stage(db, ONE)
    cut(db, staging_id, ONE)
    _told(db)
    assert cut(db, staging_id, ONE)["documents"] == 0
    assert not any(_told(db).values())


def test_an_older_version_never_replaces_a_later_one(db: Connection) -> None:
    older, newer = [("a", b"old")], [("a", b"new")]
    first, second = stage(db, older, run="r1"), stage(db, newer, run="r2")
    cut(db, second, newer)
    counts = cut(db, first, older)
    assert (counts["documents"], counts["superseded"]) == (0, 1)
    assert _live(db) == newer
    assert pieces.cut(db, [first])[0].pieces is None


def test_documents_of_one_call_are_cut_together_or_not_at_all(db: Connection) -> None:
    first, second = stage(db, ONE, document="a.md"), stage(db, ONE, document="b.md")
    with pytest.raises(BadRequest, match=r"b\.md#c~1 has no hash"):
        pieces.cut_write(db, [first, second], [*_hashes(first, ONE), *_hashes(second, ONE)[:2]])
    assert value(db, "select count(*) from penstock.iu_piece") == 0
    assert rows(db, "select distinct state from penstock.iu_staging_record") == [("mark_verified",)]


def test_what_cannot_be_told_is_not_cut(db: Connection) -> None:
    staging_id = stage(db, ONE)
    configure(db, "queue.forbidden_keys", "document")
    with pytest.raises(ForbiddenPayload):
        cut(db, staging_id, ONE)
    assert value(db, "select count(*) from penstock.iu_piece") == 0


def test_only_verified_marks_are_cut(db: Connection) -> None:
    staging_id = stage(db, ONE)
    pieces.mark_write(db, [staging_id], 4000, [(staging_id, one) for one in _marks("d.md", ONE)])
    assert cut(db, staging_id, ONE)["documents"] == 0
    assert value(db, "select count(*) from penstock.iu_piece") == 0


def test_a_document_that_changes_within_a_run_begins_anew(db: Connection) -> None:
    first = stage(db, ONE)
    assert pieces.staging_write(db, "r", ["d.md"], ["markdown"], [b"A1\nB1\nC1\n"]) == {"staged": 0, "known": 1}
    assert pieces.staging_write(db, "r", ["d.md"], ["markdown"], [b"other"]) == {"staged": 1, "known": 0}
    ((staging_id, state),) = rows(db, "select staging_id, state from penstock.iu_staging_record")
    assert (staging_id > first, state) == (True, "staged")


@pytest.mark.parametrize(
    ("run", "names", "formats"),
    [
        ("", ["a"], ["text"]),
        ("a b", ["a"], ["text"]),
        ("r", [""], ["text"]),
        ("r", ["a" * 1001], ["text"]),
        ("r", ["a"], ["html"]),
        ("r", ["a", "b"], ["text"]),
    ],
)
def test_what_cannot_be_a_document_is_refused(
    run: str, names: Sequence[str], formats: Sequence[str], db: Connection
) -> None:
    with pytest.raises(BadRequest):
        pieces.staging_write(db, run, names, formats, [b"x"])


def test_documents_leave_staging_once_their_cut_is_verified(db: Connection) -> None:
    staging_id = stage(db, ONE)
    cut(db, staging_id, ONE)
    assert pieces.staging_cleanup(db, [staging_id]) == 0
    pieces.cut_verified(db, [staging_id])
    assert pieces.staging_cleanup(db, [staging_id]) == 1
    assert value(db, "select count(*) from penstock.iu_staging_mark") == 0
    assert _live(db) == ONE


def test_what_stays_in_staging_too_long_is_told_once_and_swept(db: Connection) -> None:
    stage(db, ONE, document="old.md")
    db.execute("update penstock.iu_staging_record set staged_at = now() - interval '15 days 1 minute'")
    stage(db, ONE, document="new.md")
    assert [tick(db)["staging"]["did"] for _ in range(2)] == [1, 0]
    told = rows(
        db, "select subject_ref, payload ->> 'document' from penstock.event_outbox where event_type = 'record_expired'"
    )
    assert told == [("r:old.md", "old.md")]
    assert [pieces.staging_sweep(db) for _ in range(2)] == [1, 0]
    assert rows(db, "select document from penstock.iu_staging_record") == [("new.md",)]


def test_how_long_staging_is_kept_is_a_setting(db: Connection) -> None:
    stage(db, ONE)
    db.execute("update penstock.iu_staging_record set staged_at = now() - interval '2 days'")
    assert pieces.staging_expire(db) == 0
    configure(db, "markcut.staging.keep_days", "1")
    assert pieces.staging_expire(db) == 1
    with pytest.raises(BadConfig):
        configure(db, "markcut.staging.keep_days", "0")


def test_a_document_is_put_together_once_for_each_revision(db: Connection) -> None:
    recut(db, ONE, "r1")
    composed = {"document": "d.md", "revision": 1, "composed": True}
    assert pieces.recompose(db, "d.md#b~1") == composed
    assert pieces.recompose(db, "d.md#c~1") == composed | {"composed": False}
    recut(db, [ONE[2], ONE[0]], "r2")
    assert pieces.recompose(db, "d.md#b~1") == composed | {"revision": 2}
    ids = value(db, "select array_agg(piece_id order by position) from penstock.iu_piece where position is not null")
    assert rows(db, "select piece_ids, size_bytes, sha256 from penstock.iu_composition") == [
        (ids, 6, sha256(b"C1\nA1\n").digest())
    ]


def test_the_axis_counts_live_changed_and_deprecated_pieces(db: Connection) -> None:
    recut(db, ONE, "r1")
    recut(db, [("a", b"A2\n"), ONE[2]], "r2")
    for _ in range(2):
        found = pieces.axis_refresh(db, "d.md#b~1")
        assert found == {"document": "d.md", "revision": 2, "live": 2, "changed": 1, "deprecated": 1}
    assert rows(db, "select live, changed, deprecated from penstock.v_iu_document") == [(2, 1, 1)]


def test_a_piece_that_never_was_composes_nothing(db: Connection) -> None:
    assert pieces.recompose(db, "d.md#x~1") is None
    assert pieces.axis_refresh(db, "d.md#x~1") is None


def test_a_plan_made_for_few_pieces_never_reads_all_of_many(db: Connection) -> None:
    for number in range(8):
        recut(db, ONE, f"r{number}")
    db.execute(
        "with d as (insert into penstock.iu_document (document)"
        " select 'b' || n from generate_series(1, 5000) n returning *)"
        " insert into penstock.iu_piece (document, address, position, size_bytes, sha256, bytes)"
        " select document, document || '#~' || n, n, 1, sha256('x'), 'x' from d, generate_series(0, 9) n"
    )
    read = "select coalesce(sum(seq_tup_read), 0) from pg_stat_xact_all_tables where relname = 'iu_piece'"
    with db.transaction():
        recut(db, [ONE[1], ("a", b"A2\n")], "r9")
        assert value(db, read) < 1000


NAMES = "abcdef"
VERSIONS = st.lists(
    st.tuples(st.permutations(NAMES), st.integers(0, len(NAMES)), st.lists(st.integers(0, 2), min_size=6, max_size=6)),
    min_size=1,
    max_size=5,
)


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(VERSIONS)
def test_a_history_of_versions_tells_what_an_independent_model_says(
    db: Connection, versions: list[tuple[list[str], int, list[int]]]
) -> None:
    with db.transaction(force_rollback=True):
        before: Version = []
        for number, (names, count, texts) in enumerate(versions):
            version = [(name, f"{name}{texts[NAMES.index(name)]}\n".encode()) for name in names[:count]]
            counts = recut(db, version, f"r{number}")
            told = _told(db)
            assert told == _model(before, version)
            assert {kind: counts[kind] for kind in told} == {kind: len(one) for kind, one in told.items()}
            assert _live(db) == version
            before = version


def _model(before: Version, after: Version) -> dict[str, set[str]]:
    old, new = dict(before), dict(after)
    stayed = [name for name in old if name in new]
    moved = [name for name in new if name in old]
    return {
        "added": new.keys() - old.keys(),
        "deprecated": old.keys() - new.keys(),
        "changed": {name for name in stayed if old[name] != new[name]},
        "reordered": {one for one, other in zip(moved, stayed, strict=True) if one != other},
    }
