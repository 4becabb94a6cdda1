"""MARK/CUT on a real Spark session and a real database: six stages, run whole, run again, killed, and lied to."""

import base64
import json
import os
import signal
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256
from pathlib import Path
from typing import Any

import pyarrow.parquet as parquet
import pytest
from pyspark.sql import SparkSession

from penstock.errors import DocumentUnfit, SettingsError, StageFailed
from penstock.kernel.connection import Connection
from penstock.markcut import export, stages
from penstock.model import Json
from tests.concurrency.sessions import DEADLINE_S, wait_until
from tests.conftest import Connect
from tests.sql.support import rows, value

ALL = (stages.copy_to_staging, stages.mark, stages.verify_mark, stages.cut, stages.verify_cut, stages.cleanup)
DOCUMENTS = {
    "readme.md": b"# Readme\n\nWelcome.\n\n## Use\n\n```\n# not a heading\n```\n",
    "guide/setup.md": b"---\ntitle: Setup\n---\r\n# Installing\r\n\r\n## Linux\r\n\r\n" + b"word " * 3000,
    "guide/_index.md": "# Überblick\n\nohne Zeilenende".encode(),
    "notes/plain.txt": b"one\n\ntwo\n\n" * 500,
    "notes/empty.md": b"",
    "notes/junk.md": bytes(range(256)) * 100,
}
SKIPPED = {"picture.png": b"png", ".git/config.md": b"hidden", "notes/.draft.md": b"hidden"}


