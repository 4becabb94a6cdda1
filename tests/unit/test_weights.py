"""The values of a body are counted from its bytes, and never too few."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.gateway import weights

TEXTS = st.text(st.sampled_from('a"\\,:[{}]é\U0001f600\n'), max_size=12)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | TEXTS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
    max_leaves=20,
)


def _counted(value: Any) -> int:
    """The commas, colons and brackets around what it holds."""
    match value:
        case dict():
            return 1 + max(0, len(value) - 1) + len(value) + sum(map(_counted, value.values()))
        case list():
            return 1 + max(0, len(value) - 1) + sum(map(_counted, value))
        case _:
            return 0


@given(value=JSON, piece=st.integers(1, 40), ascii_only=st.booleans())
def test_what_stands_in_strings_is_not_counted(value: Any, piece: int, ascii_only: bool) -> None:
    sent = json.dumps(value, ensure_ascii=ascii_only).encode()
    exact = 1 + _counted(value)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(weights, "_PIECE_BYTES", piece)
        # an upper bound where that is few enough, else the number itself
        assert weights.values(sent, 10**6) >= exact
        assert weights.values(sent, exact) == exact
        if exact > 1:
            assert weights.values(sent, exact - 1) == exact


PIECES = st.sampled_from([b'"', b"\\", b",", b"{", b"x"])


@given(sent=st.lists(PIECES, max_size=60).map(b"".join), most=st.integers(1, 9))
def test_what_is_no_json_is_counted_too(sent: bytes, most: int) -> None:
    assert weights.values(sent, most) >= 1


def test_a_text_full_of_marks_is_one_value() -> None:
    sent = json.dumps({"text": '{"a": [1, 2, "x"]},' * 50_000}).encode()
    assert weights.values(sent, 1000) == 3


def test_many_values_and_many_strings_are_over_the_limit() -> None:
    assert weights.values(b"[" + b",".join([b"{}"] * 600_000) + b"]", 1000) == 1001
    # no JSON: only commas outside of strings are a reason to go on
    assert weights.values(b'""' * 600_000 + b"," * 2000, 1000) == 1001
