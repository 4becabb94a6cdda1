"""Python and PostgreSQL say the same of what is JSON: a dry run promises what the commit will do."""

import json

from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from penstock.directives.jsonbody import is_json
from penstock.kernel.connection import Connection
from tests.sql.support import value

BODIES = [
    b"",
    b" ",
    b"{}",
    b"null",
    b' \t\r\n"a" ',
    b"\xef\xbb\xbf{}",
    b"\xff",
    b'"\xc3\xa9"',
    b'"\xed\xa0\x80"',
    b"\x00",
    b'"a\x00b"',
    b'"a\tb"',
    b'"\\u0000"',
    b'{"\\u0000": 1}',
    b'"\\ud800"',
    b'"\\ud83d\\ude00"',
    b'"\\ude00\\ud83d"',
    b'{"a": ["\\udfff"]}',
    b'"\\x"',
    b"NaN",
    b"[Infinity]",
    b"-Infinity",
    b"01",
    b"-",
    b"-0",
    b"1.",
    b".5",
    b"+1",
    b"1e5",
    b"1E+05",
    b"1e131071",
    b"1e131072",
    b"12e131071",
    b"0.1e131072",
    b"0e400000",
    b"1e-16383",
    b"1e-16384",
    b"1.5e-16383",
    b"1e999999999999999999999",
    b"1e-999999999999999999999",
    b"9" * 5000,
    b"9" * 131_072,
    b"9" * 131_073,
    b"0." + b"1" * 16_383,
    b"0." + b"1" * 16_384,
    b"{'a': 1}",
    b'{"a": 1,}',
    b'{"a": 1} {}',
    b'{"a": 1, "a": 2}',
    b"[1,]",
    b"[" * 500 + b"]" * 500,
    b"// a\n1",
    b"tru",
]


def _judged(db: Connection, body: bytes) -> bool:
    return bool(value(db, "select penstock.bytes_are_json(%s::bytea)", body))


def test_known_oddities_are_judged_alike(db: Connection) -> None:
    assert [body[:20] for body in BODIES if is_json(body) != _judged(db, body)] == []


def test_a_batch_is_judged_as_its_bodies_are_one_by_one(db: Connection) -> None:
    db.execute("create table penstock.ingest_stage_test (attempt text, body bytea)")
    for number, body in enumerate(BODIES):
        db.execute("insert into penstock.ingest_stage_test values (%s, '{}'), (%s, %s)", [str(number)] * 2 + [body])
    judged = "select penstock.bodies_are_json('ingest_stage_test', array[%s])"
    assert [
        body[:20] for number, body in enumerate(BODIES) if value(db, judged, str(number)) != _judged(db, body)
    ] == []


_PIECES = [
    b"{",
    b"}",
    b"[",
    b"]",
    b",",
    b":",
    b'"',
    b"\\",
    b"u0000",
    b"ud83d",
    b"n",
    b"1",
    b"-",
    b".",
    b"e",
    b"\xc3",
    b" ",
]


@settings(max_examples=300, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.one_of(
        st.recursive(
            st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text()),
            lambda inner: st.one_of(st.lists(inner), st.dictionaries(st.text(), inner)),
        ).map(lambda data: json.dumps(data).encode()),
        st.lists(st.sampled_from(_PIECES), max_size=12).map(b"".join),
        st.binary(max_size=12),
    )
)
@example(b"")
def test_anything_is_judged_alike(db: Connection, body: bytes) -> None:
    assert is_json(body) == _judged(db, body)
