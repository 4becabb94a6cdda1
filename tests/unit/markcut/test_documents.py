"""Which files are documents, and what they are called."""

import os
from pathlib import Path
from typing import Any

import pytest

from penstock.errors import DocumentUnfit
from penstock.markcut.documents import format_of, listed, read
from penstock.markcut.params import read_params


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name in (
        "guide/setup.md",
        "guide/_index.md",
        "guide/a [1]#%.MD",
        "notes.txt",
        ".hidden/x.md",
        "guide/.x.md",
        "p.png",
    ):
        Path(name).parent.mkdir(exist_ok=True)
        Path(name).write_text(name)
    return tmp_path


def _names(**given: Any) -> list[str]:
    return [one.name for one in listed(read_params({"run": "r", **given}))]


def test_documents_of_a_folder_are_named_from_it() -> None:
    assert _names(folder="guide") == ["_index.md", "a [1]#%.MD", "setup.md"]
    assert _names(folder=".") == ["guide/_index.md", "guide/a [1]#%.MD", "guide/setup.md", "notes.txt"]


def test_a_collection_stands_before_every_name() -> None:
    assert _names(folder="guide", suffixes=["setup.md"], collection="/hand/book/") == ["hand/book/setup.md"]


def test_files_are_named_as_they_are_written(here: Path) -> None:
    assert _names(files=["guide", "./notes.txt", "p.png"])[-2:] == ["notes.txt", "p.png"]
    assert _names(files=["guide/setup.md"]) == ["guide/setup.md"]
    assert _names(files=str(here / "notes.txt")) == [str(here / "notes.txt").lstrip("/")]


def test_a_file_that_leads_out_of_here_is_named_from_the_root(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(here / "guide")
    assert _names(files=["../notes.txt"]) == [str(here / "notes.txt").lstrip("/")]


def test_a_file_given_twice_is_one_document() -> None:
    assert _names(files=["notes.txt", "./notes.txt"]) == ["notes.txt"]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"folder": "nowhere"}, "there is no folder .*nowhere"),
        ({"folder": "guide", "suffixes": [".rst"]}, r"there is no document: guide holds no \.rst"),
        ({"files": ["nowhere.md"]}, "nowhere.md cannot be read: No such file"),
        ({"folder": ".", "max_documents": 2}, "more than 2 documents"),
        ({"folder": ".", "max_document_bytes": 10}, "guide/_index.md has 15 bytes or more, and a document at most 10"),
    ],
)
def test_what_cannot_be_taken_is_named(given: dict[str, Any], said: str) -> None:
    with pytest.raises(DocumentUnfit, match=said):
        _names(**given)


def test_a_pipe_is_no_document() -> None:
    os.mkfifo("pipe.md")
    with pytest.raises(DocumentUnfit, match=r"pipe\.md is not a file"):
        _names(folder=".")


def test_a_name_that_is_not_utf8_is_shown_as_it_is() -> None:
    Path(os.fsdecode(b"caf\xe9.md")).touch()
    with pytest.raises(DocumentUnfit, match=r"caf\\udce9\.md': the file's name is not UTF-8"):
        _names(folder=".")


def test_a_folder_that_links_to_itself_is_walked_once() -> None:
    Path("guide/again").symlink_to(Path.cwd())
    assert len(_names(folder=".")) == 4


def test_a_file_that_is_gone_by_the_time_it_is_read_is_named() -> None:
    with pytest.raises(DocumentUnfit, match=r"gone\.md cannot be read: No such file"):
        read("gone.md", 10)
    assert read("notes.txt", 9) == b"notes.txt"
    with pytest.raises(DocumentUnfit, match=r"notes\.txt has 9 bytes or more, and a document at most 8"):
        read("notes.txt", 8)


def test_markdown_is_told_by_the_name() -> None:
    assert [format_of(name) for name in ("a.MD", "a.markdown", "a.txt", "md")] == ["markdown"] * 2 + ["text"] * 2
