"""The reader: every key taken once, every problem told, nothing half-read."""

from datetime import UTC, datetime
from typing import Any

import pytest

from penstock.catalog.cron import cadence
from penstock.catalog.problems import Problems
from penstock.catalog.reading import Reader
from penstock.catalog.values import Unfit, flag, instant, one_of, size, text, whole
from penstock.catalog.yaml import documents
from penstock.errors import SpecError

NAME = text("a name", r"[a-z]+")


class Reading:
    """One mapping being read, and what was said about it."""

    def __init__(self, source: str) -> None:
        self.problems = Problems("f.yaml")
        (document,) = documents(source)
        self.reader = Reader(document.root, "spec", self.problems)

    def said(self) -> list[str]:
        self.reader.close()
        try:
            self.problems.refuse()
        except SpecError as error:
            return str(error).splitlines()
        return []


def test_a_mapping_whose_keys_all_fit_gives_its_values() -> None:
    reading = Reading("a: x\nb: 3\nc: [p, q]\nd: {k: v}\n")
    reader = reading.reader
    values = (
        reader.take("a", NAME),
        reader.take("b", whole(1, 5)),
        reader.take_all("c", NAME),
        reader.take("e", flag, True),
    )
    assert values == ("x", 3, ("p", "q"), True)
    assert reader.take_pairs("d", NAME) == {"k": "v"}
    assert reading.said() == []


def test_all_problems_are_told_in_the_order_of_their_lines() -> None:
    reading = Reading("\nc: 9\nb: [x, 1]\na: 1\n")
    reading.reader.take("a", NAME)
    reading.reader.take_all("b", NAME)
    reading.reader.take("c", whole(1, 5))
    reading.reader.take("d", NAME)
    assert reading.said() == [
        "f.yaml:2: spec.c: expected a whole number from 1 to 5, found 9",
        "f.yaml:2: spec.d: is missing",
        "f.yaml:3: spec.b[1]: expected a name, found 1",
        "f.yaml:4: spec.a: expected a name, found 1",
    ]


def test_the_problems_are_kept_apart_for_programs() -> None:
    reading = Reading("a: 1\n")
    reading.reader.take("a", NAME)
    with pytest.raises(SpecError) as raised:
        reading.problems.refuse()
    assert raised.value.problems == ((1, "spec.a", "expected a name, found 1"),)


def test_a_misspelt_key_is_one_problem_though_the_right_one_is_missing() -> None:
    reading = Reading("playbok: x\n")
    reading.reader.take("playbook", NAME)
    assert reading.said() == ["f.yaml:1: spec.playbok: is no key here: did you mean playbook?"]


def test_a_key_unlike_any_other_is_refused_with_those_that_could_stand_there() -> None:
    reading = Reading("flavour: x\n")
    reading.reader.take("mode", NAME, None)
    reading.reader.take("auth", NAME, None)
    assert reading.said() == ["f.yaml:1: spec.flavour: is no key here; the keys here are auth, mode"]


def test_a_key_without_a_value_is_refused() -> None:
    reading = Reading("a:\nb:\nc:\n")
    reading.reader.take("a", NAME, None)
    assert reading.reader.take_all("b", NAME) == ()
    reading.reader.inside_if_any("c")
    assert reading.said() == [
        "f.yaml:1: spec.a: expected a name, found nothing",
        "f.yaml:2: spec.b: expected a list of 1 to 1,000 items, found nothing",
        "f.yaml:3: spec.c: expected a mapping, found nothing",
    ]


def test_of_what_is_no_mapping_nothing_more_is_said() -> None:
    reading = Reading("a: [1]\n")
    inner = reading.reader.inside("a")
    inner.take("b", NAME)
    inner.close()
    assert reading.said() == ["f.yaml:1: spec.a: expected a mapping, found a list"]


def test_of_a_missing_mapping_only_that_is_said() -> None:
    reading = Reading("{}\n")
    inner = reading.reader.inside("a")
    inner.take("b", NAME)
    inner.close()
    assert reading.said() == ["f.yaml:1: spec.a: is missing"]


def test_an_item_twice_is_refused() -> None:
    reading = Reading("a:\n  - x\n  - y\n  - x\n")
    reading.reader.take_all("a", NAME)
    assert reading.said() == ["f.yaml:4: spec.a[2]: 'x' stands here twice"]


def test_a_number_where_text_is_meant_is_told_to_stand_in_quotes() -> None:
    with pytest.raises(Unfit, match="expected digits: write it in quotes, found 17"):
        text("digits", r"\d+")(17)


