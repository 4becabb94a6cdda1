"""Attributes and headers: nothing is lost on the way to JSON and back, and keys fold as ASCII only."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.directives.headers import (
    Attribute,
    attributes_from_json,
    attributes_to_json,
    fold,
    headers_from_json,
    headers_to_json,
    normalise,
    texts,
)

KEYS = st.text(st.characters(exclude_categories=["Cs"]), max_size=8) | st.sampled_from(["a\0b", "K", "k"])
VALUES = st.binary(max_size=8) | st.text(max_size=8).map(lambda text: text.encode("utf-8", "replace"))
CHANNELS = st.lists(st.tuples(KEYS, VALUES | st.none()), max_size=8)


def test_keys_fold_ascii_letters_and_no_others() -> None:
    assert fold("X-Ünïcode-İK") == "x-Ünïcode-İk"


def test_several_values_of_a_key_are_an_array_in_their_order() -> None:
    assert normalise([("A", b"1"), ("b", b"x"), ("a", b"2")]) == {"a": ["1", "2"], "b": "x"}


@pytest.mark.parametrize("value", [b"\xff", b"a\0b", b"\xed\xa0\x80", b"\xc0\xaf", b"\xf4\x90\x80\x80"])
def test_a_value_that_is_not_text_is_kept_as_bytes(value: bytes) -> None:
    headers = normalise([("k", value)])
    assert texts(headers, "k") == [None]
    assert attributes_from_json(attributes_to_json([("k", value)])) == [("k", value)]


@pytest.mark.parametrize("key", ["a\0b", b"\xff", "\ud800"])
def test_a_key_that_is_not_text_is_an_attribute_and_no_header(key: str | bytes) -> None:
    assert normalise([(key, b"1")]) == {}
    assert json.loads(attributes_to_json([(key, b"1")]))[0][0].keys() == {"base64"}


def test_a_null_value_stays_null_as_an_attribute_and_is_empty_as_a_header() -> None:
    assert attributes_to_json([("K", None)]) == '[["K",null]]'
    assert normalise([("K", None)]) == {"k": ""}


def test_the_json_of_attributes_is_the_documented_one() -> None:
    assert attributes_to_json([("Key", b't\x1b"\\\xc3\xa9'), ("K2", b"\xff")]) == (
        '[["Key","t\\u001B\\"\\\\é"],["K2",{"base64":"/w=="}]]'
    )


@given(CHANNELS)
def test_attributes_come_back_from_json(channel: list[Attribute]) -> None:
    assert attributes_from_json(attributes_to_json(channel)) == channel


@given(CHANNELS)
def test_headers_come_back_from_json(channel: list[Attribute]) -> None:
    headers = normalise(channel)
    assert headers_from_json(headers_to_json(headers)) == headers


@given(CHANNELS)
def test_stored_json_never_holds_a_null_character(channel: list[Attribute]) -> None:
    stored = attributes_to_json(channel) + headers_to_json(normalise(channel))
    assert "\0" not in stored
    assert "\\u0000" not in stored.replace("\\\\", "")


def test_a_missing_header_is_no_empty_one() -> None:
    assert texts({"a": ""}, "b") is None
    assert texts({"a": ""}, "a") == [""]
