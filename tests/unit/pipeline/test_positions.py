"""Where a runtime starts: nothing is skipped without being named."""

from hypothesis import given
from hypothesis import strategies as st

from penstock.model import Json
from penstock.pipeline.positions import Loss, ahead, starts
from penstock.sources.contract import Span

OFFSETS = st.integers(0, 50)
PARTS = st.sampled_from(["t:0", "t:1", "u:0"])
IDENTITIES = st.sampled_from(["one", "two"])


@st.composite
def spans(draw: st.DrawFn) -> tuple[Span, ...]:
    parts = sorted(draw(st.sets(PARTS)))
    firsts = [draw(OFFSETS) for _ in parts]
    return tuple(
        Span(part, draw(IDENTITIES), first, first + draw(OFFSETS), keeps=True)
        for part, first in zip(parts, firsts, strict=True)
    )


LEDGERS = st.dictionaries(PARTS, st.fixed_dictionaries({"identity": IDENTITIES, "next": OFFSETS}))


@given(LEDGERS, spans())
def test_every_part_gets_a_start_it_holds_and_every_gap_is_named(
    ledger: dict[str, Json], held: tuple[Span, ...]
) -> None:
    found = starts(ledger, held, {})
    assert set(found.offsets) == {span.part for span in held}
    lost = {one.part for one in found.losses}
    for span in held:
        start = found.offsets[span.part]
        assert span.first <= start <= span.next
        known = ledger.get(span.part)
        if known is None:
            assert start == span.first
        elif span.part not in lost:
            assert (start, known["identity"]) == (known["next"], span.identity)
    assert {part for part in ledger if part not in found.offsets} <= lost


def test_a_start_without_a_ledger_is_the_one_asked_for() -> None:
    held = (Span("t:0", "one", 3, 9), Span("t:1", "one", 0, 4))
    assert starts({}, held, {"t:0": 9}).offsets == {"t:0": 9, "t:1": 0}


def test_each_loss_says_which_range() -> None:
    held = (Span("a:0", "new", 0, 5), Span("b:0", "one", 7, 9, keeps=True), Span("c:0", "one", 0, 5))
    ledger = {part: {"identity": "one", "next": 6} for part in ("a:0", "b:0", "c:0", "d:0")}
    found = starts(ledger, held, {})
    assert found.losses == (
        Loss("a:0", "made_again", 6, None),
        Loss("b:0", "removed_by_retention", 6, 7),
        Loss("c:0", "source_went_back", 5, 6),
        Loss("d:0", "vanished", 6, None),
    )
    assert found.offsets == {"a:0": 0, "b:0": 7, "c:0": 5}


def test_a_queue_may_leave_numbers_out() -> None:
    ledger = {"S": {"identity": "one", "next": 6}}
    assert starts(ledger, (Span("S", "one", 100, 200),), {}).losses == ()


def test_a_queue_that_went_back_is_noticed() -> None:
    found = starts({"S": {"identity": "one", "next": 6}}, (Span("S", "one", 2, 4),), {})
    assert (found.losses, found.offsets) == ((Loss("S", "source_went_back", 4, 6),), {"S": 4})


def test_what_was_acknowledged_beyond_the_ledger_is_said_once_and_passed() -> None:
    ledger = {"S": {"identity": "one", "next": 6}}
    found = starts(ledger, (Span("S", "one", 10, 12, keeps=True),), {})
    assert [one.reason for one in found.losses] == ["removed_by_retention"]
    lost = ahead(ledger, found.identities, {"S": 9})
    assert found.behind(lost).losses == (Loss("S", "acknowledged_beyond_the_ledger", 6, 10),)
    assert found.behind(lost).ledger() == {"S": {"identity": "one", "next": 10}}
    assert found.behind(()) == found


def test_a_source_that_is_ahead_of_the_ledger_is_noticed() -> None:
    ledger = {"S": {"identity": "one", "next": 6}}
    assert ahead(ledger, {"S": "one"}, {"S": 5}) == ()
    assert ahead(ledger, {"S": "one"}, {"S": 9}) == (Loss("S", "acknowledged_beyond_the_ledger", 6, 10),)
    assert ahead(ledger, {"S": "two"}, {"S": 9}) == ()
    assert ahead({}, {"S": "one"}, {"S": 9}) == ()
