"""Baggage: allowlisted members only, decoded once, within bounds."""

import pytest

from penstock.directives.baggage import read_baggage


@pytest.mark.parametrize(
    ("sent", "tenant"),
    [
        ("tenant=acme", "acme"),
        ("tenant =  acme ,x=1", "acme"),
        ("tenant=acme;ttl=5;secure, x=1", "acme"),
        ("tenant=acme ; a=b", "acme"),
        ("tenant=", ""),
        ("tenant=a=b", "a=b"),
        ("tenant=a+b", "a+b"),
        ("tenant=DF%2028", "DF 28"),
        ("tenant=%C3%a9", "é"),
        ("tenant=%2525", "%25"),
        ("tenant=100%", "100%"),
        ("tenant=%zz%4", "%zz%4"),
        ("tenant=%ff", "\ufffd"),
        ("tenant=%ED%A0%80", "\ufffd\ufffd\ufffd"),
        ("tenant=%2C%3B%22", ',;"'),
        ("tenant=a,tenant=b", "b"),
        ("tenant=a,tenant=b c", "a"),
        ("tenant=a,,  ,", "a"),
    ],
)
def test_an_allowlisted_member_comes_in_decoded(sent: str, tenant: str) -> None:
    assert read_baggage([sent], ["tenant"]) == {"tenant": tenant}


@pytest.mark.parametrize(
    "sent",
    [
        "",
        "Tenant=a",
        "xtenant=a",
        "tenantx=a",
        "tenant",
        "tenant;a=b",
        'tenant="a"',
        "tenant=é",
        "tenant=%00",
        "x=tenant=a",
    ],
)
def test_what_is_not_listed_or_not_sound_stays_out(sent: str) -> None:
    assert read_baggage([sent], ["tenant"]) == {}


def test_several_headers_are_one_list_and_the_allowlist_gives_the_order() -> None:
    assert list((read_baggage(["b=1,c=9", "a=2"], ["a", "b"]) or {}).items()) == [("a", "2"), ("b", "1")]


def test_a_dot_in_an_allowlisted_key_is_a_dot() -> None:
    assert read_baggage(["axb=1"], ["a.b"]) == {}


def test_baggage_beyond_its_bounds_is_dropped_whole() -> None:
    members = [f"k{number}=1" for number in range(63)]
    assert read_baggage([",".join([*members, "t=1"])], ["t"]) == {"t": "1"}
    assert read_baggage([",".join([*members, "t=1", "u=1"])], ["t"]) is None
    assert read_baggage(["t=" + "x" * 8190], ["t"]) == {"t": "x" * 8190}
    assert read_baggage(["t=" + "x" * 8191], ["t"]) is None
    assert read_baggage(["t=1", None], ["t"]) is None