@pytest.fixture
def ready(credentials_file: Path, database: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Spark's processes find the test's database as those of a cluster do: by the credential on their host."""
    monkeypatch.delenv("PENSTOCK_DATABASE_URL", raising=False)
    credentials_file.write_text(json.dumps({"penstock_database": {"url": database}}))
    yield
    credentials_file.write_text("")


@pytest.fixture
def folder(tmp_path: Path, ready: None) -> Path:
    root = tmp_path / "documents"
    for name, content in (DOCUMENTS | SKIPPED).items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(content)
    return root


def _params(folder: Path, run: str = "first", **more: Any) -> Json:
    return {"run": run, "folder": str(folder), "max_bytes": 1000, **more}


def _run(spark: SparkSession, params: Json) -> list[Json]:
    return [stage(spark, params) for stage in ALL]


def _documents(db: Connection) -> dict[str, bytes]:
    """Every document, joined from its pieces by the database itself."""
    found = rows(
        db,
        "select d.document, coalesce(string_agg(p.bytes, ''::bytea order by p.position), ''::bytea)"
        " from penstock.iu_document d left join penstock.iu_piece p"
        " on p.document = d.document and p.deprecated_at is null group by 1",
    )
    return {name: bytes(content) for name, content in found}


def _lines(file: Path) -> list[str]:
    """Not splitlines(), which knows more line ends than JSON lines do."""
    return file.read_text().split("\n")[:-1]


def _states(db: Connection) -> dict[str, int]:
    return dict(rows(db, "select state, count(*) from penstock.iu_staging_record group by 1"))


def test_the_pieces_of_a_folder_are_its_documents(spark: SparkSession, db: Connection, folder: Path) -> None:
    copied, marked, verified, was_cut, proved, cleaned = _run(spark, _params(folder))
    size, count = sum(map(len, DOCUMENTS.values())), len(DOCUMENTS)
    assert copied == {"documents": count, "bytes": size, "staged": count, "known": 0}
    assert marked["marked"] == verified["verified"] == was_cut["documents"] == proved["verified"] == count
    assert marked["marks"] == was_cut["pieces"] == was_cut["added"] == proved["pieces"]
    assert verified["bytes"] == proved["bytes"] == size
    assert cleaned == {"removed": count}
    assert _documents(db) == DOCUMENTS
    assert _states(db) == {}
    assert value(db, "select bool_and(sha256 = sha256(bytes) and length(bytes) <= 1000) from penstock.iu_piece")
    assert "guide/setup.md#installing/linux~2" in {one for (one,) in rows(db, "select address from penstock.iu_piece")}
    assert value(db, "select count(*) from penstock.event_outbox where event_type = 'piece_added'") == was_cut["added"]


def test_a_changed_folder_keeps_what_is_unchanged(spark: SparkSession, db: Connection, folder: Path) -> None:
    _run(spark, _params(folder))
    before = dict(rows(db, "select address, piece_id from penstock.iu_piece"))
    db.execute("delete from penstock.event_outbox")
    changed = b"## Use\n\nchanged\n\n# Readme\n\nWelcome.\n\n"
    (folder / "readme.md").write_bytes(changed)
    counts = _run(spark, _params(folder, "second"))[3]
    assert counts == {
        "documents": len(DOCUMENTS),
        "superseded": 0,
        "pieces": counts["pieces"],
        "added": 1,
        "changed": 0,
        "reordered": 0,
        "deprecated": 1,
    }
    assert _documents(db) == DOCUMENTS | {"readme.md": changed}
    after = dict(rows(db, "select address, piece_id from penstock.iu_piece"))
    assert before.items() <= after.items()
    told = rows(db, "select event_type, subject_ref, correlation_id from penstock.event_outbox order by event_type")
    assert told == [
        ("piece_added", "readme.md#use~1", "second"),
        ("piece_deprecated", "readme.md#readme/use~1", "second"),
    ]


def test_every_stage_run_again_does_nothing_more(spark: SparkSession, db: Connection, folder: Path) -> None:
    params = _params(folder)
    for stage in ALL:
        stage(spark, params)
        before = rows(db, "select staging_id, state from penstock.iu_staging_record order by 1")
        assert not any(
            count
            for name, count in stage(spark, params).items()
            if name not in ("bytes", "known") and (name, stage) != ("documents", stages.copy_to_staging)
        )
        assert rows(db, "select staging_id, state from penstock.iu_staging_record order by 1") == before
    pieces = value(db, "select count(*) from penstock.iu_piece")
    assert value(db, "select count(*) from penstock.event_outbox") == pieces


def test_a_stage_waits_for_the_one_before_it(spark: SparkSession, folder: Path) -> None:
    params = _params(folder)
    for stage in ALL[1:5]:
        with pytest.raises(StageFailed, match="nothing in staging"):
            stage(spark, params)
    stages.copy_to_staging(spark, params)
    for stage in ALL[2:]:
        with pytest.raises(StageFailed, match="is staged: run the stage before it first"):
            stage(spark, params)


def test_another_maximum_marks_anew_what_is_not_cut(spark: SparkSession, db: Connection, folder: Path) -> None:
    for stage in ALL[:3]:
        stage(spark, _params(folder))
    assert stages.mark(spark, _params(folder, max_bytes=500))["marked"] == len(DOCUMENTS)
    assert value(db, "select max(end_byte - first_byte) from penstock.iu_staging_mark") <= 500


LIES = {
    "leaves out 10 bytes": "update penstock.iu_staging_mark set first_byte = first_byte + 10 where position = 1",
    "takes again 10 bytes": "update penstock.iu_staging_mark set first_byte = first_byte - 10 where position = 1",
    "has the position 3": "update penstock.iu_staging_mark set position = 700 where position = 2",
    "have no mark": "delete from penstock.iu_staging_mark m using (select staging_id, max(position) as position"
    " from penstock.iu_staging_mark group by 1) l where l.staging_id = m.staging_id and l.position = m.position",
    "ends at byte": "update penstock.iu_staging_mark set end_byte = end_byte + 1000000 where position = 0",
    "more than 900": "update penstock.iu_staging_record set max_bytes = 900",
    "cannot have the address": "update penstock.iu_staging_mark set address = 'x' where position = 0",
}


@pytest.mark.parametrize("said", LIES)
def test_marks_that_are_not_the_document_are_found(
    said: str, spark: SparkSession, db: Connection, folder: Path
) -> None:
    params = _params(folder) | {"folder": None, "files": [str(folder / "guide/setup.md")]}
    stages.copy_to_staging(spark, params)
    stages.mark(spark, params)
    db.execute(LIES[said].encode())
    with pytest.raises(StageFailed, match=rf"guide/setup\.md, byte \d+: .*{said}"):
        stages.verify_mark(spark, params)
    assert _states(db) == {"marked": 1}


def test_a_mark_within_a_character_is_found(spark: SparkSession, db: Connection, folder: Path) -> None:
    params = _params(folder)
    stages.copy_to_staging(spark, params)
    stages.mark(spark, params)
    db.execute(
        "with d as (select staging_id from penstock.iu_staging_record where document = 'guide/_index.md'),"
        " m as (update penstock.iu_staging_mark m set end_byte = 3 from d where m.staging_id = d.staging_id)"
        " insert into penstock.iu_staging_mark select staging_id, 1, 3, 30, 'guide/_index.md#x~1' from d"
    )
    with pytest.raises(StageFailed, match=r"guide/_index\.md, byte 3: piece 0 ends within a character"):
        stages.verify_mark(spark, params)
    assert _states(db) == {"marked": 1, "mark_verified": len(DOCUMENTS) - 1}


SPOILT = {
    "is not the document": "bytes = set_byte(bytes, 5, 0), sha256 = sha256(set_byte(bytes, 5, 0))",
    "is not that of its bytes": "sha256 = sha256('x')",
    "has the position 100 instead of": "position = 100",
    "bytes are in no piece": "bytes = bytes",
}


@pytest.mark.parametrize("said", SPOILT)
def test_pieces_that_are_not_the_document_are_found(
    said: str, spark: SparkSession, db: Connection, folder: Path
) -> None:
    params = _params(folder)
    for stage in ALL[:4]:
        stage(spark, params)
    last = "(select max(position) from penstock.iu_piece where document = 'notes/plain.txt')"
    where = f"where document = 'notes/plain.txt' and position = {last}"
    db.execute(f"update penstock.iu_piece set {SPOILT[said]} {where}".encode())
    if said == "bytes are in no piece":
        db.execute(f"delete from penstock.iu_piece {where}".encode())
    with pytest.raises(StageFailed, match=rf"notes/plain\.txt, byte \d+: .*{said}"):
        stages.verify_cut(spark, params)
    assert _states(db) == {"cut": 1, "cut_verified": len(DOCUMENTS) - 1}
    with pytest.raises(StageFailed, match=r"notes/plain\.txt is cut"):
        stages.cleanup(spark, params)


def _blocked(db: Connection) -> set[int]:
    """The processes of tasks that wait for a lock, by the name of their sessions."""
    found = rows(
        db,
        "select application_name from pg_stat_activity where application_name like 'penstock markcut %%'"
        " and datname = current_database() and cardinality(pg_blocking_pids(pid)) > 0",
    )
    return {int(name.rpartition(" ")[2]) for (name,) in found}


def test_a_cut_whose_processes_are_killed_leaves_no_document_half_cut(
    spark: SparkSession, db: Connection, session: Connect, folder: Path
) -> None:
    """kill -9 of a task's process while it waits in the middle of the cut, as often as Spark tries it again."""
    params = _params(folder, tasks=len(DOCUMENTS))
    for stage in ALL[:3]:
        stage(spark, params)
    holder = session()
    holder.execute("insert into penstock.iu_document (document) values ('guide/setup.md')")
    holder.execute("begin")
    holder.execute("select from penstock.iu_document where document = 'guide/setup.md' for update")
    killed: set[int] = set()
    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(stages.cut, spark, params)
        while not running.done() and len(killed) < 10:
            wait_until(lambda: running.done() or bool(_blocked(db) - killed), "a task waits, or the stage has ended")
            for pid in _blocked(db) - killed:
                os.kill(pid, signal.SIGKILL)
                killed.add(pid)
        with pytest.raises(StageFailed, match="cut: Spark gave up: Python worker exited"):
            running.result(DEADLINE_S)
    assert killed
    holder.execute("rollback")
    whole = _documents(db)
    assert whole.pop("guide/setup.md") == b""
    assert whole == {name: DOCUMENTS[name] for name in whole}
    events = value(db, "select count(*) from penstock.event_outbox")
    assert events == value(db, "select count(*) from penstock.iu_piece")
    for stage in ALL[3:]:
        stage(spark, params)
    assert _documents(db) == DOCUMENTS
    assert value(db, "select count(*) = count(distinct subject_ref) from penstock.event_outbox")


def test_a_database_that_goes_away_fails_the_stage_in_words_and_it_can_go_on(
    spark: SparkSession, db: Connection, session: Connect, folder: Path
) -> None:
    params = _params(folder, tasks=2)
    for stage in ALL[:3]:
        stage(spark, params)
    holder = session()
    holder.execute("insert into penstock.iu_document (document) values ('guide/setup.md')")
    holder.execute("begin")
    holder.execute("select from penstock.iu_document where document = 'guide/setup.md' for update")
    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(stages.cut, spark, params)
        wait_until(lambda: bool(_blocked(db)), "a task waits")
        db.execute(
            "select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database()"
            " and application_name like 'penstock markcut %' and cardinality(pg_blocking_pids(pid)) > 0"
        )
        with pytest.raises(StageFailed, match="PostgreSQL did not answer"):
            running.result(DEADLINE_S)
    holder.execute("rollback")
    for stage in ALL[3:]:
        stage(spark, params)
    assert _documents(db) == DOCUMENTS


def test_a_run_whose_document_was_cut_later_elsewhere_still_ends(
    spark: SparkSession, db: Connection, folder: Path
) -> None:
    for stage in ALL[:3]:
        stage(spark, _params(folder))
    (folder / "readme.md").write_bytes(b"# Later\n")
    _run(spark, _params(folder, "second"))
    assert stages.cut(spark, _params(folder))["superseded"] == len(DOCUMENTS)
    assert stages.verify_cut(spark, _params(folder))["superseded"] == len(DOCUMENTS)
    assert stages.cleanup(spark, _params(folder)) == {"removed": len(DOCUMENTS)}
    assert _documents(db)["readme.md"] == b"# Later\n"


def test_a_document_that_is_too_large_is_named_before_anything_is_read(
    spark: SparkSession, db: Connection, folder: Path
) -> None:
    with pytest.raises(DocumentUnfit, match=r"notes/junk\.md has 25,600 bytes or more, and a document at most 20,000"):
        stages.copy_to_staging(spark, _params(folder, max_document_bytes=20_000))
    assert _states(db) == {}


def test_a_file_that_has_grown_since_it_was_listed_is_named_by_its_task(
    spark: SparkSession, db: Connection, folder: Path
) -> None:
    """What the system tells of itself has a size of nothing until it is read."""
    grown = _params(folder) | {"folder": None, "files": ["/proc/cpuinfo"], "max_document_bytes": 100}
    with pytest.raises(StageFailed, match="/proc/cpuinfo has 101 bytes or more, and a document at most 100"):
        stages.copy_to_staging(spark, grown)
    assert _states(db) == {}


@pytest.mark.parametrize(
    ("params", "said"),
    [
        ({"run": "a b"}, "run: "),
        ({"run": "r", "folder": "x", "files": ["y"]}, "give folder or files, not both"),
        ({"run": "r", "max_bytes": "many"}, "max_bytes: "),
        ({"run": "r", "max_byte": 3}, "max_byte: "),
        ({"run": "r", "format": "xml"}, "format: "),
    ],
)
def test_a_wrong_parameter_is_named(params: Json, said: str, spark: SparkSession, ready: None) -> None:
    with pytest.raises(SettingsError, match=said):
        stages.mark(spark, params)


def test_pieces_are_exported_in_order_as_lines_of_json(spark: SparkSession, folder: Path, tmp_path: Path) -> None:
    params = _params(folder, max_bytes="500", out=str(tmp_path / "out"))
    _run(spark, params)
    for _ in range(2):
        counts = export.export(spark, params)
    lines = [json.loads(line) for file in sorted((tmp_path / "out").glob("part-*")) for line in _lines(file)]
    assert counts == {"documents": len(DOCUMENTS), "pieces": len(lines), "out": str(tmp_path / "out")}
    joined: dict[str, bytes] = {}
    for line in lines:
        content = line["text"].encode() if "text" in line else base64.b64decode(line["base64"])
        assert sha256(content).hexdigest() == line["sha256"]
        joined[line["document"]] = joined.get(line["document"], b"") + content
    assert joined == {name: content for name, content in DOCUMENTS.items() if content}


def test_pieces_are_exported_as_parquet(spark: SparkSession, folder: Path, tmp_path: Path) -> None:
    params = _params(folder, out=str(tmp_path / "out"), format="parquet")
    _run(spark, params)
    export.export(spark, params)
    found = parquet.read_table(tmp_path / "out").sort_by([("document", "ascending"), ("position", "ascending")])
    joined: dict[str, bytes] = {}
    for row in found.to_pylist():
        joined[row["document"]] = joined.get(row["document"], b"") + row["bytes"]
    assert joined == {name: content for name, content in DOCUMENTS.items() if content}


def test_an_export_never_empties_a_folder_that_holds_something_else(
    spark: SparkSession, folder: Path, tmp_path: Path
) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "letter.txt").touch()
    _run(spark, _params(folder))
    with pytest.raises(SettingsError, match=r"holds letter\.txt"):
        export.export(spark, _params(folder, out=str(tmp_path / "mine")))
    assert (tmp_path / "mine" / "letter.txt").exists()
