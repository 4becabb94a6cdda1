"""Files as entries, and specs back from what the database keeps."""

import json
from pathlib import Path

import pytest

from penstock.catalog.entry import read, read_file, spec_of
from penstock.errors import SpecError
from tests.unit.catalog.files import EXAMPLES, PLAYBOOK, entry, only_problem, playbook


def test_a_file_may_hold_a_playbook_and_its_subscription() -> None:
    found = read(f"{PLAYBOOK}---\n{EXAMPLES['orders-drain']}", "file.yaml")
    assert [(one.kind, one.path) for one in found] == [
        ("Playbook", "domain/process_order"),
        ("Subscription", "subscriptions/orders-drain"),
    ]
    assert [one.source for one in found] == [PLAYBOOK, f"---\n{EXAMPLES['orders-drain']}"]


@pytest.mark.parametrize("text", [*EXAMPLES.values(), PLAYBOOK])
def test_the_content_is_json_and_the_spec_comes_back_from_it(text: str) -> None:
    found = entry(text)
    kept = json.loads(json.dumps(found.content, allow_nan=False))
    assert kept == found.content
    assert spec_of(found.kind, kept) == found.spec


def test_content_of_another_kind_is_refused() -> None:
    with pytest.raises(SpecError, match="the Subscription in the catalog: kind: expected Subscription, found Playbook"):
        spec_of("Subscription", playbook())


def test_content_that_can_no_longer_be_read_is_told_without_lines() -> None:
    broken = playbook() | {"workload": 5}
    with pytest.raises(SpecError, match="the Playbook in the catalog: workload: expected a mapping, found 5"):
        spec_of("Playbook", broken)


def test_a_path_is_one_documents_alone() -> None:
    assert only_problem(f"{PLAYBOOK}---\n{PLAYBOOK}") == (
        "17: metadata.path: domain/process_order is another document's too, which begins in line 1"
    )


@pytest.mark.parametrize("text", ["", "# nothing\n", "---\n", "---\n---\n"])
def test_a_file_without_a_document_is_refused(text: str) -> None:
    with pytest.raises(SpecError, match=r"^file\.yaml: the file is empty: expected a document with kind: Playbook or"):
        read(text, "file.yaml")


def test_a_file_with_too_many_documents_is_refused() -> None:
    assert "more than 200 documents in one file" in only_problem("---\na: 1\n" * 201)


def test_a_document_that_is_no_mapping_is_refused() -> None:
    assert only_problem("- a\n- b\n") == "1: expected a mapping, found a list"


def test_of_a_file_that_is_no_yaml_only_that_is_said() -> None:
    text = EXAMPLES["events"].replace("  mode: push", "   mode: push")
    assert only_problem(text).startswith("6: a second ': ' where a value goes on: check the indentation")


def test_a_file_is_read_from_the_disk(tmp_path: Path) -> None:
    file = tmp_path / "events.yaml"
    file.write_text(EXAMPLES["events"], encoding="utf-8-sig")
    assert [one.path for one in read_file(file)] == ["subscriptions/events"]


@pytest.mark.parametrize(
    ("raw", "words"),
    [
        (b"a: 1\nb: \xff\n", ":2: the file is not UTF-8 (byte 0xff)"),
        (b"#" * (1024 * 1024) + "é".encode(), ": the file is larger than 1,048,576 bytes"),
        (b"a: 1\n", ":1: apiVersion: is missing"),
    ],
)
def test_a_bad_file_is_named(tmp_path: Path, raw: bytes, words: str) -> None:
    file = tmp_path / "bad.yaml"
    file.write_bytes(raw)
    with pytest.raises(SpecError) as raised:
        read_file(file)
    assert f"{file}{words}" in str(raised.value)


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(SpecError, match=r"gone\.yaml: cannot be read: No such file or directory"):
        read_file(tmp_path / "gone.yaml")