def test_a_file_with_a_thousand_problems_shows_the_first_fifty() -> None:
    reading = Reading("\n".join(f"key{nth}: 1" for nth in range(1000)))
    said = reading.said()
    assert len(said) == 51
    assert said[-1] == "f.yaml: and 950 more problems"


@pytest.mark.parametrize(
    ("written", "count"),
    [
        (10_000, 10_000),
        ("10_000", 10_000),
        ("1", 1),
        ("50Gi", 50 * 1024**3),
        ("50GiB", 50 * 1024**3),
        ("512MiB", 512 * 1024**2),
        ("512 MiB", 512 * 1024**2),
        ("4Ki", 4096),
        ("2Ti", 2 * 1024**4),
        ("2GB", 2_000_000_000),
        ("2G", 2_000_000_000),
        ("3k", 3000),
        ("100B", 100),
    ],
)
def test_sizes(written: Any, count: int) -> None:
    assert size(written) == count


@pytest.mark.parametrize(
    "written",
    [
        "",
        "lots",
        "50 Gigs",
        "Gi",
        "-1",
        "1.5Gi",
        "50gi",
        "1__0",
        "_1",
        "1_",
        "٣",
        "9" * 5000,
        "99999999Pi",
        0,
        -5,
        1.5,
        True,
        None,
        [],
    ],
)
def test_nonsense_is_no_size(written: Any) -> None:
    with pytest.raises(Unfit, match="expected a size in bytes such as 10_000, 512MiB or 50Gi"):
        size(written)


@pytest.mark.parametrize("written", [0, 6, "3", 3.0, True, None, [], {}])
def test_a_whole_number_is_neither_text_nor_true_nor_outside_its_bounds(written: Any) -> None:
    with pytest.raises(Unfit, match="expected a whole number from 1 to 5"):
        whole(1, 5)(written)


@pytest.mark.parametrize("written", ["yes", "off", "true", 1, 0, None])
def test_a_flag_is_true_or_false(written: Any) -> None:
    with pytest.raises(Unfit, match="expected true or false"):
        flag(written)


def test_one_of_lists_the_words_and_refuses_some_in_their_own() -> None:
    kind = one_of("a", "b", "c", others={"z": "z is gone"})
    assert kind("b") == "b"
    with pytest.raises(Unfit, match="expected a, b or c, found 'q'"):
        kind("q")
    with pytest.raises(Unfit, match=r"^z is gone$"):
        kind("z")


def test_an_instant_has_its_time_zone() -> None:
    assert instant("2026-06-11T08:00:00Z") == datetime(2026, 6, 11, 8, tzinfo=UTC)
    assert instant("2026-06-11t10:00:00.5+02:00") == datetime(2026, 6, 11, 8, 0, 0, 500_000, tzinfo=UTC)


@pytest.mark.parametrize(
    "written", ["2026-06-11", "2026-06-11T08:00:00", "2026-13-11T08:00:00Z", "now", 5, "٢٠26-06-11T08:00:00Z"]
)
def test_what_is_no_instant_is_refused(written: Any) -> None:
    with pytest.raises(Unfit, match="with its time zone"):
        instant(written)


@pytest.mark.parametrize(
    "line",
    [
        "*/1 * * * *",
        "0 0 1 JAN sun",
        "1,2,5-9/2 * * * 7",
        "5/10 0-23 1-31 1-12 0-7",
        " 0  0 * * *",
        "@hourly",
        "@Daily",
    ],
)
def test_cron_lines(line: str) -> None:
    assert cadence(line) == line


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("* * * *", "minute hour day month weekday"),
        ("every minute", "a cron line such as"),
        ("60 * * * *", "its minute from 0 to 59"),
        ("* 24 * * *", "its hour from 0 to 23"),
        ("* * 0 * *", "its day from 1 to 31"),
        ("* * * FOO *", "its month from 1 to 12"),
        ("* * * * 8", "its weekday from 0 to 7"),
        ("*/0 * * * *", "its minute"),
        ("*/61 * * * *", "its minute"),
        ("9-3 * * * *", "its minute"),
        ("1, * * * *", "its minute"),
        ("@sometimes", "a cron line such as"),
        (5, "found 5"),
    ],
)
def test_what_is_no_cron_line_is_refused_naming_the_field(line: Any, words: str) -> None:
    with pytest.raises(Unfit) as raised:
        cadence(line)
    assert words in str(raised.value)
