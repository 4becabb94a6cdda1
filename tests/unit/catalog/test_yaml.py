"""YAML 1.2, its lines and its bounds."""

import pytest

from penstock.catalog.faults import Fault
from penstock.catalog.yaml import MAX_BYTES, MAX_DEPTH, MAX_NODES, Node, documents, located, plain


def _data(text: str) -> object:
    (only,) = documents(text)
    return plain(only.root)


def _fault(text: str) -> tuple[int | None, str]:
    with pytest.raises(Fault) as raised:
        documents(text)
    return raised.value.line, raised.value.text


def test_words_that_an_older_yaml_took_for_booleans_are_text() -> None:
    text = "{a: off, b: yes, c: No, d: true, e: y, f: on}"
    assert _data(text) == {"a": "off", "b": "yes", "c": "No", "d": True, "e": "y", "f": "on"}


def test_numbers_may_have_underscores_and_a_date_or_a_time_of_day_is_text() -> None:
    assert _data("{a: 10_000, b: 2024-01-01, c: 1:30, d: 1.5, e: 0x1f}") == {
        "a": 10_000,
        "b": "2024-01-01",
        "c": "1:30",
        "d": 1.5,
        "e": 31,
    }


def test_every_key_and_value_knows_its_line() -> None:
    (document,) = documents("a:\n  b:\n    - x\n    - >-\n      long\n  c:\n\nd: 1\n")
    top = document.root.value
    assert isinstance(top, dict)
    inner = top["a"].value
    assert isinstance(inner, dict)
    items = inner["b"].value
    assert isinstance(items, list)
    lines = {"a": top["a"], "b": inner["b"], "first": items[0], "second": items[1], "c": inner["c"], "d": top["d"]}
    assert {name: (node.key_line, node.line) for name, node in lines.items()} == {
        "a": (1, 2),
        "b": (2, 3),
        "first": (3, 3),
        "second": (4, 4),
        "c": (6, 6),
        "d": (8, 8),
    }


def test_several_documents_each_with_its_own_text_and_empty_ones_left_out() -> None:
    found = documents("# first\na: 1\n---\n---\n# second\nb: 2\n...\n")
    assert [(plain(one.root), one.source) for one in found] == [
        ({"a": 1}, "# first\na: 1\n"),
        ({"b": 2}, "---\n# second\nb: 2\n...\n"),
    ]


def test_an_alias_stands_for_what_its_anchor_holds() -> None:
    assert _data("a: &x {k: [1]}\nb: *x\n") == {"a": {"k": [1]}, "b": {"k": [1]}}


def test_a_byte_order_mark_is_no_text() -> None:
    assert _data("\ufeffa: 1") == {"a": 1}


def test_data_that_came_as_json_has_no_lines_and_comes_back_the_same() -> None:
    data = {"a": [1, {"b": None}], "c": "x"}
    assert plain(located(data)) == data
    assert located("x") == Node("x", None, None)


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("a: 1\nb: 2\na: 3\n", 3, "the key a stands here twice: first in line 1"),
        ("a:\n  b: 1\n\tc: 2\n", 3, "a tab: indent with spaces"),
        ("a:\n    b: 1\n  c: 2\n", 3, "the indentation does not fit"),
        ("  a: 1\nb: 2\n", 2, "the indentation does not fit"),
        ("a: 1\n  b: 2\n", 2, "check the indentation of this line and the one before"),
        ("a: b: c\n", 1, "put text that holds ': ' in quotes"),
        ("z: 1\na: [1,\n  2\nb: 3\n", 2, "the list or mapping is not closed: expected , or ]"),
        ("a: 'x\nb: 1\n", 1, "the quotes are not closed"),
        ("a: 1\nb\n", 2, "a key without a ':' after it"),
        ("a: @b\n", 1, "text that begins with @ stands in quotes"),
        ('a: "\\q"\n', 1, "\\q means nothing between double quotes"),
        ("a: {{ b }}\n", 1, "a template such as {{ … }} stands in quotes"),
        ("1: a\n", 1, 'a key must be text: write "1" in quotes'),
        ("a: *b\n", 1, "*b refers to &b, which does not stand before it"),
        ("a: &b [*b]\n", 1, "*b stands inside &b itself"),
        ("&k a: 1\n*k : 2\n", 2, "*k stands where a key is expected"),
        ("a: {b: 1}\n<<: {c: 1}\n", 2, "<< is not YAML 1.2"),
        ("%YAML 1.1\n---\na: off\n", 2, "catalog files are YAML 1.2"),
        ("a: !!binary aGk=\n", 1, "tags such as tag:yaml.org,2002:binary are not used here"),
        ("a: !mine {b: 1}\n", 1, "tags such as !mine are not used here"),
        ('a: "\\0"\n', 1, "U+0000"),
        ('a: 1\nb: "\\ud800"\n', 2, "half a character"),
        ("a: 1\nb: \x00\n", 2, "U+0000"),
        ("a: .inf\n", 1, "no number that can be kept"),
        ("a: 1e999\n", 1, "no number that can be kept"),
        ("a: 9223372036854775808\n", 1, "no number that can be kept"),
        ("a: " + "9" * 5000, 1, "no number that can be kept"),
        ("a: !!int x\n", 1, "'x' is not a value of this type"),
    ],
)
def test_what_is_no_yaml_is_refused_with_its_line_and_in_words(text: str, line: int, words: str) -> None:
    found, said = _fault(text)
    assert words in said
    assert found == line


def test_a_file_has_a_largest_size() -> None:
    assert "larger than 1,048,576 bytes" in _fault("# " + "é" * (MAX_BYTES // 2))[1]


@pytest.mark.parametrize("text", ["[" * (MAX_DEPTH + 1), "[" * 5000, "a: " + "{a: " * (MAX_DEPTH + 1)])
def test_nesting_has_a_bound(text: str) -> None:
    assert _fault(text)[1] == f"nested more than {MAX_DEPTH} deep"


def test_nesting_by_aliases_has_the_same_bound() -> None:
    half = MAX_DEPTH // 2 + 1
    deep = f"a: &a {'[' * half}x{']' * half}\nb: {'[' * half}*a{']' * half}\n"
    assert _fault(deep) == (2, f"nested more than {MAX_DEPTH} deep")


def test_aliases_that_multiply_are_stopped() -> None:
    layers = [f"a{nth}: &a{nth} [{', '.join([f'*a{nth - 1}'] * 9)}]" for nth in range(1, 12)]
    line, said = _fault("\n".join(["a0: &a0 [x, x, x]", *layers]))
    assert said.startswith(f"more than {MAX_NODES:,} values in one file")
    assert line is not None
    assert line < 8
